/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells of a damaged ledger: a list that is a ring is not gone round for as
 * long as there is anything to spend, whatever is done at each of its cells.
 */
#include "check.h"
#include "scene.h"

#include "ledger/write.h"
#include "read/view.h"

#include <string.h>

TARE_SITE(values, TARE_KIND_VALUE, TARE_TYPE_CUSTOM, "values", "1");
TARE_SITE(gauge, TARE_KIND_GAUGE, TARE_TYPE_CUSTOM, "gauge", "1");

/* The cell of the values is the one after itself. */
static void damage(void)
{
	const struct tr_thread *thread = tr_this_thread();
	uint32_t off = thread->own_track->cells;
	struct tr_cell *cell = NULL;

	for (; off; off = cell->next) {
		cell = tr_cell_at(thread, off);
		if (cell->site == values.id)
			break;
	}
	if (CHECK(off && cell))
		cell->next = off;
}

static uint64_t timed(tare_view *view, const tare_filter *filter)
{
	const tare_stats *rows;
	size_t n = 0;

	CHECK_INT(tare_view_stats(view, filter, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].name, "values") == 0)
			return rows[i].timed;
	return 0;
}

static void read_ring(void)
{
	static const char *const options[] = { "keep_values", "4", NULL };
	tare_filter last = { .struct_size = sizeof(last),
			     .last_values = UINT32_MAX };
	tare_view *view;
	uint64_t n, fit;

	scene_start(options);
	tare_gauge_set(&gauge, 1);
	for (int i = 0; i < 4; i++)
		tare_value_observe(&values, 3.0);
	view = scene_view();
	CHECK_INT(timed(view, NULL), 4);
	CHECK_INT(timed(view, &last), 4);
	CHECK_INT(tare_view_health(view)->damaged, 0);
	tare_view_close(view);
	damage();
	view = scene_view();
	fit = view->image.size / sizeof(struct tr_cell);
	n = timed(view, NULL);
	CHECK(n >= 4 && n <= 4 * fit);
	CHECK(tare_view_health(view)->damaged > 0);
	fit = view->image.size / sizeof(struct tr_last_value);
	n = timed(view, &last);
	CHECK(n >= 4 && n <= fit);
	tare_view_close(view);
}

TEST(a_ring_of_cells_has_no_more_than_fit_into_the_ledger)
{
	scene_play(read_ring);
}
