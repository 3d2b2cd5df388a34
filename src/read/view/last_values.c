/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last values of each series, over all threads.
 *
 * Every thread keeps its own newest values of a site with their times. The
 * newest of all are chosen by time. Values (not scopes) only have the time of
 * their slice, so within one slice the order between threads is arbitrary.
 */
#include "read/view.h"

#include <assert.h>
#include <stdlib.h>

#include "base/text.h"

void tr_last_values_add(struct tr_gather *gather, struct tr_series *series,
			uint64_t ticks, uint64_t value)
{
	struct tr_last_values *last = &series->last;

	if (ticks < gather->range.from || ticks > gather->range.to)
		return;
	if (ticks > series->newest)
		series->newest = ticks;
	if (TR_ARRAY_ROOM(last->at, last->n, last->cap))
		last->at[last->n++] = (struct tr_last_value){ ticks, value };
	else
		gather->failed = true;
}

/* As for cells: rings do not overlap, so no more than fit are read. */
static bool ring_fits(struct tr_gather *gather, uint64_t size)
{
	gather->values += size;
	if (gather->values <=
	    gather->image->size / sizeof(struct tr_last_value))
		return true;
	gather->damaged++;
	return false;
}

/* A value is written before it counts. Times never decrease. */
static bool is_overwritten(const struct tr_values *values)
{
	uint64_t oldest = values->written % values->size;
	uint64_t next = (values->written + 1) % values->size;

	return values->at[oldest].ticks > values->at[next].ticks;
}

const struct tr_values *tr_last_values_ring(const struct tr_image *image,
					    const struct tr_cell *cell,
					    uint64_t *ret_n)
{
	const struct tr_values *values =
		tr_image_at(image, cell->values, sizeof(*values), 8);
	uint64_t most;

	if (!values || !values->size ||
	    !tr_image_at(image, cell->values,
			 sizeof(*values) + (uint64_t)values->size * 16, 8))
		return NULL;
	most = values->size;
	if (values->keep && values->keep < most)
		most = values->keep;
	*ret_n = values->written < most ? values->written : most;
	if (*ret_n == values->size && is_overwritten(values))
		--*ret_n;
	return values;
}

void tr_last_values_add_ring(struct tr_gather *gather, struct tr_series *series,
			     const struct tr_cell *cell)
{
	uint64_t n;
	const struct tr_values *values = tr_last_values_ring(gather->image,
							     cell, &n);

	if (!values || !ring_fits(gather, values->size))
		return;
	if (n > gather->range.last_values)
		n = gather->range.last_values;
	for (uint64_t i = values->written - n; i != values->written; i++) {
		uint64_t at = i % values->size;

		tr_last_values_add(gather, series, values->at[at].ticks,
				   values->at[at].value);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct tr_last_value *x = a, *y = b;

	return TR_ORDER(x->ticks, y->ticks);
}

static void settle(struct tr_gather *gather, struct tr_series *series)
{
	const struct tr_header *header = tr_image_header(gather->image);
	struct tr_last_values *last = &series->last;
	uint64_t most = gather->range.last_values;

	if (last->n > 1)
		qsort(last->at, last->n, sizeof(*last->at), by_time);
	for (size_t i = last->n > most ? last->n - (size_t)most : 0;
	     i < last->n; i++) {
		uint64_t ticks = last->at[i].ticks;

		if (series->site->kind == TARE_KIND_SCOPE)
			tr_gather_time(gather, series,
				       ticks - last->at[i].value,
				       last->at[i].value, false);
		else
			tr_gather_value(gather, series,
					tr_real_of(last->at[i].value),
					(uint32_t)(ticks >>
						   header->slice_shift));
	}
	free(last->at);
	*last = (struct tr_last_values){ NULL, 0, 0 };
}

void tr_last_values_sort(struct tr_gather *gather)
{
	assert(gather->range.last_values);
	for (uint32_t id = 1; id < gather->n_series; id++)
		if (gather->series[id].last.n)
			settle(gather, &gather->series[id]);
}
