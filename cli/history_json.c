/* SPDX-License-Identifier: Apache-2.0 */
/* The history as JSON, and a series as an SVG picture. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history_series.h"
#include "output.h"
#include "render/charts.h"
#include "runs.h"

/* ---- JSON -------------------------------------------------------------- */

static void maybe_number(struct tr_json *json, const char *key, int64_t value)
{
	if (value == STORE_UNKNOWN)
		tr_json_double(json, key, (double)NAN); /* null */
	else
		tr_json_i64(json, key, value);
}

static int json_figure(void *arg, const struct store_figure *figure)
{
	struct tr_json *json = arg;

	tr_json_object(json, figure->name);
	tr_json_double(json, "value", figure->value);
	tr_json_str(json, "unit", figure->unit);
	tr_json_end_object(json);
	return 0;
}

static void json_identity(struct tr_json *json, const struct store_run *run)
{
	tr_json_str(json, "source", run->source);
	tr_json_str(json, "project", run->project);
	tr_json_str(json, "program", run->program);
	if (run->arguments)
		tr_json_str(json, "arguments", run->arguments);
	tr_json_str(json, "machine", run->machine);
}

static void json_run(struct tr_json *json, const struct store_run *run,
		     struct store *store, bool with_figures)
{
	tr_json_object(json, NULL);
	tr_json_str(json, "key", run->key);
	json_identity(json, run);
	tr_json_str(json, "cpu", run->cpu);
	tr_json_str(json, "revision", run->revision);
	if (run->dirty == STORE_UNKNOWN)
		tr_json_double(json, "dirty", (double)NAN); /* null */
	else
		tr_json_bool(json, "dirty", run->dirty);
	tr_json_str(json, "build_id", run->build_id);
	tr_json_i64(json, "started_ns", run->started_ns);
	tr_json_str(json, "state", run->state);
	maybe_number(json, "exit_status", run->exit_status);
	tr_json_u64(json, "processes", run->processes);
	tr_json_double(json, "wall_ns", run->wall_ns);
	tr_json_double(json, "cpu_ns", run->cpu_ns);
	tr_json_double(json, "peak_bytes", run->peak_bytes);
	tr_json_double(json, "value", run->value);
	tr_json_str(json, "version", run->version);
	if (with_figures) {
		tr_json_object(json, "figures");
		(void)store_figures(store, run->id, json_figure, json);
		tr_json_end_object(json);
	}
	tr_json_end_object(json);
}

static void json_change(struct tr_json *json, const struct history_list *list,
			const struct history_series *series,
			const tare_change *change)
{
	const struct history_row *row = list->rows.row;
	const struct store_run *run = &row[series->row[change->index]].run;
	const struct store_run *last =
		&row[series->row[change->index - 1]].run;

	tr_json_object(json, NULL);
	tr_json_u64(json, "index", change->index);
	tr_json_str(json, "key", run->key);
	tr_json_i64(json, "started_ns", run->started_ns);
	tr_json_str(json, "revision", run->revision);
	tr_json_str(json, "revision_before", last->revision);
	tr_json_double(json, "before", change->before);
	tr_json_double(json, "after", change->after);
	tr_json_double(json, "change", change->change);
	tr_json_double(json, "strength", change->strength);
	tr_json_bool(json, "gradual", change->is_gradual);
	tr_json_bool(json, "provisional", change->is_provisional);
	tr_json_end_object(json);
}

static void json_series(struct tr_json *json, const struct history_list *list,
			const struct history_series *series)
{
	tr_json_object(json, NULL);
	json_identity(json, &list->rows.row[series->row[0]].run);
	tr_json_u64(json, "runs", series->n);
	tr_json_array(json, "changes");
	for (size_t i = 0; i < series->n_changes; i++)
		json_change(json, list, series, &series->changes[i]);
	tr_json_end_array(json);
	tr_json_end_object(json);
}

void history_json(const struct history_list *list, struct store *store,
		  bool with_figures)
{
	struct tr_json *json = output_json_begin();

	tr_json_object(json, NULL);
	tr_json_str(json, "figure", list->figure);
	tr_json_str(json, "unit", list->unit);
	tr_json_array(json, "runs");
	for (size_t i = 0; i < list->rows.n; i++)
		json_run(json, &list->rows.row[i].run, store, with_figures);
	tr_json_end_array(json);
	tr_json_array(json, "series");
	for (size_t i = 0; i < list->n_series; i++)
		json_series(json, list, &list->series[i]);
	tr_json_end_array(json);
	tr_json_end_object(json);
	output_json(json, stdout);
}

/* ---- the picture ------------------------------------------------------- */

/* Times as seconds, sizes as MiB: axes have no units of their own. */
static double scale_of(const struct history_list *list, double high,
		       const char **ret_unit)
{
	if (strcmp(list->unit, "B") == 0) {
		*ret_unit = "MiB";
		return 1. / 1048576;
	}
	if (strcmp(list->unit, "ns") != 0) {
		*ret_unit = list->unit[0] == '1' ? "" : list->unit;
		return 1;
	}
	*ret_unit = high >= 1e9 ? "s" : high >= 1e6 ? "ms" : "us";
	return high >= 1e9 ? 1e-9 : high >= 1e6 ? 1e-6 : 1e-3;
}

struct picture {
	const struct history_list *list;
	const struct history_series *series;
	double *x, *y;
	double unit;
	struct tr_plot plot;
	char title[128], about[200];
};

static void draw_changes(struct tr_sink *sink, const struct picture *p)
{
	for (size_t i = 0; i < p->series->n_changes; i++) {
		const tare_change *c = &p->series->changes[i];
		const struct store_run *run =
			&p->list->rows.row[p->series->row[c->index]].run;
		struct tr_buf text = TR_BUF_INIT;
		struct tr_dot dot = { .x = (double)c->index,
				      .y = c->after * p->unit,
				      .low = (double)NAN,
				      .high = (double)NAN,
				      .series = 1 };

		tr_buf_addf(&text, "%s %s, %s to %s",
			    history_revision(run).text,
			    tr_as_change(c->change).text,
			    history_value(p->list, c->before).text,
			    history_value(p->list, c->after).text);
		dot.title = text.data ? text.data : "";
		tr_dot_draw(sink, &p->plot, &dot);
		tr_buf_release(&text);
	}
}

static void draw(struct tr_sink *sink, struct picture *p)
{
	struct tr_curve curve = { .x = p->x, .y = p->y, .n = p->series->n,
				  .name = p->list->figure };

	tr_sink_addf(sink, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
		     "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		     "font-family=\"sans-serif\">\n<style>",
		     2 * (int)TR_CHART_WIDTH, 2 * (int)TR_CHART_HEIGHT,
		     (int)TR_CHART_WIDTH, (int)TR_CHART_HEIGHT);
	tr_chart_style(sink);
	tr_sink_adds(sink, "</style>\n");
	tr_plot_open(sink, &p->plot);
	tr_curve_draw(sink, &p->plot, &curve);
	draw_changes(sink, p);
	tr_chart_close(sink);
	tr_sink_adds(sink, "</svg>\n");
}

static void prepare(struct picture *p)
{
	const struct store_run *run =
		&p->list->rows.row[p->series->row[p->series->n - 1]].run;
	struct tr_extent xs = TR_EXTENT_NONE, ys = TR_EXTENT_NONE;
	double high = 0;
	const char *unit;

	for (size_t i = 0; i < p->series->n; i++)
		high = p->series->value[i] > high ? p->series->value[i] : high;
	p->unit = scale_of(p->list, high, &unit);
	tr_extent_add(&ys, 0);
	for (size_t i = 0; i < p->series->n; i++) {
		p->x[i] = (double)i;
		p->y[i] = p->series->value[i] * p->unit;
		tr_extent_add(&xs, p->x[i]);
		tr_extent_add(&ys, p->y[i]);
	}
	tr_scale_linear(&p->plot.x, xs, 6, false);
	tr_scale_linear(&p->plot.y, ys, 6, true);
	(void)snprintf(p->title, sizeof(p->title), "%.60s of %.40s%s%s",
		       p->list->figure, run->program, *unit ? ", " : "", unit);
	(void)snprintf(p->about, sizeof(p->about), "%.127s in %zu runs",
		       p->title, p->series->n);
	p->plot.y_title = p->title;
	p->plot.x_title = "run";
	p->plot.about = p->about;
}

int history_svg(const struct history_list *list,
		const struct history_series *series, FILE *stream)
{
	struct picture p = {
		.list = list,
		.series = series,
		.x = malloc(series->n * sizeof(double)),
		.y = malloc(series->n * sizeof(double)),
	};
	struct tr_sink sink;
	int err = TARE_ENOMEM;

	if (p.x && p.y && !tr_sink_init(&sink, stream_write, stream)) {
		prepare(&p);
		draw(&sink, &p);
		err = tr_sink_finish(&sink);
	}
	free(p.x);
	free(p.y);
	return err;
}
