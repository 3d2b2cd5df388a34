/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trim: which rows of a tree are shown, by the options min_share, max_depth and
 * focus. Rows come in their order in the tree, a parent before its children.
 */
#include "render/report.h"

#include <string.h>

#define NAME_MOST 1024u /* longer ones are compared as they are */

/*
 * Length of "a::b" in "a::b(int (*)(char)) const"; 0: no parameters, as in
 * "(anonymous namespace)::b".
 */
static size_t bare_len(const char *name)
{
	const char *at = strrchr(name, ')');
	unsigned open = 0;

	if (!at || at[1] == ':')
		return 0;
	for (; at > name; at--) {
		open += *at == ')';
		open -= *at == '(';
		if (!open)
			return (size_t)(at - name);
	}
	return 0;
}

bool tr_trim_is_focus(const char *focus, const char *name)
{
	char bare[NAME_MOST];
	size_t len;

	if (tr_glob_match(focus, name))
		return true;
	len = bare_len(name);
	if (!len || len >= sizeof(bare))
		return false;
	memcpy(bare, name, len);
	bare[len] = '\0';
	return tr_glob_match(focus, bare);
}

/* Inside: below or at the outermost row whose name is wanted. */
static void enter(struct tr_trim *trim, const struct tr_trim_row *row)
{
	if (trim->is_inside && row->depth <= trim->top)
		trim->is_inside = false;
	if (!trim->is_inside &&
	    (!trim->focus || tr_trim_is_focus(trim->focus, row->name))) {
		trim->is_inside = true;
		trim->top = row->depth;
		if (trim->focus)
			trim->found++;
	}
}

void tr_trim_begin(struct tr_trim *trim, const tare_report_options *options)
{
	*trim = (struct tr_trim){
		.focus = options->focus,
		.min_share = options->min_share,
		.max_depth = options->max_depth,
	};
}

void tr_trim_weigh(struct tr_trim *trim, const struct tr_trim_row *row)
{
	uint32_t found = trim->found;

	enter(trim, row);
	if (row->depth == 0)
		trim->whole += row->weight;
	if (trim->focus ? trim->found > found : row->depth == 0)
		trim->base += row->weight;
}

void tr_trim_weighed(struct tr_trim *trim)
{
	trim->is_inside = false;
	trim->is_empty = trim->focus && !trim->found;
	trim->whole = trim->whole > 0 ? trim->whole : 1;
	trim->base = trim->base > 0 ? trim->base : 1;
}

/* A row that is left out takes the rows below with it. */
enum tr_trim_result tr_trim_row(struct tr_trim *trim,
				const struct tr_trim_row *row,
				uint32_t *ret_depth)
{
	enter(trim, row);
	if (trim->is_cut && row->depth > trim->cut)
		return TR_TRIM_LEFT_OUT;
	trim->is_cut = false;
	if (!trim->is_inside)
		return TR_TRIM_OUTSIDE;
	*ret_depth = trim->focus ? row->depth - trim->top : row->depth;
	if ((!trim->max_depth || *ret_depth < trim->max_depth) &&
	    row->weight / trim->base >= trim->min_share)
		return TR_TRIM_SHOWN;
	trim->is_cut = true;
	trim->cut = row->depth;
	return TR_TRIM_LEFT_OUT;
}
