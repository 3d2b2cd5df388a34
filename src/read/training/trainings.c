/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trainings: the rows of epochs in a ledger.
 *
 * A row counts if its begin and end have the same number. Rows of a ring are
 * sorted by their numbers. Totals of the whole run are in the newest row.
 */
#include <tare/read/train.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "read/view.h"
#include "read/training.h"

#define TRAINING_PAIRS 64u /* as many as the recorder stores */
#define TRAINING_NUMBER (UINT64_C(1) << 53)

struct tr_trainings {
	tare_training_info *info;
	size_t n;
	uint64_t pages_left; /* that the ledger can have at most */
	struct tr_pool pool; /* rows, pairs */
};

static const struct tr_training *training_at(const tare_view *view,
					     uint32_t off)
{
	const struct tr_training *head = tr_image_at(&view->image, off,
						     sizeof(*head), 8);

	return head && head->ready == 1 ? head : NULL;
}

/* ---- rows -------------------------------------------------------------- */

static bool is_row(const struct tr_training_row *row)
{
	double seconds = tr_real_of(row->run[0]);

	return row->begin && row->begin == row->end &&
	       row->begin < TRAINING_NUMBER && seconds >= 0 &&
	       isfinite(seconds);
}

static const struct tr_training_page *page_at(const tare_view *view,
					      uint32_t off)
{
	return tr_image_at(&view->image, off, sizeof(struct tr_training_page),
			   8);
}

/*
 * Finds the rows in at most `most` pages; also gives the number of pages. Only
 * counts if `ret` is NULL.
 */
static size_t find_rows(const tare_view *view, const struct tr_training *head,
			const struct tr_training_row **ret, uint64_t most,
			uint64_t *ret_pages)
{
	uint32_t off = head->rows;
	uint64_t pages = 0;
	size_t n = 0;

	if (most > head->n_pages)
		most = head->n_pages;
	while (off && pages < most) {
		const struct tr_training_page *page = page_at(view, off);

		if (!page)
			break;
		pages++;
		for (unsigned i = 0; i < TR_TRAINING_ROWS; i++)
			if (is_row(&page->row[i])) {
				if (ret)
					ret[n] = &page->row[i];
				n++;
			}
		off = page->next;
		if (off == head->rows)
			break;
	}
	*ret_pages = pages;
	return n;
}

static int by_number(const void *a, const void *b)
{
	const struct tr_training_row *x = *(const void *const *)a;
	const struct tr_training_row *y = *(const void *const *)b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static tare_run_row run_row(const struct tr_training_row *from)
{
	tare_run_row row = { .epoch = from->epoch };

	for (unsigned i = 0; i < TR_TRAINING_COLUMNS; i++)
		*tr_row_at(&row, i) = tr_real_of(from->run[i]);
	return row;
}

/* Scores are those of the run. */
static tare_run_row own_row(const struct tr_training_row *from)
{
	tare_run_row row = run_row(from);

	for (unsigned i = 0; i < TR_TRAINING_OWN; i++)
		*tr_row_at(&row, tr_worker_column(i)) =
			tr_real_of(from->own[i]);
	return row;
}

static void fill_totals(tare_view *view, tare_training_info *info,
			const struct tr_training_row *newest)
{
	double total = tr_real_of(newest->total);

	info->n_epochs = newest->begin;
	info->total_training_time = total >= 0 && isfinite(total) ? total : 0;
	info->peak_memory_mb =
		tr_real_of(newest->run[TR_COLUMN_peak_memory_mb]);
	info->columns = newest->columns &
			((1u << TR_TRAINING_COLUMNS) - 1);
	info->samples = newest->samples;
	info->end_ns = tr_time_real(&view->image, newest->ticks);
}

/* ---- phases ------------------------------------------------------------ */

/* A stored time; NAN if the bits are not a valid time. */
static double seconds_of(uint64_t bits)
{
	double seconds = tr_real_of(bits);

	return seconds >= 0 && isfinite(seconds) ? seconds : NAN;
}

static const char *name_of(struct tr_trainings *all,
			   const struct tr_training_phase *phase)
{
	char *name = tr_pool_take(&all->pool, TR_TRAINING_NAME + 1);

	if (!name)
		return NULL;
	memcpy(name, phase->name, TR_TRAINING_NAME);
	name[TR_TRAINING_NAME] = '\0';
	return name;
}

static bool fill_part(struct tr_trainings *all,
		      const struct tr_training_phase *phase, unsigned copy,
		      tare_training_info *info, tare_training_part *parts)
{
	const struct tr_training_sums *sums = &phase->sums[copy];
	const char *name;

	if (!sums->calls)
		return true;
	name = name_of(all, phase);
	if (!name)
		return false;
	parts[info->n_parts++] = (tare_training_part){
		.name = name,
		.seconds = seconds_of(sums->seconds),
		.last_seconds = seconds_of(sums->last_seconds),
		.calls = sums->calls,
	};
	return true;
}

/* From the copy that belongs to the newest row. */
static bool fill_parts(tare_view *view, struct tr_trainings *all,
		       const struct tr_training *head, uint64_t newest,
		       tare_training_info *info)
{
	const struct tr_training_phases *from =
		tr_image_at(&view->image, head->phases, sizeof(*from), 8);
	unsigned copy = newest & 1;
	tare_training_part *parts;

	if (!from || from->number[copy] != newest ||
	    from->n > TR_TRAINING_PHASES)
		return true;
	parts = tr_pool_take(&all->pool, from->n * sizeof(*parts) + 1);
	if (!parts)
		return false;
	info->parts = parts;
	info->broadcast_time = seconds_of(from->part[copy][0]);
	info->gradient_aggregation_time = seconds_of(from->part[copy][1]);
	info->last_broadcast_time = seconds_of(from->part[copy][2]);
	info->last_gradient_aggregation_time =
		seconds_of(from->part[copy][3]);
	for (uint32_t i = 0; i < from->n; i++)
		if (!fill_part(all, &from->phase[i], copy, info, parts))
			return false;
	return true;
}

static bool fill_rows(tare_view *view, struct tr_trainings *all,
		      const struct tr_training *head,
		      tare_training_info *info)
{
	uint64_t pages;
	size_t n = find_rows(view, head, NULL, all->pages_left, &pages);
	const struct tr_training_row **found;
	tare_run_row *rows;

	/* A page belongs to one training, so damage cannot multiply pages. */
	all->pages_left -= pages;
	if (!n)
		return true;
	found = tr_pool_take(&all->pool, n * sizeof(const void *));
	rows = tr_pool_take(&all->pool, 2 * n * sizeof(*rows));
	if (!found || !rows)
		return false;
	(void)find_rows(view, head, found, pages, &pages);
	qsort(found, n, sizeof(const void *), by_number);
	info->rows = rows;
	info->own = rows + n;
	for (size_t i = 0; i < n; i++) {
		if (i && found[i]->begin == found[i - 1]->begin)
			continue; /* damage */
		rows[info->n_rows] = run_row(found[i]);
		rows[n + info->n_rows++] = own_row(found[i]);
	}
	fill_totals(view, info, found[n - 1]);
	return fill_parts(view, all, head, found[n - 1]->begin, info);
}

/* ---- the rest ---------------------------------------------------------- */

static bool fill_pairs(tare_view *view, struct tr_trainings *all,
		       const struct tr_training *head,
		       tare_training_info *info)
{
	size_t n = 2 * (size_t)head->n_pairs;
	const uint32_t *offs = tr_image_at(&view->image, head->pairs,
					   n * sizeof(*offs), 4);
	const char **pairs;

	if (!n || head->n_pairs > TRAINING_PAIRS || !offs)
		return true;
	pairs = tr_pool_take(&all->pool, n * sizeof(*pairs));
	if (!pairs)
		return false;
	for (size_t i = 0; i < n; i++)
		pairs[i] = tr_image_string(&view->image, offs[i]);
	info->pairs = pairs;
	info->n_pairs = head->n_pairs;
	return true;
}

static bool fill_info(tare_view *view, struct tr_trainings *all,
		      const struct tr_training *head)
{
	tare_training_info *info = &all->info[all->n];

	*info = (tare_training_info){
		.config = tr_image_string(&view->image, head->config),
		.worker = head->worker,
		.workers = head->workers,
		.epochs = head->epochs,
		.peak_memory_mb = NAN,
		.csv = tr_image_string(&view->image, head->csv),
		.events = tr_image_string(&view->image, head->events),
		.start_ns = tr_time_real(&view->image, head->start),
		.is_closed = head->closed != 0,
		.broadcast_time = NAN,
		.gradient_aggregation_time = NAN,
		.last_broadcast_time = NAN,
		.last_gradient_aggregation_time = NAN,
	};
	all->n++;
	return fill_pairs(view, all, head, info) &&
	       fill_rows(view, all, head, info);
}

static size_t count_trainings(const tare_view *view)
{
	const struct tr_header *header = (const void *)view->image.base;
	uint32_t off = header->trainings;
	const struct tr_training *head;
	size_t n = 0;

	/* Bounded by the most that the ledger can have, in case of a cycle. */
	while (n < view->image.size / sizeof(*head) &&
	       (head = training_at(view, off))) {
		n++;
		off = head->next;
	}
	return n;
}

static bool read_trainings(tare_view *view, struct tr_trainings *all)
{
	const struct tr_header *header = (const void *)view->image.base;
	size_t n = count_trainings(view);
	uint32_t off = header->trainings;
	const struct tr_training **heads;
	bool done = true;

	if (!n)
		return true;
	all->info = calloc(n, sizeof(*all->info));
	heads = tr_pool_take(&all->pool, n * sizeof(const void *));
	if (!all->info || !heads)
		return false;
	all->pages_left = view->image.size / sizeof(struct tr_training_page);
	for (size_t i = n; i--; off = heads[i]->next)
		heads[i] = training_at(view, off);
	for (size_t i = 0; i < n && done; i++)
		done = fill_info(view, all, heads[i]);
	return done;
}

static void release(struct tr_trainings *all)
{
	if (!all)
		return;
	free(all->info);
	tr_pool_release(&all->pool);
	free(all);
}

static void release_view(tare_view *view)
{
	release(view->trainings);
}

TARE_API size_t tare_view_trainings(tare_view *view,
				    const tare_training_info **ret_trainings)
{
	if (!view || !ret_trainings)
		return 0;
	if (!view->trainings) {
		struct tr_trainings *all = calloc(1, sizeof(*all));

		if (!all || !read_trainings(view, all)) {
			release(all);
			return 0;
		}
		view->trainings = all;
		view->release_trainings = release_view;
	}
	*ret_trainings = view->trainings->info;
	return view->trainings->n;
}
