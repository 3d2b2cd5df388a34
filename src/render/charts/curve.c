/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Curves of any number of points, reduced to the points that are visible.
 */
#include "render/charts.h"

#include <math.h>

#include "base/maths.h"

#define COLUMNS_A_PIXEL 2. /* phone screens have two or three */
#define COLUMNS_MOST 1e9   /* all further out is one column */

/* Point indices of one pixel column: first, last, lowest and highest y. */
struct pixel_column {
	int64_t at;
	size_t first, last, lowest, highest;
};

struct curve_path {
	struct tr_sink *sink;
	const struct tr_plot *plot;
	const double *x;
	bool is_open; /* there is a previous point to draw a line from */
};

static void add_point(struct curve_path *path, double x, double y)
{
	char *at = tr_sink_begin(path->sink);

	*at++ = path->is_open ? 'L' : 'M';
	at += tr_fixed_text(at, 40, tr_scale_at(&path->plot->x, x), 1);
	*at++ = ' ';
	at += tr_fixed_text(at, 40, tr_scale_at(&path->plot->y, y), 1);
	tr_sink_end(path->sink, at);
	path->is_open = true;
}

static void add_index(struct curve_path *path, const double *y, size_t index,
		      size_t *last)
{
	if (index != *last)
		add_point(path, path->x[index], y[index]);
	*last = index;
}

static void add_column(struct curve_path *path, const double *y,
		       const struct pixel_column *c)
{
	size_t a = c->lowest < c->highest ? c->lowest : c->highest;
	size_t b = c->lowest < c->highest ? c->highest : c->lowest;
	size_t last = SIZE_MAX;

	add_index(path, y, c->first, &last);
	add_index(path, y, a, &last);
	add_index(path, y, b, &last);
	add_index(path, y, c->last, &last);
}

static void add_to_column(struct pixel_column *c, const double *y, size_t i)
{
	c->last = i;
	if (y[i] < y[c->lowest])
		c->lowest = i;
	if (y[i] > y[c->highest])
		c->highest = i;
}

/* A file may have points that are very far from the part that is shown. */
static int64_t column_of(const struct curve_path *path, double x)
{
	double column = tr_scale_at(&path->plot->x, x) * COLUMNS_A_PIXEL;

	if (!(column > -COLUMNS_MOST))
		column = -COLUMNS_MOST;
	if (column > COLUMNS_MOST)
		column = COLUMNS_MOST;
	return (int64_t)column;
}

/* The line through y, with a gap where y is not a number. */
static void add_line(struct curve_path *path, const double *y, size_t n)
{
	struct pixel_column c = { .at = INT64_MIN };

	for (size_t i = 0; i < n; i++) {
		bool is_seen = tr_is_number(y[i]) && tr_is_number(path->x[i]);
		int64_t at = is_seen ? column_of(path, path->x[i]) : 0;

		if (is_seen && at == c.at) {
			add_to_column(&c, y, i);
			continue;
		}
		if (c.at != INT64_MIN)
			add_column(path, y, &c);
		if (is_seen) {
			c = (struct pixel_column){ at, i, i, i, i };
			continue;
		}
		c.at = INT64_MIN;
		path->is_open = false;
	}
	if (c.at != INT64_MIN)
		add_column(path, y, &c);
}

/* ---- the band ---------------------------------------------------------- */

/* One edge of a band, with one point per column. */
static void add_edge(struct curve_path *path, const struct tr_curve *curve,
		     const double *y, bool is_back)
{
	double sign = is_back ? -1 : 1, edge = NAN;
	int64_t column = INT64_MIN;
	size_t at = 0;

	for (size_t k = 0; k < curve->n; k++) {
		size_t i = is_back ? curve->n - 1 - k : k;
		int64_t c;

		if (!tr_is_number(y[i]) || !tr_is_number(curve->x[i]))
			continue;
		c = column_of(path, curve->x[i]);
		if (c != column && column != INT64_MIN)
			add_point(path, curve->x[at], edge);
		if (c != column)
			edge = NAN;
		column = c;
		at = i;
		/* The upper edge runs to the right, the lower one back. */
		if (!tr_is_number(edge) || sign * y[i] > sign * edge)
			edge = y[i];
	}
	if (column != INT64_MIN)
		add_point(path, curve->x[at], edge);
}

static void add_band(struct curve_path *path, const struct tr_curve *curve)
{
	tr_sink_adds(path->sink, "<path class=\"band ");
	tr_chart_class(path->sink, curve->series);
	tr_sink_adds(path->sink, "\" d=\"");
	path->is_open = false;
	add_edge(path, curve, curve->high, false);
	add_edge(path, curve, curve->low, true);
	tr_sink_adds(path->sink, "Z\"/>\n");
}

/* A line with a single point would be invisible. */
static void draw_point(struct tr_sink *sink, const struct tr_plot *plot,
		       const struct tr_curve *curve, size_t at)
{
	struct tr_dot dot = {
		.x = curve->x[at],
		.y = curve->y[at],
		.low = curve->low ? curve->low[at] : NAN,
		.high = curve->high ? curve->high[at] : NAN,
		.series = curve->series,
		.title = curve->name ? curve->name : "",
	};

	tr_dot_draw(sink, plot, &dot);
}

void tr_curve_draw(struct tr_sink *sink, const struct tr_plot *plot,
		   const struct tr_curve *curve)
{
	struct curve_path path = { .sink = sink, .plot = plot, .x = curve->x };
	size_t n_numbers = 0, last = 0;

	for (size_t i = 0; i < curve->n; i++) {
		if (!tr_is_number(curve->y[i]) || !tr_is_number(curve->x[i]))
			continue;
		n_numbers++;
		last = i;
	}
	if (n_numbers == 1)
		draw_point(sink, plot, curve, last);
	if (n_numbers <= 1)
		return;
	if (curve->low)
		add_band(&path, curve);
	path.is_open = false;
	tr_sink_adds(sink, "<path class=\"");
	tr_sink_adds(sink, curve->class_name ? curve->class_name : "line ");
	if (!curve->class_name)
		tr_chart_class(sink, curve->series);
	tr_sink_adds(sink, "\" d=\"");
	add_line(&path, curve->y, curve->n);
	tr_sink_adds(sink, "\"");
	if (curve->name) {
		tr_sink_adds(sink, "><title>");
		tr_sink_xml(sink, curve->name, 80);
		tr_sink_adds(sink, "</title></path>\n");
	} else {
		tr_sink_adds(sink, "/>\n");
	}
}
