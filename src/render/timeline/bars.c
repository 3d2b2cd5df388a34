/* SPDX-License-Identifier: Apache-2.0 */
#include "render/timeline/bars.h"
#include "read/timeline.h"

#include <stdlib.h>
#include <string.h>

/* The times of a scope and of its record may differ by clock jitter. */
#define SAME_NS TR_BAR_JITTER_NS

void tr_bars_release(struct tr_bars *bars)
{
	free(bars->bar);
	bars->bar = NULL;
	bars->n = bars->most = 0;
}

static struct tr_bar *next_bar(struct tr_bars *bars)
{
	if (bars->n == bars->most) {
		size_t most = bars->most ? 2 * bars->most : 4096;
		struct tr_bar *bar = realloc(bars->bar, most * sizeof(*bar));

		if (!bar) {
			bars->failed = true;
			return NULL;
		}
		bars->bar = bar;
		bars->most = most;
	}
	return &bars->bar[bars->n++];
}

void tr_bars_add(struct tr_bars *bars, struct tr_bar bar)
{
	struct tr_bar *place;

	bar.from = tr_bar_time(bar.from);
	bar.to = tr_bar_time(bar.to);
	if (bar.from >= bars->to || bar.to < bars->from ||
	    (bar.to == bars->from && bar.from < bar.to))
		return;
	/* The previous step, which ends where the window begins. */
	if (bar.flags & TR_BAR_STEP && bar.from < bars->from &&
	    bar.to - bars->from <= TR_BAR_JITTER_NS)
		return;
	if (bar.from < bars->from || bar.to > bars->to) {
		bar.flags |= TR_BAR_CUT;
		bar.from = bar.from < bars->from ? bars->from : bar.from;
		bar.to = bar.to > bars->to ? bars->to : bar.to;
	}
	place = next_bar(bars);
	if (place)
		*place = bar;
}

static int64_t end_of(int64_t from, uint64_t duration)
{
	return duration > (uint64_t)(INT64_MAX - (from > 0 ? from : 0)) ?
		       INT64_MAX :
		       from + (int64_t)duration;
}

/* ---- events ------------------------------------------------------------ */

static bool is_wanted(const struct tr_bars *bars, const tare_event *event)
{
	const struct tr_image *image = &bars->view->image;
	const struct tr_site *site = tr_image_site(image, event->site);

	return !bars->filter ||
	       (tr_filter_has_outcome(bars->filter, !event->ok) && site &&
		tr_filter_has_site(bars->filter, image, site));
}

static void add_event(struct tr_bars *bars, const tare_event *event,
		      uint32_t flags)
{
	const struct tr_image *image = &bars->view->image;
	const struct tr_site *site = tr_image_site(image, event->site);

	if (!is_wanted(bars, event))
		return;
	if (!event->ok)
		flags |= TR_BAR_FAILED;
	if (site && site->flags & TR_SITE_OVERLAP &&
	    !(site->flags & TARE_SITE_PART))
		flags |= TR_BAR_STEP;
	else if (event->overlaps)
		flags |= TR_BAR_APART;
	tr_bars_add(bars, (struct tr_bar){
		.from = event->start_ns,
		.to = end_of(event->start_ns, event->duration_ns),
		.thread = event->thread,
		.name = event->name,
		.source = site ? tr_image_string(image, site->source) : "",
		.record = TR_NO_RECORD,
		.flags = flags,
		.depth = event->depth,
	});
}

static int add_events(struct tr_bars *bars)
{
	const tare_event *events;
	tare_event *unfinished;
	size_t n;
	int err = bars->view->events ?
			  0 :
			  tr_events_read(bars->view, bars->with_logs);

	if (!err)
		err = tare_view_events(bars->view, &events, &n);
	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		add_event(bars, &events[i], 0);
	/* Without a trace, only unfinished scopes would be drawn. */
	if (!n)
		return 0;
	err = tr_view_unfinished(bars->view, &unfinished, &n);
	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		add_event(bars, &unfinished[i], TR_BAR_OPEN);
	free(unfinished);
	return 0;
}

/* ---- operations -------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct tr_bar *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to > y->to ? -1 : 1;
	return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* Most bars are in order: checking is cheaper than sorting a million. */
static void sort_bars(struct tr_bars *bars)
{
	for (size_t i = 1; i < bars->n; i++)
		if (by_start(&bars->bar[i - 1], &bars->bar[i]) > 0) {
			qsort(bars->bar, bars->n, sizeof(*bars->bar),
			      by_start);
			return;
		}
}

static bool is_near(int64_t a, int64_t b)
{
	return a - b <= SAME_NS && b - a <= SAME_NS;
}

/* The scope's bar for this record, among the first `n`, which are sorted. */
static struct tr_bar *bar_of(const struct tr_bars *bars, size_t n,
			     const tare_record *record)
{
	int64_t from = tr_bar_time(record->start_ns);
	int64_t to = tr_bar_time(end_of(from, record->duration_ns));
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (bars->bar[middle].from < from - SAME_NS)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < n; low++) {
		struct tr_bar *bar = &bars->bar[low];

		if (bar->from > from + SAME_NS)
			return NULL;
		if (bar->record == TR_NO_RECORD &&
		    bar->thread == record->thread && is_near(bar->to, to) &&
		    strcmp(bar->name, record->name) == 0)
			return bar;
	}
	return NULL;
}

static void add_record(struct tr_bars *bars, uint32_t index, size_t n)
{
	const tare_record *record = &bars->records[index];
	bool is_moment = record->kind != TARE_RECORD_OPERATION;
	struct tr_bar *bar = is_moment ? NULL : bar_of(bars, n, record);

	if (bar) {
		bar->record = index;
		return;
	}
	tr_bars_add(bars, (struct tr_bar){
		.from = record->start_ns,
		.to = end_of(record->start_ns, record->duration_ns),
		.thread = record->thread,
		.name = record->name,
		.source = record->source,
		.record = index,
		.flags = (is_moment ? TR_BAR_MOMENT : 0) |
			 (record->ok ? 0 : TR_BAR_FAILED),
	});
}

/* Bars may begin before the window, but the filter only checks begins. */
static int add_records(struct tr_bars *bars)
{
	tare_filter filter = { .struct_size = sizeof(filter) };
	size_t n = bars->n;
	int err;

	if (bars->filter)
		filter = *bars->filter;
	filter.from_ns = filter.to_ns = 0;
	/* Values have no duration; gauges are drawn as curves. */
	filter.record_kinds = 1u << TARE_RECORD_OPERATION |
			      1u << TARE_RECORD_MEMORY |
			      1u << TARE_RECORD_GPU |
			      1u << TARE_RECORD_GOVERNOR;
	err = tare_view_records(bars->view, &filter, &bars->records,
				&bars->n_records);
	if (err)
		return err;
	if (bars->n_records >= TR_NO_RECORD)
		return TARE_EFULL;
	for (size_t i = 0; i < bars->n_records; i++)
		add_record(bars, (uint32_t)i, n);
	return 0;
}

static bool has_names(const tare_filter *filter)
{
	return filter && (filter->n_names || filter->n_sources ||
			  filter->types || filter->outcome);
}

int tr_bars_take(struct tr_bars *bars)
{
	int err = add_events(bars);

	sort_bars(bars);
	if (!err)
		err = add_records(bars);
	sort_bars(bars);
	if (!err)
		err = tr_bars_nest(bars);
	if (!err && !has_names(bars->filter))
		err = tr_bars_add_samples(bars);
	sort_bars(bars);
	if (!err && bars->failed)
		err = TARE_ENOMEM;
	if (err)
		tr_bars_release(bars);
	return err;
}
