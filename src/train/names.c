/* SPDX-License-Identifier: Apache-2.0 */
#include "train/names.h"

#include <string.h>

/* The first bytes; those behind the end are 0. */
static uint64_t name_key(const char *name)
{
	uint64_t key = 0;

	for (unsigned i = 0; i < 8 && name[i]; i++)
		key |= (uint64_t)(unsigned char)name[i] << 8 * i;
	return key;
}

uint32_t tr_names_find(const struct tr_names *names, const char *name)
{
	uint64_t key = name_key(name);

	for (uint32_t i = 0; i < names->n; i++) {
		if (names->key[i] != key)
			continue;
		if (!(key >> 56) || /* that was all of it */
		    strncmp(names->text[i] + 8, name + 8,
			    TR_NAME_BYTES - 1 - 8) == 0)
			return i;
	}
	return UINT32_MAX;
}

uint32_t tr_names_add(struct tr_names *names, const char *name)
{
	uint32_t i = names->n++;

	memset(names->text[i], 0, TR_NAME_BYTES);
	memcpy(names->text[i], name, strnlen(name, TR_NAME_BYTES - 1));
	names->key[i] = name_key(name);
	return i;
}
