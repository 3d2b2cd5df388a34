/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks: the tree of sampled stacks in the order of a report.
 *
 * A writer stores a caller before its callee, so the number of a parent is
 * below that of its children, and one pass from the end adds everything up:
 * there is no cycle. A row that contradicts this is placed below the incomplete
 * stacks.
 *
 * Frames of tare itself are not part of the program. A frame that called the
 * program (start of a thread, a wrapped callback) is skipped. Frames in which
 * tare worked become one: the cost of measuring, below the code that caused it.
 */
#include "read/view.h"
#include "read/profile.h"

#include <stdlib.h>

/* More is damage: half a million years, and a sample every ns of three days. */
#define WEIGHT_MOST (UINT64_C(1) << 62)
#define SAMPLES_MOST (UINT64_C(1) << 48)

struct branch {
	uint64_t samples, all_samples;
	double weight, all_weight;
	double square; /* of its own weights, ns^2 */
	uint32_t parent, first, next;
	uint32_t same; /* of tare, below tare: the outermost such row; else 0 */
	bool is_own;   /* of tare */
};

struct stack_tree {
	tare_view *view;
	const struct tr_stack *row, *before; /* before: in the baseline */
	uint32_t n, n_before;
	struct branch *branch;
	struct tr_weighed *order; /* stack of nodes still to visit */
};

static const struct tr_stack *rows_of(const struct stack_tree *t,
				      const struct tr_image *image,
				      uint32_t *ret_n)
{
	uint64_t n;
	const struct tr_stack *row =
		tr_image_rows(image, TR_REGION_STACKS, sizeof(*row), &n,
			      &t->view->profile.damaged);

	*ret_n = (uint32_t)n;
	return row;
}

/* Where it is not known, all samples of a row weigh the same. */
static double square_of(uint64_t samples, uint64_t weight, uint64_t square_us2)
{
	double ns = (double)weight;

	if (!samples || !weight)
		return 0;
	return square_us2 ? (double)square_us2 * 1e6 :
			    ns * ns / (double)samples;
}

static void read_counts(struct stack_tree *t, uint32_t i)
{
	struct branch *b = &t->branch[i];
	uint64_t samples = t->row[i].samples, weight = t->row[i].weight_ns;
	uint64_t square = t->row[i].square_us2;

	if (samples > SAMPLES_MOST || weight > WEIGHT_MOST) {
		t->view->profile.damaged++;
		return;
	}
	if (i < t->n_before) {
		const struct tr_stack *then = &t->before[i];

		/* Copied while it grew: keep it from going below zero. */
		samples -= then->samples < samples ? then->samples : samples;
		weight -= then->weight_ns < weight ? then->weight_ns : weight;
		square -= then->square_us2 < square ? then->square_us2 : square;
	}
	b->samples = samples;
	b->weight = (double)weight;
	b->square = square_of(samples, weight, square);
}

/* ---- of a window: from the ring of samples ----------------------------- */

static void count_sample(struct stack_tree *t, const struct tr_sample *sample)
{
	double ns = (double)sample->weight_us * 1e3;
	struct branch *b;

	/* A row that the table has not: it came during the copy. */
	if (!sample->stack || sample->stack >= t->n)
		return;
	b = &t->branch[sample->stack];
	b->samples++;
	b->weight += ns;
	b->square += ns * ns;
}

static void count_window(struct stack_tree *t)
{
	tare_view *view = t->view;
	struct tr_sample_window *w = &view->profile.window;
	uint64_t n, used = 0;
	int64_t oldest = INT64_MAX;
	const struct tr_sample *row =
		tr_image_rows(&view->image, TR_REGION_SAMPLES, sizeof(*row),
			      &n, &view->profile.damaged);

	for (uint64_t i = 0; i < n; i++) {
		int64_t at_ns = tr_time_real(&view->image, row[i].ticks);

		if (!row[i].ticket)
			continue;
		used++;
		oldest = at_ns < oldest ? at_ns : oldest;
		if (tr_profile_in_window(view, at_ns) &&
		    !(view->has_baseline &&
		      row[i].ticks <= view->cleared_ticks))
			count_sample(t, &row[i]);
	}
	if (tr_image_header(&view->image)->sampling.head > used)
		w->kept_ns = oldest;
}

static void sum_window(const struct stack_tree *t)
{
	struct tr_sample_window *w = &t->view->profile.window;

	for (uint32_t i = 1; i < TR_STACK_FIRST && i < t->n; i++) {
		w->samples += t->branch[i].all_samples;
		w->weight_ns += t->branch[i].all_weight;
		if (i == TR_STACK_WHOLE)
			w->whole += t->branch[i].all_samples;
	}
}

/* The parent of a row; 0: the row is not used. */
static uint32_t parent_of(struct stack_tree *t, uint32_t i)
{
	const struct tr_stack *row = &t->row[i];

	if (i < TR_STACK_FIRST)
		return 0;
	if (row->parent >= TR_STACK_WHOLE && row->parent < TR_STACK_FIRST)
		return row->parent;
	if (row->parent < i && row->parent >= TR_STACK_FIRST &&
	    t->row[row->parent].flags & TR_STACK_READY)
		return row->parent;
	/* In a live run the caller's row may have been copied too early. */
	t->view->profile.damaged += !t->view->live || row->parent >= i;
	return TR_STACK_CUT;
}

/* Callers come first, so all rows above this one are final. */
static void pass_over_own(struct stack_tree *t, uint32_t i)
{
	struct branch *b = &t->branch[i];
	uint32_t above = b->parent;

	b->is_own = i >= TR_STACK_FIRST &&
		    tr_module_is_own(t->view, t->row[i].module);
	if (b->is_own)
		t->view->profile.own_ns += b->weight;
	if (!t->branch[above].is_own)
		return;
	if (t->branch[above].same)
		above = t->branch[above].same;
	if (!b->is_own) {
		b->parent = t->branch[above].parent;
		return;
	}
	t->branch[above].samples += b->samples;
	t->branch[above].weight += b->weight;
	t->branch[above].square += b->square;
	*b = (struct branch){ .same = above, .is_own = true };
}

static void read_rows(struct stack_tree *t)
{
	for (uint32_t i = 1; i < t->n; i++) {
		if (i >= TR_STACK_FIRST &&
		    !(t->row[i].flags & TR_STACK_READY))
			continue;
		if (!tr_profile_has_window(t->view))
			read_counts(t, i);
		t->branch[i].parent = parent_of(t, i);
		pass_over_own(t, i);
	}
}

/* The rest of a thread's time may be where no sample was. */
static bool is_used(const struct branch *b)
{
	return b->all_samples || b->all_weight > 0;
}

/* From the end: callees are complete before their caller. */
static void add_up(struct stack_tree *t)
{
	for (uint32_t i = t->n; i-- > 1;) {
		struct branch *b = &t->branch[i], *above;

		b->all_samples += b->samples;
		b->all_weight += b->weight;
		if (!b->parent || !is_used(b))
			continue;
		above = &t->branch[b->parent];
		above->all_samples += b->all_samples;
		above->all_weight += b->all_weight;
		b->next = above->first;
		above->first = i;
	}
}

uint32_t tr_stack_module(tare_view *view, const struct tr_stack *row)
{
	if (!(row->flags & TR_STACK_PYTHON))
		return tr_profile_module(view, row->module);
	return tr_python_is_sampled(view) ? view->profile.python_module :
					    TARE_NO_MODULE;
}

static void fill_stack(struct stack_tree *t, uint32_t number)
{
	struct tr_profile *p = &t->view->profile;
	const struct branch *b = &t->branch[number];
	const struct tr_stack *row = &t->row[number];
	tare_stack *s = &p->stacks[p->n_stacks];
	bool is_code = number >= TR_STACK_FIRST;
	bool is_python = row->flags & TR_STACK_PYTHON;
	bool is_exact = row->flags & TR_STACK_EXACT || is_python;

	s->parent = b->parent ? p->stack_index[b->parent] : UINT32_MAX;
	s->depth = b->parent ? p->stacks[s->parent].depth + 1 : 0;
	s->kind = is_code ? TARE_STACK_CODE : (enum tare_stack_kind)number;
	s->module = is_code ? tr_stack_module(t->view, row) : TARE_NO_MODULE;
	s->address = is_code ? row->address - !(is_exact || !row->address) : 0;
	s->samples = b->samples;
	s->weight_ns = b->weight;
	s->all_samples = b->all_samples;
	s->all_weight_ns = b->all_weight;
	s->id = number;
	p->stack_index[number] = (uint32_t)p->n_stacks++;
}

/* Pushes the callees of `from` (0: the roots); returns their number. */
static uint32_t push_children(struct stack_tree *t, uint32_t from,
			      struct tr_weighed *top)
{
	uint32_t n = 0;

	for (uint32_t i = t->branch[from].first; i; i = t->branch[i].next)
		top[n++] = (struct tr_weighed){
			.weight = t->branch[i].all_weight,
			.number = i,
		};
	tr_weighed_sort(top, n);
	return n;
}

static void fill_stacks(struct stack_tree *t)
{
	uint32_t top;

	for (uint32_t i = TR_STACK_FIRST; i-- > 1;)
		if (i < t->n && is_used(&t->branch[i])) {
			t->branch[i].next = t->branch[0].first;
			t->branch[0].first = i;
		}
	top = push_children(t, 0, t->order);
	while (top > 0) {
		uint32_t number = t->order[--top].number;

		fill_stack(t, number);
		top += push_children(t, number, t->order + top);
	}
	for (uint32_t i = TR_STACK_FIRST; i < t->n; i++)
		if (t->branch[i].same)
			t->view->profile.stack_index[i] =
				t->view->profile.stack_index[t->branch[i].same];
}

static size_t with_samples(const struct stack_tree *t)
{
	size_t n = 0;

	for (uint32_t i = 1; i < t->n; i++)
		n += is_used(&t->branch[i]);
	return n;
}

static int make_tree(struct stack_tree *t)
{
	struct tr_profile *p = &t->view->profile;
	size_t shown;

	t->branch = calloc(t->n + 1u, sizeof(*t->branch));
	p->stack_index = malloc((t->n + 1u) * sizeof(*p->stack_index));
	if (!t->branch || !p->stack_index)
		return TARE_ENOMEM;
	for (uint32_t i = 0; i < t->n; i++)
		p->stack_index[i] = UINT32_MAX;
	p->n_stack_numbers = t->n;
	if (tr_profile_has_window(t->view))
		count_window(t);
	read_rows(t);
	for (uint32_t i = 1; i < t->n; i++)
		p->square_ns2 += t->branch[i].square;
	add_up(t);
	if (tr_profile_has_window(t->view))
		sum_window(t);
	shown = with_samples(t);
	t->order = malloc((shown + 1) * sizeof(*t->order));
	p->stacks = calloc(shown + 1, sizeof(*p->stacks));
	if (!t->order || !p->stacks)
		return TARE_ENOMEM;
	fill_stacks(t);
	return 0;
}

int tr_profile_stacks(tare_view *view)
{
	struct stack_tree t = { .view = view };
	int err;

	if (view->profile.stacks)
		return 0;
	view->profile.square_ns2 = view->profile.own_ns = 0;
	t.row = rows_of(&t, &view->image, &t.n);
	if (view->has_baseline)
		t.before = rows_of(&t, &view->baseline, &t.n_before);
	err = make_tree(&t);
	free(t.branch);
	free(t.order);
	if (err) {
		free(view->profile.stacks);
		free(view->profile.stack_index);
		view->profile.stacks = NULL;
		view->profile.stack_index = NULL;
		view->profile.n_stack_numbers = 0;
	}
	return err;
}

uint32_t tr_profile_stack(const tare_view *view, uint32_t number)
{
	return number < view->profile.n_stack_numbers ?
		       view->profile.stack_index[number] :
		       UINT32_MAX;
}

TARE_API int tare_view_stacks(tare_view *view, const tare_stack **ret_stacks,
			      size_t *ret_n)
{
	int err = view && ret_stacks && ret_n ? tr_profile_stacks(view) :
						TARE_EINVAL;

	if (err)
		return err;
	*ret_stacks = view->profile.stacks;
	*ret_n = view->profile.n_stacks;
	return 0;
}
