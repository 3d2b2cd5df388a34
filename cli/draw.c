/* SPDX-License-Identifier: Apache-2.0 */
#include "picture.h"

#include <math.h>
#include <stdint.h>

#include "base/text.h"
#include "output.h"
#include "read/view.h"
#include "render/tables.h"
#include "runs.h"
#include "table.h"

/* Five tables, in this order: a counter has no mean, a gauge no share. */
enum section { FUNCTIONS, SCOPES, COUNTERS, VALUES, MONITOR, N_SECTIONS };

/* Functions in print, where there is no limit by the height. */
#define FUNCTIONS_PRINTED 20u

static enum section section_of(const struct picture_row *row)
{
	if (row->stats->kind == TARE_KIND_SCOPE)
		return SCOPES;
	if (tare_stats_is_monitor(row->stats))
		return MONITOR;
	return row->stats->kind == TARE_KIND_COUNTER ? COUNTERS : VALUES;
}

static void add_scope(struct table *table, const struct picture_row *row)
{
	table_add_name(table, row->stats->name, row->stats->labels);
	table_add(table, tr_as_number(row->per_s).text);
	table_add(table, tr_as_share(row->time_share).text);
	table_add(table, tr_as_share(row->own_share).text);
	table_add_tinted(table, tr_as_duration(row->mean).text,
			 row->stats->below_resolution ? TINT_DIM : TINT_NONE);
	table_add(table, tr_as_duration(row->p50).text);
	table_add(table, tr_as_duration(row->p99).text);
	table_add(table, tr_as_duration(row->max).text);
	table_add_tinted(table, tr_as_count(row->failures).text,
			 row->failures ? TINT_RED : TINT_NONE);
	table_add(table, tr_as_count(row->open).text);
}

static void add_counter(struct table *table, const struct picture_row *row)
{
	const tare_stats *stats = row->stats;

	table_add_name(table, stats->name, stats->labels);
	table_add(table, tr_as_value(row->per_s, stats->unit).text);
	table_add(table, tr_as_value(stats->total, stats->unit).text);
}

static void add_value(struct table *table, const struct picture_row *row)
{
	const tare_stats *stats = row->stats;
	bool has_now = stats->kind == TARE_KIND_GAUGE ||
		       stats->kind == TARE_KIND_RATIO;

	table_add_name(table, stats->name, stats->labels);
	table_add(table, tr_kind_name(stats->kind));
	table_add(table, tr_as_number(row->per_s).text);
	table_add(table, has_now ? tr_as_value(stats->last, stats->unit).text
				 : "-");
	if (stats->kind == TARE_KIND_RATIO) {
		for (int i = 0; i < 4; i++)
			table_add(table, "-");
		return;
	}
	table_add(table, tr_as_value(row->mean, stats->unit).text);
	table_add(table, tr_as_value(row->p50, stats->unit).text);
	table_add(table, tr_as_value(row->p99, stats->unit).text);
	table_add(table, tr_as_value(row->max, stats->unit).text);
}

/* A total has no mean, and no trend as it always grows. */
static void add_monitor(struct table *table, const struct picture_row *row)
{
	const tare_stats *stats = row->stats;
	bool is_total = stats->type == TARE_TYPE_COUNTER;

	table_add_name(table, stats->name, stats->labels);
	table_add(table, stats->source);
	table_add(table, tr_as_value(stats->last, stats->unit).text);
	table_add(table, is_total ? "-"
				  : tr_as_value(stats->mean, stats->unit)
					    .text);
	table_add(table, tr_as_value(stats->max, stats->unit).text);
	/* The last minute compared with the one before. */
	table_add(table, tr_as_change(is_total ? NAN : row->change).text);
}

/* Narrow terminals: the median is dropped first, name and rate never. */
static const struct column scope_columns[] = {
	COLUMN_WIDE("SCOPE"),	    COLUMN_NUMBER("CALLS/S", 0),
	COLUMN_NUMBER("TIME", 6),   COLUMN_NUMBER("OWN", 2),
	COLUMN_NUMBER("MEAN", 5),   COLUMN_NUMBER("P50", 1),
	COLUMN_NUMBER("P99", 7),    COLUMN_NUMBER("MAX", 4),
	COLUMN_NUMBER("FAILED", 8), COLUMN_NUMBER("OPEN", 3),
};
static const struct column counter_columns[] = {
	COLUMN_WIDE("COUNTER"),
	COLUMN_NUMBER("PER SECOND", 0),
	COLUMN_NUMBER("TOTAL", 1),
};
static const struct column value_columns[] = {
	COLUMN_WIDE("VALUE"),	  COLUMN_TEXT("KIND", 1),
	COLUMN_NUMBER("PER S", 2), COLUMN_NUMBER("NOW", 0),
	COLUMN_NUMBER("MEAN", 6), COLUMN_NUMBER("P50", 3),
	COLUMN_NUMBER("P99", 5),  COLUMN_NUMBER("MAX", 4),
};

static const struct column monitor_columns[] = {
	COLUMN_WIDE("MONITOR"),	  COLUMN_TEXT("SOURCE", 3),
	COLUMN_NUMBER("NOW", 0),  COLUMN_NUMBER("MEAN", 1),
	COLUMN_NUMBER("MAX", 2),  COLUMN_NUMBER("TREND", 4),
};

static const struct column function_columns[] = {
	COLUMN_WIDE("FUNCTION"),       COLUMN_TEXT("MODULE", 1),
	COLUMN_NUMBER("OWN", 0),       COLUMN_NUMBER("TOTAL", 4),
	COLUMN_NUMBER("OWN ALL", 3),   COLUMN_NUMBER("TOTAL ALL", 2),
	COLUMN_NUMBER("SAMPLES", 5),
};

static double part(double ns, double of_ns)
{
	return of_ns > 0 ? ns / of_ns : NAN;
}

static void add_function(struct table *table,
			 const struct tr_functions_change *all,
			 const struct tr_function_change *row)
{
	const tare_function *f = row->now;
	char brief[TR_BRIEF_BYTES];

	table_add(table, tr_name_brief(f->function, brief));
	table_add(table, f->module);
	table_add(table, tr_as_share(part(row->own_ns, all->own_ns)).text);
	table_add(table, tr_as_share(part(row->all_ns, all->own_ns)).text);
	table_add(table, tr_as_share(part(f->weight_ns, all->all_ns)).text);
	table_add(table, tr_as_share(part(f->all_weight_ns,
					  all->all_ns)).text);
	table_add(table, tr_as_count(row->samples).text);
}

static void draw_functions(const struct picture *picture,
			   const struct drawing *drawing, size_t n,
			   FILE *stream)
{
	const struct tr_functions_change *all = &picture->functions;
	struct table table;

	table_init(&table, function_columns, 7);
	for (size_t i = 0; i < all->n && i < n; i++)
		add_function(&table, all, &all->rows[i]);
	(void)fputc('\n', stream);
	table_print(&table, stream, drawing->width, drawing->color);
	table_release(&table);
}

static const struct layout {
	const struct column *columns;
	size_t n_columns;
	void (*add)(struct table *table, const struct picture_row *row);
} layouts[] = {
	[SCOPES] = { scope_columns, 10, add_scope },
	[COUNTERS] = { counter_columns, 3, add_counter },
	[VALUES] = { value_columns, 8, add_value },
	[MONITOR] = { monitor_columns, 6, add_monitor },
};

/*
 * Lines for each section, including its title and the empty line before it.
 * Sections get lines in turn, so that a long one does not displace a short one.
 */
static void share_lines(const size_t rows[], size_t height, size_t lines[])
{
	bool given = true;

	for (int s = 0; s < N_SECTIONS; s++)
		lines[s] = 0;
	while (given && height > 0) {
		given = false;
		for (int s = 0; s < N_SECTIONS && height > 0; s++) {
			if (!rows[s] || lines[s] == rows[s] + 2)
				continue;
			lines[s]++;
			height--;
			given = true;
		}
	}
}

static void draw_section(const struct picture *picture,
			 const struct drawing *drawing, enum section section,
			 size_t n, FILE *stream)
{
	const struct layout *layout = &layouts[section];
	struct table table;

	table_init(&table, layout->columns, layout->n_columns);
	for (size_t i = 0; i < picture->n_rows && n > 0; i++) {
		if (section_of(&picture->rows[i]) != section)
			continue;
		layout->add(&table, &picture->rows[i]);
		n--;
	}
	(void)fputc('\n', stream);
	table_print(&table, stream, drawing->width, drawing->color);
	table_release(&table);
}

static void count_rows(const struct picture *picture,
		       const struct drawing *drawing, size_t rows[])
{
	size_t most = drawing->height ? SIZE_MAX : FUNCTIONS_PRINTED;

	if (drawing->show != SHOW_SCOPES)
		rows[FUNCTIONS] = picture->functions.n < most ?
					  picture->functions.n : most;
	if (drawing->show == SHOW_FUNCTIONS)
		return;
	for (size_t i = 0; i < picture->n_rows; i++)
		rows[section_of(&picture->rows[i])]++;
}

static void draw_sections(const struct picture *picture,
			  const struct drawing *drawing, size_t used,
			  FILE *stream)
{
	size_t rows[N_SECTIONS] = { 0 }, lines[N_SECTIONS];
	size_t height = SIZE_MAX;

	if (drawing->height)
		height = drawing->height > used ? drawing->height - used : 0;
	count_rows(picture, drawing, rows);
	share_lines(rows, height, lines);
	if (lines[FUNCTIONS] > 2)
		draw_functions(picture, drawing, lines[FUNCTIONS] - 2,
			       stream);
	for (int s = SCOPES; s < N_SECTIONS; s++)
		if (lines[s] > 2)
			draw_section(picture, drawing, (enum section)s,
				     lines[s] - 2, stream);
}

/* The number of sites that the governor measures only in part. */
static void draw_governed(const tare_health *health,
			  const struct drawing *drawing, FILE *stream)
{
	char text[64];

	if (!health->governed)
		return;
	(void)snprintf(text, sizeof(text), "  %s in part",
		       tr_as_count(health->governed).text);
	terminal_tinted(stream, drawing->color, TINT_YELLOW, text);
}

static void draw_header(const struct picture *picture,
			const struct drawing *drawing, FILE *stream)
{
	const tare_run *run = picture->run;

	terminal_tinted(stream, drawing->color, TINT_BOLD, "tare top  ");
	terminal_safe(stream, run->program);
	(void)fprintf(stream, "  pid %lld  up %s  ", (long long)run->pid,
		      tr_as_duration((double)run->end_ns -
				      (double)run->start_ns).text);
	terminal_tinted(stream, drawing->color, run_state_tint(run->state),
			tr_run_state_name(run->state));
	(void)fprintf(stream, "  %s %s%s\n",
		      picture->is_whole ? "over all" : "over the last",
		      tr_as_duration(picture->seconds * 1e9).text,
		      drawing->is_paused ? "  PAUSED" : "");
	(void)fprintf(stream, "%s events/s  overhead %s CPU  ",
		      tr_as_number(picture->events_per_s).text,
		      tr_as_share(picture->cost_share).text);
	(void)fputs("lost ", stream);
	terminal_tinted(stream, drawing->color,
			picture->health->lost ? TINT_RED : TINT_NONE,
			tr_as_count(picture->health->lost).text);
	(void)fprintf(stream, "  threads %s  by %s",
		      tr_as_count(picture->health->threads).text,
		      picture_sort_name(drawing->sort));
	draw_governed(picture->health, drawing, stream);
	(void)fputc('\n', stream);
}

static void draw_keys(const struct drawing *drawing, FILE *stream)
{
	static const char *const show_names[] = {
		[SHOW_ALL] = "all", [SHOW_FUNCTIONS] = "functions",
		[SHOW_SCOPES] = "scopes",
	};
	char line[120];

	(void)snprintf(line, sizeof(line),
		       "q quit  s sort  f tables: %s  p %s  +/- every %s  "
		       "space refresh",
		       show_names[drawing->show],
		       drawing->is_paused ? "go on" : "pause",
		       tr_as_duration(drawing->interval_s * 1e9).text);
	(void)fputc('\n', stream);
	terminal_tinted(stream, drawing->color, TINT_DIM, line);
	(void)fputc('\n', stream);
}

void draw_text(const struct picture *picture, const struct drawing *drawing,
	       FILE *stream)
{
	draw_header(picture, drawing, stream);
	if (!picture->n_rows && !picture->functions.n)
		(void)fputs("\nnothing measured so far\n", stream);
	else if (drawing->show == SHOW_FUNCTIONS && !picture->functions.n)
		(void)fputs("\nno samples so far\n", stream);
	draw_sections(picture, drawing, drawing->has_keys ? 4 : 2, stream);
	if (drawing->has_keys)
		draw_keys(drawing, stream);
}

static void json_row(struct tr_json *json, const struct picture_row *row)
{
	const tare_stats *stats = row->stats;

	tr_json_object(json, NULL);
	tr_json_str(json, "name", stats->name);
	tr_json_str(json, "labels", stats->labels);
	tr_json_str(json, "source", stats->source);
	tr_json_str(json, "kind", tr_kind_name(stats->kind));
	tr_json_str(json, "unit", stats->unit);
	tr_json_u64(json, "calls", row->calls);
	tr_json_double(json, "per_s", row->per_s);
	tr_json_double(json, "time_share", row->time_share);
	tr_json_double(json, "own_share",
		       stats->kind == TARE_KIND_SCOPE ? row->own_share : 0);
	tr_json_double(json, "mean", row->mean);
	tr_json_double(json, "p50", row->p50);
	tr_json_double(json, "p99", row->p99);
	tr_json_double(json, "max", row->max);
	tr_json_u64(json, "failures", row->failures);
	tr_json_u64(json, "open", row->open);
	tr_json_u64(json, "count", stats->count);
	tr_json_double(json, "total", stats->total);
	tr_json_double(json, "last", stats->last);
	tr_json_double(json, "change", row->change);
	tr_json_end_object(json);
}

static void json_functions(struct tr_json *json,
			   const struct tr_functions_change *all)
{
	tr_json_array(json, "functions");
	for (size_t i = 0; i < all->n; i++) {
		const struct tr_function_change *row = &all->rows[i];
		const tare_function *f = row->now;

		tr_json_object(json, NULL);
		tr_json_str(json, "function", f->function);
		tr_json_str(json, "module", f->module);
		tr_json_u64(json, "samples", row->samples);
		tr_json_double(json, "own_share",
			       part(row->own_ns, all->own_ns));
		tr_json_double(json, "total_share",
			       part(row->all_ns, all->own_ns));
		tr_json_double(json, "own_share_all",
			       part(f->weight_ns, all->all_ns));
		tr_json_double(json, "total_share_all",
			       part(f->all_weight_ns, all->all_ns));
		tr_json_u64(json, "samples_all", f->samples);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
}

void draw_json(const struct picture *picture, FILE *stream)
{
	struct tr_json *json = output_json_begin();
	const tare_run *run = picture->run;

	tr_json_object(json, NULL);
	tr_json_str(json, "id", run->id);
	tr_json_str(json, "program", run->program);
	tr_json_i64(json, "pid", run->pid);
	tr_json_str(json, "state", tr_run_state_name(run->state));
	tr_json_i64(json, "start_ns", run->start_ns);
	tr_json_i64(json, "end_ns", run->end_ns);
	tr_json_double(json, "seconds", picture->seconds);
	tr_json_bool(json, "whole", picture->is_whole);
	tr_json_double(json, "events_per_s", picture->events_per_s);
	tr_json_double(json, "cost_share", picture->cost_share);
	tr_json_u64(json, "lost", picture->lost);
	tr_json_u64(json, "lost_total", picture->health->lost);
	tr_json_u64(json, "threads", picture->health->threads);
	tr_json_array(json, "series");
	for (size_t i = 0; i < picture->n_rows; i++)
		json_row(json, &picture->rows[i]);
	tr_json_end_array(json);
	if (picture->is_sampled)
		json_functions(json, &picture->functions);
	tr_json_end_object(json);
	output_json(json, stream);
}
