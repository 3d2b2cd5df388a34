/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of render/charts/: plots as SVG, embedded in an HTML page.
 *
 * Comes in: values and scales. Goes out: <svg> elements in a sink. Called by:
 * render/pages.
 *
 * A plot is one <svg> that scales with its page and has no style of its own:
 * elements have classes, and tr_chart_style() is the style sheet for all plots
 * of a page, light and dark, with large letters on a phone. Hover texts are
 * <title> elements, so there is no script. Keys are in the page
 * (tr_chart_key), where they wrap; a plot contains only what belongs to its
 * axes.
 *
 * Colours are classes, c0 to c7; from the ninth series on they repeat with a
 * dash.
 */
#ifndef TR_RENDER_CHARTS_H
#define TR_RENDER_CHARTS_H

#include "render/output.h"

#define TR_CHART_WIDTH 560.
#define TR_CHART_HEIGHT 330.
#define TR_CHART_COLORS 8u
#define TR_CHART_TICKS 12u

/* ---- scale.c ----------------------------------------------------------- */

/* Values to places. Logarithmic: low is above 0. */
struct tr_scale {
	double low, high; /* values */
	double from, to;  /* places */
	bool is_log;
	double tick[TR_CHART_TICKS];
	unsigned n_ticks;
	int decimals; /* of the ticks' texts; -1: as many as each needs */
};

/* What values there are; starts with low above high: none. */
struct tr_extent {
	double low, high;
};

#define TR_EXTENT_NONE { 1e308, -1e308 }

/* NAN and infinities are no values. */
void tr_extent_add(struct tr_extent *extent, double value);

/* A scale with about `most` ticks at round numbers. Its ends are those of the
 * extent; is_wide: the next ticks outside of it. */
void tr_scale_linear(struct tr_scale *scale, struct tr_extent extent,
		     unsigned most, bool is_wide);
/* Ticks at 1, 2 and 5 of each decade, or at powers of ten alone. */
void tr_scale_log(struct tr_scale *scale, struct tr_extent extent);
/* Linear, unless values are above 0 and span several decades. */
void tr_scale_any(struct tr_scale *scale, struct tr_extent extent,
		  unsigned most);
double tr_scale_at(const struct tr_scale *scale, double value);
/* Text of a tick; out holds at least 32 bytes. */
size_t tr_tick_text(const struct tr_scale *scale, double value, char *out);

/* ---- plot.c ------------------------------------------------------------ */

/* A plot with two axes. The caller makes the scales' values, tr_plot_open()
 * makes their places. */
struct tr_plot {
	struct tr_scale x, y;
	const char *x_title, *y_title;
	const char *about; /* for who cannot see it */
};

void tr_chart_style(struct tr_sink *sink);
/* " x1=\"12.3\"" */
void tr_chart_place(struct tr_sink *sink, const char *name, double value);
void tr_chart_open(struct tr_sink *sink, double height, const char *about);
void tr_chart_close(struct tr_sink *sink);
/* Opens the plot and draws its axes; then elements, then tr_chart_close(). */
void tr_plot_open(struct tr_sink *sink, struct tr_plot *plot);
void tr_chart_text(struct tr_sink *sink, const char *class_name, double x,
		   double y, const char *text);
/* Class of a series: "c3", or "c3 dash". */
void tr_chart_class(struct tr_sink *sink, unsigned series);

enum tr_key_shape {
	TR_KEY_LINE,
	TR_KEY_DASH,
	TR_KEY_BOX
};

void tr_chart_keys_open(struct tr_sink *sink);
/* `class_name` NULL: that of the series. */
void tr_chart_key(struct tr_sink *sink, unsigned series,
		  const char *class_name, enum tr_key_shape shape,
		  const char *text);
void tr_chart_keys_close(struct tr_sink *sink);

/* ---- curve.c ----------------------------------------------------------- */

/* x ascends. Where y is NAN there is a gap. */
struct tr_curve {
	const double *x, *y;
	const double *low, *high; /* a band around it; NULL: none */
	size_t n;
	unsigned series;
	const char *class_name; /* NULL: "line" and that of the series */
	const char *name;	/* NULL: nothing on hovering */
};

/*
 * Draws it, thinned: of all points in one column of pixels the first, the
 * last, the lowest and the highest are left, in their order. No peak is lost,
 * however many points there are.
 */
void tr_curve_draw(struct tr_sink *sink, const struct tr_plot *plot,
		   const struct tr_curve *curve);

/* ---- dot.c ------------------------------------------------------------- */

struct tr_dot {
	double x, y;
	double low, high; /* NAN: no interval */
	unsigned series;
	const char *title; /* on hovering */
};

void tr_dot_draw(struct tr_sink *sink, const struct tr_plot *plot,
		   const struct tr_dot *point);
/* ---- strip.c ----------------------------------------------------------- */

struct tr_strip_part {
	double value; /* NAN: left out */
	const char *class_name;
	const char *title; /* on hovering */
};

/* Lies on its side: its name and a text above it. */
struct tr_strip {
	const char *name, *text;
	const struct tr_strip_part *part;
	size_t n_parts;
	double low, high; /* NAN: no interval */
};

struct tr_strips {
	const struct tr_strip *bar;
	size_t n;
	const char *title; /* of the axis */
	const char *about;
	bool has_shares; /* parts say their share of the bar */
};

void tr_strips_draw(struct tr_sink *sink, const struct tr_strips *bars);

#endif
