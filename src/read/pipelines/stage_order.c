/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a pipeline's stages: a stage comes before the stages it passes
 * records to. Where that is unknown (between threads), the stage that had its
 * first record earlier comes first. Rows are in that order.
 */
#include "read/pipelines/stages.h"

#include <stdlib.h>

/* Beyond this number the stages keep the order of their rows. */
#define ORDERED_MOST 256u

struct order {
	const uint8_t *is_mine;
	uint32_t n;
	uint8_t *hands; /* [from * n + to] */
	uint8_t *is_placed;
};

/* Are all stages that pass records to `row` already in the order? */
static bool is_ready(const struct order *o, uint32_t row)
{
	for (uint32_t from = 0; from < o->n; from++)
		if (o->hands[from * o->n + row] && !o->is_placed[from] &&
		    o->is_mine[from])
			return false;
	return true;
}

/* UINT32_MAX: none is left. If stages form a cycle, take the first. */
static uint32_t next_of(const struct order *o)
{
	uint32_t first = UINT32_MAX;

	for (uint32_t row = 0; row < o->n; row++) {
		if (o->is_placed[row] || !o->is_mine[row])
			continue;
		if (first == UINT32_MAX)
			first = row;
		if (is_ready(o, row))
			return row;
	}
	return first;
}

static uint32_t as_they_came(const struct order *o, uint32_t *order)
{
	uint32_t n = 0;

	for (uint32_t row = 0; row < o->n; row++)
		if (o->is_mine[row])
			order[n++] = row;
	return n;
}

static uint32_t as_handed_on(const struct order *o, uint32_t *order)
{
	uint32_t n = 0, row;

	while ((row = next_of(o)) != UINT32_MAX) {
		o->is_placed[row] = 1;
		order[n++] = row;
	}
	return n;
}

int tr_stage_order(const struct tr_stages *stages, const uint8_t *is_mine,
		   uint32_t *order, uint32_t *ret_n)
{
	struct order o = { .is_mine = is_mine, .n = stages->n };
	bool is_made;

	if (stages->n > ORDERED_MOST) {
		*ret_n = as_they_came(&o, order);
		return 0;
	}
	o.hands = calloc((size_t)o.n * o.n + 1, 1);
	o.is_placed = calloc((size_t)o.n + 1, 1);
	is_made = o.hands && o.is_placed;
	if (is_made) {
		for (uint32_t i = 0; i < stages->n_edges; i++)
			o.hands[stages->edge[i].from * o.n +
				stages->edge[i].to] = 1;
		*ret_n = as_handed_on(&o, order);
	}
	free(o.hands);
	free(o.is_placed);
	return is_made ? 0 : TARE_ENOMEM;
}
