/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that use libdw share. */
#ifndef SYMBOLS_DEBUG_H
#define SYMBOLS_DEBUG_H

#include "parts.h"

#include <elfutils/libdwfl.h>

struct unit; /* a compilation unit, see lines.c */

struct debug {
	Dwfl *dwfl;
	Dwfl_Module *file;
	Dwarf *dwarf; /* NULL: symbols alone */
	Dwarf_Addr dwarf_bias;
	struct unit *unit; /* all of them, once one is asked for */
	size_t n_units;
	struct span {
		Dwarf_Addr from, to;
		size_t index;
	} *span; /* addresses of units, ascending */
	size_t n_spans;
};

/* ---- scopes.c ---------------------------------------------------------- */

struct scopes {
	struct scoped {
		const void *die;   /* of a function */
		const char *scope; /* what it is declared in, "a::b" */
	} *row; /* in the order of the file */
	size_t n;
};

/* Later ones stand later in the file. */
void scopes_add(struct scopes *scopes, const Dwarf_Die *die,
		const char *scope);
/* What is declared in `die`, which is in `scope`, is in this one. */
const char *scope_in(struct symbols *symbols, Dwarf_Die *die,
		     const char *scope);
/* The name with what is around it, kept. */
const char *scopes_name(struct symbols *symbols, const struct scopes *scopes,
			Dwarf_Die *die, const char *name);

/* ---- lines.c ----------------------------------------------------------- */

/* Places by debug information; `at` is an address in the file's tables. */
size_t lines_places(struct symbols *symbols, struct debug *debug,
		    Dwarf_Addr at, tare_place *places, size_t most);
void lines_release(struct debug *debug);

#endif
