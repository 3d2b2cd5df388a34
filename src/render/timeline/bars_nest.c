/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nests bars, sorted by begin, thread by thread. There are many threads and
 * more bars: instead of sorting by thread, each thread has a stack of its open
 * bars.
 */
#include "render/timeline/bars.h"

#include <stdlib.h>

#define NEST_MOST 4096u /* open bars of a thread */
#define ROWS_FIRST 64u

struct row {
	int64_t thread;
	int64_t *end; /* NULL: unused */
	uint32_t n, most;
};

struct rows {
	struct row *row;
	uint32_t n, mask;
};

static uint32_t place_of(const struct rows *rows, int64_t thread)
{
	uint32_t at = (uint32_t)((uint64_t)thread *
				 UINT64_C(0x9E3779B97F4A7C15) >> 32) &
		      rows->mask;

	while (rows->row[at].end && rows->row[at].thread != thread)
		at = (at + 1) & rows->mask;
	return at;
}

static bool grow_rows(struct rows *rows)
{
	uint32_t size = rows->row ? 2 * (rows->mask + 1) : ROWS_FIRST;
	struct rows grown = { calloc(size, sizeof(*grown.row)), rows->n,
			      size - 1 };

	if (!grown.row)
		return false;
	for (uint32_t i = 0; rows->row && i <= rows->mask; i++)
		if (rows->row[i].end)
			grown.row[place_of(&grown, rows->row[i].thread)] =
				rows->row[i];
	free(rows->row);
	*rows = grown;
	return true;
}

/* The thread's row, with room for one more bar; NULL: no memory. */
static struct row *row_of(struct rows *rows, int64_t thread)
{
	struct row *row;
	int64_t *end;

	if ((!rows->row || rows->n > rows->mask / 2) && !grow_rows(rows))
		return NULL;
	row = &rows->row[place_of(rows, thread)];
	if (row->end && row->n < row->most)
		return row;
	end = realloc(row->end, (row->most + (size_t)16) * 2 * sizeof(*end));
	if (!end)
		return NULL;
	rows->n += !row->end;
	row->thread = thread;
	row->end = end;
	row->most = (row->most + 16) * 2;
	return row;
}

/* Nests one bar into the bars that are open when it begins. */
static void nest_bar(struct tr_bar *bar, struct row *row)
{
	while (row->n && row->end[row->n - 1] <= bar->from)
		row->n--;
	if (row->n && bar->to > row->end[row->n - 1]) {
		if (bar->to - row->end[row->n - 1] > TR_BAR_JITTER_NS) {
			bar->flags |= TR_BAR_APART;
			return;
		}
		bar->to = row->end[row->n - 1];
	}
	if (row->n == NEST_MOST)
		bar->flags |= TR_BAR_APART;
	else
		row->end[row->n++] = bar->to;
}

/*
 * A step begins where the previous one ends; the two times may differ slightly.
 */
static void part_steps(struct tr_bar *step, struct tr_bar **last)
{
	if (*last && (*last)->to > step->from &&
	    (*last)->to - step->from <= TR_BAR_JITTER_NS)
		(*last)->to = step->from;
	*last = step;
}

int tr_bars_nest(struct tr_bars *bars)
{
	struct rows rows = { NULL, 0, 0 };
	struct tr_bar *last_step = NULL;
	struct row *row = NULL;
	int err = 0;

	for (size_t i = 0; i < bars->n && !err; i++) {
		struct tr_bar *bar = &bars->bar[i];

		if (bar->flags & TR_BAR_STEP)
			part_steps(bar, &last_step);
		if (bar->flags & (TR_BAR_APART | TR_BAR_STEP | TR_BAR_MOMENT))
			continue;
		if (!row || row->thread != bar->thread || row->n == row->most)
			row = row_of(&rows, bar->thread);
		if (row)
			nest_bar(bar, row);
		else
			err = TARE_ENOMEM;
	}
	for (uint32_t i = 0; rows.row && i <= rows.mask; i++)
		free(rows.row[i].end);
	free(rows.row);
	return err;
}
