/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages: one row per stage, from its scope and the series that belong to it:
 * ratio of its name (records out and in), NAME.downstream, NAME.wait,
 * NAME.depth.
 */
#include "read/pipelines/stages.h"
#include "read/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECENT 100u

static const char *text_at(const tare_view *view, uint32_t off)
{
	return tr_image_string(&view->image, off);
}

/* ---- latencies --------------------------------------------------------- */

/* `inside_ns`: cost of a scope inside each measured time. */
static void fill_latency(const tare_view *view, const struct tr_series *s,
			 double inside_ns, tare_latency *latency)
{
	static const double q[3] = { .5, .95, .99 };
	double *to[3] = { &latency->p50, &latency->p95, &latency->p99 };
	double value[3];

	latency->n = tr_series_timed(s);
	latency->mean = latency->p50 = latency->p95 = latency->p99 =
		latency->max = NAN;
	if (!latency->n)
		return;
	latency->max = tr_most(tr_view_ns(view, s->max) - inside_ns, 0);
	latency->mean = tr_most(tr_view_ns(view, s->sum) /
						(double)latency->n -
					inside_ns,
				0);
	tr_series_quantiles(s, latency->n, q, value, 3);
	for (int i = 0; i < 3; i++)
		*to[i] = tr_least(tr_most(value[i] * 1e9 - inside_ns, 0),
				  latency->max);
}

/* ---- list of stages ---------------------------------------------------- */

static bool is_stage(const struct tr_series *s)
{
	return s->site && s->site->kind == TARE_KIND_SCOPE &&
	       s->site->flags & TARE_SITE_STAGE &&
	       !(s->site->flags & TR_SITE_INTERNAL);
}

static void start_row(struct tr_stages *stages, uint32_t id)
{
	const tare_view *view = stages->view;
	const struct tr_series *s = &view->all.series[id];
	struct tr_stage_row *row = &stages->row[stages->n];

	row->source = text_at(view, s->site->source);
	row->born = s->site->born;
	/* A call is a record. Open calls are added with their paths. */
	if (!(s->site->flags & TARE_SITE_BATCH))
		row->said_in = s->calls + s->untimed;
	row->stats = (tare_stage_stats){
		.name = text_at(view, s->site->name),
		.file = text_at(view, s->site->file),
		.line = s->site->line,
		.site = id,
		.is_pull = s->site->flags & TARE_SITE_PULL,
		.is_estimate = s->is_estimate,
		.depth_mean = NAN,
		.depth_max = NAN,
		.depth_now = NAN,
	};
	fill_latency(view, s, view->run.inside_ns, &row->stats.latency);
	stages->row_of[id] = ++stages->n;
}

static int find_rows(struct tr_stages *stages)
{
	const struct tr_gather *all = &stages->view->all;
	uint32_t n = 0;

	for (uint32_t id = 1; id < all->n_series; id++)
		n += is_stage(&all->series[id]);
	stages->row = calloc((size_t)n + 1, sizeof(*stages->row));
	stages->row_of = calloc((size_t)all->n_series + 1,
				sizeof(*stages->row_of));
	if (!stages->row || !stages->row_of)
		return TARE_ENOMEM;
	for (uint32_t id = 1; n && id < all->n_series; id++)
		if (is_stage(&all->series[id]))
			start_row(stages, id);
	return 0;
}

/* ---- other series of stages -------------------------------------------- */

static struct tr_stage_row *row_named(const struct tr_stages *stages,
				      const char *name, size_t len,
				      const char *source)
{
	for (uint32_t i = 0; i < stages->n; i++) {
		struct tr_stage_row *row = &stages->row[i];

		if (strncmp(row->stats.name, name, len) == 0 &&
		    !row->stats.name[len] && strcmp(row->source, source) == 0)
			return row;
	}
	return NULL;
}

static void add_depth(const struct tr_stages *stages,
		      const struct tr_series *s, tare_stage_stats *stats)
{
	uint64_t n = tr_series_timed(s);

	stats->depth_now = tr_gauge_now(stages->view, s->site);
	if (!n)
		return;
	stats->depth_mean = s->sum / (double)n;
	stats->depth_max = s->max;
}

enum stage_part { RECORDS, DOWNSTREAM, WAIT, DEPTH, STAGE_PARTS };

static void add_part(const struct tr_stages *stages, enum stage_part part,
		     const struct tr_series *s, struct tr_stage_row *row)
{
	switch (part) {
	case RECORDS:
		row->said_out += s->counter;
		row->said_in += s->whole;
		break;
	case DOWNSTREAM:
		fill_latency(stages->view, s, 0, &row->stats.downstream);
		break;
	case WAIT:
		fill_latency(stages->view, s, 0, &row->stats.queue);
		break;
	default:
		add_depth(stages, s, &row->stats);
	}
}

static const struct {
	const char *suffix;
	uint8_t kind;
} stage_parts[STAGE_PARTS] = {
	[RECORDS] = { "", TARE_KIND_RATIO },
	[DOWNSTREAM] = { ".downstream", TARE_KIND_SCOPE },
	[WAIT] = { ".wait", TARE_KIND_SCOPE },
	[DEPTH] = { ".depth", TARE_KIND_GAUGE },
};

/* Uses a series that belongs to a stage. */
static void try_part(struct tr_stages *stages, const struct tr_series *s,
		     enum stage_part part)
{
	const char *name = text_at(stages->view, s->site->name);
	const char *suffix = stage_parts[part].suffix;
	size_t len = strlen(name), tail = strlen(suffix);
	struct tr_stage_row *row;

	if (s->site->kind != stage_parts[part].kind || len <= tail ||
	    strcmp(name + len - tail, suffix) != 0)
		return;
	row = row_named(stages, name, len - tail,
			text_at(stages->view, s->site->source));
	if (row)
		add_part(stages, part, s, row);
}

static void find_parts(struct tr_stages *stages)
{
	const struct tr_gather *all = &stages->view->all;

	for (uint32_t id = 1; id < all->n_series; id++) {
		const struct tr_series *s = &all->series[id];

		if (!s->site || !(s->site->flags & TARE_SITE_PART))
			continue;
		for (int i = 0; i < STAGE_PARTS; i++)
			try_part(stages, s, (enum stage_part)i);
	}
}

/* The last calls of each stage, and the time of the last one. */
static int find_recent(struct tr_stages *stages)
{
	tare_view *view = stages->view;
	struct tr_gather g = {
		.now = view->now_ticks,
		.range = { .from = view->has_baseline ?
					  view->cleared_ticks + 1 :
					  0,
			  .to = UINT64_MAX,
			  .last_values = RECENT },
	};
	int err = tr_gather_add(&g, &view->image, 1);

	for (uint32_t i = 0; !err && i < stages->n; i++) {
		struct tr_stage_row *row = &stages->row[i];
		const struct tr_series *s = &g.series[row->stats.site];

		fill_latency(view, s, view->run.inside_ns,
			     &row->stats.recent);
		row->newest = s->newest;
	}
	tr_gather_release(&g);
	return err;
}

int tr_stages_take(struct tr_stages *stages, tare_view *view)
{
	int err;

	stages->view = view;
	err = find_rows(stages);
	if (err || !stages->n)
		return err;
	find_parts(stages);
	err = tr_stage_times(stages);
	return err ? err : find_recent(stages);
}

void tr_stages_release(struct tr_stages *stages)
{
	free(stages->row);
	free(stages->row_of);
	free(stages->time);
	free(stages->first);
	free(stages->edge);
}
