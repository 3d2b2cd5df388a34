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

void names_attach(tare_view *view)
{
	static struct symbols *symbols;

	if (!symbols)
		symbols = symbols_open(warn, NULL);
	if (!symbols)
		return;
	symbols_root(symbols, root_of(tare_view_run(view)));
	tare_view_name_with(view, symbols_name, symbols);
}
