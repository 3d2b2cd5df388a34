/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merge: the statistics of several runs together.
 *
 * Histograms have the same buckets in every ledger (in seconds, whatever unit a
 * run's clock has), so they add up exactly, and so do counts and sums. Derived
 * figures are computed again, by the functions of stats.c.
 *
 * The filter's outcome applies to the merged series: a series that fails in one
 * of the runs has failures.
 */
#include "read/view.h"
#include "read/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "read/stats/merge.h"

/* ---- finding a series -------------------------------------------------- */

static uint32_t hash_row(const tare_stats *row)
{
	uint32_t hash = tr_hash_text(TR_HASH_FIRST, row->name);

	hash = tr_hash_text(tr_hash_text(hash, row->source), row->labels);
	return tr_hash_text(hash, row->unit) ^ (uint32_t)row->kind;
}

static bool is_same(const tare_stats *a, const tare_stats *b)
{
	return a->kind == b->kind && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->source, b->source) == 0 &&
	       strcmp(a->labels, b->labels) == 0 &&
	       strcmp(a->unit, b->unit) == 0;
}

static bool keep_names(tare_merge *m, tare_stats *row, const tare_stats *from)
{
	row->name = tr_pool_text(&m->pool, from->name);
	row->source = tr_pool_text(&m->pool, from->source);
	row->labels = tr_pool_text(&m->pool, from->labels);
	row->unit = tr_pool_text(&m->pool, from->unit);
	row->file = tr_pool_text(&m->pool, from->file);
	row->line = from->line;
	row->kind = from->kind;
	row->type = from->type;
	return row->name && row->source && row->labels && row->unit &&
	       row->file;
}

void tr_merge_begin_part(struct tr_merge_part *part)
{
	memset(part, 0, sizeof(*part));
	part->row.min = INFINITY;
	part->row.max = -INFINITY;
	part->row.last = NAN;
	part->last_ns = INT64_MIN;
}

/* The part for a row; NULL when out of memory. */
struct tr_merge_part *tr_merge_part_of(tare_merge *m, const tare_stats *row)
{
	uint32_t hash = hash_row(row), step = 0, i;
	struct tr_merge_part *part;

	while ((i = tr_lookup_next(&m->by_name, hash, &step)) !=
	       TR_LOOKUP_NONE)
		if (is_same(&m->part[i].row, row))
			return &m->part[i];
	if (!TR_ARRAY_ROOM(m->part, m->n, m->cap))
		return NULL;
	part = &m->part[m->n];
	tr_merge_begin_part(part);
	if (!keep_names(m, &part->row, row) ||
	    !tr_lookup_add(&m->by_name, hash, (uint32_t)m->n))
		return NULL;
	m->n++;
	return part;
}

/* ---- adding ------------------------------------------------------------ */

static void add_numbers(struct tr_merge_part *part, const tare_stats *row)
{
	tare_stats *to = &part->row;

	to->count += row->count;
	to->timed += row->timed;
	to->failures += row->failures;
	to->items += row->items;
	to->total += row->total;
	to->own += row->own;
	to->net_total += row->net_total;
	to->net_own += row->net_own;
	/* NAN if a window does not have them. */
	part->timed_items += row->items ?
				     row->items_per_s * row->total * 1e-9 :
				     row->items_per_s;
	to->below_resolution |= row->below_resolution;
	to->is_estimate |= row->is_estimate;
	if (row->timed) {
		to->min = tr_least(to->min, row->min);
		to->max = tr_most(to->max, row->max);
	}
}

/* The histograms of a series. */
static bool add_series(tare_merge *m, struct tr_merge_part *part,
		       const struct tr_series *s)
{
	return tr_hist_merge(&m->pool, &part->series.positive, &s->positive) &&
	       tr_hist_merge(&m->pool, &part->series.negative, &s->negative);
}

/* A process that replaced itself by exec has several runs. */
static bool add_owner(tare_merge *m, struct tr_merge_part *part,
		      uint64_t process)
{
	uint32_t at = (uint32_t)(part - m->part), step = 0, i;
	uint32_t hash = (uint32_t)(process ^ process >> 32) * 0x9e3779b1u ^
			at * 0x85ebca6bu;

	while ((i = tr_lookup_next(&m->by_pid, hash, &step)) != TR_LOOKUP_NONE)
		if (m->owner[i].part == at && m->owner[i].process == process)
			return true;
	if (!TR_ARRAY_ROOM(m->owner, m->n_owners, m->cap_owners) ||
	    !tr_lookup_add(&m->by_pid, hash, (uint32_t)m->n_owners))
		return false;
	m->owner[m->n_owners++] = (struct tr_merge_owner){ at, process };
	part->processes++;
	return true;
}

/* Ids of processes are those of a host. */
static uint64_t process_of(const tare_view *view)
{
	uint32_t host = tr_hash_text(TR_HASH_FIRST, view->run.host);

	return (uint64_t)host << 32 | (uint32_t)view->run.pid;
}

static bool add_row(tare_merge *m, const tare_view *view,
		    const tare_stats *row)
{
	const struct tr_series *s = &view->shown->series[row->site];
	struct tr_merge_part *part = tr_merge_part_of(m, row);

	if (!part)
		return false;
	add_numbers(part, row);
	part->sum += tr_stats_sum(view, s);
	part->all_failures += view->all.series[row->site].failures;
	if (row->last == row->last && view->run.end_ns >= part->last_ns) {
		part->row.last = row->last;
		part->last_ns = view->run.end_ns;
	}
	if (row->count && !add_owner(m, part, process_of(view)))
		return false;
	return add_series(m, part, s);
}

tare_merge *tr_merge_new(void)
{
	return calloc(1, sizeof(tare_merge));
}

int tr_merge_add(tare_merge *m, tare_view *view, const tare_filter *filter)
{
	tare_filter any;
	const tare_stats *rows;
	size_t n;
	int err;

	if (filter) {
		any = *filter;
		any.outcome = TARE_OUTCOME_ANY;
	}
	err = tare_view_stats(view, filter ? &any : NULL, &rows, &n);

	for (size_t i = 0; !err && i < n; i++)
		if (!add_row(m, view, &rows[i]))
			err = TARE_ENOMEM;
	if (!err)
		tr_merge_spans(m, view->run.start_ns, view->run.end_ns);
	m->runs += !err;
	return err;
}

void tr_merge_spans(tare_merge *m, int64_t start_ns, int64_t end_ns)
{
	if (!m->start_ns || start_ns < m->start_ns)
		m->start_ns = start_ns;
	if (end_ns > m->end_ns)
		m->end_ns = end_ns;
}

/* ---- merges of merges -------------------------------------------------- */

static void join_numbers(struct tr_merge_part *to,
			 const struct tr_merge_part *from)
{
	const double items = from->timed_items;
	tare_stats row = from->row;

	row.items_per_s = 0;
	row.items = 0; /* `timed_items` has them: see add_numbers() */
	add_numbers(to, &row);
	to->row.items += from->row.items;
	to->timed_items += items;
	to->sum += from->sum;
	to->all_failures += from->all_failures;
	if (from->row.last == from->row.last && from->last_ns >= to->last_ns) {
		to->row.last = from->row.last;
		to->last_ns = from->last_ns;
	}
}

/* `number`: of the parts in the merge that they are added to. */
static bool join_parts(tare_merge *to, const tare_merge *from,
		       uint32_t *number)
{
	for (size_t i = 0; i < from->n; i++) {
		struct tr_merge_part *part =
			tr_merge_part_of(to, &from->part[i].row);

		if (!part || !add_series(to, part, &from->part[i].series))
			return false;
		join_numbers(part, &from->part[i]);
		/* Those without an owner are of summaries. */
		part->processes += from->part[i].processes;
		number[i] = (uint32_t)(part - to->part);
	}
	return true;
}

int tr_merge_join(tare_merge *to, const tare_merge *from)
{
	uint32_t *number = calloc(from->n + 1, sizeof(*number));
	bool fits = number && join_parts(to, from, number);

	for (size_t i = 0; fits && i < from->n_owners; i++) {
		uint32_t at = number[from->owner[i].part];

		to->part[at].processes--;
		fits = add_owner(to, &to->part[at], from->owner[i].process);
	}
	free(number);
	if (!fits)
		return TARE_ENOMEM;
	if (from->runs)
		tr_merge_spans(to, from->start_ns, from->end_ns);
	to->runs += from->runs;
	to->unreadable += from->unreadable;
	return 0;
}

/* ---- derived figures --------------------------------------------------- */

static void derive(struct tr_merge_part *part, const tare_filter *filter)
{
	tare_stats *row = &part->row;
	bool is_time = row->kind == TARE_KIND_SCOPE;

	row->success_rate = NAN;
	if (row->kind == TARE_KIND_RATIO)
		row->last = row->count ? row->total / (double)row->count : NAN;
	if (is_time && !(filter && filter->last_values))
		row->success_rate = tr_stats_success(row);
	row->items_per_s = part->timed_items;
	if (part->timed_items == part->timed_items)
		row->items_per_s = row->total > 0 ? part->timed_items /
						    (row->total * 1e-9) :
						    0;
	if (!row->timed) {
		tr_stats_none(row);
		return;
	}
	row->mean = part->sum /
		    (double)(row->timed + part->series.positive.unbucketed);
	if (is_time)
		row->net_mean = tr_stats_net_mean(row);
	tr_stats_quantiles(&part->series, row);
}

static int part_order(const void *a, const void *b)
{
	const struct tr_merge_part *x = a, *y = b;

	return tr_stats_order(&x->row, &y->row);
}

static bool is_kept(const struct tr_merge_part *part, const tare_filter *filter)
{
	bool of_all = filter && filter->last_values;

	return tr_filter_has_outcome(filter, of_all ?
						     part->all_failures > 0 :
						     part->row.failures > 0);
}

int tr_merge_finish(tare_merge *m, const tare_filter *filter)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		if (!is_kept(&m->part[i], filter))
			continue;
		if (n != i)
			m->part[n] = m->part[i];
		derive(&m->part[n++], filter);
	}
	m->n = n;
	if (n)
		qsort(m->part, n, sizeof(*m->part), part_order);
	m->stats = calloc(n + 1, sizeof(*m->stats));
	if (!m->stats)
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++)
		m->stats[i] = m->part[i].row;
	return 0;
}

int tr_merge_times(tare_merge *m, tare_stats *ret_row)
{
	struct tr_merge_part whole;

	tr_merge_begin_part(&whole);
	whole.row.kind = TARE_KIND_SCOPE;
	whole.row.type = TARE_TYPE_TIME;
	whole.row.name = whole.row.source = whole.row.labels = "";
	whole.row.file = "";
	whole.row.unit = "ns";
	for (size_t i = 0; i < m->n; i++) {
		const struct tr_merge_part *part = &m->part[i];

		if (part->row.kind != TARE_KIND_SCOPE)
			continue;
		join_numbers(&whole, part);
		if (!add_series(m, &whole, &part->series))
			return TARE_ENOMEM;
	}
	derive(&whole, NULL);
	*ret_row = whole.row;
	return 0;
}

/* ---- public ------------------------------------------------------------ */

TARE_API int tare_merge_open(tare_view *const *views, size_t n,
			     const tare_filter *filter,
			     tare_merge **ret_merge)
{
	tare_filter own;
	tare_merge *m;
	int err = 0;

	if ((n && !views) || !ret_merge || !tr_filter_take(&filter, &own))
		return TARE_EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!views[i])
			return TARE_EINVAL;
	m = tr_merge_new();
	if (!m)
		return TARE_ENOMEM;
	for (size_t i = 0; !err && i < n; i++)
		err = tr_merge_add(m, views[i], filter);
	if (!err)
		err = tr_merge_finish(m, filter);
	if (err) {
		tare_merge_close(m);
		return err;
	}
	*ret_merge = m;
	return 0;
}

TARE_API const tare_stats *tare_merge_stats(const tare_merge *merge,
					    size_t *ret_n)
{
	if (ret_n)
		*ret_n = merge ? merge->n : 0;
	return merge ? merge->stats : NULL;
}

uint64_t tr_merge_processes(const tare_merge *merge, size_t index)
{
	return merge->part[index].processes;
}

TARE_API double tare_merge_quantile(const tare_merge *merge, size_t index,
				    double q)
{
	if (!merge || index >= merge->n)
		return NAN;
	return tr_stats_quantile(&merge->part[index].series,
				 &merge->stats[index], q);
}

TARE_API size_t tare_merge_buckets(const tare_merge *merge, size_t index,
				   tare_bucket *buckets, size_t size)
{
	if (!merge || index >= merge->n)
		return 0;
	return tr_series_buckets(&merge->part[index].series, buckets,
				 buckets ? size : 0,
				 merge->stats[index].kind == TARE_KIND_SCOPE ?
					 1e9 :
					 1);
}

TARE_API void tare_merge_close(tare_merge *merge)
{
	if (!merge)
		return;
	tr_pool_release(&merge->pool);
	free(merge->part);
	tr_lookup_release(&merge->by_name);
	free(merge->owner);
	tr_lookup_release(&merge->by_pid);
	free(merge->stats);
	free(merge);
}
