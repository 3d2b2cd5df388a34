/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipelines: stages in the order of their records, their input and output, and
 * the bottleneck.
 *
 * The load of a thread is the own time of all stages of a pipeline in it.
 * Threads work in parallel, so a pipeline is as fast as its busiest thread.
 * With one thread that is the sum of all stages, and the gain from a faster
 * stage follows Amdahl's law. The gain of a stage in the busiest thread is
 * limited by the next busiest thread.
 */
#include "read/pipelines/stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The rows of one pipeline, while it is computed. */
struct line {
	const struct tr_stages *all;
	const char *name;
	uint8_t *is_mine; /* by row */
	uint32_t *order;  /* rows, first to last */
	uint32_t n;
	double *load;	  /* ticks, by track */
};

static struct tr_stage_row *row_at(const struct line *line, uint32_t i)
{
	return &line->all->row[line->order[i]];
}

/* ---- records ----------------------------------------------------------- */

static uint64_t whole(double n)
{
	return n > 0 && n < 1.8e19 ? (uint64_t)(n + 0.5) : 0;
}

/* The counts of the stage itself, or else those of the stages around it. */
static void set_records(const struct line *line, uint32_t i)
{
	struct tr_stage_row *row = row_at(line, i);
	tare_stage_stats *s = &row->stats;
	uint64_t failed;

	s->in = row->said_in ? row->said_in : whole(row->nested_out);
	s->out = row->said_out;
	if (s->out || s->is_pull)
		return;
	failed = s->failures < s->in ? s->failures : s->in;
	if (row->has_next)
		s->out = whole(row->nested_in);
	else if (i + 1 < line->n)
		s->out = row_at(line, i + 1)->said_in;
	else
		s->out = s->in - failed;
}

static void derive(const struct line *line, uint32_t i)
{
	tare_stage_stats *s = &row_at(line, i)->stats;
	uint64_t n;

	set_records(line, i);
	s->is_source = !s->in && s->out;
	s->dropped = s->in > s->out ? s->in - s->out : 0;
	s->passed = s->in ? (double)s->out / (double)s->in : NAN;
	if (s->is_pull) {
		s->downstream_ns = s->downstream.n ?
					   s->downstream.mean *
						   (double)s->downstream.n :
					   0;
		s->total_ns += s->downstream_ns;
	}
	s->throughput_rps = s->out && s->total_ns > 0 ?
				    (double)s->out / (s->total_ns * 1e-9) :
				    0;
	n = s->out ? s->out : s->in;
	s->own_per_record = n ? s->own_ns / (double)n : NAN;
}

/* ---- load and gain ----------------------------------------------------- */

static void add_load(struct line *line, uint32_t row, double part)
{
	const struct tr_stages *all = line->all;

	for (uint32_t i = all->first[row]; i < all->first[row + 1]; i++)
		line->load[all->time[i].track] += all->time[i].own * part;
}

static void set_load(struct line *line)
{
	for (uint32_t i = 0; i < line->all->n_tracks; i++)
		line->load[i] = 0;
	for (uint32_t i = 0; i < line->n; i++)
		add_load(line, line->order[i], 1);
}

static uint32_t busiest(const struct line *line)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i < line->all->n_tracks; i++)
		if (line->load[i] > line->load[most])
			most = i;
	return most;
}

static double own_in(const struct tr_stages *all, uint32_t row,
		     uint32_t track)
{
	double own = 0;

	for (uint32_t i = all->first[row]; i < all->first[row + 1]; i++)
		if (all->time[i].track == track)
			own += all->time[i].own;
	return own;
}

/* The stage, except `not`, with most time in the busiest thread; n: none. */
static uint32_t most_of(const struct line *line, uint32_t not)
{
	uint32_t track = busiest(line), found = line->n;
	double most = 0;

	for (uint32_t i = 0; i < line->n; i++) {
		double own = i == not ? 0 : own_in(line->all, line->order[i],
						   track);

		if (own > most) {
			most = own;
			found = i;
		}
	}
	return found;
}

/* The bottleneck if `worst` took no time. */
static uint32_t next_of(struct line *line, uint32_t worst)
{
	uint32_t next;

	add_load(line, line->order[worst], -1);
	next = most_of(line, worst);
	add_load(line, line->order[worst], 1);
	return next;
}

/* Gain of throughput if a `part` of a stage's time were gone. */
static double gain_of(struct line *line, uint32_t row, double part)
{
	double before = line->load[busiest(line)], after;

	add_load(line, row, -part);
	after = line->load[busiest(line)];
	add_load(line, row, part);
	if (before <= 0)
		return 0;
	/* Ignore rounding errors of a thread that did nothing else. */
	return after > before * 1e-9 ? before / after - 1 : (double)INFINITY;
}

/* ---- a pipeline -------------------------------------------------------- */

static double wall_ticks(const struct line *line)
{
	const tare_view *view = line->all->view;
	const struct tr_header *header = tr_view_header(view);
	uint64_t from = UINT64_MAX, to = 0;

	for (uint32_t i = 0; i < line->n; i++) {
		const struct tr_stage_row *row = row_at(line, i);
		uint64_t end = row->open ? view->now_ticks : row->newest;

		if (row->born < from)
			from = row->born;
		if (end > to)
			to = end;
	}
	if (from < header->start.ticks)
		from = header->start.ticks; /* a child has its parent's start */
	if (from < view->cleared_ticks)
		from = view->cleared_ticks;
	return to > from ? (double)(to - from) : 0;
}

static uint32_t threads_of(const struct line *line)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < line->all->n_tracks; i++)
		n += line->load[i] > 0;
	return n;
}

static void fill_shares(struct line *line, tare_pipeline *p)
{
	for (uint32_t i = 0; i < line->n; i++) {
		tare_stage_stats *s = &row_at(line, i)->stats;

		s->share = p->own_ns > 0 ? s->own_ns / p->own_ns : 0;
		s->busy = p->wall_ns > 0 && s->threads ?
				  tr_least(s->own_ns / p->wall_ns / s->threads,
					   1) :
				  NAN;
		s->gain = gain_of(line, line->order[i], 1 - 1 / p->factor);
		s->gain_most = gain_of(line, line->order[i], 1);
		s->is_bottleneck = i == p->bottleneck;
	}
}

static void fill_line(struct line *line, tare_pipeline *p)
{
	const tare_stage_stats *first = &row_at(line, 0)->stats;
	uint32_t worst;

	for (uint32_t i = line->n; i-- > 0;)
		derive(line, i);
	set_load(line);
	p->name = line->name;
	p->n_stages = line->n;
	p->in = first->in ? first->in : first->out;
	p->out = row_at(line, line->n - 1)->stats.out;
	for (uint32_t i = 0; i < line->n; i++) {
		p->own_ns += row_at(line, i)->stats.own_ns;
		p->failures += row_at(line, i)->stats.failures;
	}
	p->wall_ns = tr_view_ns(line->all->view, wall_ticks(line));
	p->throughput_rps = p->out && p->wall_ns > 0 ?
				    (double)p->out / (p->wall_ns * 1e-9) :
				    0;
	p->threads = threads_of(line);
	worst = most_of(line, line->n);
	p->bottleneck = worst;
	p->next = worst < line->n ? next_of(line, worst) : line->n;
	fill_shares(line, p);
}

/* ---- all --------------------------------------------------------------- */

static bool is_used(const struct tr_stage_row *row)
{
	return row->stats.calls || row->open;
}

/* Name of the first row whose pipeline is not yet in the list. */
static const char *next_name(const struct tr_stages *stages,
			     const tare_pipeline *known, size_t n,
			     uint32_t *row)
{
	for (; *row < stages->n; (*row)++) {
		const struct tr_stage_row *r = &stages->row[*row];
		bool is_known = !is_used(r);

		for (size_t i = 0; i < n && !is_known; i++)
			is_known = strcmp(known[i].name, r->source) == 0;
		if (!is_known)
			return r->source;
	}
	return NULL;
}

static int add_line(struct line *line, tare_pipeline *p,
		    tare_stage_stats *stats)
{
	const struct tr_stages *all = line->all;
	int err;

	for (uint32_t i = 0; i < all->n; i++)
		line->is_mine[i] = is_used(&all->row[i]) &&
				   strcmp(all->row[i].source, line->name) == 0;
	err = tr_stage_order(all, line->is_mine, line->order, &line->n);
	if (err)
		return err;
	fill_line(line, p);
	for (uint32_t i = 0; i < line->n; i++)
		stats[i] = row_at(line, i)->stats;
	p->stages = stats;
	return 0;
}

static int fill_all(const struct tr_stages *stages, double factor, size_t *n)
{
	tare_view *view = stages->view;
	struct line line = { .all = stages };
	tare_stage_stats *stats = view->stages;
	uint32_t row = 0;
	int err = 0;

	line.order = calloc((size_t)stages->n + 1, sizeof(*line.order));
	line.load = calloc((size_t)stages->n_tracks + 1, sizeof(*line.load));
	line.is_mine = calloc((size_t)stages->n + 1, 1);
	if (!line.order || !line.load || !line.is_mine)
		err = TARE_ENOMEM;
	while (!err && (line.name = next_name(stages, view->pipelines, *n,
					      &row)) != NULL) {
		tare_pipeline *p = &view->pipelines[*n];

		p->factor = factor;
		err = add_line(&line, p, stats);
		if (err)
			break;
		stats += p->n_stages;
		(*n)++;
	}
	free(line.order);
	free(line.load);
	free(line.is_mine);
	return err;
}

TARE_API int tare_view_pipelines(tare_view *view, double factor,
				 const tare_pipeline **ret_pipelines,
				 size_t *ret_n)
{
	struct tr_stages stages = { .n = 0 };
	size_t n = 0;
	int err;

	if (!view || !ret_pipelines || !ret_n || !(factor >= 0))
		return TARE_EINVAL;
	err = tr_stages_take(&stages, view);
	free(view->pipelines);
	free(view->stages);
	view->pipelines = calloc((size_t)stages.n + 1,
				 sizeof(*view->pipelines));
	view->stages = calloc((size_t)stages.n + 1, sizeof(*view->stages));
	if (!view->pipelines || !view->stages)
		err = TARE_ENOMEM;
	if (!err)
		err = fill_all(&stages, factor > 0 ? factor : 2, &n);
	tr_stages_release(&stages);
	if (err)
		return err;
	*ret_pipelines = view->pipelines;
	*ret_n = n;
	return 0;
}
