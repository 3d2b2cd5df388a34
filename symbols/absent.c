/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the symbols where tare is built without libdw. */
#include "symbols.h"

struct symbols *symbols_open(symbols_warn_fn warn, void *arg)
{
	(void)warn;
	(void)arg;
	return NULL;
}

void symbols_close(struct symbols *symbols)
{
	(void)symbols;
}

void symbols_root(struct symbols *symbols, const char *root)
{
	(void)symbols;
	(void)root;
}

size_t symbols_name(void *arg, const tare_module *module, uint64_t address,
		    tare_place *places, size_t most)
{
	(void)arg;
	(void)module;
	(void)address;
	(void)places;
	(void)most;
	return 0;
}

bool symbols_are_built(void)
{
	return false;
}
