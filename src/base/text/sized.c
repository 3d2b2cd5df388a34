/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs that begin with their own size, as known to the caller, which may be
 * built with an older or a newer header.
 */
#include "base/text.h"

#include <string.h>

#include <tare/error.h>

#define SIZED_MOST 4096u /* larger than any struct: not a valid size */

int tr_take_struct(void *to, size_t size, const void *from,
		   uint32_t struct_size, size_t least)
{
	const unsigned char *bytes = from;
	uint32_t own = (uint32_t)size;

	if (struct_size < least || struct_size > SIZED_MOST ||
	    struct_size % sizeof(own))
		return TARE_EINVAL;
	/* Fields that this library does not know must be 0. */
	for (size_t i = size; i < struct_size; i++)
		if (bytes[i])
			return TARE_EINVAL;
	memset(to, 0, size);
	memcpy(to, from, struct_size < size ? struct_size : size);
	memcpy(to, &own, sizeof(own));
	return 0;
}
