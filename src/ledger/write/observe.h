/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observe, the common case: a positive normal value in the current slice, whose
 * bucket exists. Part of ledger/write.h.
 */
#ifndef TR_LEDGER_WRITE_OBSERVE_H
#define TR_LEDGER_WRITE_OBSERVE_H

#include "ledger/write.h"

/*
 * The bits of a double in a word that readers may read. Plain instructions for
 * doubles: through an integer register, the next addition would wait twice as
 * long for this one.
 */
#if defined(__SANITIZE_THREAD__)
#define TR_SANITIZE_THREAD 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TR_SANITIZE_THREAD 1
#endif
#endif

typedef double __attribute__((may_alias)) tr_real;

/* Only for the word's only writer. */
TR_INLINE double tr_real_own(const uint64_t *word)
{
	return *(const tr_real *)word;
}

TR_INLINE void tr_real_store(uint64_t *word, double value)
{
#ifdef TR_SANITIZE_THREAD
	__atomic_store((tr_real *)word, (tr_real *)&value, __ATOMIC_RELAXED);
#else
	*(volatile tr_real *)word = value;
#endif
}

/*
 * Approximate time of the current value: the last clock read, plus a tick for
 * each value since, so that values stay in order.
 */
TR_INLINE uint64_t tr_values_now(const struct tr_thread *thread)
{
	uint32_t left = (uint32_t)thread->values_left;

	return thread->values_ticks + (left ? TR_RUN_VALUES - left : 0);
}

/* False: nothing was changed, tr_observe() must do it. Busy. */
TR_INLINE bool tr_observe_fast(struct tr_thread *thread, struct tr_track *track,
			       uint32_t off, double value)
{
	char *base = thread->base;
	struct tr_cell *cell = (struct tr_cell *)(void *)(base + off);
	struct tr_values *values = (struct tr_values *)(void *)(base +
								cell->values);
	uint64_t bits, number, written = 0, *written_at;
	uint32_t bucket, page, size, *at;
	double sum;

	if (TR_UNLIKELY(cell->slice != thread->values_slice))
		return false;
	bits = tr_bucket_bits(value);
	/* The window never covers negative, subnormal or infinite values. */
	number = tr_bucket_page(bits) - cell->base;
	if (TR_UNLIKELY(number >= TR_CELL_PAGES))
		return false;
	page = cell->page[number];
	if (TR_UNLIKELY(!page))
		return false;
	at = (uint32_t *)(void *)(base + page + tr_bucket_offset(bits));
	bucket = *at;
	if (TR_UNLIKELY(bucket == UINT32_MAX))
		return false;
	if (values != (void *)base) {
		written = TR_LOAD(values->written);
		size = TR_LOAD(values->size);
		/* The ring must grow, or the file was truncated. */
		if (TR_UNLIKELY(written == size) || TR_UNLIKELY(!size))
			return false;
		written_at = &values->at[written & (size - 1)].ticks;
		TR_STORE(written_at[0], tr_values_now(thread));
		tr_real_store(&written_at[1], value);
	}
	sum = tr_real_own(&cell->sum);

	tr_real_store(&track->value.value, value);
	tr_real_store(&track->value.cell_sum, sum);
	TR_FENCE();
	/* Both in one store, because stores are the cost here. */
	TR_STORE(track->value.place, (uint64_t)bucket << 32 | off);
	TR_FENCE();
	tr_real_store(&cell->sum, sum + value);
	TR_STORE(*at, bucket + 1);
	if (TR_UNLIKELY(value > tr_real_own(&cell->max)))
		tr_real_store(&cell->max, value);
	if (TR_UNLIKELY(value < tr_real_own(&cell->min)))
		tr_real_store(&cell->min, value);
	if (values != (void *)base)
		TR_PUBLISH(values->written, written + 1);
	TR_FENCE();
	TR_STORE(track->value.cell, 0);
	return true;
}

#endif
