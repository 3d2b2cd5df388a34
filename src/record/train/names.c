/* SPDX-License-Identifier: Apache-2.0 */
#include "record/train/names.h"

#include <string.h>

uint32_t tr_names_find(const struct tr_names *names, const char *name)
{
	for (uint32_t i = 0; i < names->n; i++)
		if (strncmp(names->text[i], name, TR_NAME_BYTES - 1) == 0)
			return i;
	return UINT32_MAX;
}

uint32_t tr_names_add(struct tr_names *names, const char *name)
{
	uint32_t i = names->n++;

	memset(names->text[i], 0, TR_NAME_BYTES);
	memcpy(names->text[i], name, strnlen(name, TR_NAME_BYTES - 1));
	return i;
}
