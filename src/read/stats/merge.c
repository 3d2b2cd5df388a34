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

struct part {
	tare_stats row;
	struct tr_series series; /* only its histograms */
	double sum;		 /* of the distribution, in the row's unit */
	uint64_t all_failures;	 /* over all time, if `row` is not */
	int64_t last_ns;	 /* end of the run that `last` comes from */
	uint64_t processes;	 /* that have values of it */
};

/* That a process has values of a part. */
struct owner {
	uint32_t part;
	int64_t pid;
};

struct tare_merge {
	struct tr_pool pool; /* pages and strings */
	struct part *part;
	size_t n, cap;
	struct tr_lookup by_name; /* parts */
	struct owner *owner;
	size_t n_owners, cap_owners;
	struct tr_lookup by_pid; /* owners */
	tare_stats *stats;
};

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

static void begin_part(struct part *part)
{
	memset(part, 0, sizeof(*part));
	part->row.min = INFINITY;
	part->row.max = -INFINITY;
	part->row.last = NAN;
	part->last_ns = INT64_MIN;
}

/* The part for a row; NULL when out of memory. */
static struct part *part_of(tare_merge *m, const tare_stats *row)
{
	uint32_t hash = hash_row(row), step = 0, i;
	struct part *part;

	while ((i = tr_lookup_next(&m->by_name, hash, &step)) !=
	       TR_LOOKUP_NONE)
		if (is_same(&m->part[i].row, row))
			return &m->part[i];
	if (!TR_ARRAY_ROOM(m->part, m->n, m->cap))
		return NULL;
	part = &m->part[m->n];
	begin_part(part);
	if (!keep_names(m, &part->row, row) ||
	    !tr_lookup_add(&m->by_name, hash, (uint32_t)m->n))
		return NULL;
	m->n++;
	return part;
}

/* ---- adding ------------------------------------------------------------ */

static void add_numbers(struct part *part, const tare_stats *row)
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
	/* Items with a time, for now. NAN if a window does not have them. */
	to->items_per_s += row->items ?
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
static bool add_series(tare_merge *m, struct part *part,
		       const struct tr_series *s)
{
	return tr_hist_merge(&m->pool, &part->series.positive, &s->positive) &&
	       tr_hist_merge(&m->pool, &part->series.negative, &s->negative);
}

/* A process that replaced itself by exec has several runs. */
static bool add_owner(tare_merge *m, struct part *part, int64_t pid)
{
	uint32_t at = (uint32_t)(part - m->part), step = 0, i;
	uint32_t hash = (uint32_t)pid * 0x9e3779b1u ^ at * 0x85ebca6bu;

	while ((i = tr_lookup_next(&m->by_pid, hash, &step)) != TR_LOOKUP_NONE)
		if (m->owner[i].part == at && m->owner[i].pid == pid)
			return true;
	if (!TR_ARRAY_ROOM(m->owner, m->n_owners, m->cap_owners) ||
	    !tr_lookup_add(&m->by_pid, hash, (uint32_t)m->n_owners))
		return false;
	m->owner[m->n_owners++] = (struct owner){ at, pid };
	part->processes++;
	return true;
}

static bool add_row(tare_merge *m, const tare_view *view,
		    const tare_stats *row)
{
	const struct tr_series *s = &view->shown->series[row->site];
	struct part *part = part_of(m, row);

	if (!part)
		return false;
	add_numbers(part, row);
	part->sum += tr_stats_sum(view, s);
	part->all_failures += view->all.series[row->site].failures;
	if (row->last == row->last && view->run.end_ns >= part->last_ns) {
		part->row.last = row->last;
		part->last_ns = view->run.end_ns;
	}
	if (row->count && !add_owner(m, part, view->run.pid))
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
	return err;
}

/* ---- derived figures --------------------------------------------------- */

static void derive(struct part *part, const tare_filter *filter)
{
	tare_stats *row = &part->row;
	bool is_time = row->kind == TARE_KIND_SCOPE;

	row->success_rate = NAN;
	if (row->kind == TARE_KIND_RATIO)
		row->last = row->count ? row->total / (double)row->count : NAN;
	if (is_time && !(filter && filter->last_values))
		row->success_rate = tr_stats_success(row);
	if (row->items_per_s == row->items_per_s)
		row->items_per_s = row->total > 0 ? row->items_per_s /
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
	const struct part *x = a, *y = b;

	return tr_stats_order(&x->row, &y->row);
}

static bool is_kept(const struct part *part, const tare_filter *filter)
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
	struct part whole;

	begin_part(&whole);
	whole.row.kind = TARE_KIND_SCOPE;
	whole.row.type = TARE_TYPE_TIME;
	whole.row.name = whole.row.source = whole.row.labels = "";
	whole.row.file = "";
	whole.row.unit = "ns";
	for (size_t i = 0; i < m->n; i++) {
		const struct part *part = &m->part[i];

		if (part->row.kind != TARE_KIND_SCOPE)
			continue;
		add_numbers(&whole, &part->row);
		whole.sum += part->sum;
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
