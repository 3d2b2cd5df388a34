/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that are recognised by their file name. */
#include "ledger/layout.h"

#include <string.h>

/* Name prefixes of such libraries. */
static const char *const allocators[] = {
	"libtare",    "libc.so",  "libc-2.",	  "ld-linux",
	"libstdc++.", "libc++.",  "libc++abi.",	  "libjemalloc",
	"libtcmalloc", "libmimalloc", "libasan",  NULL
};

bool tr_module_allocates(const char *name)
{
	for (size_t i = 0; allocators[i]; i++)
		if (strncmp(name, allocators[i], strlen(allocators[i])) == 0)
			return true;
	return false;
}

bool tr_module_name_is_own(const char *name)
{
	return strncmp(name, "libtare", 7) == 0 &&
	       (name[7] == '.' || name[7] == '-');
}
