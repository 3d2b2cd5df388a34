/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes: the namespaces and classes in which functions of C++ and Rust are
 * declared.
 *
 * A function without linkage, static or of a lambda's type, has no mangled name
 * once it is inlined, and its plain name is "spin" for app::detail::spin. libdw
 * finds the scope of an entry by reading the unit from its beginning, for each;
 * here it is recorded while the functions are listed.
 */
#include "debug.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>

void scopes_add(struct scopes *scopes, const Dwarf_Die *die, const char *scope)
{
	struct scoped *more = scopes->row;

	if (!scope[0])
		return;
	if ((scopes->n & (scopes->n - 1)) == 0)
		more = realloc(more, (scopes->n ? scopes->n * 2 : 1) *
					     sizeof(*more));
	if (!more)
		return;
	scopes->row = more;
	scopes->row[scopes->n++] = (struct scoped){ die->addr, scope };
}

const char *scope_in(struct symbols *symbols, Dwarf_Die *die,
		     const char *scope)
{
	int tag = dwarf_tag(die);
	const char *name = dwarf_diename(die);
	char text[512];

	if (!name || (tag != DW_TAG_namespace && tag != DW_TAG_class_type &&
		      tag != DW_TAG_structure_type &&
		      tag != DW_TAG_union_type))
		return scope;
	(void)snprintf(text, sizeof(text), "%s%s%s", scope,
		       scope[0] ? "::" : "", name);
	return texts_keep(&symbols->texts, text);
}

/* Entries were added in file order. */
static const char *find_scope(const struct scopes *scopes,
			      const Dwarf_Die *die)
{
	size_t low = 0, high = scopes->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (scopes->row[middle].die < die->addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < scopes->n && scopes->row[low].die == die->addr ?
		       scopes->row[low].scope :
		       "";
}

/*
 * The entry of the declaration: a function of a class is defined outside it,
 * and an inlined function elsewhere again.
 */
static void find_declaration(Dwarf_Die *die, Dwarf_Die *ret)
{
	static const unsigned from[] = { DW_AT_abstract_origin,
					 DW_AT_specification };
	Dwarf_Attribute attribute;

	*ret = *die;
	for (size_t i = 0; i < 2; i++)
		if (dwarf_attr(ret, from[i], &attribute))
			(void)dwarf_formref_die(&attribute, ret);
}

const char *scopes_name(struct symbols *symbols, const struct scopes *scopes,
			Dwarf_Die *die, const char *name)
{
	const char *scope;
	Dwarf_Die declared;
	char text[1024];

	find_declaration(die, &declared);
	scope = find_scope(scopes, &declared);
	(void)snprintf(text, sizeof(text), "%.400s%s%.600s", scope,
		       scope[0] ? "::" : "", name);
	return texts_keep(&symbols->texts, text);
}
