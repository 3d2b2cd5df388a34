/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that use libdw. */
#ifndef SYMBOLS_DEBUG_H
#define SYMBOLS_DEBUG_H

#include "parts.h"

#include <elfutils/libdwfl.h>

struct unit; /* a compilation unit, see lines.c */

struct debug {
	Dwfl *dwfl;
	Dwfl_Module *file;
	Dwarf *dwarf; /* NULL: only symbols */
	Dwarf_Addr dwarf_bias;
	struct unit *unit; /* all units, listed at the first request */
	size_t n_units;
	struct span {
		Dwarf_Addr from, to;
		size_t index;
	} *span; /* addresses of units, ascending */
	size_t n_spans;
	struct elf_row *row; /* functions by address, read on demand */
	size_t n_rows;
	bool has_rows;
};

/* ---- scopes.c ---------------------------------------------------------- */

struct scopes {
	struct scoped {
		const void *die;   /* of a function */
		const char *scope; /* the enclosing scope, "a::b" */
	} *row; /* in file order */
	size_t n;
};

/* Must be called in file order. */
void scopes_add(struct scopes *scopes, const Dwarf_Die *die,
		const char *scope);
/* The scope of declarations inside `die`, which is itself in `scope`. */
const char *scope_in(struct symbols *symbols, Dwarf_Die *die,
		     const char *scope);
/* The name with its scope, kept in the symbols' texts. */
const char *scopes_name(struct symbols *symbols, const struct scopes *scopes,
			Dwarf_Die *die, const char *name);

/* ---- lines.c ----------------------------------------------------------- */

/* Places from debug information; `at` is an address in the file's tables. */
size_t lines_places(struct symbols *symbols, struct debug *debug,
		    Dwarf_Addr at, tare_place *places, size_t most);
void lines_release(struct debug *debug);

#endif
