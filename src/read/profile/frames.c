/* SPDX-License-Identifier: Apache-2.0 */
#include "read/view.h"
#include "read/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define PLACES_MOST 64u /* as in names.c */

/* ---- functions --------------------------------------------------------- */

static bool is_same(const struct tr_frames *f, const struct tr_function *a,
		    const struct tr_function *b)
{
	if (strcmp(a->name, b->name) != 0)
		return false;
	if (f->by_name)
		return true;
	return a->first_line == b->first_line &&
	       strcmp(a->module, b->module) == 0 &&
	       (strcmp(a->module, TR_PYTHON_MODULE) != 0 ||
		strcmp(a->file, b->file) == 0);
}

static uint32_t intern_function(struct tr_frames *f, uint32_t hash,
				const struct tr_function *wanted)
{
	uint32_t step = 0, i;

	while ((i = tr_lookup_next(&f->by_text, hash, &step)) !=
	       TR_LOOKUP_NONE)
		if (is_same(f, &f->function[i], wanted))
			return i;
	if (!TR_ARRAY_ROOM(f->function, f->n_functions, f->cap_functions) ||
	    !tr_lookup_add(&f->by_text, hash, f->n_functions))
		return UINT32_MAX;
	f->function[f->n_functions] = *wanted;
	return f->n_functions++;
}

uint32_t tr_frames_function(struct tr_frames *f, const tare_place *place,
			    const char *module)
{
	struct tr_function wanted = {
		.name = place->function,
		.file = place->file,
		.module = module,
		.first_line = place->first_line,
	};
	uint32_t hash = tr_hash_text(TR_HASH_FIRST, place->function), i;

	if (!f->by_name)
		hash = tr_hash_text(hash, module) + place->first_line;
	i = intern_function(f, hash, &wanted);
	if (i != UINT32_MAX && place->is_inlined)
		f->function[i].is_inlined = true;
	return i;
}

/* Entries that are no functions, but have samples. */
static uint32_t kind_function(struct tr_frames *f, enum tare_stack_kind kind)
{
	tare_place place = { .function = kind == TARE_STACK_CUT ?
						 "[stacks cut short]" :
						 "[stacks lost]",
			     .file = "" };
	uint32_t i = tr_frames_function(f, &place, "");

	if (i != UINT32_MAX)
		f->function[i].kind = kind;
	return i;
}

/* ---- nodes ------------------------------------------------------------- */

uint32_t tr_frames_child(struct tr_frames *f, uint32_t parent,
			 uint32_t function)
{
	uint32_t hash = tr_hash_pair(parent, function), step = 0, i;

	while ((i = tr_lookup_next(&f->by_parent, hash, &step)) !=
	       TR_LOOKUP_NONE)
		if (f->node[i].parent == parent &&
		    f->node[i].function == function)
			return i;
	i = f->n_nodes;
	if (i >= TR_FRAMES_MOST) {
		f->is_full = true;
		return parent;
	}
	if (f->failed || function == UINT32_MAX ||
	    !TR_ARRAY_ROOM(f->node, i, f->cap_nodes) ||
	    !tr_lookup_add(&f->by_parent, hash, i)) {
		f->failed = true;
		return parent;
	}
	f->n_nodes++;
	f->node[i] = (struct tr_frame_node){
		.parent = parent,
		.function = function,
		.depth = f->node[parent].depth + 1,
		.next = f->node[parent].first,
	};
	f->node[parent].first = i;
	return i;
}

static bool make_root(struct tr_frames *f)
{
	if (f->n_nodes)
		return true;
	if (!TR_ARRAY_ROOM(f->node, 0, f->cap_nodes))
		return false;
	f->node[0] = (struct tr_frame_node){ .function = UINT32_MAX };
	f->n_nodes = 1;
	return true;
}

void tr_frames_weigh(struct tr_frames *f, uint32_t node, unsigned slot,
		     uint64_t n, double ns)
{
	f->node[node].own[slot].n += n;
	f->node[node].own[slot].ns += ns;
}

/* ---- samples ----------------------------------------------------------- */

/*
 * Go interrupts a thread by a signal whose handler makes the interrupted code
 * call this function. The thread's timer often expires together with that
 * signal; its own signal is then delivered before the first instruction of the
 * function. The time was spent in the code that "called" it.
 */
bool tr_place_is_entry(const tare_place *place)
{
	return strcmp(place->function, "runtime.asyncPreempt") == 0 ||
	       strcmp(place->function, "runtime.asyncPreempt.abi0") == 0;
}

static bool is_python(const struct tr_frames *f, uint32_t node)
{
	return node && strcmp(f->function[f->node[node].function].module,
			      TR_PYTHON_MODULE) == 0;
}

/*
 * What the interpreter does for a Python function is not shown where it only
 * calls on; in tables of functions it is all part of that function.
 */
uint32_t tr_frames_step(struct tr_frames *f, tare_view *view,
			const tare_stack *s, uint32_t node)
{
	tare_place place[PLACES_MOST];
	const char *module = tr_module_name(view, s->module);
	size_t n;

	if (s->kind == TARE_STACK_WHOLE)
		return node;
	if (s->kind != TARE_STACK_CODE)
		return tr_frames_child(f, node, kind_function(f, s->kind));
	/* One place: the function that contains the code. */
	n = tare_view_places(view, s->module, s->address, place,
			     f->folds_inlined ? 1 : PLACES_MOST);
	if (n == 1 && tr_place_is_entry(&place[0]))
		return node;
	if (tr_python_is_interpreter(view, module) &&
	    (tr_python_is_plumbing(place[n - 1].function) ||
	     (f->folds_inlined && !f->folds_runtime && is_python(f, node))))
		return node;
	if (f->folds_runtime)
		return tr_fold_step(f, view, s, node);
	for (size_t i = 0; i < n; i++)
		node = tr_frames_child(f, node,
				tr_frames_function(f,
						   &place[f->is_reverse ?
								  i :
								  n - 1 - i],
						   module));
	return node;
}

static int add_forward(struct tr_frames *f, tare_view *view,
		       const tare_stack *s, size_t n, unsigned slot)
{
	uint32_t *node = malloc((n + 1) * sizeof(*node));

	if (!node)
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		node[i] = tr_frames_step(f, view, &s[i],
				  s[i].parent == UINT32_MAX ?
					  f->top :
					  node[s[i].parent]);
		tr_frames_weigh(f, node[i], slot, s[i].samples, s[i].weight_ns);
	}
	free(node);
	return 0;
}

static void add_reverse(struct tr_frames *f, tare_view *view,
			const tare_stack *s, size_t n, unsigned slot)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t node = f->top;

		if (!s[i].samples && !(s[i].weight_ns > 0))
			continue;
		for (size_t k = i; k != UINT32_MAX; k = s[k].parent)
			node = tr_frames_step(f, view, &s[k], node);
		tr_frames_weigh(f, node, slot, s[i].samples, s[i].weight_ns);
	}
}

static int add_samples(struct tr_frames *f, tare_view *view, unsigned slot)
{
	const tare_stack *stacks;
	size_t n;
	int err = tare_view_stacks(view, &stacks, &n);

	if (err)
		return err;
	if (!make_root(f))
		return TARE_ENOMEM;
	if (f->is_reverse)
		add_reverse(f, view, stacks, n, slot);
	else
		err = add_forward(f, view, stacks, n, slot);
	return !err && f->failed ? TARE_ENOMEM : err;
}

/* ---- all --------------------------------------------------------------- */

int tr_frames_add(struct tr_frames *frames, tare_view *view,
		  enum tare_frames_from from, unsigned slot)
{
	int err;

	if (!make_root(frames))
		return TARE_ENOMEM;
	switch (from) {
	case TARE_FRAMES_CALLS:
		err = tr_frames_add_calls(frames, view, slot);
		break;
	case TARE_FRAMES_ALLOC:
		err = tr_frames_add_allocs(frames, view, slot);
		break;
	case TARE_FRAMES_GPU:
		err = tr_frames_add_gpu(frames, view, slot);
		break;
	default:
		err = add_samples(frames, view, slot);
	}
	return !err && frames->failed ? TARE_ENOMEM : err;
}

/* The frame of a program, below which its own ones are. */
static uint32_t program_node(struct tr_frames *frames, const tare_view *view)
{
	tare_place place = { .function = view->run.program, .file = "" };

	return tr_frames_child(frames, 0,
			       tr_frames_function(frames, &place, ""));
}

int tr_frames_add_joined(struct tr_frames *frames, tare_view *view,
			 enum tare_frames_from from, unsigned slot)
{
	size_t n = tr_views_n(view);
	int err = 0;

	if (!make_root(frames))
		return TARE_ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		tare_view *one = tr_views_at(view, i);

		frames->top = n > 1 ? program_node(frames, one) : 0;
		err = tr_frames_add(frames, one, from, slot);
	}
	frames->top = 0;
	return err;
}

/* Children are made after their parents: one pass from the end. */
void tr_frames_finish(struct tr_frames *frames)
{
	for (uint32_t i = frames->n_nodes; i-- > 0;) {
		struct tr_frame_node *node = &frames->node[i];

		for (unsigned slot = 0; slot < 2; slot++) {
			node->all[slot].n += node->own[slot].n;
			node->all[slot].ns += node->own[slot].ns;
			if (!i)
				continue;
			frames->node[node->parent].all[slot].n +=
				node->all[slot].n;
			frames->node[node->parent].all[slot].ns +=
				node->all[slot].ns;
		}
	}
}

static int lighter_first(const void *a, const void *b)
{
	const struct tr_weighed *x = a, *y = b;
	int order = TR_ORDER(x->weight, y->weight);

	if (!order)
		order = TR_ORDER(x->calls, y->calls);
	return order ? order : TR_ORDER(y->number, x->number);
}

void tr_weighed_sort(struct tr_weighed *at, uint32_t n)
{
	if (n > 1)
		qsort(at, n, sizeof(*at), lighter_first);
}

uint32_t *tr_frames_order(const struct tr_frames *frames)
{
	struct tr_weighed *stack = calloc(frames->n_nodes + 1u, sizeof(*stack));
	uint32_t *order = calloc(frames->n_nodes + 1u, sizeof(*order));
	uint32_t top = 1, n = 0;

	if (!stack || !order) {
		free(stack);
		free(order);
		return NULL;
	}
	while (top > 0) {
		uint32_t at = stack[--top].number, more = 0;

		order[n++] = at;
		for (uint32_t i = frames->node[at].first; i;
		     i = frames->node[i].next)
			stack[top + more++] = (struct tr_weighed){
				.weight = frames->node[i].all[0].ns +
					  frames->node[i].all[1].ns,
				.number = i,
			};
		tr_weighed_sort(stack + top, more);
		top += more;
	}
	free(stack);
	return order;
}

void tr_frames_release(struct tr_frames *frames)
{
	free(frames->function);
	tr_pool_release(&frames->texts);
	tr_lookup_release(&frames->by_text);
	free(frames->node);
	tr_lookup_release(&frames->by_parent);
	*frames = (struct tr_frames){ 0 };
}

/* ---- results ----------------------------------------------------------- */

static void fill_frame(const struct tr_frames *f, uint32_t at,
		       const uint32_t *place, tare_frame *out)
{
	static const struct tr_function all = { .name = "all", .file = "",
						.module = "",
						.kind = TARE_STACK_WHOLE };
	const struct tr_frame_node *node = &f->node[at];
	const struct tr_function *function =
		at ? &f->function[node->function] : &all;

	*out = (tare_frame){
		.parent = at ? place[node->parent] : UINT32_MAX,
		.depth = node->depth,
		.kind = function->kind,
		.function = function->name,
		.file = function->file,
		.first_line = function->first_line,
		.module = function->module,
		.is_inlined = function->is_inlined,
		.samples = node->own[0].n,
		.weight = node->own[0].ns,
		.all_samples = node->all[0].n,
		.all_weight = node->all[0].ns,
		.is_runtime = function->is_runtime,
	};
}

int tr_frames_show(const struct tr_frames *f, tare_view *view)
{
	uint32_t *order = tr_frames_order(f);
	uint32_t *place = calloc(f->n_nodes + 1u, sizeof(*place));

	free(view->profile.frames);
	view->profile.frames = calloc(f->n_nodes + 1u,
				      sizeof(*view->profile.frames));
	if (!order || !place || !view->profile.frames) {
		free(order);
		free(place);
		return TARE_ENOMEM;
	}
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		place[order[i]] = i;
		fill_frame(f, order[i], place, &view->profile.frames[i]);
	}
	free(order);
	free(place);
	return 0;
}

TARE_API int tare_view_frames(tare_view *view, enum tare_frames_from from,
			      const tare_frame **ret_frames, size_t *ret_n)
{
	struct tr_frames frames = { 0 };
	int err;

	if (!view || !ret_frames || !ret_n ||
	    (unsigned)from > TARE_FRAMES_GPU)
		return TARE_EINVAL;
	err = tr_frames_add_joined(&frames, view, from, 0);
	if (!err) {
		tr_frames_finish(&frames);
		err = tr_frames_show(&frames, view);
	}
	if (!err) {
		*ret_frames = view->profile.frames;
		*ret_n = frames.n_nodes;
	}
	tr_frames_release(&frames);
	return err;
}
