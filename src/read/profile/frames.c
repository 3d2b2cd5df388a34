/* SPDX-License-Identifier: Apache-2.0 */
#include "read/view.h"
#include "read/profile.h"

#include <stdlib.h>
#include <string.h>

#define PLACES_MOST 64u /* as in names.c */

/* ---- hashes ------------------------------------------------------------ */

static uint32_t text_hash(const char *text, uint32_t from)
{
	uint32_t hash = from ^ 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

static uint32_t node_hash(uint32_t parent, uint32_t function)
{
	return (uint32_t)(((uint64_t)parent << 32 | function) *
				  UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

/* The array with room for one more, or NULL and it is as it was. */
static void *with_room(void *array, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t more = *cap ? *cap * 2 : 256;
	void *grown;

	if (n < *cap)
		return array;
	grown = realloc(array, more * size);
	if (grown)
		*cap = more;
	return grown;
}

/* A table of twice the size, empty; the caller fills it again. */
static bool grow_table(uint32_t **table, uint32_t *mask)
{
	uint32_t size = *table ? (*mask + 1) * 2 : 512;
	uint32_t *grown = calloc(size, sizeof(*grown));

	if (!grown)
		return false;
	free(*table);
	*table = grown;
	*mask = size - 1;
	return true;
}

/* ---- functions --------------------------------------------------------- */

static void rehash_functions(struct tr_frames *f)
{
	for (uint32_t i = 0; i < f->n_functions; i++) {
		uint32_t at = f->function[i].hash & f->function_mask;

		while (f->function_hash[at])
			at = (at + 1) & f->function_mask;
		f->function_hash[at] = i + 1;
	}
}

static bool is_same(const struct tr_frames *f, const struct tr_function *a,
		    const struct tr_function *b)
{
	if (a->hash != b->hash || strcmp(a->name, b->name) != 0)
		return false;
	return f->by_name || (a->first_line == b->first_line &&
			      strcmp(a->module, b->module) == 0);
}

static uint32_t intern_function(struct tr_frames *f,
				const struct tr_function *wanted)
{
	struct tr_function *room;
	uint32_t at, i;

	if (!f->function_hash || f->n_functions > f->function_mask / 2) {
		if (!grow_table(&f->function_hash, &f->function_mask))
			return UINT32_MAX;
		rehash_functions(f);
	}
	at = wanted->hash & f->function_mask;
	while ((i = f->function_hash[at]) != 0) {
		if (is_same(f, &f->function[i - 1], wanted))
			return i - 1;
		at = (at + 1) & f->function_mask;
	}
	room = with_room(f->function, f->n_functions, &f->cap_functions,
			 sizeof(*room));
	if (!room)
		return UINT32_MAX;
	f->function = room;
	f->function[f->n_functions] = *wanted;
	f->function_hash[at] = ++f->n_functions;
	return f->n_functions - 1;
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
	uint32_t i;

	wanted.hash = text_hash(place->function, 0);
	if (!f->by_name)
		wanted.hash = text_hash(module, wanted.hash) +
			      place->first_line;
	i = intern_function(f, &wanted);
	if (i != UINT32_MAX && place->is_inlined)
		f->function[i].is_inlined = true;
	return i;
}

/* What is no function, but has samples. */
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

static void rehash_nodes(struct tr_frames *f)
{
	for (uint32_t i = 1; i < f->n_nodes; i++) {
		const struct tr_frame_node *node = &f->node[i];
		uint32_t at = node_hash(node->parent, node->function) &
			      f->node_mask;

		while (f->node_hash[at])
			at = (at + 1) & f->node_mask;
		f->node_hash[at] = i;
	}
}

static bool make_room(struct tr_frames *f)
{
	struct tr_frame_node *room;

	if (!f->node_hash || f->n_nodes > f->node_mask / 2) {
		if (!grow_table(&f->node_hash, &f->node_mask))
			return false;
		rehash_nodes(f);
	}
	room = with_room(f->node, f->n_nodes, &f->cap_nodes, sizeof(*room));
	if (room)
		f->node = room;
	return room != NULL;
}

uint32_t tr_frames_child(struct tr_frames *f, uint32_t parent,
			 uint32_t function)
{
	uint32_t at, i;

	if (f->failed || function == UINT32_MAX || !make_room(f)) {
		f->failed = true;
		return parent;
	}
	at = node_hash(parent, function) & f->node_mask;
	while ((i = f->node_hash[at]) != 0) {
		if (f->node[i].parent == parent &&
		    f->node[i].function == function)
			return i;
		at = (at + 1) & f->node_mask;
	}
	if (f->n_nodes >= TR_FRAMES_MOST) {
		f->is_full = true;
		return parent;
	}
	i = f->n_nodes++;
	f->node[i] = (struct tr_frame_node){
		.parent = parent,
		.function = function,
		.depth = f->node[parent].depth + 1,
		.next = f->node[parent].first,
	};
	f->node[parent].first = i;
	f->node_hash[at] = i;
	return i;
}

static bool make_root(struct tr_frames *f)
{
	if (f->n_nodes)
		return true;
	if (!make_room(f))
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

static const char *module_name(const tare_view *view, uint32_t module)
{
	return module < view->profile.n_modules ?
		       view->profile.modules[module].name :
		       "";
}

uint32_t tr_frames_step(struct tr_frames *f, tare_view *view,
			const tare_stack *s, uint32_t node)
{
	tare_place place[PLACES_MOST];
	const char *module = module_name(view, s->module);
	size_t n;

	if (s->kind == TARE_STACK_WHOLE)
		return node;
	if (s->kind != TARE_STACK_CODE)
		return tr_frames_child(f, node, kind_function(f, s->kind));
	n = tare_view_places(view, s->module, s->address, place, PLACES_MOST);
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
					  0 :
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
		uint32_t node = 0;

		if (!s[i].samples)
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
	default:
		err = add_samples(frames, view, slot);
	}
	return !err && frames->failed ? TARE_ENOMEM : err;
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

struct weighed {
	double weight;
	uint32_t node;
};

/* The last is the first to be taken from the stack. */
static int lighter_first(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	return x->node > y->node ? -1 : x->node < y->node;
}

uint32_t *tr_frames_order(const struct tr_frames *frames)
{
	struct weighed *stack = calloc(frames->n_nodes + 1u, sizeof(*stack));
	uint32_t *order = calloc(frames->n_nodes + 1u, sizeof(*order));
	uint32_t top = 1, n = 0;

	if (!stack || !order) {
		free(stack);
		free(order);
		return NULL;
	}
	while (top > 0) {
		uint32_t at = stack[--top].node, more = 0;

		order[n++] = at;
		for (uint32_t i = frames->node[at].first; i;
		     i = frames->node[i].next)
			stack[top + more++] = (struct weighed){
				frames->node[i].all[0].ns +
					frames->node[i].all[1].ns, i
			};
		if (more > 1)
			qsort(stack + top, more, sizeof(*stack),
			      lighter_first);
		top += more;
	}
	free(stack);
	return order;
}

void tr_frames_release(struct tr_frames *frames)
{
	free(frames->function);
	free(frames->function_hash);
	free(frames->node);
	free(frames->node_hash);
	*frames = (struct tr_frames){ 0 };
}

/* ---- for others -------------------------------------------------------- */

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
	};
}

static int show(const struct tr_frames *f, tare_view *view)
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
	    (unsigned)from > TARE_FRAMES_ALLOC)
		return TARE_EINVAL;
	err = tr_frames_add(&frames, view, from, 0);
	if (!err) {
		tr_frames_finish(&frames);
		err = show(&frames, view);
	}
	if (!err) {
		*ret_frames = view->profile.frames;
		*ret_n = frames.n_nodes;
	}
	tr_frames_release(&frames);
	return err;
}
