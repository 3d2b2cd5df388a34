/* SPDX-License-Identifier: Apache-2.0 */
/* The summary as text. */
#include "summary.h"

#include <string.h>

#include "base/text.h"
#include "message.h"
#include "read/stats.h"
#include "read/view.h"
#include "render/report.h"
#include "table.h"

#define N_EXACT 9u /* columns; one more for the mark of estimates */

/* An estimate is rounded, and its row marked, as in the report. */
static void add_calls(struct table *table, const tare_stats *s)
{
	table_add(table, tr_as_count(s->missed ? tr_report_rounded(s->count) :
						 s->count).text);
}

static void add_row(struct table *table, const struct summary *summary,
		    const tare_stats *s)
{
	double inside_ns = summary->run->inside_ns;
	const double one[] = { s->p50, s->p95, s->max };

	table_add_name(table, s->name, s->labels);
	add_calls(table, s);
	table_add_tinted(table, tr_as_count(s->failures).text,
			 s->failures ? TINT_RED : TINT_NONE);
	table_add(table, tr_as_success(s->success_rate).text);
	table_add(table, tr_as_duration(s->net_total).text);
	table_add(table, tr_as_duration(s->net_mean).text);
	for (int i = 0; i < 3; i++)
		table_add(table, tr_as_duration(tr_stats_net(s, one[i],
							     inside_ns)).text);
	if (table->n_columns > N_EXACT)
		table_add(table, s->is_estimate ? "*" : "");
}

static bool has_estimates(const struct summary *s)
{
	for (size_t i = 0; i < s->n_shown; i++)
		if (s->rows[i]->is_estimate)
			return true;
	return false;
}

/* Prints the order of the rows, and that times exclude measuring. */
static void print_order(const char *sort)
{
	const char *by = strcmp(sort, "slowest") == 0 ? "mean time" :
			 strcmp(sort, "total") == 0   ? "total time" :
							     sort;

	(void)printf("\noperations by %s; times net of measuring\n", by);
}

static void print_rows(const struct summary *s)
{
	static const struct column columns[] = {
		COLUMN_WIDE("OPERATION"),  COLUMN_NUMBER("CALLS", 0),
		COLUMN_NUMBER("FAILED", 0), COLUMN_NUMBER("SUCCESS", 0),
		COLUMN_NUMBER("TOTAL", 0), COLUMN_NUMBER("MEAN", 0),
		COLUMN_NUMBER("P50", 2),   COLUMN_NUMBER("P95", 1),
		COLUMN_NUMBER("MAX", 3),    COLUMN_TEXT("", 0),
	};
	bool are_marked = has_estimates(s);
	struct table table;

	table_init(&table, columns, N_EXACT + are_marked);
	for (size_t i = 0; i < s->n_shown; i++)
		add_row(&table, s, s->rows[i]);
	table_end(&table, stdout);
	if (s->n_shown < s->n)
		(void)printf("... and %s more (--top 0 shows all)\n",
			     tr_as_count(s->n - s->n_shown).text);
	if (are_marked)
		(void)puts("* an estimate, to keep measuring cheap: calls were "
			   "counted and timed for a part of the time only");
}

static void print_head(const struct summary *s)
{
	const tare_window *window = tare_view_window(s->view);

	(void)fputs("tare  ", stdout);
	terminal_safe(stdout, s->run->program);
	(void)printf("  pid %lld, %s, from %s to %s, %s\n",
		     (long long)s->run->pid, tr_run_state_name(s->run->state),
		     tr_as_date(window->from_ns).text,
		     tr_as_date(window->to_ns).text,
		     tr_as_duration((double)window->to_ns -
				     (double)window->from_ns).text);
	(void)printf("      %s operations, %s calls, %s failed, %s succeeded\n",
		     tr_as_count(s->n).text, tr_as_count(s->calls).text,
		     tr_as_count(s->failures).text,
		     tr_as_success(summary_success(s)).text);
	if (s->n_values)
		(void)printf("      %s values and gauges, %s records in the "
			     "history\n",
			     tr_as_count(s->n_values).text,
			     tr_as_count(s->n_records).text);
}

static void print_recent(const struct summary *s, bool failed)
{
	static const struct column columns[] = {
		COLUMN_TEXT("STARTED", 0),    COLUMN_TEXT("OPERATION", 0),
		COLUMN_NUMBER("DURATION", 0), COLUMN_WIDE("OUTCOME"),
	};
	bool (*is_wanted)(const tare_record *record) =
		failed ? summary_is_failure : summary_is_operation;
	const tare_record *r = NULL;
	struct table table;

	table_init(&table, columns, 4);
	while ((r = summary_next(s, is_wanted, r)) != NULL) {
		table_add(&table, tr_as_clock(r->start_ns).text);
		table_add(&table, r->name);
		table_add(&table, tr_as_duration((double)r->duration_ns).text);
		table_add_tinted(&table, r->ok ? "ok" :
				 r->error[0] ? r->error : "failed",
				 r->ok ? TINT_NONE : TINT_RED);
	}
	if (table.n_cells) {
		(void)puts(failed ? "\nlast failures" : "\nlast operations");
		table_end(&table, stdout);
	}
}

static void print_top(const struct summary *s)
{
	static const struct column columns[] = {
		COLUMN_WIDE("VALUE"),	   COLUMN_NUMBER("COUNT", 0),
		COLUMN_NUMBER("MEAN", 0),  COLUMN_NUMBER("MIN", 2),
		COLUMN_NUMBER("MAX", 1),   COLUMN_TEXT("SOURCE", 3),
	};
	struct table table;

	table_init(&table, columns, 6);
	for (size_t i = 0; i < summary_values(s); i++) {
		const tare_stats *v = s->values[i];

		table_add_name(&table, v->name, v->labels);
		table_add(&table, tr_as_count(v->count).text);
		table_add(&table, tr_as_value(v->mean, v->unit).text);
		table_add(&table, tr_as_value(v->min, v->unit).text);
		table_add(&table, tr_as_value(v->max, v->unit).text);
		table_add(&table, v->source);
	}
	if (table.n_cells) {
		(void)puts("\nhighest averages");
		table_end(&table, stdout);
	}
}

static void print_values(const struct summary *s)
{
	static const struct column columns[] = {
		COLUMN_TEXT("RECORDED", 0), COLUMN_TEXT("NAME", 0),
		COLUMN_NUMBER("VALUE", 0),  COLUMN_TEXT("KIND", 2),
		COLUMN_TEXT("SOURCE", 1),
	};
	const tare_record *r = NULL;
	struct table table;

	table_init(&table, columns, 5);
	while ((r = summary_next(s, summary_is_value, r)) != NULL) {
		table_add(&table, tr_as_clock(r->start_ns).text);
		table_add_name(&table, r->name, r->labels);
		table_add(&table, tr_as_value(r->value, r->unit).text);
		table_add(&table, tare_record_kind_name(r->kind));
		table_add(&table, r->source);
	}
	if (table.n_cells) {
		(void)puts("\nlast values");
		table_end(&table, stdout);
	}
}

void summary_print(const struct summary *s)
{
	print_head(s);
	if (!s->n && !s->n_values) {
		message("no operation was measured");
		return;
	}
	if (s->n) {
		print_order(s->sort);
		print_rows(s);
		print_recent(s, false);
		print_recent(s, true);
	}
	print_top(s);
	print_values(s);
}
