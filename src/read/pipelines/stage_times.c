/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage times: a stage's own time, and that of the stages it calls or asks.
 *
 * Computed from the call paths, track by track. Other scopes inside a stage are
 * part of its own time; stages inside it and waiting are not. Threads are kept
 * separate, because of parallel threads only the busiest limits a pipeline.
 */
#include "read/pipelines/stages.h"

#include <stdlib.h>

/* What is known about a path. */
struct on_path {
	uint32_t nearest; /* path of the stage around it; 0: none */
	uint32_t track;	  /* root path of its track */
	double stages;	  /* ticks in the nearest stages inside it */
	double waits;	  /* ticks of waiting */
};

struct paths {
	struct tr_stages *stages;
	struct tr_gather g;
	struct tr_times *times;
	struct on_path *at;
};

static const struct tr_site *site_of(const struct paths *p, uint32_t path)
{
	uint32_t id = p->g.path[path].site;

	return path && id < p->g.n_series ? p->g.series[id].site : NULL;
}

/* Row + 1 of a path that is a stage; 0: it is not. */
static uint32_t row_at(const struct paths *p, uint32_t path)
{
	return site_of(p, path) ? p->stages->row_of[p->g.path[path].site] : 0;
}

static bool is_wait(const struct paths *p, uint32_t path)
{
	const struct tr_site *site = site_of(p, path);

	return site && site->kind == TARE_KIND_SCOPE &&
	       site->flags & TARE_SITE_PART &&
	       !(site->flags & TR_SITE_OVERLAP);
}

/* ---- gathering --------------------------------------------------------- */

static int gather(struct paths *p)
{
	tare_view *view = p->stages->view;
	int err;

	p->g.now = view->now_ticks;
	p->g.range.is_all = true;
	p->g.range.by_track = true;
	p->g.range.to = UINT64_MAX;
	err = tr_gather_view(&p->g, view);
	if (err)
		return err;
	/* As everywhere: untimed calls take as long as the timed ones. */
	tr_estimate_paths(&p->g, &view->all);
	p->times = calloc(p->g.n_paths + 1, sizeof(*p->times));
	p->at = calloc(p->g.n_paths + 1, sizeof(*p->at));
	return p->times && p->at ? 0 : TARE_ENOMEM;
}

/* ---- nesting of stages ------------------------------------------------- */

/* Parents have smaller indices than their children. */
static void look_up(struct paths *p)
{
	for (uint32_t i = 1; i < p->g.n_paths; i++) {
		uint32_t parent = p->g.path[i].parent;

		p->at[i].track = parent ? p->at[parent].track : i;
		p->at[i].nearest = row_at(p, parent) ? parent :
						       p->at[parent].nearest;
	}
}

static void look_down(struct paths *p)
{
	for (uint32_t i = p->g.n_paths; i-- > 1;) {
		struct on_path *above = &p->at[p->g.path[i].parent];

		if (row_at(p, i)) {
			above->stages += p->times[i].net_total;
		} else if (is_wait(p, i)) {
			above->waits += p->times[i].net_total;
		} else {
			above->stages += p->at[i].stages;
			above->waits += p->at[i].waits;
		}
	}
}

static bool is_inside_itself(const struct paths *p, uint32_t path)
{
	uint32_t row = row_at(p, path), a = p->at[path].nearest;

	for (; a; a = p->at[a].nearest)
		if (row_at(p, a) == row)
			return true;
	return false;
}

/* ---- rows -------------------------------------------------------------- */

static double ns_of(const struct paths *p, double ticks)
{
	return tr_view_ns(p->stages->view, ticks);
}

/* The share of `records` that belongs to this path's part of a row's calls. */
static double part_of(const struct paths *p, uint32_t path, uint64_t records)
{
	const struct tr_path *it = &p->g.path[path];
	const struct tr_series *s = &p->stages->view->all.series[it->site];
	double all = (double)s->calls + (double)s->untimed +
		     (double)s->missed;

	return all > 0 ? (double)records *
				 ((double)it->calls + (double)it->untimed) /
				 all :
			 0;
}

/* A stage inside another: after it, or before it if it is asked (pull). */
static void add_nested(struct paths *p, uint32_t path)
{
	struct tr_stages *stages = p->stages;
	uint32_t inner = row_at(p, path) - 1;
	uint32_t outer = row_at(p, p->at[path].nearest) - 1;
	struct tr_stage_row *in = &stages->row[inner];
	struct tr_stage_row *out = &stages->row[outer];
	double ns = ns_of(p, p->times[path].net_total);

	if (inner == outer)
		return;
	if (in->stats.is_pull) {
		out->stats.upstream_ns += ns;
		out->nested_out += part_of(p, path, in->said_out);
		stages->edge[stages->n_edges++] =
			(struct tr_stage_edge){ inner, outer };
	} else {
		out->stats.downstream_ns += ns;
		out->nested_in += part_of(p, path, in->said_in);
		out->has_next = true;
		stages->edge[stages->n_edges++] =
			(struct tr_stage_edge){ outer, inner };
	}
}

static void add_path(struct paths *p, uint32_t path)
{
	struct tr_stages *stages = p->stages;
	uint32_t index = row_at(p, path) - 1;
	struct tr_stage_row *row = &stages->row[index];
	const struct tr_path *it = &p->g.path[path];
	double own = p->times[path].net_total - p->at[path].stages -
		     p->at[path].waits;

	own = tr_most(own, 0);
	row->stats.own_ns += ns_of(p, own);
	row->stats.waiting_ns += ns_of(p, p->at[path].waits);
	row->stats.calls += it->calls + it->untimed;
	row->stats.failures += it->failures;
	row->open += it->open;
	if (!(p->g.series[it->site].site->flags & TARE_SITE_BATCH))
		row->said_in += it->open;
	if (!is_inside_itself(p, path))
		row->stats.total_ns += ns_of(p, p->times[path].net_total);
	stages->time[stages->n_times++] =
		(struct tr_stage_time){ index, p->at[path].track, own };
	if (p->at[path].nearest)
		add_nested(p, path);
}

/* Numbers the tracks from 0 on; rows get the number of their tracks. */
static int number_tracks(struct paths *p)
{
	struct tr_stages *stages = p->stages;
	uint32_t *number = calloc(p->g.n_paths + 1, sizeof(*number));
	uint32_t *last = calloc((size_t)stages->n + 1, sizeof(*last));
	bool is_made = number && last;

	/* Paths of a track are adjacent: each row counts a track once. */
	for (uint32_t i = 0; is_made && i < stages->n_times; i++) {
		struct tr_stage_time *t = &stages->time[i];

		if (!number[t->track])
			number[t->track] = ++stages->n_tracks;
		t->track = number[t->track] - 1;
		if (last[t->row] != t->track + 1)
			stages->row[t->row].stats.threads++;
		last[t->row] = t->track + 1;
	}
	free(number);
	free(last);
	return is_made ? 0 : TARE_ENOMEM;
}

/* Sorted by row, for the lookups that follow. */
static int sort_times(struct tr_stages *stages)
{
	struct tr_stage_time *sorted = calloc((size_t)stages->n_times + 1,
					      sizeof(*sorted));
	uint32_t *first = calloc((size_t)stages->n + 2, sizeof(*first));

	stages->first = first;
	if (!sorted || !first) {
		free(sorted);
		return TARE_ENOMEM;
	}
	for (uint32_t i = 0; i < stages->n_times; i++)
		first[stages->time[i].row + 2]++;
	for (uint32_t row = 2; row < stages->n + 2; row++)
		first[row] += first[row - 1];
	for (uint32_t i = 0; i < stages->n_times; i++)
		sorted[first[stages->time[i].row + 1]++] = stages->time[i];
	free(stages->time);
	stages->time = sorted;
	return 0;
}

static int add_paths(struct paths *p)
{
	struct tr_stages *stages = p->stages;
	int err;

	stages->time = calloc(p->g.n_paths + 1, sizeof(*stages->time));
	stages->edge = calloc(p->g.n_paths + 1, sizeof(*stages->edge));
	if (!stages->time || !stages->edge)
		return TARE_ENOMEM;
	look_up(p);
	look_down(p);
	for (uint32_t i = 1; i < p->g.n_paths; i++)
		if (row_at(p, i) &&
		    (p->g.path[i].calls | p->g.path[i].untimed |
		     p->g.path[i].open))
			add_path(p, i);
	err = number_tracks(p);
	return err ? err : sort_times(stages);
}

int tr_stage_times(struct tr_stages *stages)
{
	struct paths p = { .stages = stages };
	int err = gather(&p);

	if (!err) {
		p.g.cost = stages->view->all.cost;
		p.g.n_costs = stages->view->all.n_costs;
		tr_path_times(&p.g, tr_view_header(stages->view), p.times);
		err = add_paths(&p);
	}
	tr_gather_release(&p.g);
	free(p.times);
	free(p.at);
	return err;
}
