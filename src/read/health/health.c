/* SPDX-License-Identifier: Apache-2.0 */
#include "read/view.h"
#include "read/profile.h"
#include "read/records.h"

#include <math.h>

#include "base/maths.h"

static void add_losses(tare_health *h, const struct tr_losses *lost)
{
	h->lost_no_track += lost->no_track;
	h->lost_no_space += lost->no_space;
	h->lost_busy += lost->busy;
	h->lost_damage += lost->damage;
	h->lost_records += lost->records;
	h->overflow_sites += lost->overflow_sites;
	h->overflow_nodes += lost->overflow_nodes;
	h->repairs += lost->repairs;
	h->stray_ends += lost->stray_ends;
	h->clock_steps += lost->clock_steps;
	h->unbucketed += lost->unbucketed;
}

static void add_trace(tare_health *h, const struct tr_track *track)
{
	uint64_t lap = (uint32_t)((track->write >> 32) - track->trace_lap);
	uint64_t cap, in_lap, kept;
	uint32_t off = (uint32_t)track->write;

	if (!track->trace.bytes)
		return;
	cap = track->trace.bytes / sizeof(struct tr_entry);
	in_lap = off >= track->log.off && off <= track->log.off +
							track->log.bytes ?
			 (off - track->log.off) / sizeof(struct tr_entry) :
			 0;
	if (track->trace.off != track->log.off) {
		h->trace_events += cap;
		h->trace_dropped += track->trace_discarded + in_lap;
		return;
	}
	kept = lap ? cap : in_lap;
	h->trace_events += kept;
	h->trace_dropped += lap * cap + in_lap - kept;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t records_in(tare_view *view)
{
	const struct tr_header *header = tr_view_header(view);
	const struct tr_block *block;
	const tare_record *records;
	uint64_t n = 0;
	size_t shown;

	/* After a clear, or with a maximum age, times must be checked. */
	if (view->has_baseline || header->max_history_age)
		return tare_view_records(view, NULL, &records, &shown) ?
			       0 :
			       shown;

	for (uint64_t at = 0;
	     (block = tr_image_next_block(&view->image, &at)) != NULL;)
		if (block->ticket)
			n += block->records;
	return least(n, header->max_history) +
	       least(tr_kept_records(view, NULL), header->max_history);
}

static uint64_t history_room(const struct tr_header *header)
{
	uint64_t most = header->max_history, count = header->block_count;

	if (most > UINT32_MAX || count >= tr_blocks_for(most))
		return 0;
	return count * TR_BLOCK_BYTES / TR_RECORD_ABOUT;
}

/* Totals over all series. */
struct taken {
	uint64_t values; /* of values and gauges, also without a bucket */
	double timed;	 /* part of them in buckets */
	double cost;	 /* of scopes and counters, in ticks */
	double squares;	 /* of the errors of `cost` */
	double guessed;	 /* part of `cost` that is not from trials */
	uint64_t tried;
};

static void add_counter(const struct tr_header *header,
			const struct tr_series *s, struct taken *taken)
{
	double cost = tr_counter_calls(s) * header->counter_ticks;

	taken->cost += cost;
	taken->guessed += cost;
}

static void add_scope(const tare_view *view, uint32_t id, struct taken *taken)
{
	const struct tr_series *s = &view->all.series[id];
	struct tr_cost cost = tr_cost_of(&view->all, tr_view_header(view), id);
	double timed = (double)s->calls, untimed = (double)s->untimed;
	double all = timed * (cost.inside + cost.outside) +
		     untimed * cost.untimed;
	double error = timed * cost.error + untimed * cost.untimed_error;

	taken->cost += all;
	if (cost.is_measured)
		taken->squares += error * error;
	else
		taken->guessed += all;
	taken->tried += cost.tried;
}

static bool is_value(const struct tr_series *s)
{
	return s->site && !(s->site->flags & TR_SITE_INTERNAL) &&
	       (s->site->kind == TARE_KIND_VALUE ||
		s->site->kind == TARE_KIND_GAUGE);
}

static uint64_t values_of(const struct tr_series *s)
{
	return tr_series_timed(s) + s->not_finite + s->positive.unbucketed;
}

static uint64_t values_in(const struct tr_gather *g)
{
	uint64_t n = 0;

	for (uint32_t id = 1; id < g->n_series; id++)
		if (is_value(&g->series[id]))
			n += values_of(&g->series[id]);
	return n;
}

static struct taken add_series(const tare_view *view)
{
	struct taken taken = { .values = 0 };

	for (uint32_t id = 1; id < view->all.n_series; id++) {
		const struct tr_series *s = &view->all.series[id];

		if (!s->site || s->site->flags & TR_SITE_INTERNAL)
			continue;
		if (s->calls | s->untimed)
			add_scope(view, id, &taken);
		else if (s->site->kind == TARE_KIND_COUNTER)
			add_counter(tr_view_header(view), s, &taken);
		if (!is_value(s))
			continue;
		taken.values += values_of(s);
		taken.timed += (double)tr_series_timed(s);
	}
	return taken;
}

/* Steps, whose time includes that of the scopes in them. */
static bool overlaps(const struct tr_gather *g, uint32_t path)
{
	uint32_t site = g->path[path].site;

	return site < g->n_series && g->series[site].site &&
	       g->series[site].site->flags & TR_SITE_OVERLAP;
}

/* Since the last clear. */
static double monitor_of(const tare_view *view)
{
	const struct tr_header *now = tr_view_header(view);
	const struct tr_header *then = (const void *)view->baseline.base;
	uint64_t ns = now->monitor_ns;

	if (view->has_baseline)
		ns = ns > then->monitor_ns ? ns - then->monitor_ns : 0;
	return (double)ns;
}

static double cost_of_functions(const struct tr_gather *g,
				const struct tr_header *header)
{
	double timed = 0, untimed = 0;

	for (uint32_t i = 1; i < g->n_paths; i++) {
		if (!tr_path_is_function(&g->path[i]))
			continue;
		timed += (double)g->path[i].calls;
		untimed += (double)g->path[i].untimed;
	}
	return timed * (header->inside_ticks + header->outside_ticks) +
	       untimed * header->added_untimed.ticks[0];
}

/* The time that was sampled; 0: none. */
static double sampled_of(tare_view *view)
{
	const tare_sampling *s = tare_view_sampling(view);

	if (!s->samples)
		return 0;
	return s->is_wall ? tr_most(s->weight_ns, s->cpu_ns) : s->cpu_ns;
}

/* Time that threads spent in their outermost scopes. */
static double busy_of(tare_view *view)
{
	const struct tr_gather *g = &view->all;
	double busy = 0;

	for (uint32_t i = g->n_paths ? g->path[0].first : 0; i;
	     i = g->path[i].next)
		if (!overlaps(g, i))
			busy += g->path[i].sum + g->path[i].open_ticks;
	return tr_view_ns(view, busy);
}

/*
 * Two estimates: calls x their cost, and samples in tare's code. The one with
 * the narrower interval counts; samples also if they show a cost that no call
 * has, such as that of tracking allocations.
 */
static void choose_estimate(tare_view *view, double error, tare_health *h)
{
	double fixed = h->monitor_ns + h->sampling_ns;
	double low = tr_most(h->measuring_calls_ns - error, 0);
	double high = h->measuring_calls_ns + error;
	struct tr_interval by;

	h->measuring_by = h->tried ? "trials" : "calibration";
	h->measuring_ns = fixed + h->measuring_calls_ns;
	if (!tr_samples_own(view, &h->measuring_samples_ns, &by)) {
		h->measuring_samples_ns = NAN;
	} else if ((by.high - by.low < high - low) || by.low > high) {
		h->measuring_by = "samples";
		h->measuring_ns = fixed + h->measuring_samples_ns;
		low = by.low;
		high = by.high;
	}
	h->measuring_low_ns = fixed + low;
	h->measuring_high_ns = fixed + high;
}

/*
 * Calls x cost, also as a share: of the time that threads spent in their
 * outermost scopes, or, if stacks are sampled, of the CPU time.
 */
static void add_cost(tare_view *view, const struct taken *taken,
		     tare_health *h)
{
	const struct tr_header *header = tr_view_header(view);
	double busy = tr_most(busy_of(view), sampled_of(view));
	double values = taken->timed * header->value_ticks +
			cost_of_functions(&view->all, header);
	double error;

	h->monitor_ns = monitor_of(view);
	h->sampling_ns = tare_view_sampling(view)->cost_ns;
	h->measuring_calls_ns = tr_view_ns(view, taken->cost + values);
	error = tr_view_ns(view, tr_maths_sqrt(taken->squares) +
					 (taken->guessed + values) / 2);
	h->tried = taken->tried;
	choose_estimate(view, error, h);
	if (busy > 0)
		h->measuring_share = tr_least(h->measuring_ns / busy, 1);
}

static struct tr_governed governed_since_clear(const tare_view *view)
{
	struct tr_governed now = tr_view_header(view)->governed;
	const struct tr_header *then = (const void *)view->baseline.base;

	if (view->has_baseline) {
		now.cost_ns -= then->governed.cost_ns;
		now.cpu_ns -= then->governed.cpu_ns;
	}
	return now;
}

/* The governor has the CPU time of the process. */
static void add_governed(tare_view *view, tare_health *h)
{
	struct tr_governed g = governed_since_clear(view);

	if (g.looks && g.cpu_ns > 0)
		h->measuring_share = tr_least(
			h->measuring_ns / tr_most(g.cpu_ns, sampled_of(view)),
			1);
	if (g.limit > 0 && g.limit <= 1)
		h->measuring_limit = g.limit;
	if (g.share >= 0 && isfinite(g.share))
		h->measuring_now = g.share;
	if (g.thread_share >= 0 && g.thread_share <= 1)
		h->measuring_thread = g.thread_share;
	h->governed = g.sites;
	h->governor_actions = g.actions;
	for (uint32_t id = 1; id < view->all.n_series; id++) {
		h->governed_ever += view->all.series[id].is_estimate;
		h->missed += view->all.series[id].missed;
	}
}

/* Calls of the series for names beyond max_sites; of counters their total. */
static uint64_t overflow_calls_of(const struct tr_gather *g)
{
	uint64_t n = 0;

	for (uint32_t id = TR_SITE_OVERFLOW;
	     id <= TARE_KIND_RATIO && id < g->n_series; id++) {
		const struct tr_series *s = &g->series[id];

		if (!s->site)
			continue;
		if (s->site->kind == TARE_KIND_SCOPE)
			n += s->calls + s->untimed;
		else if (s->site->kind == TARE_KIND_COUNTER)
			n += s->counter;
		else if (s->site->kind == TARE_KIND_RATIO)
			n += s->whole;
		else
			n += tr_series_timed(s) + s->not_finite +
			     s->positive.unbucketed;
	}
	return n;
}

/* Measurements in the baseline of the last clear. */
static uint64_t cleared_of(const tare_view *view)
{
	struct tr_gather g = { .range = { .is_all = true, .to = UINT64_MAX } };
	uint64_t n;

	if (!view->has_baseline || tr_gather_add(&g, &view->baseline, 1)) {
		tr_gather_release(&g);
		return 0;
	}
	n = g.events + values_in(&g);
	tr_gather_release(&g);
	return n;
}

TARE_API const tare_health *tare_view_health(const tare_view *const_view)
{
	tare_view *view = (tare_view *)(uintptr_t)const_view;
	const struct tr_header *header = tr_view_header(view);
	tare_health *h = &view->health;
	const struct tr_track *t;
	struct taken taken;

	*h = (tare_health){ 0 };
	add_losses(h, &header->lost);
	for (uint32_t i = 0;
	     (t = tr_image_next_track(&view->image, &i)) != NULL;) {
		add_losses(h, &t->lost);
		add_trace(h, t);
		h->threads += t->owners;
	}
	h->lost = h->lost_no_track + h->lost_no_space + h->lost_busy +
		  h->lost_damage;
	taken = add_series(view);
	h->events = view->all.events + taken.values;
	h->cleared = cleared_of(view);
	h->overflow_calls = overflow_calls_of(&view->all);
	h->redone = view->all.redone;
	/* If there is no memory to check the profile: what is known. */
	(void)tr_profile_damaged(view, false, &h->damaged);
	h->damaged += view->all.damaged;
	h->records = records_in(view);
	h->records_trimmed = header->records_trimmed;
	h->history_room = history_room(header);
	add_cost(view, &taken, h);
	add_governed(view, h);
	return h;
}
