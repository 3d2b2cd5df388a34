/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timeline: the values of gauges over time. Single values if `keep_values` has
 * them, before those the means of closed time slices. The last point is the
 * current value, or that of the current slice.
 */
#include "read/view.h"
#include "read/stats.h"
#include "read/timeline.h"

#include <math.h>
#include <stdlib.h>

#include "base/text.h"

struct timeline {
	tare_view *view;
	struct tr_point *point;
	size_t n, most;
	uint64_t left;	/* steps that an undamaged ledger can need */
	bool to_now;	/* ends with the current value */
	bool failed;
};

static void add_point(struct timeline *line, uint32_t site, uint64_t ticks,
		      double value)
{
	line->failed |= !TR_ARRAY_ROOM(line->point, line->n, line->most);
	if (line->failed)
		return;
	line->point[line->n++] = (struct tr_point){
		.at_ns = tr_time_real(&line->view->image, ticks),
		.site = site,
		.value = value,
	};
}

/* Adds the single values. Ticks of the oldest; UINT64_MAX: there is none. */
static uint64_t add_values(struct timeline *line, const struct tr_cell *cell)
{
	uint64_t n, first = UINT64_MAX;
	const struct tr_values *values =
		tr_last_values_ring(&line->view->image, cell, &n);

	if (!values || values->size > line->left)
		return first;
	line->left -= values->size;
	for (uint64_t i = values->written - n; i != values->written; i++) {
		uint64_t at = i % values->size;

		if (first == UINT64_MAX)
			first = values->at[at].ticks;
		add_point(line, cell->site, values->at[at].ticks,
			  tr_real_of(values->at[at].value));
	}
	return first;
}

/* The mean. With negative values, whose count is separate, min/max middle. */
static double value_of(const struct tr_slice *s)
{
	double min = tr_real_of(s->min), max = tr_real_of(s->max);

	if (s->count && min >= 0)
		return tr_real_of(s->sum) / (double)s->count;
	return min / 2 + max / 2;
}

static void add_closed(struct timeline *line, const struct tr_cell *cell,
		       uint32_t off, uint64_t before)
{
	const struct tr_slice *s = tr_image_at(&line->view->image, off,
					       sizeof(*s), 8);
	uint64_t from;

	if (!s || !line->left)
		return;
	line->left--;
	from = (uint64_t)s->from << tr_view_header(line->view)->slice_shift;
	if (from < before)
		add_point(line, cell->site, from, value_of(s));
}

static void add_tiers(struct timeline *line, const struct tr_cell *cell,
		      uint64_t before)
{
	const struct tr_closed *closed =
		tr_image_at(&line->view->image, cell->closed,
			    sizeof(*closed), 8);

	if (!closed)
		return;
	for (unsigned tier = 0; tier < TR_TIERS; tier++) {
		unsigned head = closed->marks >> (16 * tier) & 255;
		unsigned i = closed->marks >> (16 * tier + 8) & 255;

		if (((head - i) & 255) > TR_TIER_SLOTS)
			continue;
		for (; i != head; i = (i + 1) & 255)
			add_closed(line, cell,
				   closed->slot[tier][i % TR_TIER_SLOTS],
				   before);
	}
}

/* The current slice has no count. With one value, the middle is that value. */
static void add_present(struct timeline *line, const struct tr_cell *cell,
			uint64_t before)
{
	uint64_t from = (uint64_t)cell->slice
			<< tr_view_header(line->view)->slice_shift;
	double min = tr_real_of(cell->min), max = tr_real_of(cell->max);

	if (from < before && isfinite(min) && isfinite(max) && min <= max)
		add_point(line, cell->site, from, min / 2 + max / 2);
}

static void add_cell(struct timeline *line, const struct tr_cell *cell)
{
	uint64_t before = add_values(line, cell);

	add_tiers(line, cell, before);
	if (!line->to_now)
		add_present(line, cell, before);
}

static bool is_shown(const struct tr_site *site)
{
	return site->kind == TARE_KIND_GAUGE &&
	       !(site->flags & TR_SITE_INTERNAL);
}

static void add_cells(struct timeline *line, const struct tr_track *track)
{
	const struct tr_image *image = &line->view->image;
	uint32_t off = track->cells;

	while (off && line->left && !line->failed) {
		const struct tr_cell *cell =
			tr_image_at(image, off, sizeof(*cell), 8);
		const struct tr_site *site =
			cell ? tr_image_site(image, cell->site) : NULL;

		if (!site)
			return;
		line->left--;
		if (is_shown(site))
			add_cell(line, cell);
		off = cell->next;
	}
}

static void add_last(struct timeline *line)
{
	const struct tr_image *image = &line->view->image;

	for (uint32_t id = TR_SITE_FIRST; id < tr_image_sites(image); id++) {
		const struct tr_site *site = tr_image_site(image, id);

		if (site && is_shown(site))
			add_point(line, id, line->view->now_ticks,
				  tr_gauge_now(line->view, site));
	}
}

static int by_moment(const void *a, const void *b)
{
	const struct tr_point *x = a, *y = b;
	int order = TR_ORDER(x->at_ns, y->at_ns);

	return order ? order : TR_ORDER(x->site, y->site);
}

int tr_view_points(tare_view *view, bool to_now,
		   struct tr_point **ret_points, size_t *ret_n)
{
	struct timeline line = { .view = view, .to_now = to_now,
				 .left = 4096 + view->image.size / 8 };
	const struct tr_track *track;

	for (uint32_t i = 0;
	     (track = tr_image_next_track(&view->image, &i)) != NULL;)
		add_cells(&line, track);
	if (to_now)
		add_last(&line);
	if (line.failed) {
		free(line.point);
		return TARE_ENOMEM;
	}
	if (line.n)
		qsort(line.point, line.n, sizeof(*line.point), by_moment);
	*ret_points = line.point;
	*ret_n = line.n;
	return 0;
}
