/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading: a ledger with something of everything in it, and a look at all
 * that a view can tell. For the fuzzer and for the test with mutants.
 */
#ifndef READING_H
#define READING_H

#include "ledger/ledger.h"
#include "view/view.h"

#include <tare/control.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- a small ledger with everything in it ------------------------------ */

static int64_t reading_clock = INT64_C(1000000000000);

static inline int64_t reading_now(int64_t *ret_real)
{
	*ret_real = reading_clock + INT64_C(1700000000000000000);
	return reading_clock;
}

static inline void reading_scopes(int i)
{
	TARE_SCOPE("outer");
	TARE_ITEMS(3);
	reading_clock += 1000 * i;
	for (int k = 0; k < 3; k++) {
		TARE_OPERATION("operation");
		TARE_ATTR("number", i);
		TARE_ATTR("half", i / 2.);
		TARE_ATTR("text", "some text");
		reading_clock += INT64_C(1) << (i % 36);
		if (k == 2)
			TARE_FAIL("did not work");
	}
	if (i % 3 == 0) {
		TARE_SCOPE_IN("source", "third");
		reading_clock += 77;
	}
}

static inline void reading_values(int i)
{
	static const char *const pairs[] = { "route", "/a\"b", "code", "200" };
	tare_site *site = tare_site_get(TARE_KIND_VALUE, TARE_TYPE_CUSTOM,
					"labelled", "1", NULL);

	TARE_VALUE("value", "1", i % 5 ? i * 1.5 : 0.0);
	TARE_VALUE("negative", "1", -i);
	TARE_VALUE("wide", "1", ldexp(1.25, i * 7 % 60 - 30));
	TARE_VALUE("odd", "1", i % 2 ? NAN : INFINITY);
	TARE_COUNT("counter", (uint64_t)i);
	TARE_RATIO("ratio", 1, 3);
	TARE_GAUGE("gauge", "B", i);
	tare_value_observe(tare_site_labels(site, 2, pairs), i);
}

/* Starts measuring in `dir` (NULL: in memory) and fills all parts. */
static inline void reading_fill(const char *dir)
{
	static const char *const option[] = {
		"clock",     "monotonic", "max_sites",	      "32",
		"trace",     "true",	  "trace_events",     "64",
		"max_nodes", "16",	  "max_history_size", "64",
		"max_depth", "8",	  "keep_values",      "4",
		"report",    "none",
	};
	TARE_SCOPE_SITE_DEFINE(open, "left open");
	tare_scope scope;

	tr_clock_replace(reading_now);
	for (size_t i = 0; i < sizeof(option) / sizeof(option[0]); i += 2)
		(void)tare_option_set(option[i], option[i + 1]);
	(void)tare_option_set("dir", dir ? dir : "/proc/none");
	(void)tare_start();
	for (int i = 1; i < 260; i++) {
		reading_scopes(i);
		reading_values(i);
		reading_clock += INT64_C(700000000) * (1 + i / 50);
	}
	scope = tare_scope_begin(&open);
	for (int i = 0; i < 3; i++) {
		TARE_SCOPE("pending");
		reading_clock += 10;
	}
	(void)scope;
}

/* ---- looking at all of it ---------------------------------------------- */

static inline int reading_swallow(void *arg, const char *text, size_t len)
{
	uint64_t *sum = arg;

	for (size_t i = 0; i < len; i += 64)
		*sum += (unsigned char)text[i];
	return 0;
}

static inline void reading_stats(tare_view *view, const tare_filter *filter)
{
	tare_bucket bucket[8];
	const tare_stats *rows;
	size_t n;

	if (tare_view_stats(view, filter, &rows, &n))
		return;
	for (size_t i = 0; i < n && i < 64; i++) {
		(void)tare_view_quantile(view, i, .5);
		(void)tare_view_buckets(view, i, bucket, 8);
	}
}

static inline void reading_windows(tare_view *view)
{
	const tare_run *run = tare_view_run(view);
	tare_filter filter = { .struct_size = sizeof(filter) };

	reading_stats(view, NULL);
	filter.from_ns = (int64_t)((uint64_t)run->end_ns - 300000000000);
	reading_stats(view, &filter);
	filter.from_ns = INT64_C(1700001200000000000);
	filter.to_ns = INT64_C(1700001500000000000);
	reading_stats(view, &filter);
	filter = (tare_filter){ .struct_size = sizeof(filter),
				.last_values = 10 };
	reading_stats(view, &filter);
}

static inline void reading_all(tare_view *view)
{
	tare_report_options options = { .struct_size = sizeof(options),
					.sort = "p99", .width = 200,
					.color = true, .raw = true };
	const tare_node *nodes;
	const tare_record *records;
	const tare_event *events;
	uint64_t sum = 0;
	size_t n;

	reading_windows(view);
	if (tare_view_tree(view, &nodes, &n) == 0)
		sum += n;
	if (tare_view_records(view, NULL, &records, &n) == 0)
		sum += n;
	if (tare_view_events(view, &events, &n) == 0)
		sum += n;
	(void)tare_view_health(view);
	(void)tare_view_report(view, NULL, reading_swallow, &sum);
	(void)tare_view_report(view, &options, reading_swallow, &sum);
	(void)tare_view_json(view, NULL, reading_swallow, &sum);
}

#endif
