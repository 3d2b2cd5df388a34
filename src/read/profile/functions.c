/* SPDX-License-Identifier: Apache-2.0 */
/* Functions: time per function, over all stacks. */
#include "read/view.h"
#include "read/profile.h"

#include <stdlib.h>
#include <string.h>

#define PLACES_MOST 64u /* as in names.c */

struct line_weight {
	const char *file;
	double ns;
	uint32_t function, line;
};

struct reading_functions {
	tare_view *view;
	struct tr_frames frames;
	size_t places; /* of an address: 1 where inlined ones are folded */
	tare_function *out;
	uint32_t n;
	struct line_weight *line;
	size_t n_lines;
};

/* Recursion: only the outermost call adds. `open`: occurrences on the path. */
static void add_totals(struct reading_functions *r, const uint32_t *order,
		       uint32_t *path, uint32_t *open)
{
	const struct tr_frames *f = &r->frames;
	uint32_t depth = 0;

	for (uint32_t i = 1; i < f->n_nodes; i++) {
		const struct tr_frame_node *node = &f->node[order[i]];
		tare_function *out = &r->out[node->function];

		while (depth >= node->depth)
			open[path[depth--]]--;
		path[++depth] = node->function;
		out->samples += node->own[0].n;
		out->weight_ns += node->own[0].ns;
		if (open[node->function]++)
			continue;
		out->all_samples += node->all[0].n;
		out->all_weight_ns += node->all[0].ns;
	}
}

static int make_rows(struct reading_functions *r)
{
	const struct tr_frames *f = &r->frames;
	uint32_t *order = tr_frames_order(f), deepest = 0, *path, *open;
	int err = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (f->node[i].depth > deepest)
			deepest = f->node[i].depth;
	path = calloc(deepest + (size_t)2, sizeof(*path));
	open = calloc(f->n_functions + (size_t)1, sizeof(*open));
	r->out = calloc(f->n_functions + (size_t)1, sizeof(*r->out));
	r->n = f->n_functions;
	if (order && path && open && r->out)
		add_totals(r, order, path, open);
	else
		err = TARE_ENOMEM;
	free(order);
	free(path);
	free(open);
	return err;
}

static void name_rows(struct reading_functions *r)
{
	const struct tr_frames *f = &r->frames;

	for (uint32_t i = 0; i < r->n; i++) {
		r->out[i].kind = f->function[i].kind;
		r->out[i].function = f->function[i].name;
		r->out[i].file = f->function[i].file;
		r->out[i].first_line = f->function[i].first_line;
		r->out[i].line = f->function[i].first_line;
		r->out[i].module = f->function[i].module;
		r->out[i].is_inlined = f->function[i].is_inlined;
	}
}

/* ---- the line with the most own time ----------------------------------- */

static void note_line(struct reading_functions *r, const tare_stack *s)
{
	tare_place place[PLACES_MOST];

	if (!s->samples || s->kind != TARE_STACK_CODE ||
	    !tare_view_places(r->view, s->module, s->address, place,
			      r->places) ||
	    !place[0].line || tr_place_is_entry(&place[0]))
		return;
	r->line[r->n_lines++] = (struct line_weight){
		place[0].file, s->weight_ns,
		tr_frames_function(&r->frames, &place[0],
				   tr_module_name(r->view, s->module)),
		place[0].line
	};
}

static int by_line(const void *a, const void *b)
{
	const struct line_weight *x = a, *y = b;
	int order = TR_ORDER(x->function, y->function);

	if (!order)
		order = TR_ORDER(x->line, y->line);
	return order ? order : strcmp(x->file, y->file);
}

static void choose_lines(struct reading_functions *r)
{
	double most = -1, sum = 0;

	for (size_t i = 0; i < r->n_lines; i++) {
		const struct line_weight *line = &r->line[i];

		if (i && line->function != line[-1].function)
			most = -1;
		sum = i && by_line(line, line - 1) == 0 ? sum + line->ns :
							  line->ns;
		if (sum <= most || line->function >= r->n)
			continue;
		most = sum;
		r->out[line->function].line = line->line;
		r->out[line->function].file = line->file;
	}
}

static int find_lines(struct reading_functions *r)
{
	const tare_stack *stacks;
	size_t n;
	int err = tare_view_stacks(r->view, &stacks, &n);

	if (err)
		return err;
	r->line = malloc((n + 1) * sizeof(*r->line));
	if (!r->line)
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++)
		note_line(r, &stacks[i]);
	qsort(r->line, r->n_lines, sizeof(*r->line), by_line);
	choose_lines(r);
	free(r->line);
	return 0;
}

/* ------------------------------------------------------------------------ */

static int most_own_first(const void *a, const void *b)
{
	const tare_function *x = a, *y = b;
	int order = TR_ORDER(y->weight_ns, x->weight_ns);

	if (!order)
		order = TR_ORDER(y->all_weight_ns, x->all_weight_ns);
	return order ? order : strcmp(x->function, y->function);
}

/* Incomplete stacks are not a function, wherever they are in the tree. */
static size_t leave_out_cut(tare_function *rows, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (rows[i].kind != TARE_STACK_CUT)
			rows[kept++] = rows[i];
	return kept;
}

static int read_functions(tare_view *view, bool is_folded,
			  tare_function **functions, size_t *n_functions)
{
	struct reading_functions r = { .view = view,
				       .frames.folds_inlined = is_folded,
				       .places = is_folded ? 1 : PLACES_MOST };
	int err;

	if (*functions)
		return 0;
	err = tr_frames_add(&r.frames, view, TARE_FRAMES_SAMPLES, 0);
	if (!err) {
		tr_frames_finish(&r.frames);
		err = make_rows(&r);
	}
	if (!err) {
		name_rows(&r);
		err = find_lines(&r);
	}
	tr_frames_release(&r.frames);
	if (err) {
		free(r.out);
		return err;
	}
	*n_functions = leave_out_cut(r.out, r.n);
	qsort(r.out, *n_functions, sizeof(*r.out), most_own_first);
	*functions = r.out;
	return 0;
}

int tr_functions_folded(tare_view *view, const tare_function **ret_functions,
			size_t *ret_n)
{
	struct tr_profile *p = &view->profile;
	int err = read_functions(view, true, &p->folded, &p->n_folded);

	if (err)
		return err;
	*ret_functions = p->folded;
	*ret_n = p->n_folded;
	return 0;
}

TARE_API int tare_view_functions(tare_view *view,
				 const tare_function **ret_functions,
				 size_t *ret_n)
{
	int err = view && ret_functions && ret_n ?
			  read_functions(view, false,
					 &view->profile.functions,
					 &view->profile.n_functions) :
			  TARE_EINVAL;

	if (err)
		return err;
	*ret_functions = view->profile.functions;
	*ret_n = view->profile.n_functions;
	return 0;
}
