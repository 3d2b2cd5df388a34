/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/write/place.h"

#include <assert.h>

struct tr_place tr_place_find(struct tr_thread *thread, struct tr_cell *cell,
			      uint64_t bits)
{
	uint32_t off = tr_cell_bucket(thread, cell, bits);
	struct tr_place place = { NULL, &thread->own_track->lost.unbucketed,
				  NULL };
	struct tr_extra *extra;

	assert(tr_thread_is_busy(thread));
	if (off) {
		place.bucket = (void *)(thread->base + off);
		if (*place.bucket == UINT32_MAX)
			place.high = tr_cell_carry(thread, cell, off);
		if (*place.bucket != UINT32_MAX || place.high)
			return place;
		place.bucket = NULL;
	}
	extra = tr_cell_extra(thread, cell);
	if (extra)
		place.other = &extra->unbucketed;
	return place;
}

struct tr_place tr_place_zero(struct tr_thread *thread, struct tr_cell *cell)
{
	struct tr_extra *extra = tr_cell_extra(thread, cell);

	assert(tr_thread_is_busy(thread));
	return (struct tr_place){ NULL,
				  extra ? &extra->zeros :
					  &thread->own_track->lost.unbucketed,
				  NULL };
}

uint64_t tr_place_other(const struct tr_place *place)
{
	return place->high ? *place->high : *place->other;
}

void tr_place_add(const struct tr_place *place)
{
	if (!place->bucket) {
		TR_STORE(*place->other, *place->other + 1);
		return;
	}
	if (place->high)
		TR_STORE(*place->high, *place->high + 1);
	TR_STORE(*place->bucket, *place->bucket + 1);
}
