/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces debug.c and lines.c if tare is built without libdw. */
#include "parts.h"

struct debug *debug_open(struct symbols *symbols, const struct module *module,
			 int fd)
{
	(void)symbols;
	(void)module;
	(void)fd;
	return NULL;
}

void debug_close(struct debug *debug, bool is_sound)
{
	(void)debug;
	(void)is_sound;
}

bool debug_has_lines(const struct debug *debug)
{
	(void)debug;
	return false;
}

size_t debug_places(struct symbols *symbols, struct debug *debug, uint64_t at,
		    tare_place *places, size_t most)
{
	(void)symbols;
	(void)debug;
	(void)at;
	(void)places;
	(void)most;
	return 0;
}

const char *debug_symbol(struct debug *debug, uint64_t at)
{
	(void)debug;
	(void)at;
	return NULL;
}

bool symbols_have_lines(void)
{
	return false;
}
