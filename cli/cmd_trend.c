/* SPDX-License-Identifier: Apache-2.0 */
/* tare trend: the last minutes of a run against the minutes before them. */
#include <math.h>
#include <string.h>

#include "args.h"
#include "base/text.h"
#include "message.h"
#include "output.h"
#include "runs.h"
#include "selection.h"
#include "table.h"

#define WINDOW_NS UINT64_C(60000000000)
#define NOTABLE 0.1 /* a change of the mean that is coloured */

struct trend_options {
	struct selection selection;
	uint64_t window_ns;
	bool json;
};

static const struct option_spec options[] = {
	{ 'w', "window", OPTION_DURATION,
	  offsetof(struct trend_options, window_ns), "TIME", NULL,
	  "length of each of the two windows (default: 1m)" },
	SELECTION_SERIES(struct trend_options),
	SELECTION_OUTCOME(struct trend_options),
	OPTION_JSON(struct trend_options),
	OPTION_END
};

/* ---- for people -------------------------------------------------------- */

static struct tr_text value_of(const tare_stats *s, double value)
{
	return s->kind == TARE_KIND_SCOPE ? tr_as_duration(value) :
					    tr_as_value(value, s->unit);
}

static void add_change(struct table *table, double change)
{
	table_add_tinted(table, tr_as_change(change).text,
			 change > NOTABLE  ? TINT_RED :
			 change < -NOTABLE ? TINT_GREEN :
					     TINT_NONE);
}

static void add_row(struct table *table, const tare_trend *trend)
{
	const tare_stats *now = trend->now, *before = trend->before;
	const tare_stats *named = now->count ? now : before;

	table_add_name(table, named->name, named->labels);
	table_add(table, tr_as_count(before->count).text);
	table_add(table, tr_as_count(now->count).text);
	table_add(table, value_of(named, before->mean).text);
	table_add(table, value_of(named, now->mean).text);
	add_change(table, trend->change);
	table_add(table, value_of(named, before->p95).text);
	table_add(table, value_of(named, now->p95).text);
	table_add(table, tr_as_success(before->success_rate).text);
	table_add(table, tr_as_success(now->success_rate).text);
}

static void print_trend(const struct args *args, const tare_trend *trends,
			size_t n, uint64_t window_ns)
{
	static const struct column columns[] = {
		COLUMN_WIDE("NAME"),
		COLUMN_NUMBER("CALLS BEFORE", 2),
		COLUMN_NUMBER("NOW", 2),
		COLUMN_NUMBER("MEAN BEFORE", 0),
		COLUMN_NUMBER("NOW", 0),
		COLUMN_NUMBER("CHANGE", 0),
		COLUMN_NUMBER("P95 BEFORE", 1),
		COLUMN_NUMBER("NOW", 1),
		COLUMN_NUMBER("OK BEFORE", 3),
		COLUMN_NUMBER("NOW", 3),
	};
	struct table table;

	(void)printf("the last %s against the %s before\n",
		     tr_as_duration((double)window_ns).text,
		     tr_as_duration((double)window_ns).text);
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < n; i++)
		add_row(&table, &trends[i]);
	table_print(&table, stdout, terminal_width(stdout),
		    terminal_wants_color(stdout, args->color));
	table_release(&table);
}

/* ---- for programs ------------------------------------------------------ */

static void json_side(struct tr_json *json, const char *key,
		      const tare_stats *s)
{
	tr_json_object(json, key);
	tr_json_u64(json, "count", s->count);
	tr_json_u64(json, "failures", s->failures);
	tr_json_double(json, "success_rate", s->success_rate);
	tr_json_double(json, "total", s->total);
	tr_json_double(json, "mean", s->mean);
	tr_json_double(json, "min", s->min);
	tr_json_double(json, "max", s->max);
	tr_json_double(json, "p50", s->p50);
	tr_json_double(json, "p95", s->p95);
	tr_json_double(json, "p99", s->p99);
	tr_json_end_object(json);
}

static void json_trend(const tare_view *view, const tare_trend *trends,
		       size_t n, uint64_t window_ns)
{
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_json json = { .buf = &buf };

	tr_json_object(&json, NULL);
	tr_json_str(&json, "run", tare_view_run(view)->id);
	tr_json_u64(&json, "window_ns", window_ns);
	tr_json_array(&json, "series");
	for (size_t i = 0; i < n; i++) {
		const tare_trend *trend = &trends[i];
		const tare_stats *named = trend->now->count ? trend->now :
							      trend->before;

		tr_json_object(&json, NULL);
		tr_json_str(&json, "name", named->name);
		tr_json_str(&json, "source", named->source);
		tr_json_str(&json, "labels", named->labels);
		tr_json_str(&json, "unit", named->unit);
		json_side(&json, "before", trend->before);
		json_side(&json, "now", trend->now);
		tr_json_double(&json, "change", trend->change);
		tr_json_end_object(&json);
	}
	tr_json_end_array(&json);
	tr_json_end_object(&json);
	output_json(&json, stdout);
}

/* ---- the command ------------------------------------------------------- */

static int show(const struct args *args, const struct trend_options *opt,
		tare_view *view)
{
	tare_filter filter = { .struct_size = sizeof(filter) };
	const tare_trend *trends;
	size_t n;
	int code = selection_apply(&opt->selection, args->command,
				   tare_view_run(view), &filter), err;

	if (code)
		return code;
	err = tare_view_trend(view, &filter, (int64_t)opt->window_ns, &trends,
			      &n);
	if (err)
		return message_error("read", tare_view_run(view)->id, err);
	if (opt->json)
		json_trend(view, trends, n, opt->window_ns);
	else
		print_trend(args, trends, n, opt->window_ns);
	return CODE_OK;
}

static int open_and_show(const struct args *args,
			 const struct trend_options *opt)
{
	tare_view *view;
	int code = run_open(args->n_operands ? args->operands[0] : "last",
			    &view);

	if (code)
		return code;
	code = show(args, opt, view);
	tare_view_close(view);
	return code;
}

static int trend(struct args *args)
{
	struct trend_options opt = { .window_ns = WINDOW_NS };
	int code = args_parse(args, &opt);

	if (code == ARGS_GO && opt.window_ns == 0)
		code = message_usage(args->command, "a window of no length");
	if (code == ARGS_GO)
		code = open_and_show(args, &opt);
	selection_release(&opt.selection);
	return code;
}

const struct command cmd_trend = {
	.name = "trend",
	.usage = "[RUN] [options]",
	.summary = "compare the last minutes of a run with those before",
	.examples = "  tare trend                   the newest run, minute "
		    "against minute\n"
		    "  tare trend 12345 -w 5m       a process, five against "
		    "five\n",
	.notes = "RUN is a run id (or its beginning), a process id, a file, or "
		 "'last'\n",
	.options = options,
	.max_operands = 1,
	.run = trend,
};
