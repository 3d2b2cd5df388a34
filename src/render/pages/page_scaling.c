/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speedup and efficiency against workers: measured, ideal, and by Amdahl's law.
 */
#include "render/pages/page.h"
#include "read/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS_FOR_LOG 16. /* axes are linear up to this number */
#define FIT_STEPS 64u

static unsigned series_of(const tare_comparison *c, const char *family)
{
	unsigned n = 0;

	for (size_t i = 0; i < c->result.n_configs; i++) {
		size_t k = 0;

		if (strcmp(c->config[i].family, family) == 0)
			return n;
		while (strcmp(c->config[k].family, c->config[i].family) != 0)
			k++;
		n += k == i;
	}
	return n;
}

static bool is_shown(const tare_compared_config *config)
{
	return config->speedup.mean > 0 && config->speedup.mean < 1e300;
}

/* The plotted figure: speedup, or efficiency in percent. */
static tare_estimate drawn_of(const tare_compared_config *config,
			      bool is_efficiency)
{
	return is_efficiency ? tr_estimate_scaled(config->efficiency, 100) :
			       config->speedup;
}

/* ---- axes -------------------------------------------------------------- */

/* Ticks at the numbers of workers that occur, not at round numbers. */
static void ticks_at_workers(const tare_comparison *c, struct tr_scale *x)
{
	x->n_ticks = 0;
	x->decimals = 0;
	for (size_t i = 0; i < c->result.n_configs; i++) {
		double p = c->config[i].workers;

		if (x->n_ticks < TR_CHART_TICKS &&
		    (!x->n_ticks || x->tick[x->n_ticks - 1] != p))
			x->tick[x->n_ticks++] = p;
	}
}

static struct tr_extent extent_of(const tare_comparison *c,
				  bool is_efficiency)
{
	struct tr_extent y = TR_EXTENT_NONE;

	tr_extent_add(&y, is_efficiency ? 105 : 1.2);
	for (size_t i = 0; i < c->result.n_configs; i++) {
		tare_estimate e = drawn_of(&c->config[i], is_efficiency);

		if (!is_shown(&c->config[i]))
			continue;
		tr_extent_add(&y, e.mean);
		tr_extent_add(&y, 1.15 * e.mean);
		/* A very wide interval must not hide the rest. */
		tr_extent_add(&y, tr_least(e.high, 2 * e.mean));
	}
	return y;
}

static void make_scales(const tare_comparison *c, struct tr_plot *plot,
			bool is_efficiency)
{
	struct tr_extent y = extent_of(c, is_efficiency), x = TR_EXTENT_NONE;

	for (size_t i = 0; i < c->result.n_configs; i++)
		if (is_shown(&c->config[i]))
			tr_extent_add(&x, c->config[i].workers);
	if (x.high > WORKERS_FOR_LOG)
		tr_scale_log(&plot->x, x);
	else
		tr_scale_linear(&plot->x, x, 8, false);
	if (x.high > WORKERS_FOR_LOG && !is_efficiency) {
		y.low *= 0.8;
		y.high = tr_least(x.high, 1.5 * y.high);
		tr_scale_log(&plot->y, y);
	} else {
		/* Room for the ideal line, unless the rest became too small. */
		y.low = 0;
		if (!is_efficiency)
			y.high = tr_most(y.high, tr_least(x.high / x.low,
							  1.6 * y.high));
		tr_scale_linear(&plot->y, y, 6, true);
	}
	ticks_at_workers(c, &plot->x);
}

/* ---- content ----------------------------------------------------------- */

/*
 * Speedups by Amdahl's law from the baseline's number of workers up to the edge
 * of the plot. f = 0 is the ideal.
 */
static void add_law(const tare_comparison *c, struct tr_sink *sink,
		    const struct tr_plot *plot, const char *class_name,
		    double f, bool is_efficiency)
{
	double base = c->config[c->result.baseline].workers;
	double last = plot->x.high / base, x[FIT_STEPS], y[FIT_STEPS];

	/* 1/S = f + (1 - f)/r, solved for r at the upper edge. */
	if (!is_efficiency && 1 / plot->y.high > f)
		last = tr_least(last, (1 - f) / (1 / plot->y.high - f));
	for (unsigned i = 0; i < FIT_STEPS; i++) {
		double r = 1 + (last - 1) * i / (FIT_STEPS - 1);

		x[i] = r * base;
		y[i] = 1 / (f + (1 - f) / r) * (is_efficiency ? 100 / r : 1);
	}
	tr_curve_draw(sink, plot, &(struct tr_curve){
		x, y, NULL, NULL, FIT_STEPS, 0, class_name, NULL });
}

/* The line through the points of the family of configuration `first`. */
static void add_line(const tare_comparison *c, struct tr_sink *sink,
		     const struct tr_plot *plot, size_t first,
		     bool is_efficiency)
{
	const char *family = c->config[first].family;
	size_t n = c->result.n_configs, at = 0;
	double *x = calloc(2 * n, sizeof(*x)), *y = x ? x + n : NULL;

	if (!x) {
		sink->err = TARE_ENOMEM;
		return;
	}
	for (size_t i = first; i < n; i++)
		if (is_shown(&c->config[i]) &&
		    strcmp(c->config[i].family, family) == 0) {
			x[at] = c->config[i].workers;
			y[at++] = drawn_of(&c->config[i],
					   is_efficiency).mean;
		}
	if (at > 1)
		tr_curve_draw(sink, plot, &(struct tr_curve){
			x, y, NULL, NULL, at, series_of(c, family), NULL,
			family });
	free(x);
}

static void add_dot(const tare_comparison *c, struct tr_sink *sink,
		    const struct tr_plot *plot,
		    const tare_compared_config *config, bool is_efficiency)
{
	tare_estimate e = drawn_of(config, is_efficiency);
	const char *unit = is_efficiency ? " %" : " x";
	struct tr_buf text = TR_BUF_INIT;

	tr_buf_addf(&text, "%s, %u workers: ", config->name, config->workers);
	tr_text_ratio(&text, e.mean);
	tr_buf_adds(&text, unit);
	if (e.low == e.low) {
		tr_buf_adds(&text, ", 95 % interval ");
		tr_text_ratio(&text, e.low);
		tr_buf_adds(&text, " to ");
		tr_text_ratio(&text, e.high);
		tr_buf_adds(&text, unit);
	}
	tr_dot_draw(sink, plot, &(struct tr_dot){
		config->workers, e.mean, e.low, e.high,
		series_of(c, config->family), text.data ? text.data : "" });
	tr_buf_release(&text);
}

/* Drawing order: fits, then lines, then points. */
static void add_family(const tare_comparison *c, struct tr_sink *sink,
		       const struct tr_plot *plot, bool is_efficiency)
{
	unsigned n = 0;

	for (size_t i = 0; i < c->result.n_fits; i++) {
		char name[] = "line thin c0";

		name[11] = (char)('0' + series_of(c, c->fit[i].family) %
						TR_CHART_COLORS);
		add_law(c, sink, plot, name, c->fit[i].serial, is_efficiency);
	}
	for (size_t i = 0; i < c->result.n_configs; i++)
		if (series_of(c, c->config[i].family) == n) {
			add_line(c, sink, plot, i, is_efficiency);
			n++;
		}
	for (size_t i = 0; i < c->result.n_configs; i++)
		if (is_shown(&c->config[i]))
			add_dot(c, sink, plot, &c->config[i], is_efficiency);
}

static void add_keys(const tare_comparison *c, struct tr_sink *sink)
{
	unsigned n = 0;

	tr_chart_keys_open(sink);
	for (size_t i = 0; i < c->result.n_configs; i++)
		if (series_of(c, c->config[i].family) == n) {
			bool is_one = c->config[i].is_baseline &&
				      strcmp(c->config[i].family, "runs") == 0;

			tr_chart_key(sink, n++, NULL, TR_KEY_LINE,
				     is_one ? c->config[i].name :
					      c->config[i].family);
		}
	for (size_t i = 0; i < c->result.n_fits; i++) {
		char text[160], name[] = "c0";

		name[1] = (char)('0' + series_of(c, c->fit[i].family) %
					       TR_CHART_COLORS);
		(void)snprintf(text, sizeof(text), "Amdahl's law for %.80s",
			       c->fit[i].family);
		tr_chart_key(sink, 0, name, TR_KEY_DASH, text);
	}
	tr_chart_key(sink, 0, "plain", TR_KEY_DASH, "ideal");
	tr_chart_keys_close(sink);
}

static void add_plot(const tare_comparison *c, struct tr_sink *sink,
		     struct tr_plot *plot, bool is_efficiency)
{
	add_keys(c, sink);
	make_scales(c, plot, is_efficiency);
	tr_plot_open(sink, plot);
	add_law(c, sink, plot, "ideal", 0, is_efficiency);
	add_family(c, sink, plot, is_efficiency);
	tr_chart_close(sink);
	tr_page_figure_close(sink);
}

void tr_page_scaling(const tare_comparison *c, struct tr_sink *sink)
{
	if (!c->result.has_common || !c->result.n_fits)
		return;
	tr_page_figure(sink, "Speedup",
		       c->result.by == TARE_COMPARE_BY_TOTAL ?
			       "Total training time of the baseline by that of "
			       "each configuration. Whiskers: 95 % intervals." :
			       "Time of an epoch of the baseline by that of "
			       "each configuration. Whiskers: 95 % intervals.");
	add_plot(c, sink, &(struct tr_plot){
		.x_title = "workers", .y_title = "speedup",
		.about = "speedup against workers" }, false);
	tr_page_figure(sink, "Efficiency",
		       "Speedup for each worker: 100 % is what it costs one "
		       "worker. Whiskers: 95 % intervals.");
	add_plot(c, sink, &(struct tr_plot){
		.x_title = "workers", .y_title = "efficiency, %",
		.about = "efficiency against workers" }, true);
}
