/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is closed while what it allocated is live. */
#include <stdlib.h>

void *plugin_allocate(size_t n);

__attribute__((noinline)) void *plugin_allocate(size_t n)
{
	char *block = malloc(n);

	if (block)
		block[0] = 1;
	return block;
}
