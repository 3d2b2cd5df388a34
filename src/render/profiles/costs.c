/* SPDX-License-Identifier: Apache-2.0 */
#include "render/profiles/costs.h"
#include "render/profiles.h"

#include <stdlib.h>

/* ---- functions --------------------------------------------------------- */

static bool are_same(const struct tr_named_function *a,
		     const struct tr_named_function *b)
{
	return a->line == b->line && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->file, b->file) == 0 &&
	       strcmp(a->module, b->module) == 0;
}

uint32_t tr_functions_find(struct tr_functions *functions,
			   const struct tr_named_function *function)
{
	uint32_t hash = tr_hash_text(TR_HASH_FIRST, function->name), step = 0;
	uint32_t i;

	hash = tr_hash_text(hash, function->file) + function->line;
	while ((i = tr_lookup_next(&functions->by_text, hash, &step)) !=
	       TR_LOOKUP_NONE)
		if (are_same(&functions->function[i], function))
			return i;
	if (!TR_ARRAY_ROOM(functions->function, functions->n,
			   functions->cap) ||
	    !tr_lookup_add(&functions->by_text, hash, functions->n))
		return UINT32_MAX;
	functions->function[functions->n] = *function;
	return functions->n++;
}

void tr_functions_release(struct tr_functions *functions)
{
	free(functions->function);
	tr_lookup_release(&functions->by_text);
	*functions = (struct tr_functions){ .n = 0 };
}

/* ---- kinds ------------------------------------------------------------- */

const struct tr_cost_names tr_cost_names[] = {
	[TARE_FRAMES_SAMPLES] = { "samples", "samples", "cpu",
				  "nanoseconds" },
	[TARE_FRAMES_CALLS] = { "calls", "calls", "time", "nanoseconds" },
	[TARE_FRAMES_ALLOC] = { "alloc", "alloc_objects", "alloc_space",
				"bytes" },
	[TARE_FRAMES_GPU] = { "kernels", "kernels", "gpu", "nanoseconds" },
};

#define N_KINDS (sizeof(tr_cost_names) / sizeof(tr_cost_names[0]))

bool tr_costs_has_table(const char *name)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (strcmp(tr_cost_names[i].table, name) == 0)
			return true;
	return false;
}

/* ---- costs ------------------------------------------------------------- */

void tr_costs_text(struct tr_sink *sink, const char *text, bool is_stack)
{
	for (; *text; text++) {
		char *at = tr_sink_begin(sink);

		*at++ = is_stack && *text == ';'   ? ':' :
			(unsigned char)*text < ' ' ? ' ' :
						     *text;
		tr_sink_end(sink, at);
	}
}

uint64_t tr_round_carry(double value, double *carry)
{
	double sum = value + *carry;
	uint64_t whole;

	if (!(sum > 0)) {
		*carry = sum;
		return 0;
	}
	whole = sum < 9e18 ? (uint64_t)(sum + 0.5) : (uint64_t)9e18;
	*carry = sum - (double)whole;
	return whole;
}

static bool fill_cost(struct tr_call_cost *cost, const tare_frame *frame,
		      struct tr_functions *functions, double *carry)
{
	struct tr_named_function function = { frame->function, frame->file,
					      frame->module,
					      frame->first_line };
	bool is_root = frame->parent == UINT32_MAX;

	*cost = (struct tr_call_cost){
		.parent = is_root ? 0 : frame->parent,
		.depth = frame->depth,
		.function = is_root ? UINT32_MAX :
				      tr_functions_find(functions, &function),
		.ns = tr_round_carry(frame->weight, carry),
		.count = frame->samples,
	};
	return is_root || cost->function != UINT32_MAX;
}

/* Adds up rounded numbers, so that a parent is never below its children. */
static void sum_up(struct tr_call_costs *costs)
{
	for (uint32_t i = costs->n; i-- > 0;) {
		struct tr_call_cost *cost = &costs->cost[i];

		cost->all_ns += cost->ns;
		cost->all_count += cost->count;
		if (!i)
			return;
		costs->cost[cost->parent].all_ns += cost->all_ns;
		costs->cost[cost->parent].all_count += cost->all_count;
	}
}

int tr_costs_take(tare_view *view, enum tare_frames_from from,
		  struct tr_functions *functions,
		  struct tr_call_costs *ret_costs)
{
	struct tr_call_costs costs = { .from = from };
	const tare_frame *frames;
	double carry = 0;
	size_t n;
	int err = tare_view_frames(view, from, &frames, &n);

	if (err)
		return err;
	if (n >= UINT32_MAX)
		return TARE_EFULL;
	costs.cost = malloc((n + 1) * sizeof(*costs.cost));
	if (!costs.cost)
		return TARE_ENOMEM;
	for (; costs.n < n; costs.n++)
		if (!fill_cost(&costs.cost[costs.n], &frames[costs.n],
			       functions, &carry)) {
			free(costs.cost);
			return TARE_ENOMEM;
		}
	sum_up(&costs);
	*ret_costs = costs;
	return 0;
}

void tr_costs_release(struct tr_call_costs *costs)
{
	free(costs->cost);
	costs->cost = NULL;
	costs->n = 0;
}

int tr_costs_source(tare_view *view, const tare_export_options *options,
		    enum tare_frames_from *ret_from)
{
	const tare_stack *stacks;
	size_t n;
	int err = tare_view_stacks(view, &stacks, &n);

	if (err)
		return err;
	*ret_from = n ? TARE_FRAMES_SAMPLES : TARE_FRAMES_CALLS;
	for (size_t i = 0; options->table && i < N_KINDS; i++)
		if (strcmp(tr_cost_names[i].table, options->table) == 0)
			*ret_from = (enum tare_frames_from)i;
	return 0;
}

uint32_t tr_costs_path(const struct tr_call_costs *costs, uint32_t index,
		       uint32_t *path)
{
	uint32_t n = 0;

	for (; index && n < TR_PATH_MOST; index = costs->cost[index].parent)
		path[n++] = costs->cost[index].function;
	return n;
}
