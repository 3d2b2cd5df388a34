/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines: functions, including inlined ones, and source lines of an address,
 * from debug information.
 *
 * libdw can find the scopes of an address itself, but reads the whole unit each
 * time: too slow for a thousand addresses of a large unit. And it finds a unit
 * by .debug_aranges, which clang does not write. So the addresses of units are
 * listed once per module, and those of functions once per unit.
 */
#include "debug.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define NESTING_MOST 200 /* of entries; deeper is damage */
#define CHAIN_MOST 64	 /* functions inlined into each other */
#define LOOK_BACK 16	 /* spans that may overlap */

struct function {
	Dwarf_Addr from, to;
	Dwarf_Die die;
};

struct unit {
	Dwarf_Die die;	    /* has the lines */
	Dwarf_Die content;  /* has the functions; differs if split */
	struct function *function;
	size_t n_functions, cap;
	struct scopes scopes; /* of C++ */
	bool is_read;
};

/* ---- units ------------------------------------------------------------- */

static bool has_scopes(Dwarf_Die *die)
{
	switch (dwarf_srclang(die)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_Rust:
		return true;
	default:
		return false;
	}
}

static bool add_unit(struct debug *m, const Dwarf_Die *die,
		     const Dwarf_Die *content)
{
	struct unit *more = m->unit;

	if ((m->n_units & (m->n_units - 1)) == 0)
		more = realloc(more, (m->n_units ? m->n_units * 2 : 1) *
					     sizeof(*more));
	if (!more)
		return false;
	m->unit = more;
	m->unit[m->n_units++] = (struct unit){ .die = *die,
					       .content = *content };
	return true;
}

static bool add_span(struct debug *m, Dwarf_Addr from, Dwarf_Addr to)
{
	struct span *more = m->span;

	if (from >= to || !from)
		return true; /* code that the linker removed */
	if ((m->n_spans & (m->n_spans - 1)) == 0)
		more = realloc(more, (m->n_spans ? m->n_spans * 2 : 1) *
					     sizeof(*more));
	if (!more)
		return false;
	m->span = more;
	m->span[m->n_spans++] = (struct span){ from, to, m->n_units - 1 };
	return true;
}

static int by_from(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static bool read_spans(struct debug *m, Dwarf_Die *die)
{
	Dwarf_Addr base, from, to;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &from, &to)) > 0)
		if (!add_span(m, from, to))
			return false;
	return true;
}

static void list_units(struct debug *m)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	uint8_t type;

	while (dwarf_get_units(m->dwarf, unit, &unit, NULL, &type, &die,
			       &split) == 0) {
		bool is_split = type == DW_UT_skeleton && split.addr;

		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (!add_unit(m, &die, is_split ? &split : &die) ||
		    !read_spans(m, &die))
			break;
	}
	if (m->n_spans)
		qsort(m->span, m->n_spans, sizeof(*m->span), by_from);
}

static struct unit *unit_at(struct debug *m, Dwarf_Addr at)
{
	size_t low = 0, high;

	if (!m->unit)
		list_units(m);
	high = m->n_spans;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->span[middle].from <= at)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < LOOK_BACK && i < low; i++)
		if (at < m->span[low - 1 - i].to)
			return &m->unit[m->span[low - 1 - i].index];
	return NULL;
}

/* ---- functions --------------------------------------------------------- */

static void add_function(struct unit *unit, Dwarf_Die *die)
{
	Dwarf_Addr base, from, to;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &from, &to)) > 0) {
		if (from >= to)
			continue;
		if (unit->n_functions == unit->cap) {
			size_t cap = unit->cap ? unit->cap * 2 : 64;
			struct function *more = realloc(unit->function,
							cap * sizeof(*more));

			if (!more)
				return;
			unit->function = more;
			unit->cap = cap;
		}
		unit->function[unit->n_functions++] =
			(struct function){ from, to, *die };
	}
}

struct listing {
	struct symbols *symbols;
	struct unit *unit;
	bool has_scopes;
};

/* Functions may be in namespaces, classes, and in blocks of functions. */
static void list_functions(const struct listing *l, Dwarf_Die *parent,
			   const char *scope, int depth)
{
	Dwarf_Die child;

	if (depth > NESTING_MOST || dwarf_child(parent, &child) != 0)
		return;
	if (l->has_scopes)
		scope = scope_in(l->symbols, parent, scope);
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_subprogram) {
			add_function(l->unit, &child);
			scopes_add(&l->unit->scopes, &child, scope);
		}
		if (dwarf_haschildren(&child) > 0 &&
		    tag != DW_TAG_enumeration_type &&
		    tag != DW_TAG_array_type &&
		    tag != DW_TAG_subroutine_type)
			list_functions(l, &child, scope, depth + 1);
	} while (dwarf_siblingof(&child, &child) == 0);
}

static int by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static Dwarf_Die *function_at(struct symbols *symbols, struct unit *unit,
			      Dwarf_Addr at)
{
	struct listing all = { symbols, unit, has_scopes(&unit->content) };
	size_t low = 0, high;

	if (!unit->is_read) {
		unit->is_read = true;
		list_functions(&all, &unit->content, "", 0);
		if (unit->n_functions)
			qsort(unit->function, unit->n_functions,
			      sizeof(*unit->function), by_address);
	}
	high = unit->n_functions;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (unit->function[middle].from <= at)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < LOOK_BACK && i < low; i++)
		if (at < unit->function[low - 1 - i].to)
			return &unit->function[low - 1 - i].die;
	return NULL;
}

/* The inlined call in `parent` that contains the address. */
static bool find_inlined(Dwarf_Die *parent, Dwarf_Addr at, Dwarf_Die *ret,
			 int depth)
{
	Dwarf_Die child;

	if (depth > NESTING_MOST || dwarf_child(parent, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_inlined_subroutine &&
		    dwarf_haspc(&child, at) > 0) {
			*ret = child;
			return true;
		}
		if (tag == DW_TAG_lexical_block &&
		    find_inlined(&child, at, ret, depth + 1))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* ---- places ------------------------------------------------------------ */

static const char *linkage_name(Dwarf_Die *die)
{
	static const unsigned linkage[] = { DW_AT_linkage_name,
					    DW_AT_MIPS_linkage_name };
	Dwarf_Attribute attribute;
	const char *name = NULL;

	for (size_t i = 0; !name && i < 2; i++)
		if (dwarf_attr_integrate(die, linkage[i], &attribute))
			name = dwarf_formstring(&attribute);
	return name;
}

static const char *name_of(struct symbols *symbols, struct unit *unit,
			   Dwarf_Die *die)
{
	const char *name = linkage_name(die), *plain = dwarf_diename(die);
	const char *readable = name ? demangle(&symbols->texts, name) : NULL;

	if (plain && (!name || !is_mangled(name) || is_mangled(readable)))
		return scopes_name(symbols, &unit->scopes, die, plain);
	return readable;
}

static uint32_t number_of(Dwarf_Die *die, unsigned what)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr_integrate(die, what, &attribute) ||
	    dwarf_formudata(&attribute, &value) || value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

static void fill_line(struct symbols *symbols, struct unit *unit,
		      Dwarf_Addr at, tare_place *place)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, at);
	const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	int number;

	if (!file || dwarf_lineno(line, &number) || number <= 0)
		return;
	place->file = texts_keep(&symbols->texts, file);
	place->line = (uint32_t)number;
}

/* The place where `inlined` was called. */
static void fill_call(struct symbols *symbols, struct unit *unit,
		      Dwarf_Die *inlined, tare_place *place)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word index;
	const char *file;
	size_t n;

	if (!dwarf_attr(inlined, DW_AT_call_file, &attribute) ||
	    dwarf_formudata(&attribute, &index) ||
	    dwarf_getsrcfiles(&unit->die, &files, &n) || index >= n)
		return;
	file = dwarf_filesrc(files, (size_t)index, NULL, NULL);
	if (!file)
		return;
	place->file = texts_keep(&symbols->texts, file);
	place->line = number_of(inlined, DW_AT_call_line);
}

/* Outermost first; returns their number. */
static size_t chain_at(struct symbols *symbols, struct unit *unit,
		       Dwarf_Addr at, Dwarf_Die *chain)
{
	Dwarf_Die *function = function_at(symbols, unit, at);
	size_t n = 0;

	if (!function)
		return 0;
	chain[n++] = *function;
	while (n < CHAIN_MOST && find_inlined(&chain[n - 1], at, &chain[n], 0))
		n++;
	return n;
}

size_t lines_places(struct symbols *symbols, struct debug *debug,
		    Dwarf_Addr at, tare_place *places, size_t most)
{
	Dwarf_Die chain[CHAIN_MOST];
	struct unit *unit;
	size_t n;

	at -= debug->dwarf_bias;
	unit = unit_at(debug, at);
	if (!unit)
		return 0;
	n = chain_at(symbols, unit, at, chain);
	n = n > most ? most : n;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Die *die = &chain[n - 1 - i];
		tare_place *place = &places[i];

		*place = (tare_place){ .function = name_of(symbols, unit, die),
				       .file = "",
				       .first_line = number_of(
					       die, DW_AT_decl_line),
				       .is_inlined = i + 1 < n };
		if (i == 0)
			fill_line(symbols, unit, at, place);
		else
			fill_call(symbols, unit, &chain[n - i], place);
	}
	if (n)
		return n;
	/* Assembly has lines, but only symbols as names. */
	places[0] = (tare_place){ .file = "" };
	fill_line(symbols, unit, at, &places[0]);
	return places[0].line != 0;
}

void lines_release(struct debug *debug)
{
	for (size_t i = 0; i < debug->n_units; i++) {
		free(debug->unit[i].function);
		free(debug->unit[i].scopes.row);
	}
	free(debug->unit);
	free(debug->span);
}
