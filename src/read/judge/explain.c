/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explanation of a difference: see explain.h.
 *
 *	views -> one tree of frames with two weights -> of each frame the
 *	function that pays for it -> rows -> renamed and inlined ones joined
 *		-> those that are more than noise, the rest in one row
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "read/judge.h"

#define NONE UINT32_MAX
/* A change of three standard errors is listed. */
#define SURE 3
/* Of the largest change; smaller ones are in the rest. */
#define SMALL 0.03
#define ROWS_MOST 30u
/* Names, and times by each other, of a function that was renamed. */
#define ALIKE 0.5
#define TIMES_ALIKE 2
/* Names that leave no doubt, whatever the times are. */
#define VERY_ALIKE 0.75
/* What a caller must have gained of what a function lost. */
#define GAINED 0.5

struct sums {
	double weight, n;
	double square; /* variance of the weight */
};

struct entry {
	uint32_t row, other; /* and its callee or caller; NONE: none */
	struct sums sum[2];
};

struct work {
	struct tr_frames frames;
	uint32_t *row_of;  /* by function */
	uint32_t *payer;   /* row by node */
	uint32_t *callee;  /* function by node; NONE: its own code */
	const char **name; /* by row */
	const char **file;
	size_t *len;
	uint32_t n_rows;
	struct sums (*sum)[2];	/* by row */
	struct entry *calls, *callers;
	size_t n_calls, n_callers;
	bool by_number; /* of allocations, not by weight */
	double runs[2];
};

/* ---- rows: functions by name ------------------------------------------- */

struct named {
	const char *name;
	size_t len;
	uint32_t function;
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	size_t least = x->len < y->len ? x->len : y->len;
	int order = memcmp(x->name, y->name, least);

	if (!order)
		order = TR_ORDER(x->len, y->len);
	return order ? order : TR_ORDER(x->function, y->function);
}

static bool make_rows(struct work *w)
{
	const struct tr_frames *f = &w->frames;
	struct named *at = calloc(f->n_functions + (size_t)1, sizeof(*at));
	size_t n = f->n_functions + (size_t)1;

	w->row_of = calloc(n, sizeof(*w->row_of));
	w->name = calloc(n, sizeof(*w->name));
	w->file = calloc(n, sizeof(*w->file));
	w->len = calloc(n, sizeof(*w->len));
	w->sum = calloc(n, sizeof(*w->sum));
	if (!at || !w->row_of || !w->name || !w->file || !w->len || !w->sum) {
		free(at);
		return false;
	}
	for (uint32_t i = 0; i < f->n_functions; i++)
		at[i] = (struct named){ f->function[i].name,
					tr_name_stem(f->function[i].name), i };
	qsort(at, f->n_functions, sizeof(*at), by_name);
	for (uint32_t i = 0; i < f->n_functions; i++) {
		bool is_new = !i || at[i].len != at[i - 1].len ||
			      memcmp(at[i].name, at[i - 1].name, at[i].len);
		const char *file = f->function[at[i].function].file;

		if (is_new) {
			w->name[w->n_rows] = at[i].name;
			w->len[w->n_rows++] = at[i].len;
		}
		w->row_of[at[i].function] = w->n_rows - 1;
		if (file && file[0])
			w->file[w->n_rows - 1] = file;
	}
	free(at);
	return true;
}

/* ---- who pays ---------------------------------------------------------- */

static bool is_runtime(const struct tr_function *function)
{
	return function->kind == TARE_STACK_CODE &&
	       (tr_function_is_runtime(function->module, function->name) ||
		strncmp(function->module, "libtare", 7) == 0);
}

/* Nodes come after their parents. */
static bool find_payers(struct work *w)
{
	const struct tr_frames *f = &w->frames;

	w->payer = calloc(f->n_nodes + (size_t)1, sizeof(*w->payer));
	w->callee = calloc(f->n_nodes + (size_t)1, sizeof(*w->callee));
	if (!w->payer || !w->callee)
		return false;
	w->payer[0] = w->callee[0] = NONE;
	for (uint32_t i = 1; i < f->n_nodes; i++) {
		const struct tr_frame_node *node = &f->node[i];
		const struct tr_function *function =
			&f->function[node->function];
		uint32_t above = w->payer[node->parent];

		w->callee[i] = NONE;
		w->payer[i] = w->row_of[node->function];
		if (function->kind != TARE_STACK_CODE) {
			w->payer[i] = NONE;
		} else if (is_runtime(function) && above != NONE) {
			w->payer[i] = above;
			w->callee[i] = w->callee[node->parent] != NONE ?
					       w->callee[node->parent] :
					       node->function;
		}
	}
	return true;
}

/* The row that called this node's, NONE: it is the outermost. */
static uint32_t caller_of(const struct work *w, uint32_t node)
{
	uint32_t row = w->payer[node];

	for (; node; node = w->frames.node[node].parent)
		if (w->payer[node] != row && w->payer[node] != NONE)
			return w->payer[node];
	return NONE;
}

static void add_sums(struct sums *to, const struct sums *from)
{
	to->weight += from->weight;
	to->n += from->n;
	to->square += from->square;
}

/* A run's share of what a node has itself. */
static struct sums sums_of(const struct work *w,
			   const struct tr_frame_node *node, unsigned slot)
{
	double runs = w->runs[slot], n = (double)node->own[slot].n;
	double ns = node->own[slot].ns;
	struct sums sums = { ns / runs, n / runs, 0 };

	/* Samples are random; allocations are counted. */
	if (!w->by_number && n > 0)
		sums.square = ns * ns / n / (runs * runs);
	return sums;
}

static int by_rows(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = TR_ORDER(x->row, y->row);

	return order ? order : TR_ORDER(x->other, y->other);
}

/* Equal pairs become one. Returns how many remain. */
static size_t reduce(struct entry *at, size_t n)
{
	size_t used = 0;

	qsort(at, n, sizeof(*at), by_rows);
	for (size_t i = 0; i < n; i++) {
		if (used && by_rows(&at[used - 1], &at[i]) == 0)
			for (unsigned s = 0; s < 2; s++)
				add_sums(&at[used - 1].sum[s], &at[i].sum[s]);
		else
			at[used++] = at[i];
	}
	return used;
}

static bool add_up(struct work *w)
{
	const struct tr_frames *f = &w->frames;
	size_t n = f->n_nodes + (size_t)1;

	w->calls = calloc(n, sizeof(*w->calls));
	w->callers = calloc(n, sizeof(*w->callers));
	if (!w->calls || !w->callers)
		return false;
	for (uint32_t i = 1; i < f->n_nodes; i++) {
		struct entry entry = { .row = w->payer[i] };

		if (entry.row == NONE)
			continue;
		for (unsigned s = 0; s < 2; s++) {
			entry.sum[s] = sums_of(w, &f->node[i], s);
			add_sums(&w->sum[entry.row][s], &entry.sum[s]);
		}
		entry.other = caller_of(w, i);
		w->callers[w->n_callers++] = entry;
		entry.other = w->callee[i];
		w->calls[w->n_calls++] = entry;
	}
	w->n_calls = reduce(w->calls, w->n_calls);
	w->n_callers = reduce(w->callers, w->n_callers);
	return true;
}

/* ---- what is the same -------------------------------------------------- */

static double value_of(const struct work *w, const struct sums *sums)
{
	return w->by_number ? sums->n : sums->weight;
}

static double change_of(const struct work *w, uint32_t row)
{
	return value_of(w, &w->sum[row][1]) - value_of(w, &w->sum[row][0]);
}

static double error_of(const struct work *w, uint32_t row)
{
	return tr_maths_sqrt(w->sum[row][0].square + w->sum[row][1].square);
}

static bool is_sure(const struct work *w, uint32_t row)
{
	double change = fabs(change_of(w, row));

	return change > SURE * error_of(w, row) && change > 0;
}

static bool is_only(const struct work *w, uint32_t row, unsigned slot)
{
	return w->sum[row][slot].n > 0 && w->sum[row][!slot].n <= 0;
}

static char *text_of(struct tr_explanation *e, const char *format,
		     const char *a, size_t n, const char *b, size_t m)
{
	size_t size = n + m + strlen(format) + 1;
	char *text = tr_pool_take(&e->texts, size);

	if (text)
		(void)snprintf(text, size, format, (int)n, a, (int)m, b);
	return text;
}

static void join_rows(struct work *w, struct tr_explanation *e, uint32_t to,
		      uint32_t from, const char *format)
{
	const char *text = text_of(e, format, w->name[from], w->len[from],
				   w->name[to], w->len[to]);

	for (unsigned s = 0; s < 2; s++) {
		add_sums(&w->sum[to][s], &w->sum[from][s]);
		w->sum[from][s] = (struct sums){ 0, 0, 0 };
	}
	for (size_t i = 0; i < w->n_calls; i++)
		if (w->calls[i].row == from)
			w->calls[i].row = to;
	if (text) {
		w->name[to] = text;
		w->len[to] = strlen(text);
	}
}

/* One that the old side has alone, and the best of the new side's. */
static void join_renamed(struct work *w, struct tr_explanation *e)
{
	for (uint32_t i = 0; i < w->n_rows; i++) {
		uint32_t best = NONE;
		double alike = ALIKE;

		if (!is_only(w, i, 0) || !is_sure(w, i))
			continue;
		for (uint32_t k = 0; k < w->n_rows; k++) {
			double ratio, now;

			if (!is_only(w, k, 1) || !is_sure(w, k))
				continue;
			ratio = value_of(w, &w->sum[k][1]) /
				value_of(w, &w->sum[i][0]);
			now = tr_names_alike(w->name[i], w->name[k]);
			if (ratio > TIMES_ALIKE || ratio * TIMES_ALIKE < 1)
				now = now < VERY_ALIKE ? 0 : now;
			if (now > alike) {
				alike = now;
				best = k;
			}
		}
		if (best != NONE)
			join_rows(w, e, best, i, "%.*s -> %.*s");
	}
}

/* The caller of most of a row; NONE: there is none. */
static uint32_t main_caller(const struct work *w, uint32_t row, unsigned slot)
{
	double most = 0;
	uint32_t caller = NONE;

	for (size_t i = 0; i < w->n_callers; i++) {
		const struct entry *at = &w->callers[i];

		if (at->row == row && at->other != NONE &&
		    value_of(w, &at->sum[slot]) > most) {
			most = value_of(w, &at->sum[slot]);
			caller = at->other;
		}
	}
	return caller;
}

/* The code of one that only one side has is in its caller on the other. */
static void join_inlined(struct work *w, struct tr_explanation *e)
{
	for (uint32_t i = 0; i < w->n_rows; i++) {
		unsigned slot = is_only(w, i, 0) ? 0 : 1;
		uint32_t caller;

		if (!is_only(w, i, slot) || !is_sure(w, i))
			continue;
		caller = main_caller(w, i, slot);
		if (caller == NONE || !is_sure(w, caller) ||
		    w->sum[caller][!slot].n <= 0)
			continue;
		if (-change_of(w, caller) * (slot ? 1 : -1) >
		    GAINED * value_of(w, &w->sum[i][slot]))
			join_rows(w, e, caller, i, "%.*s in %.*s");
	}
}

/* ---- results ----------------------------------------------------------- */

/* The runtime function that a row's change is mainly in; "": its own code. */
static const char *main_callee(const struct work *w, uint32_t row)
{
	double change = change_of(w, row), most = 0;
	uint32_t callee = NONE;

	for (size_t i = 0; i < w->n_calls; i++) {
		const struct entry *at = &w->calls[i];
		double part = value_of(w, &at->sum[1]) -
			      value_of(w, &at->sum[0]);

		if (at->row == row && part * change > 0 && fabs(part) > most) {
			most = fabs(part);
			callee = at->other;
		}
	}
	return callee == NONE ? "" : w->frames.function[callee].name;
}

static int largest_first(const void *a, const void *b)
{
	const struct tr_explained *x = a, *y = b;

	if (x->is_sure != y->is_sure)
		return x->is_sure ? -1 : 1;
	return TR_ORDER(fabs(y->change), fabs(x->change));
}

/* A copy that outlives the views. */
static const char *kept(struct tr_explanation *e, const char *text, size_t len)
{
	const char *copy = text_of(e, "%.*s%.*s", text, len, "", 0);

	return copy ? copy : "";
}

static void fill(const struct work *w, struct tr_explanation *e, uint32_t row,
		 struct tr_explained *out)
{
	const char *callee = main_callee(w, row);
	const char *file = w->file[row] ? w->file[row] : "";

	*out = (struct tr_explained){
		.name = kept(e, w->name[row], w->len[row]),
		.file = kept(e, file, strlen(file)),
		.callee = kept(e, callee, strlen(callee)),
		.old = w->sum[row][0].weight,
		.now = w->sum[row][1].weight,
		.old_n = w->sum[row][0].n,
		.now_n = w->sum[row][1].n,
		.change = change_of(w, row),
		.error = error_of(w, row),
		.is_sure = is_sure(w, row),
	};
}

/* Rows that are noise, or small beside the largest, are not listed. */
static void leave_rest(struct tr_explanation *e)
{
	double most = e->n ? fabs(e->row[0].change) : 0;
	size_t n = 0;

	while (n < e->n && n < ROWS_MOST && e->row[n].is_sure &&
	       fabs(e->row[n].change) >= SMALL * most)
		n++;
	for (size_t i = n; i < e->n; i++)
		e->rest += e->row[i].change;
	e->n_rest = e->n - n;
	e->n = n;
}

static int conclude(struct work *w, struct tr_explanation *e)
{
	double variance = 0;

	e->row = calloc(w->n_rows + (size_t)1, sizeof(*e->row));
	if (!e->row)
		return TARE_ENOMEM;
	for (uint32_t i = 0; i < w->n_rows; i++) {
		const struct sums *s = w->sum[i];

		if (s[0].n <= 0 && s[1].n <= 0)
			continue;
		fill(w, e, i, &e->row[e->n++]);
		e->old += s[0].weight;
		e->now += s[1].weight;
		e->old_n += s[0].n;
		e->now_n += s[1].n;
		variance += s[0].square + s[1].square;
	}
	e->error = tr_maths_sqrt(variance);
	qsort(e->row, e->n, sizeof(*e->row), largest_first);
	leave_rest(e);
	return 0;
}

/* ---- all --------------------------------------------------------------- */

static int add_side(struct work *w, const struct tr_side *side,
		    enum tare_frames_from from, unsigned slot)
{
	int err = 0;

	for (size_t i = 0; i < side->n && !err; i++)
		err = tr_frames_add(&w->frames, side->views[i], from, slot);
	w->runs[slot] = side->runs > 0 ? side->runs : 1;
	return err;
}

static void release(struct work *w)
{
	tr_frames_release(&w->frames);
	free(w->row_of);
	free(w->payer);
	free(w->callee);
	free(w->name);
	free(w->file);
	free(w->len);
	free(w->sum);
	free(w->calls);
	free(w->callers);
}

int tr_explain(const struct tr_side *old, const struct tr_side *now,
	       enum tare_frames_from from, struct tr_explanation *ret)
{
	struct work w = { .by_number = from == TARE_FRAMES_ALLOC };
	int err;

	*ret = (struct tr_explanation){ .n = 0 };
	w.frames.by_name = true;
	err = add_side(&w, old, from, 0);
	if (!err)
		err = add_side(&w, now, from, 1);
	if (!err && !(make_rows(&w) && find_payers(&w) && add_up(&w)))
		err = TARE_ENOMEM;
	if (!err) {
		join_renamed(&w, ret);
		join_inlined(&w, ret);
		err = conclude(&w, ret);
	}
	release(&w);
	return err;
}

void tr_explanation_release(struct tr_explanation *e)
{
	free(e->row);
	tr_pool_release(&e->texts);
	*e = (struct tr_explanation){ .n = 0 };
}
