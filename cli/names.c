/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <stdio.h>

#include "message.h"
#include "symbols/symbols.h"

#define WARNINGS_MOST 5 /* the first say what is wrong */

static void warn(void *arg, const char *text)
{
	static int warnings;

	(void)arg;
	if (warnings < WARNINGS_MOST)
		message("%s", text);
	else if (warnings == WARNINGS_MOST)
		message("and others");
	warnings++;
}

/* A process in a container has its files there. */
static const char *root_of(const tare_run *run)
{
	static char root[64];

	if (run->state != TARE_RUN_LIVE)
		return NULL;
	(void)snprintf(root, sizeof(root), "/proc/%lld/root",
		       (long long)run->pid);
	return root;
}

/* Says once why there are none, if somebody asks for one. */
static size_t no_name(void *arg, const tare_module *module, uint64_t address,
		      tare_place *places, size_t most)
{
	static bool has_told;

	(void)arg;
	(void)module;
	(void)address;
	(void)places;
	(void)most;
	if (!has_told)
		message("functions have no names: this tare was built without "
			"libdw, or with -Dsymbols=disabled");
	has_told = true;
	return 0;
}

void names_attach(tare_view *view)
{
	static struct symbols *symbols;

	if (!symbols_are_built()) {
		tare_view_name_with(view, no_name, NULL);
		return;
	}
	if (!symbols)
		symbols = symbols_open(warn, NULL);
	if (!symbols)
		return;
	symbols_root(symbols, root_of(tare_view_run(view)));
	tare_view_name_with(view, symbols_name, symbols);
}
