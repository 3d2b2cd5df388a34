/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text report: head, call tree, flat tables, health.
 */
#include "render/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/profile.h"
#include "read/stats.h"

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

/* ---- columns ----------------------------------------------------------- */

static void style(struct tr_report *r, const char *code)
{
	if (r->options.color)
		tr_buf_adds(r->buf, code);
}

void tr_report_dim(struct tr_report *r, bool on)
{
	style(r, on ? DIM : PLAIN);
}

void tr_report_cell(struct tr_report *r, const char *text, size_t width)
{
	size_t len = strlen(text);

	tr_buf_pad(r->buf, ' ', 1 + (len < width ? width - len : 0));
	tr_buf_adds(r->buf, text);
}

void tr_report_time(struct tr_report *r, double ns, size_t width)
{
	tr_report_cell(r, tr_as_duration(ns).text, width);
}

void tr_report_count(struct tr_report *r, uint64_t n, size_t width)
{
	tr_report_cell(r, tr_as_count(n).text, width);
}

uint64_t tr_report_rounded(uint64_t n)
{
	uint64_t unit = 1;

	while (n / unit >= 100)
		unit *= 10;
	return (n + unit / 2) / unit * unit;
}

void tr_report_estimate(struct tr_report *r, uint64_t n, bool is_estimate,
			size_t width)
{
	tr_report_count(r, is_estimate ? tr_report_rounded(n) : n, width);
}

void tr_report_share(struct tr_report *r, double share)
{
	tr_report_cell(r, tr_as_share(share).text, 7);
}

/* Bytes with a prefix; else the number alone, with the unit at the end. */
static void cell_value(struct tr_report *r, double value, const char *unit,
		       size_t width)
{
	struct tr_text text = strcmp(unit, "B") == 0 ? tr_as_bytes(value) :
						       tr_as_number(value);

	tr_report_cell(r, text.text, width);
}

/* "12.3 MiB", "45.1 %", "1.2 MiB/s" in a column. */
static void cell_unit(struct tr_report *r, double value, const char *unit,
		      const char *per)
{
	struct tr_text text = tr_as_value(value, unit);
	char all[sizeof(text) + 4];

	(void)snprintf(all, sizeof(all), "%s%s", text.text,
		       isnan(value) ? "" : per);
	tr_report_cell(r, all, 12);
}

void tr_report_value(struct tr_report *r, double value, const char *unit)
{
	cell_unit(r, value, unit, "");
}

#define LABELS_MOST 60u
#define SOURCE_MOST 32u

static bool labels_fit(const char *text, const char *labels, size_t width)
{
	return labels[0] &&
	       tr_text_columns(text) + tr_text_columns(labels) + 2 <= width;
}

/* Name in `width` columns; cut with ~ where too long. */
static void name(struct tr_report *r, const char *text, const char *labels,
		 size_t width)
{
	size_t used = tr_text_columns(text);

	if (used > width) {
		size_t before = r->buf->len;

		tr_buf_add_printable(r->buf, text, width - 1);
		tr_buf_addc(r->buf, '~');
		/* A wide character may have left one column unused. */
		used = r->buf->failed ?
			       0 :
			       tr_text_columns(r->buf->data + before);
		tr_buf_pad(r->buf, ' ', used < width ? width - used : 0);
		return;
	}
	tr_buf_add_printable(r->buf, text, used);
	if (labels_fit(text, labels, width)) {
		tr_buf_addc(r->buf, '{');
		tr_buf_add_printable(r->buf, labels, tr_text_columns(labels));
		tr_buf_addc(r->buf, '}');
		used += 2 + tr_text_columns(labels);
	}
	tr_buf_pad(r->buf, ' ', used < width ? width - used : 0);
}

void tr_report_name(struct tr_report *r, const char *text, size_t width)
{
	name(r, text, "", width);
}

/* At a row's end: unit, labels that did not fit beside the name, source. */
static void tail(struct tr_report *r, const tare_stats *s, const char *unit,
		 size_t width)
{
	if (unit[0]) {
		tr_buf_addc(r->buf, ' ');
		tr_buf_add_printable(r->buf, unit, 16);
	}
	if (s->labels[0] && !labels_fit(s->name, s->labels, width)) {
		tr_buf_adds(r->buf, "  {");
		tr_buf_add_printable(r->buf, s->labels, LABELS_MOST);
		if (tr_text_columns(s->labels) > LABELS_MOST)
			tr_buf_addc(r->buf, '~');
		tr_buf_addc(r->buf, '}');
	}
	if (s->source[0] && !tare_stats_is_monitor(s)) {
		tr_buf_adds(r->buf, "  [");
		tr_report_text(r, s->source, SOURCE_MOST);
		tr_buf_addc(r->buf, ']');
	}
	tr_buf_addc(r->buf, '\n');
}

void tr_report_heading(struct tr_report *r, const char *text,
		       const char *of)
{
	tr_buf_addc(r->buf, '\n');
	style(r, BOLD);
	tr_buf_adds(r->buf, text);
	if (of[0])
		tr_buf_addc(r->buf, ' ');
	tr_buf_add_printable(r->buf, of, 64);
	style(r, PLAIN);
	tr_buf_addc(r->buf, '\n');
}

void tr_report_titles(struct tr_report *r, const char *first, size_t width,
		      const struct tr_report_title *title)
{
	tr_report_dim(r, true);
	if (first)
		tr_report_name(r, first, width);
	for (; title->text; title++)
		tr_report_cell(r, title->text, title->width);
	tr_report_dim(r, false);
	tr_buf_addc(r->buf, '\n');
}

uint64_t tr_report_whole(double rate)
{
	return rate >= 0 && rate < 1e18 ? (uint64_t)rate : 0;
}

size_t tr_report_rest(const struct tr_report *r, size_t fixed, size_t least)
{
	return r->options.width > fixed + least ? r->options.width - fixed :
						  least;
}

void tr_report_text(struct tr_report *r, const char *text, size_t most)
{
	size_t n = tr_text_columns(text);

	/* Not ~, which marks a destructor in C++. */
	tr_buf_add_printable(r->buf, text, n <= most ? n :
					   most > 2  ? most - 2 :
						       0);
	if (n > most)
		tr_buf_adds(r->buf, "..");
}

/* "  file.c:12", without folders. */
void tr_report_place(struct tr_report *r, const char *file, uint32_t line)
{
	const char *slash = strrchr(file, '/');

	if (!file[0])
		return;
	tr_buf_adds(r->buf, "  ");
	tr_report_text(r, slash ? slash + 1 : file, 40);
	if (line)
		tr_buf_addf(r->buf, ":%u", line);
}

/* Difference of two times in ns, which may be any numbers. */
static double apart(int64_t later, int64_t earlier)
{
	return (double)(int64_t)((uint64_t)later - (uint64_t)earlier);
}

/* ---- head -------------------------------------------------------------- */

#define COMMAND_MOST 200u /* columns */

/* Sampled threads need no track; `n` counts threads with probes. */
static void add_threads(struct tr_report *r, uint64_t n)
{
	uint64_t sampled = tare_view_sampling(r->view)->threads;

	n = sampled > n ? sampled : n;
	tr_buf_addf(r->buf, ", %llu thread%s", (unsigned long long)n,
		    n == 1 ? "" : "s");
}

static void add_range(struct tr_report *r, int64_t from_ns, int64_t to_ns)
{
	tr_buf_addf(r->buf, "from %s to %s", tr_as_date(from_ns).text,
		    tr_as_date(to_ns).text);
}

void tr_report_damage(struct tr_report *r)
{
	const char *damage = tare_view_run(r->view)->damage;

	if (damage[0])
		tr_buf_addf(r->buf,
			    "      damaged: other bytes than were written in "
			    "%s; figures may be wrong\n",
			    damage);
}

int tr_report_head(struct tr_report *r)
{
	const tare_run *run = tare_view_run(r->view);

	if (tr_views_n(r->view) > 1)
		return tr_report_joined(r);
	style(r, BOLD);
	tr_buf_adds(r->buf, "tare  ");
	tr_buf_add_printable(r->buf, run->program, 64);
	style(r, PLAIN);
	tr_buf_addf(r->buf, "  pid %lld, %s, %s", (long long)run->pid,
		    tr_run_state_name(run->state),
		    tr_as_duration(apart(run->end_ns, run->start_ns)).text);
	add_threads(r, run->n_tracks);
	if (run->git[0]) {
		tr_buf_adds(r->buf, ", git ");
		tr_buf_add_printable(r->buf, run->git, 10);
	}
	if (run->cleared_ns)
		tr_buf_adds(r->buf, ", since the last clear");
	tr_buf_addc(r->buf, '\n');
	style(r, DIM);
	tr_buf_adds(r->buf, "      ");
	tr_buf_add_printable(r->buf, run->command, COMMAND_MOST);
	if (tr_text_columns(run->command) > COMMAND_MOST)
		tr_buf_adds(r->buf, " ...");
	tr_buf_adds(r->buf, "\n      run ");
	tr_buf_add_printable(r->buf, run->id, 64);
	tr_buf_adds(r->buf, " on ");
	tr_buf_add_printable(r->buf, run->host, 64);
	tr_buf_adds(r->buf, ", ");
	tr_buf_add_printable(r->buf, run->cpu, 80);
	tr_buf_adds(r->buf, "\n      ");
	add_range(r, run->cleared_ns ? run->cleared_ns : run->start_ns,
		  run->end_ns);
	style(r, PLAIN);
	tr_buf_addc(r->buf, '\n');
	tr_report_damage(r);
	return 0;
}

/* ---- flat -------------------------------------------------------------- */

#define FLAT_FIXED 83u /* columns right of the name */
#define NAME_LEAST 17u
#define FLAT_TITLES \
	{ "count", 11 }, { "total", 8 }, { "mean", 8 }, { "min", 8 }, \
	{ "p50", 8 }, { "p95", 8 }, { "p99", 8 }, { "max", 8 }


#define BOUNDS_SHOWN 3u /* a line */

static void flat_time(struct tr_report *r, const tare_stats *s, size_t width)
{
	bool raw = r->options.raw;
	double inside_ns = tare_view_run(r->view)->inside_ns;
	double one[5] = { s->min, s->p50, s->p95, s->p99, s->max };

	name(r, s->name, s->labels, width);
	tr_report_estimate(r, s->count, s->missed != 0, 11);
	tr_report_time(r, raw ? s->total : s->net_total, 8);
	tr_report_time(r, raw ? s->mean : s->net_mean, 8);
	for (int i = 0; i < 5; i++)
		tr_report_time(r, raw ? one[i] :
				   tr_stats_net(s, one[i], inside_ns), 8);
	tr_report_count(r, s->failures, 7);
	if (s->is_estimate)
		tr_buf_adds(r->buf, " *");
	else if (s->below_resolution)
		tr_buf_adds(r->buf, " ~");
	if (s->failures && !isnan(s->success_rate))
		tr_buf_addf(r->buf, "  %s ok",
			    tr_as_success(s->success_rate).text);
	if (s->items) {
		tr_buf_adds(r->buf, "  items/s");
		tr_report_count(r, tr_report_whole(s->items_per_s), 0);
	}
	tail(r, s, "", width);
}

static void flat_value(struct tr_report *r, const tare_stats *s, size_t width)
{
	bool adds_up = s->kind != TARE_KIND_GAUGE;
	const double column[7] = { adds_up ? s->total : (double)NAN, s->mean,
				   s->min, s->p50, s->p95, s->p99, s->max };

	name(r, s->name, s->labels, width);
	tr_report_count(r, s->count, 11);
	for (int i = 0; i < 7; i++)
		cell_value(r, column[i], s->unit, 8);
	if (s->kind == TARE_KIND_GAUGE) {
		tr_buf_adds(r->buf, " now");
		cell_value(r, s->last, s->unit, 0);
	}
	tail(r, s, strcmp(s->unit, "B") ? s->unit : "", width);
}

static void flat_counter(struct tr_report *r, const tare_stats *s,
			 size_t width)
{
	name(r, s->name, s->labels, width);
	if (s->kind == TARE_KIND_RATIO) {
		/* Of a damaged ledger it may be anything. */
		tr_report_count(r, (uint64_t)tr_least(s->total, 1e19), 13);
		tr_buf_adds(r->buf, " of");
		tr_report_count(r, s->count, 0);
		tr_buf_adds(r->buf, " =");
		tr_report_share(r, s->last);
	} else if (s->total != (double)s->count) { /* of doubles */
		cell_value(r, s->total, "", 13);
	} else {
		tr_report_count(r, s->count, 13);
	}
	tail(r, s, s->kind == TARE_KIND_RATIO ? "" : s->unit, width);
}

enum group { GROUP_TIME, GROUP_VALUE, GROUP_COUNTER, GROUP_MONITOR };

static enum group group_of(const tare_stats *s)
{
	if (tare_stats_is_monitor(s))
		return GROUP_MONITOR;
	switch (s->kind) {
	case TARE_KIND_SCOPE:
		return GROUP_TIME;
	case TARE_KIND_COUNTER:
	case TARE_KIND_RATIO:
		return GROUP_COUNTER;
	default:
		return GROUP_VALUE;
	}
}

static void flat_row(struct tr_report *r, const tare_stats *s, size_t width)
{
	if (group_of(s) == GROUP_TIME)
		flat_time(r, s, width);
	else if (group_of(s) == GROUP_VALUE)
		flat_value(r, s, width);
	else
		flat_counter(r, s, width);
}

static void flat_head(struct tr_report *r, enum group group, size_t width)
{
	static const char *const heading[] = { "scopes", "values",
					       "counters" };
	static const struct tr_report_title titles[][10] = {
		{ FLAT_TITLES, { "failed", 7 }, { NULL, 0 } },
		{ FLAT_TITLES, { NULL, 0 } },
	};

	tr_report_heading(r, heading[group], "");
	if (group != GROUP_COUNTER)
		tr_report_titles(r, "name", width, titles[group]);
}

/* Series whose calls were not all counted: how many there may be. */
static void flat_bounds(struct tr_report *r, const tare_stats **rows, size_t n,
			enum group group)
{
	unsigned shown = 0;

	for (size_t i = 0; i < n && shown < BOUNDS_SHOWN; i++) {
		const tare_stats *s = rows[i];

		if (group_of(s) != group || s->count_low == s->count_high)
			continue;
		tr_buf_adds(r->buf, shown++ ? "; " : "* calls, 95 % sure: ");
		tr_buf_add_printable(r->buf, s->name, 24);
		tr_buf_addf(r->buf, " %s to %s",
			    tr_as_count(tr_report_rounded(s->count_low)).text,
			    tr_as_count(tr_report_rounded(s->count_high)).text);
	}
	if (shown)
		tr_buf_addc(r->buf, '\n');
}

/* Columns of the longest name with its labels, if there is room for it. */
static size_t flat_width(const struct tr_report *r, const tare_stats **rows,
			 size_t n, enum group group)
{
	size_t most = tr_report_rest(r, FLAT_FIXED, NAME_LEAST);
	size_t width = NAME_LEAST;

	for (size_t i = 0; i < n; i++) {
		size_t labels = tr_text_columns(rows[i]->labels);
		size_t used = tr_text_columns(rows[i]->name) +
			      (labels ? labels + 2 : 0);

		if (group_of(rows[i]) == group && used > width)
			width = used;
	}
	return width < most ? width : most;
}

static void flat_group(struct tr_report *r, const tare_stats **rows, size_t n,
		       enum group group)
{
	size_t width = flat_width(r, rows, n, group), shown = 0, left = 0;

	for (size_t i = 0; i < n; i++) {
		if (group_of(rows[i]) != group)
			continue;
		if (r->options.top && shown >= r->options.top) {
			left++;
			continue;
		}
		if (shown++ == 0)
			flat_head(r, group, width);
		flat_row(r, rows[i], width);
	}
	if (left)
		tr_buf_addf(r->buf, "... and %llu more (--top 0 shows all)\n",
			    (unsigned long long)left);
	flat_bounds(r, rows, n, group);
}

/* ---- monitor ----------------------------------------------------------- */

#define MONITOR_FIXED 44u /* columns right of the name */

static void monitor_row(struct tr_report *r, const struct tr_monitored *row,
			size_t width)
{
	const tare_stats *s = &row->stats;
	bool is_total = s->type == TARE_TYPE_COUNTER;

	tr_buf_add_printable(r->buf, s->source, 8);
	tr_buf_pad(r->buf, ' ', 9 - strlen(s->source));
	name(r, s->name, s->labels, width - 9);
	cell_unit(r, s->last, s->unit, "");
	cell_unit(r, is_total ? row->per_s : s->mean, s->unit,
		  is_total ? "/s" : "");
	cell_unit(r, s->max, s->unit, "");
	tr_report_cell(r, tr_as_change(row->change).text, 8);
	tail(r, s, "", width - 9);
}

/* Rows that were always 0 are left out. */
static bool is_zero(const struct tr_monitored *row)
{
	return row->stats.min == 0 && row->stats.max == 0 &&
	       row->stats.last == 0;
}

static int monitor_group(struct tr_report *r, const tare_stats *stats,
			 size_t n_stats)
{
	static const struct tr_report_title titles[] = {
		{ "now", 12 }, { "mean", 12 }, { "max", 12 }, { "trend", 8 },
		{ NULL, 0 },
	};
	size_t width = tr_report_rest(r, MONITOR_FIXED, 35), n, zero = 0;
	struct tr_monitored *rows;
	int err = tr_monitored_take(r->view, r->options.filter, stats, n_stats,
				    &rows, &n);

	if (err)
		return err;
	if (n) {
		tr_report_heading(r, "monitor", "");
		tr_report_titles(r, "source   series", width, titles);
	}
	for (size_t i = 0; i < n; i++) {
		if (is_zero(&rows[i]))
			zero++;
		else
			monitor_row(r, &rows[i], width);
	}
	if (zero)
		tr_buf_addf(r->buf, "and %llu that stayed at 0\n",
			    (unsigned long long)zero);
	free(rows);
	return 0;
}

/* ---- nothing ----------------------------------------------------------- */

bool tr_report_selects(const struct tr_report *r)
{
	const tare_filter *filter = r->options.filter;

	return filter && (filter->n_names || filter->n_sources ||
			  filter->types);
}

void tr_report_nothing(struct tr_report *r)
{
	const tare_filter *filter = r->options.filter;

	if (!tr_report_selects(r)) {
		tr_buf_addf(r->buf, "\nnothing was measured%s\n",
			    filter && (filter->from_ns || filter->to_ns) ?
				    " in this window" : "");
		return;
	}
	tr_buf_adds(r->buf, "\nno series matches");
	for (size_t i = 0; i < filter->n_names; i++) {
		tr_buf_adds(r->buf, i ? ", '" : " '");
		tr_buf_add_printable(r->buf, filter->names[i], 64);
		tr_buf_addc(r->buf, '\'');
	}
	tr_buf_adds(r->buf, filter->n_names ? "\n" : " the options\n");
}

/* A window leaves no counter: says so where there are some. */
static int counters_line(struct tr_report *r)
{
	tare_filter all;
	const tare_stats *stats;
	size_t n;
	int err;

	if (!r->options.filter || tr_filter_is_timeless(r->options.filter))
		return 0;
	all = *r->options.filter;
	all.from_ns = all.to_ns = 0;
	all.last_values = 0;
	err = tare_view_stats(r->view, &all, &stats, &n);
	for (size_t i = 0; !err && i < n; i++)
		if (group_of(&stats[i]) == GROUP_COUNTER) {
			tr_buf_adds(r->buf, "\ncounters have no times: a "
				    "window shows none\n");
			break;
		}
	return err;
}

/* ---- all --------------------------------------------------------------- */

static void window_line(struct tr_report *r)
{
	const tare_window *w = tare_view_window(r->view);
	const tare_run *run = tare_view_run(r->view);

	if (w->from_ns == run->start_ns && w->to_ns == run->end_ns)
		return;
	tr_buf_addf(r->buf, "\nwindow: from %s to %s after the start, ",
		    tr_as_duration(apart(w->from_ns, run->start_ns)).text,
		    tr_as_duration(apart(w->to_ns, run->start_ns)).text);
	add_range(r, w->from_ns, w->to_ns);
	tr_buf_addc(r->buf, '\n');
}

int tr_report_flat(struct tr_report *r)
{
	const tare_stats *stats, **rows;
	uint32_t parts = r->options.parts;
	bool has_calls = false;
	size_t n, n_counters = 0;
	int err = tare_view_stats(r->view, r->options.filter, &stats, &n);

	if (err)
		return err;
	rows = tr_report_sorted(r, stats, n);
	if (!rows)
		return TARE_ENOMEM;
	window_line(r);
	if (parts & TARE_REPORT_SCOPES)
		flat_group(r, rows, n, GROUP_TIME);
	if (parts & TARE_REPORT_VALUES)
		flat_group(r, rows, n, GROUP_VALUE);
	if (parts & TARE_REPORT_COUNTERS)
		flat_group(r, rows, n, GROUP_COUNTER);
	for (size_t i = 0; i < n; i++)
		n_counters += group_of(rows[i]) == GROUP_COUNTER;
	free(rows);
	if (parts & TARE_REPORT_SCOPES)
		err = tr_report_calls(r, &has_calls);
	if (!err && !n && (tr_report_selects(r) ||
			   (!has_calls &&
			    !tare_view_sampling(r->view)->samples)))
		tr_report_nothing(r);
	if (!err && parts & TARE_REPORT_MONITOR)
		err = monitor_group(r, stats, n);
	/* Last: the rows above are gone after it. */
	if (!err && parts & TARE_REPORT_COUNTERS && !n_counters)
		err = counters_line(r);
	return err;
}
