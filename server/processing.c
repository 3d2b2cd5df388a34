/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processing times: every series of durations, of all chosen runs as one.
 *
 * Rows are sorted by name, which a measured program does not change, so that
 * pages fit together; the summary shows the slowest.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/platform.h"
#include "chosen.h"
#include "handlers.h"
#include "hash.h"
#include "read/stats.h"
#include "reply.h"

#define NS_PER_MS 1e6

/* Copies, so that sorting does not change the merge's own rows. */
struct rows {
	tare_stats *at;
	size_t n;
};

/* ---- rows -------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const tare_stats *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = strcmp(x->labels, y->labels);
	return order ? order : strcmp(x->source, y->source);
}

/* Descending; rows without a number come last. */
static int by_number(double x, double y, const void *a, const void *b)
{
	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y) ? isnan(x) - isnan(y) :
					     by_name(a, b);
	if (x != y)
		return x < y ? 1 : -1;
	return by_name(a, b);
}

#define BY(name, field) \
	static int name(const void *a, const void *b) \
	{ \
		const tare_stats *x = a, *y = b; \
\
		return by_number((double)x->field, (double)y->field, a, b); \
	}

BY(by_total, net_total)
BY(by_mean, mean)
BY(by_failures, failures)
BY(by_count, count)

typedef int (*row_order)(const void *a, const void *b);

/* The orders of `tare summary`; `average` uses times as measured. */
static row_order order_of(const char *sort)
{
	static const struct {
		const char *name;
		row_order order;
	} known[] = {
		{ "total", by_total },
		{ "slowest", tr_stats_order_slowest },
		{ "average", by_mean },
		{ "failures", by_failures },
		{ "count", by_count },
		{ "name", by_name },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, sort) == 0)
			return known[i].order;
	return by_total;
}

/* Only scopes: counters and values have no duration. */
static bool rows_init(struct rows *rows, const tare_merge *merge,
		      row_order order)
{
	size_t n;
	const tare_stats *stats = tare_merge_stats(merge, &n);

	rows->n = 0;
	rows->at = calloc(n ? n : 1, sizeof(*rows->at));
	if (!rows->at)
		return false;
	for (size_t i = 0; i < n; i++)
		if (stats[i].kind == TARE_KIND_SCOPE)
			rows->at[rows->n++] = stats[i];
	qsort(rows->at, rows->n, sizeof(*rows->at), order);
	return true;
}

/* ---- documents --------------------------------------------------------- */

static void ms(struct tr_json *json, const char *key, double ns)
{
	tr_json_double(json, key, ns / NS_PER_MS);
}

/* Members of a row, and of the total of all rows. */
static void figures_json(struct tr_json *json, const tare_stats *stats)
{
	/* A failure is counted before its call. */
	uint64_t failed = stats->failures < stats->count ? stats->failures :
							   stats->count;

	tr_json_u64(json, "count", stats->count);
	ms(json, "total_duration_ms", stats->total);
	ms(json, "avg_duration_ms", stats->mean);
	ms(json, "net_total_duration_ms", stats->net_total);
	ms(json, "net_avg_duration_ms", stats->net_mean);
	ms(json, "min_duration_ms", stats->min);
	ms(json, "max_duration_ms", stats->max);
	ms(json, "median_duration_ms", stats->p50);
	ms(json, "p90_duration_ms", stats->p90);
	ms(json, "p95_duration_ms", stats->p95);
	ms(json, "p99_duration_ms", stats->p99);
	tr_json_u64(json, "success_count", stats->count - failed);
	tr_json_u64(json, "failure_count", failed);
	tr_json_double(json, "success_rate", tr_stats_success(stats));
}

static void row_json(struct tr_json *json, const tare_stats *stats)
{
	tr_json_object(json, NULL);
	tr_json_str(json, "operation", stats->name);
	tr_json_str(json, "source", stats->source);
	tr_json_str(json, "labels", stats->labels);
	figures_json(json, stats);
	tr_json_u64(json, "items", stats->items);
	tr_json_end_object(json);
}

static void rows_json(struct tr_json *json, const struct rows *rows, size_t at,
		      size_t end)
{
	tr_json_array(json, "operations");
	for (size_t i = at; i < end; i++)
		row_json(json, &rows->at[i]);
	tr_json_end_array(json);
}

/* For the stream: all rows, without pages. */
static int processing_json(struct tr_json *json, tare_merge *merge)
{
	struct rows rows;
	tare_stats whole;

	if (tr_merge_times(merge, &whole) || !rows_init(&rows, merge, by_name))
		return TARE_ENOMEM;
	figures_json(json, &whole);
	rows_json(json, &rows, 0, rows.n);
	free(rows.at);
	return 0;
}

/* ---- pages ------------------------------------------------------------- */

/* Hash of a series; a cursor names the last row sent by it. */
static uint64_t row_hash(const tare_stats *stats)
{
	uint64_t hash = hash_text(HASH_BEGIN, stats->name);

	return hash_text(hash_text(hash, stats->source), stats->labels);
}

/* The first row after the cursor; false: the row is gone. */
static bool find_start(const struct rows *rows, const char *cursor,
		       size_t *ret_at)
{
	char *end;
	uint64_t hash;

	*ret_at = 0;
	if (!cursor)
		return true;
	hash = strtoull(cursor, &end, 16);
	for (size_t i = 0; !*end && i < rows->n; i++)
		if (row_hash(&rows->at[i]) == hash) {
			*ret_at = i + 1;
			return true;
		}
	return false;
}

static void next_json(struct tr_json *json, const struct rows *rows, size_t end)
{
	char cursor[24];

	if (end == 0 || end >= rows->n) {
		tr_json_str(json, "next", NULL);
		return;
	}
	(void)snprintf(cursor, sizeof(cursor), "%016llx",
		       (unsigned long long)row_hash(&rows->at[end - 1]));
	tr_json_str(json, "next", cursor);
}

static void page_json(struct exchange *ex, struct tr_json *json,
		      const struct rows *rows, size_t at)
{
	size_t end = rows->n - at < ex->query.limit ?
			     rows->n :
			     at + (size_t)ex->query.limit;

	rows_json(json, rows, at, end);
	next_json(json, rows, end);
}

static uint64_t lost_events(const struct chosen *chosen)
{
	uint64_t n = 0;

	for (size_t i = 0; i < chosen->n; i++)
		n += tare_view_health(chosen->views[i])->lost;
	return n;
}

/* ---- routes ------------------------------------------------------------ */

/* The data of a statistics route. */
struct look {
	struct chosen chosen;
	tare_filter filter;
	tare_merge *merge;
	tare_stats whole;
	struct rows rows;
};

static void look_end(struct look *look)
{
	free(look->rows.at);
	tare_merge_close(look->merge);
}

static bool look_begin(struct exchange *ex, struct look *look,
		       row_order order)
{
	int err;

	if (!chosen_views(ex, &look->chosen))
		return false;
	look->filter = query_filter(&ex->query, ex->now_ns);
	err = tare_merge_open(look->chosen.views, look->chosen.n,
			      &look->filter, &look->merge);
	if (!err)
		err = tr_merge_times(look->merge, &look->whole);
	if (!err && !rows_init(&look->rows, look->merge, order))
		err = TARE_ENOMEM;
	if (!err)
		return true;
	look_end(look);
	return problem_error(ex, "read the statistics", err);
}

static void send_look(struct exchange *ex, struct look *look, size_t at)
{
	struct tr_json *json = reply_json(ex);

	tr_json_object(json, NULL);
	figures_json(json, &look->whole);
	page_json(ex, json, &look->rows, at);
	chosen_window(ex, &look->filter, json);
	tr_json_u64(json, "dropped", lost_events(&look->chosen));
	chosen_end(ex, &look->chosen);
}

static void answer_look(struct exchange *ex, row_order order)
{
	struct look look = { .merge = NULL };
	size_t at;

	if (!look_begin(ex, &look, order))
		return;
	if (find_start(&look.rows, ex->query.cursor, &at))
		send_look(ex, &look, at);
	else
		problem(ex, 410, "the cursor names a row that is gone; start "
				 "again without it");
	look_end(&look);
}

void handle_processing_stats(struct exchange *ex)
{
	answer_look(ex, by_name);
}

void handle_operations_summary(struct exchange *ex)
{
	answer_look(ex, order_of(ex->query.sort ? ex->query.sort : "total"));
}

/* ---- snapshots for streams --------------------------------------------- */

/* The task's body is the number of the snapshot. */
void handle_snapshot(struct exchange *ex)
{
	tare_filter filter = { .struct_size = sizeof(filter) };
	struct chosen chosen;
	struct tr_json *json;
	tare_merge *merge;
	uint64_t number = 0;
	size_t len;
	const char *body = exchange_body(ex, &len);

	if (len == sizeof(number))
		(void)memcpy(&number, body, len);
	/* No run is named, so nothing can be refused. */
	(void)chosen_views(ex, &chosen);
	json = reply_json(ex);
	tr_json_object(json, NULL);
	tr_json_i64(json, "time_ms", tr_realtime_ns() / 1000000);
	tr_json_u64(json, "sequence", number);
	if (tare_merge_open(chosen.views, chosen.n, &filter, &merge) == 0) {
		(void)processing_json(json, merge);
		tare_merge_close(merge);
	}
	chosen_end(ex, &chosen);
}
