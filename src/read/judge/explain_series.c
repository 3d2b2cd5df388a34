/* SPDX-License-Identifier: Apache-2.0 */
/* What the program's own probes say about a difference: see explain.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "read/judge.h"

#define COUNT_CHANGED 0.005
#define TIME_CHANGED 0.05
/* Shorter own times of a run are noise, whatever their change. */
#define TIME_LEAST_NS 1e5

static int by_identity(const void *a, const void *b)
{
	const tare_stats *x = *(const tare_stats *const *)a;
	const tare_stats *y = *(const tare_stats *const *)b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = strcmp(x->labels, y->labels);
	if (!order)
		order = strcmp(x->source, y->source);
	return order ? order : (int)x->kind - (int)y->kind;
}

/* Pointers to a side's series, sorted. Gives (free); NULL: no memory. */
static const tare_stats **sorted(const tare_merge *merge, size_t *ret_n)
{
	const tare_stats *stats = tare_merge_stats(merge, ret_n);
	const tare_stats **at = malloc((*ret_n + 1) * sizeof(*at));
	size_t n = 0;

	for (size_t i = 0; at && i < *ret_n; i++)
		if (!tare_stats_is_monitor(&stats[i]))
			at[n++] = &stats[i];
	if (at)
		qsort(at, n, sizeof(*at), by_identity);
	*ret_n = n;
	return at;
}

static double count_of(const tare_stats *s)
{
	if (!s)
		return 0;
	return s->kind == TARE_KIND_COUNTER ? s->total : (double)s->count;
}

static double time_of(const tare_stats *s)
{
	return s && s->kind == TARE_KIND_SCOPE && s->net_own > 0 ? s->net_own :
								    0;
}

static bool differs(double a, double b, double share)
{
	return fabs(b - a) > share * tr_most(a, b);
}

static void add(struct tr_series_changes *changes, const tare_stats *old,
		const tare_stats *now, const double runs[2])
{
	const tare_stats *s = now ? now : old;
	struct tr_series_change row = {
		.name = s->name,
		.labels = s->labels,
		.unit = s->unit,
		.kind = s->kind,
		.old_count = count_of(old) / runs[0],
		.now_count = count_of(now) / runs[1],
		.old_ns = time_of(old) / runs[0],
		.now_ns = time_of(now) / runs[1],
		.is_estimate = (old && old->is_estimate) ||
			       (now && now->is_estimate),
	};

	if (differs(row.old_count, row.now_count, COUNT_CHANGED) ||
	    (differs(row.old_ns, row.now_ns, TIME_CHANGED) &&
	     fabs(row.now_ns - row.old_ns) > TIME_LEAST_NS))
		changes->row[changes->n++] = row;
}

static int most_first(const void *a, const void *b)
{
	const struct tr_series_change *x = a, *y = b;
	int order = TR_ORDER(fabs(y->now_ns - y->old_ns),
			     fabs(x->now_ns - x->old_ns));

	if (!order)
		order = TR_ORDER(fabs(y->now_count - y->old_count),
				 fabs(x->now_count - x->old_count));
	return order ? order : strcmp(x->name, y->name);
}

static int match(struct tr_series_changes *changes, const double runs[2])
{
	size_t n[2], i = 0, k = 0;
	const tare_stats **old = sorted(changes->side[0], &n[0]);
	const tare_stats **now = sorted(changes->side[1], &n[1]);
	int err = TARE_ENOMEM;

	if (old && now)
		changes->row = calloc(n[0] + n[1] + 1, sizeof(*changes->row));
	while (changes->row && (i < n[0] || k < n[1])) {
		int order = i == n[0] ? 1 :
			    k == n[1] ? -1 :
					by_identity(&old[i], &now[k]);

		add(changes, order <= 0 ? old[i] : NULL,
		    order >= 0 ? now[k] : NULL, runs);
		i += order <= 0;
		k += order >= 0;
	}
	if (changes->row) {
		qsort(changes->row, changes->n, sizeof(*changes->row),
		      most_first);
		err = 0;
	}
	free(old);
	free(now);
	return err;
}

int tr_explain_series(const struct tr_side *old, const struct tr_side *now,
		      struct tr_series_changes *ret)
{
	const double runs[2] = { old->runs > 0 ? old->runs : 1,
				 now->runs > 0 ? now->runs : 1 };
	int err;

	*ret = (struct tr_series_changes){ .n = 0 };
	if (!old->n || !now->n)
		return 0;
	err = tare_merge_open(old->views, old->n, NULL, &ret->side[0]);
	if (!err)
		err = tare_merge_open(now->views, now->n, NULL, &ret->side[1]);
	return err ? err : match(ret, runs);
}

void tr_series_changes_release(struct tr_series_changes *changes)
{
	free(changes->row);
	tare_merge_close(changes->side[0]);
	tare_merge_close(changes->side[1]);
	*changes = (struct tr_series_changes){ .n = 0 };
}
