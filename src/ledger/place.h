/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Place: where one more measurement of a cell is counted. Used by odd.c
 * (times) and observe.c (values).
 */
#ifndef TR_LEDGER_PLACE_H
#define TR_LEDGER_PLACE_H

#include "ledger/ledger.h"

struct tr_place {
	uint32_t *bucket; /* NULL: `other` counts it */
	uint64_t *other;
	uint32_t *high; /* carry, where the bucket is full */
};

/* For a positive normal value; makes the bucket's page if needed. */
struct tr_place tr_place_find(struct tr_hand *hand, struct tr_cell *cell,
			      uint64_t bits);
/* For a zero. */
struct tr_place tr_place_zero(struct tr_hand *hand, struct tr_cell *cell);
/* What an intent must hold of it. */
uint64_t tr_place_other(const struct tr_place *place);
void tr_place_add(const struct tr_place *place);
/* Into the ring of last values, where there is one. */
TR_INLINE void tr_place_keep(struct tr_hand *hand, const struct tr_cell *cell,
			     uint64_t ticks, uint64_t value)
{
	uint32_t off = TR_LOAD(cell->values), size;
	struct tr_values *values = (void *)(hand->base + off);
	uint64_t n, at;

	/* Read once: it is 0 as soon as somebody truncates the file. */
	size = off ? TR_LOAD(values->size) : 0;
	if (!size)
		return;
	n = values->written;
	at = size & (size - 1) ? n % size : n & (size - 1);
	TR_STORE(values->at[at].ticks, ticks);
	TR_STORE(values->at[at].value, value);
	TR_PUBLISH(values->written, n + 1);
}

#endif
