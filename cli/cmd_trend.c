/* SPDX-License-Identifier: Apache-2.0 */
/* tare trend: the last minutes of a run compared with those before. */

#include "args.h"
#include "group_view.h"
#include "base/text.h"
#include "message.h"
#include "output.h"
#include "selection.h"
#include "render/output.h"
#include "table.h"

#define WINDOW_NS UINT64_C(60000000000)
#define NOTABLE 0.1 /* changes of the mean from here on are coloured */

static struct {
	uint64_t window_ns;
	bool json;
} opts = { .window_ns = WINDOW_NS };

static const struct option_spec options[] = {
	OPTION_DURATION('w', "window", &opts.window_ns, "TIME",
			"length of each of the two windows (default: 1m)"),
	SELECTION_SERIES,
	SELECTION_OUTCOME,
	OPTION_PROCESS,
	OPTION_JSON(&opts.json),
	OPTION_END
};

/* ---- text -------------------------------------------------------------- */

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

static void print_trend(const tare_trend *trends, size_t n)
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
		     tr_as_duration((double)opts.window_ns).text,
		     tr_as_duration((double)opts.window_ns).text);
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < n; i++)
		add_row(&table, &trends[i]);
	table_end(&table, stdout);
}

/* ---- JSON -------------------------------------------------------------- */

#define FIELD(field) TR_FIELD(tare_stats, #field, field)

static const struct tr_field names[] = {
	FIELD(name), FIELD(source), FIELD(labels), FIELD(unit),
};

static const struct tr_field figures[] = {
	FIELD(count), FIELD(failures), FIELD(success_rate), FIELD(total),
	FIELD(mean),  FIELD(min),      FIELD(max),	    FIELD(p50),
	FIELD(p95),   FIELD(p99),
};

static void json_trend(const tare_view *view, const tare_trend *trends,
		       size_t n)
{
	struct tr_json *json = output_json_begin();

	tr_json_object(json, NULL);
	tr_json_str(json, "run", tare_view_run(view)->id);
	tr_json_u64(json, "window_ns", opts.window_ns);
	tr_json_array(json, "series");
	for (size_t i = 0; i < n; i++) {
		const tare_trend *trend = &trends[i];
		const tare_stats *named = trend->now->count ? trend->now :
							      trend->before;

		tr_json_object(json, NULL);
		tr_json_fields(json, TR_ALL(names), named);
		tr_json_struct(json, "before", TR_ALL(figures), trend->before);
		tr_json_struct(json, "now", TR_ALL(figures), trend->now);
		tr_json_double(json, "change", trend->change);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
	tr_json_end_object(json);
	output_json(json, stdout);
}

/* ---- the command ------------------------------------------------------- */

static int check(struct args *args)
{
	(void)args;
	return opts.window_ns ? CODE_OK :
				message_usage("a window of no length");
}

static int show(tare_view *view, const char *which)
{
	tare_filter filter;
	const tare_trend *trends;
	size_t n;
	int code = selection_apply(tare_view_run(view), &filter), err;

	(void)which;
	if (code)
		return code;
	err = tare_view_trend(view, &filter, (int64_t)opts.window_ns, &trends,
			      &n);
	if (err)
		return message_error("read", tare_view_run(view)->id, err);
	if (opts.json)
		json_trend(view, trends, n);
	else
		print_trend(trends, n);
	if (!n)
		message("nothing was measured%s",
			selection_result(n) ? "" : " that is selected");
	return selection_result(n);
}

const struct command cmd_trend = {
	.name = "trend",
	.usage = "[RUN] [options]",
	.summary = "compare the last minutes of a run with those before",
	.examples = "  tare trend                   the newest run, minute "
		    "against minute\n"
		    "  tare trend 12345 -w 5m       a process, five against "
		    "five\n",
	.notes = NOTE_RUN,
	.options = options,
	.max_operands = 1,
	.check = check,
	.show = show,
};
