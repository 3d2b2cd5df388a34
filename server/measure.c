/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measure: the statistics that alert rules check, read in a reader process. The
 * task contains the rules as structures, the answer the samples in the order of
 * the rules.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <event2/buffer.h>

#include "alerts.h"
#include "base/platform.h"
#include "handlers.h"
#include "reply.h"

#define MOST_WINDOWS 16 /* limit on different windows of all rules */

/* Statistics over one window, shared by the rules with that window. */
struct look {
	int64_t over_ns; /* 0: all time */
	tare_merge *merge;
};

struct measure {
	struct pool *pool;
	int64_t now_ns;
	struct look look[MOST_WINDOWS];
	size_t n_looks;
};

/* ---- figures ----------------------------------------------------------- */

static tare_merge *merge_over(struct measure *measure, int64_t over_ns)
{
	tare_filter filter = { .struct_size = sizeof(filter) };
	tare_view *views[POOL_VIEWS];
	size_t n = pool_live_views(measure->pool, views);
	tare_merge *merge = NULL;

	if (over_ns)
		filter.from_ns = measure->now_ns - over_ns;
	if (tare_merge_open(views, n, &filter, &merge))
		return NULL;
	return merge;
}

static const tare_stats *rows_over(struct measure *measure, int64_t over_ns,
				   size_t *ret_n)
{
	struct look *look = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < measure->n_looks && !look; i++)
		if (measure->look[i].over_ns == over_ns)
			look = &measure->look[i];
	if (!look) {
		if (measure->n_looks == MOST_WINDOWS)
			return NULL;
		look = &measure->look[measure->n_looks++];
		look->over_ns = over_ns;
		look->merge = merge_over(measure, over_ns);
	}
	return look->merge ? tare_merge_stats(look->merge, ret_n) : NULL;
}

static void forget_looks(struct measure *measure)
{
	for (size_t i = 0; i < measure->n_looks; i++)
		tare_merge_close(measure->look[i].merge);
	measure->n_looks = 0;
}

static void name_series(const tare_stats *row, char *out, size_t size)
{
	const char *source = row->source, *labels = row->labels;

	if (!*source && !*labels)
		(void)snprintf(out, size, "%s", row->name);
	else
		(void)snprintf(out, size, "%s{%s%s%s%s%s}", row->name,
			       *source ? "source=\"" : "", source,
			       *source ? "\"" : "",
			       *source && *labels ? "," : "", labels);
}

/* Counters and ratios cover all time; everything else has windows. */
static bool has_windows(const tare_stats *row)
{
	return row->kind != TARE_KIND_COUNTER && row->kind != TARE_KIND_RATIO;
}

static size_t add_samples(struct measure *measure,
			  const struct alert_rule *rule,
			  int64_t over_ns, struct alert_sample *samples,
			  size_t n, size_t size)
{
	size_t n_rows;
	const tare_stats *row = rows_over(measure, over_ns, &n_rows);
	bool is_last = strcmp(alert_stat_name(rule->stat), "last") == 0;

	for (size_t i = 0; i < n_rows && n < size; i++, row++) {
		/* The last value does not depend on a window either. */
		bool windowed = has_windows(row) && !is_last;

		if (windowed != (over_ns != 0) || !alert_matches(rule, row))
			continue;
		name_series(row, samples[n].series, sizeof(samples[n].series));
		samples[n].is_refused = !alert_figure_of(rule, row,
							 &samples[n].value);
		n += !isnan(samples[n].value);
	}
	return n;
}

static size_t measure_rule(struct measure *measure,
			   const struct alert_rule *rule,
			   struct alert_sample *samples, size_t size)
{
	size_t n = add_samples(measure, rule, rule->over_ns, samples, 0,
			       size);

	return add_samples(measure, rule, 0, samples, n, size);
}

/* ---- the task ---------------------------------------------------------- */

static int add_measured(struct evbuffer *out, uint64_t at,
			const struct alert_sample *samples, size_t n)
{
	struct measured measured = { .rule = at };

	for (size_t i = 0; i < n; i++) {
		measured.sample = samples[i];
		if (evbuffer_add(out, &measured, sizeof(measured)))
			return TARE_ENOMEM;
	}
	return 0;
}

static int measure_all(struct measure *measure, const char *rules, size_t n,
		       struct evbuffer *out)
{
	struct alert_sample samples[ALERT_SERIES];
	struct alert_rule rule;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		size_t n_samples;

		/* Structures in a message are not aligned. */
		(void)memcpy(&rule, rules + i * sizeof(rule), sizeof(rule));
		(void)memset(samples, 0, sizeof(samples));
		n_samples = measure_rule(measure, &rule, samples,
					 ALERT_SERIES);
		err = add_measured(out, i, samples, n_samples);
	}
	return err;
}

void handle_measure(struct exchange *ex)
{
	struct measure measure = { .pool = &ex->server->pool,
				   .now_ns = tr_realtime_ns() };
	struct evbuffer *out = evbuffer_new();
	size_t len;
	const char *rules = exchange_body(ex, &len);

	if (out && measure_all(&measure, rules,
			       len / sizeof(struct alert_rule), out) == 0)
		reply_buffer(ex, 200, NULL, out);
	else
		reply_empty(ex, 503);
	forget_looks(&measure);
	if (out)
		evbuffer_free(out);
}
