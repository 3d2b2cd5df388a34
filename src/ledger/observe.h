/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observe, the common case: a positive normal value, in the present slice,
 * whose bucket exists. Part of ledger.h.
 */
#ifndef TR_LEDGER_OBSERVE_H
#define TR_LEDGER_OBSERVE_H

/* Bits of doubles: zero and denormals lie below, infinities and NaN above. */
#define TR_LEAST_NORMAL UINT64_C(0x0010000000000000)
#define TR_INFINITE UINT64_C(0x7ff0000000000000)

/* False: nothing was changed, tr_observe() must do it. Busy. */
TR_INLINE bool tr_observe_fast(struct tr_hand *hand, struct tr_track *track,
			       uint32_t off, double value)
{
	char *base = hand->base;
	struct tr_cell *cell = (struct tr_cell *)(void *)(base + off);
	union {
		double value;
		uint64_t bits;
	} v = { value }, sum, least, most;
	uint64_t bits, number;
	uint32_t bucket, page, *at;

	if (TR_UNLIKELY(v.bits - TR_LEAST_NORMAL >=
			TR_INFINITE - TR_LEAST_NORMAL) ||
	    TR_UNLIKELY(cell->slice != hand->values_slice))
		return false;
	bits = tr_bucket_bits(value);
	number = (bits >> 51) - cell->base;
	if (TR_UNLIKELY(number >= TR_CELL_PAGES))
		return false;
	page = cell->page[number];
	if (TR_UNLIKELY(!page))
		return false;
	at = (uint32_t *)(void *)(base + page + (bits >> 45 & 60));
	bucket = TR_LOAD(*at);
	if (TR_UNLIKELY(bucket == UINT32_MAX))
		return false;
	sum.bits = TR_LOAD(cell->sum);

	TR_STORE(track->value.value, v.bits);
	TR_STORE(track->value.cell_sum, sum.bits);
	TR_STORE(track->value.bucket, bucket);
	TR_FENCE();
	TR_STORE(track->value.cell, off);
	TR_FENCE();
	sum.value += value;
	TR_STORE(cell->sum, sum.bits);
	TR_STORE(*at, bucket + 1);
	most.bits = TR_LOAD(cell->max);
	if (TR_UNLIKELY(value > most.value))
		TR_STORE(cell->max, v.bits);
	least.bits = TR_LOAD(cell->min);
	if (TR_UNLIKELY(value < least.value))
		TR_STORE(cell->min, v.bits);
	TR_FENCE();
	TR_STORE(track->value.cell, 0);
	return true;
}

#endif
