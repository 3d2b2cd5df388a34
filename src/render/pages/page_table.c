/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the page: one row per configuration, and one row per run. */
#include "render/pages/page.h"
#include "read/judge.h"

#include <math.h>
#include <string.h>

enum cell_kind {
	KIND_SECONDS,
	KIND_RATIO,
	KIND_PERCENT,
	KIND_SHARE,
	KIND_FRACTION,
	KIND_SCORE,
	KIND_MB
};

struct page_column {
	const char *title;
	enum cell_kind kind;
	size_t offset; /* of an estimate in a configuration */
};

#define OF(field) offsetof(tare_compared_config, field)

/* The most important columns come first: a phone shows three. */
static const struct page_column speed_columns[] = {
	{ "speedup", KIND_RATIO, OF(speedup) },
	{ "efficiency", KIND_PERCENT, OF(efficiency) },
	{ "training time", KIND_SECONDS, OF(time[TARE_TIME_TOTAL]) },
	{ "epoch", KIND_SECONDS, OF(time[TARE_TIME_EPOCH]) },
	{ "communication", KIND_SHARE, OF(comm_share) },
	{ "serial fraction", KIND_FRACTION, OF(serial) },
};

static const struct page_column phase_columns[] = {
	{ "forward", KIND_SECONDS, OF(time[TARE_TIME_FORWARD]) },
	{ "backward", KIND_SECONDS, OF(time[TARE_TIME_BACKWARD]) },
	{ "communication", KIND_SECONDS, OF(time[TARE_TIME_COMM]) },
	{ "update", KIND_SECONDS, OF(time[TARE_TIME_UPDATE]) },
	{ "other", KIND_SECONDS, OF(time[TARE_TIME_OTHER]) },
};

static const struct page_column speedup_columns[] = {
	{ "epoch", KIND_RATIO, OF(speedup_of[TARE_TIME_EPOCH]) },
	{ "forward", KIND_RATIO, OF(speedup_of[TARE_TIME_FORWARD]) },
	{ "backward", KIND_RATIO, OF(speedup_of[TARE_TIME_BACKWARD]) },
	{ "communication", KIND_RATIO, OF(speedup_of[TARE_TIME_COMM]) },
	{ "update", KIND_RATIO, OF(speedup_of[TARE_TIME_UPDATE]) },
};

static const struct page_column score_columns[] = {
	{ "loss", KIND_SCORE, OF(loss) },
	{ "training accuracy", KIND_SCORE, OF(train_acc) },
	{ "validation F1", KIND_SCORE, OF(val_f1) },
	{ "test F1", KIND_SCORE, OF(test_f1) },
	{ "peak memory", KIND_MB, OF(peak_memory_mb) },
	{ "of a worker, mean", KIND_MB, OF(worker_memory_mb) },
	{ "to target loss", KIND_SECONDS, OF(to_loss) },
	{ "to target F1", KIND_SECONDS, OF(to_f1) },
};

static const tare_estimate *estimate_of(const tare_compared_config *config,
					const struct page_column *column)
{
	return (const void *)((const char *)config + column->offset);
}

/* ---- cells ------------------------------------------------------------- */

static void add_value(struct tr_buf *buf, enum cell_kind kind, double value)
{
	switch (kind) {
	case KIND_SECONDS:
		tr_text_seconds(buf, value);
		return;
	case KIND_RATIO:
		tr_text_ratio(buf, value);
		return;
	case KIND_PERCENT:
	case KIND_SHARE:
		tr_text_percent(buf, value);
		return;
	default:
		tr_text_fixed(buf, value, kind == KIND_FRACTION ? 3 :
					  kind == KIND_SCORE	? 4 :
								  1);
		if (kind == KIND_MB && value == value)
			tr_buf_adds(buf, " MB");
	}
}

/* Limits an interval of Student's t: times and memory are never below 0. */
static tare_estimate shown_of(enum cell_kind kind,
			      const tare_estimate *estimate)
{
	switch (kind) {
	case KIND_SECONDS:
	case KIND_MB:
		return tr_estimate_within(*estimate, 0, (double)INFINITY);
	case KIND_SHARE:
		return tr_estimate_within(*estimate, 0, 1);
	default:
		return *estimate;
	}
}

/* The mean, and below it the interval, if its rounded ends differ. */
static void add_estimate(struct tr_sink *sink, enum cell_kind kind,
			 const tare_estimate *estimate)
{
	struct tr_buf mean = TR_BUF_INIT, low = TR_BUF_INIT,
		      high = TR_BUF_INIT;
	tare_estimate shown = shown_of(kind, estimate);

	add_value(&mean, kind, shown.mean);
	add_value(&low, kind, shown.low);
	add_value(&high, kind, shown.high);
	tr_sink_adds(sink, "<td>");
	if (mean.data)
		tr_sink_adds(sink, mean.data);
	if (shown.low == shown.low && low.data && high.data &&
	    strcmp(low.data, high.data) != 0)
		tr_sink_addf(sink, "<small>%s \xe2\x80\x93 %s</small>",
			     low.data, high.data);
	tr_sink_adds(sink, "</td>");
	tr_buf_release(&mean);
	tr_buf_release(&low);
	tr_buf_release(&high);
}

static void add_count(struct tr_sink *sink, uint64_t least, uint64_t most)
{
	tr_sink_addf(sink, "<td>%s", tr_as_count(least).text);
	if (least != most)
		tr_sink_addf(sink, "\xe2\x80\x93%s", tr_as_count(most).text);
	tr_sink_adds(sink, "</td>");
}

static void add_header(struct tr_sink *sink, const char *title)
{
	tr_sink_addf(sink, "<th scope=\"col\">%s</th>", title);
}

/* ---- tables ------------------------------------------------------------ */

/* A column without any figure is left out. */
static bool is_used(const tare_comparison *c, const struct page_column *column)
{
	for (size_t i = 0; i < c->result.n_configs; i++)
		if (estimate_of(&c->config[i], column)->n)
			return true;
	return false;
}

static void add_row(const tare_comparison *c, struct tr_sink *sink,
		    const tare_compared_config *config,
		    const struct page_column *column, size_t n)
{
	tr_sink_addf(sink, "<tr%s><th scope=\"row\">",
		     config->is_baseline ? " class=\"base\"" : "");
	tr_sink_xml(sink, config->name, 80);
	tr_sink_adds(sink, "</th>");
	for (size_t i = 0; i < n; i++)
		if (is_used(c, &column[i]))
			add_estimate(sink, column[i].kind,
				     estimate_of(config, &column[i]));
	if (column == speed_columns) {
		add_count(sink, config->workers, config->workers);
		add_count(sink, config->n_runs, config->n_runs);
		add_count(sink, config->epochs_least, config->epochs_most);
	}
	tr_sink_adds(sink, "</tr>\n");
}

static void add_table(const tare_comparison *c, struct tr_sink *sink,
		      const char *title, const struct page_column *column,
		      size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++)
		used += is_used(c, &column[i]);
	if (!used)
		return;
	tr_sink_addf(sink, "<section class=\"card\"><h2>%s</h2>"
		     "<div class=\"scroll\" tabindex=\"0\"><table>"
		     "<thead><tr><th scope=\"col\">configuration</th>", title);
	for (size_t i = 0; i < n; i++)
		if (is_used(c, &column[i]))
			add_header(sink, column[i].title);
	if (column == speed_columns) {
		add_header(sink, "workers");
		add_header(sink, "runs");
		add_header(sink, "epochs");
	}
	tr_sink_adds(sink, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < c->result.n_configs; i++)
		add_row(c, sink, &c->config[i], column, n);
	tr_sink_adds(sink, "</tbody></table></div></section>\n");
}

void tr_page_speed(const tare_comparison *c, struct tr_sink *sink)
{
	add_table(c, sink, "Speed", TR_ALL(speed_columns));
}

void tr_page_tables(const tare_comparison *c, struct tr_sink *sink)
{
	add_table(c, sink, "At the end", TR_ALL(score_columns));
	add_table(c, sink, "Time of an epoch, by phase", TR_ALL(phase_columns));
	if (c->result.by == TARE_COMPARE_BY_PHASE)
		add_table(c, sink, "Speedup, by phase",
			  TR_ALL(speedup_columns));
}

/* ---- runs -------------------------------------------------------------- */

static void add_figure(struct tr_sink *sink, enum cell_kind kind, double value)
{
	add_estimate(sink, kind, &(tare_estimate){ value, NAN, NAN, 1 });
}

void tr_page_runs(const tare_comparison *c, struct tr_sink *sink)
{
	tr_sink_adds(sink, "<details class=\"card\"><summary>Runs</summary>"
		     "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>"
		     "<th scope=\"col\">run</th><th scope=\"col\">"
		     "configuration</th><th scope=\"col\">epochs</th>"
		     "<th scope=\"col\">training time</th><th scope=\"col\">"
		     "loss</th><th scope=\"col\">test F1</th></tr></thead>"
		     "<tbody>\n");
	for (size_t i = 0; i < c->n_runs; i++) {
		const struct tr_compared_run *run = &c->run[i];

		tr_sink_adds(sink, "<tr><th scope=\"row\">");
		tr_sink_xml(sink, run->origin, 200);
		tr_sink_adds(sink, run->is_cut ? " (killed, or goes on)"
					       : "");
		tr_sink_adds(sink, "</th><td class=\"text\">");
		tr_sink_xml(sink, c->config[run->group].name, 80);
		tr_sink_adds(sink, "</td>");
		add_count(sink, run->n_epochs, run->n_epochs);
		add_figure(sink, KIND_SECONDS, run->figure[TARE_TIME_TOTAL]);
		add_figure(sink, KIND_SCORE, run->figure[TR_FIGURE_LOSS]);
		add_figure(sink, KIND_SCORE, run->figure[TR_FIGURE_TEST_F1]);
		tr_sink_adds(sink, "</tr>\n");
	}
	tr_sink_adds(sink, "</tbody></table></div></details>\n");
}
