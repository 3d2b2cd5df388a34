/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Place: where the next measurement of a cell is counted. Used by drain_slow.c
 * (times) and observe.c (values).
 */
#ifndef TR_LEDGER_WRITE_PLACE_H
#define TR_LEDGER_WRITE_PLACE_H

#include "ledger/write.h"

struct tr_place {
	uint32_t *bucket; /* NULL: `other` counts it */
	uint64_t *other;
	uint32_t *high; /* carry, if the bucket is full */
};

/* For a positive normal value; creates the bucket's page if needed. */
struct tr_place tr_place_find(struct tr_thread *thread, struct tr_cell *cell,
			      uint64_t bits);
/* For a zero. */
struct tr_place tr_place_zero(struct tr_thread *thread, struct tr_cell *cell);
/* The old value that an intent must have. */
uint64_t tr_place_other(const struct tr_place *place);
void tr_place_add(const struct tr_place *place);

TR_INLINE struct tr_values *tr_ring_of(const struct tr_thread *thread,
				       const struct tr_cell *cell)
{
	uint32_t off = TR_LOAD(cell->values);

	return off ? (struct tr_values *)(void *)(thread->base + off) : NULL;
}

/* Full for the first time: it may have to grow. Also if it reads as zeros. */
TR_INLINE bool tr_ring_is_full(const struct tr_values *values)
{
	return TR_LOAD(values->written) == TR_LOAD(values->size);
}

/*
 * Lets a full ring grow, before an update is under way: an update can be
 * redone, a growth that was cut short cannot.
 */
TR_INLINE void tr_ring_ready(struct tr_thread *thread, struct tr_cell *cell)
{
	struct tr_values *values = tr_ring_of(thread, cell);

	if (values && TR_UNLIKELY(tr_ring_is_full(values)))
		tr_ring_grow(thread, cell, values);
}

/*
 * Fills the next place of a ring. NULL: there is no ring, or it reads as zeros.
 * The value counts from tr_ring_commit() on.
 */
TR_INLINE struct tr_values *tr_ring_put(const struct tr_thread *thread,
					const struct tr_cell *cell,
					uint64_t ticks, uint64_t value)
{
	struct tr_values *values = tr_ring_of(thread, cell);
	/* Read once: it becomes 0 when the file is truncated. */
	uint32_t size = values ? TR_LOAD(values->size) : 0;
	uint64_t at;

	if (!size)
		return NULL;
	at = TR_LOAD(values->written) & (size - 1);
	TR_STORE(values->at[at].ticks, ticks);
	TR_STORE(values->at[at].value, value);
	return values;
}

TR_INLINE void tr_ring_commit(struct tr_values *values)
{
	TR_PUBLISH(values->written, TR_LOAD(values->written) + 1);
}

/* Adds a time to the ring of its cell, if there is one. */
TR_INLINE void tr_place_keep(const struct tr_thread *thread,
			     const struct tr_cell *cell, uint64_t ticks,
			     uint64_t duration)
{
	struct tr_values *values = tr_ring_put(thread, cell, ticks, duration);

	if (values)
		tr_ring_commit(values);
}

#endif
