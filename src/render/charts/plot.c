/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of a plot: axes, ticks, titles; the style of all plots, and their
 * legends.
 *
 * Axis titles are horizontal, above the upper end of the y axis and below the
 * end of the x axis: they are easy to read, and long ones fit.
 */
#include "render/charts.h"

#define LEFT 62.
#define RIGHT 14.
#define TOP 30.
#define BOTTOM 52.

/*
 * The colours are those of Okabe and Ito, which people with any kind of colour
 * vision can distinguish; darker on white, so that thin lines stay visible. The
 * font is larger where the plot is shown smaller.
 */
static const char style[] =
	":root{--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b5489a;"
	"--c4:#a87900;--c5:#3a9bd6;--c6:#6b5b95;--c7:#6e6e6e;"
	"--grid:#e4e2dd;--axis:#8c8a86;--soft:#5c6168;--other:#b9b6b0;"
	"--on:#fff}\n"
	"@media(prefers-color-scheme:dark){:root{--c0:#4ba3e3;--c1:#f0803c;"
	"--c2:#2fc99b;--c3:#e08cc8;--c4:#e6b422;--c5:#8fd0ff;--c6:#b3a1e0;"
	"--c7:#b4b4b4;--grid:#343941;--axis:#757c86;--soft:#a6adb6;"
	"--other:#59606a;--on:#14171b}}\n"
	"svg.chart{display:block;width:100%;height:auto;overflow:visible}\n"
	".chart text{font-size:12.5px;fill:var(--soft)}\n"
	".chart .end{text-anchor:end}.chart .mid{text-anchor:middle}\n"
	".chart .name{fill:var(--ink);font-weight:600}\n"
	".chart .on{fill:var(--on);font-size:11.5px;font-weight:600}\n"
	".chart .grid{stroke:var(--grid);fill:none}\n"
	".chart .axis{stroke:var(--axis);fill:none}\n"
	".chart .line{stroke:var(--c);stroke-width:2;fill:none;"
	"stroke-linejoin:round;stroke-linecap:round}\n"
	".chart .dash{stroke-dasharray:7 4}\n"
	".chart .thin{stroke-width:1.5;stroke-dasharray:2 4}\n"
	".chart .band{fill:var(--c);fill-opacity:.16;stroke:none}\n"
	".chart .ideal{stroke:var(--axis);stroke-width:1.5;"
	"stroke-dasharray:6 5;fill:none}\n"
	".chart .dot{fill:var(--c);stroke:var(--card);stroke-width:1.5}\n"
	".chart .whisker{stroke:var(--c);stroke-width:1.5;fill:none}\n"
	".chart .span{stroke:var(--ink);stroke-width:1.5;fill:none}\n"
	".chart .bar{fill:var(--c);stroke:var(--card);stroke-width:1}\n"
	".c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}"
	".c3{--c:var(--c3)}.c4{--c:var(--c4)}.c5{--c:var(--c5)}"
	".c6{--c:var(--c6)}.c7{--c:var(--c7)}.other{--c:var(--other)}"
	".plain{--c:var(--axis)}\n"
	".keys{display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;margin:.35rem 0 "
	".6rem;padding:0;list-style:none;font-size:.85rem;"
	"color:var(--soft)}\n"
	".keys i{display:inline-block;vertical-align:middle;margin-right:"
	".45em;width:1.5em;height:0;border-top:3px solid var(--c)}\n"
	".keys i.dash{border-top-style:dashed}\n"
	".keys i.box{width:.85em;height:.85em;border:0;border-radius:2px;"
	"background:var(--c)}\n"
	"@media(max-width:700px){.chart text{font-size:19px}"
	".chart .on{font-size:16px}.chart .line{stroke-width:2.8}"
	".chart .many{display:none}}\n";

void tr_chart_style(struct tr_sink *sink)
{
	tr_sink_adds(sink, style);
}

void tr_chart_place(struct tr_sink *sink, const char *name, double value)
{
	tr_sink_addf(sink, " %s=\"%s\"", name, tr_as_short(value, 1).text);
}

void tr_chart_open(struct tr_sink *sink, double height, const char *about)
{
	tr_sink_addf(sink, "<svg class=\"chart\" xmlns=\"http://www.w3.org/"
		     "2000/svg\" role=\"img\" viewBox=\"0 0 %s %s\" "
		     "aria-label=\"", tr_as_short(TR_CHART_WIDTH, 0).text,
		     tr_as_short(height, 0).text);
	tr_sink_xml(sink, about, 300);
	tr_sink_adds(sink, "\">\n");
}

void tr_chart_close(struct tr_sink *sink)
{
	tr_sink_adds(sink, "</svg>\n");
}

void tr_chart_text(struct tr_sink *sink, const char *class_name, double x,
		   double y, const char *text)
{
	tr_sink_addf(sink, "<text class=\"%s\" x=\"%s\" y=\"%s\">",
		     class_name, tr_as_short(x, 1).text,
		     tr_as_short(y, 1).text);
	tr_sink_xml(sink, text, 80);
	tr_sink_adds(sink, "</text>");
}

void tr_chart_class(struct tr_sink *sink, unsigned series)
{
	char name[] = "c0 dash";

	name[1] = (char)('0' + series % TR_CHART_COLORS);
	tr_sink_add(sink, name, series < TR_CHART_COLORS ? 2 : 7);
}

/* ---- axes -------------------------------------------------------------- */

static void add_rule(struct tr_sink *sink, const char *class_name,
		     const double from[2], const double to[2])
{
	tr_sink_addf(sink, "<line class=\"%s\"", class_name);
	tr_chart_place(sink, "x1", from[0]);
	tr_chart_place(sink, "y1", from[1]);
	tr_chart_place(sink, "x2", to[0]);
	tr_chart_place(sink, "y2", to[1]);
	tr_sink_adds(sink, "/>");
}

static void add_y_axis(struct tr_sink *sink, const struct tr_plot *plot)
{
	for (unsigned i = 0; i < plot->y.n_ticks; i++) {
		double y = tr_scale_at(&plot->y, plot->y.tick[i]);
		char text[32];

		text[tr_tick_text(&plot->y, plot->y.tick[i], text)] = '\0';
		add_rule(sink, "grid", (double[]){ plot->x.from, y },
			 (double[]){ plot->x.to, y });
		tr_chart_text(sink, "end", LEFT - 8, y + 4.5, text);
	}
	tr_chart_text(sink, "", 0, TOP - 15, plot->y_title);
	tr_sink_adds(sink, "\n");
}

/* The font is larger on a phone, so there only every other tick has a text. */
static void add_x_axis(struct tr_sink *sink, const struct tr_plot *plot)
{
	double y = plot->y.from, last = -100;

	add_rule(sink, "axis", (double[]){ plot->x.from, y },
		 (double[]){ plot->x.to, y });
	for (unsigned i = 0; i < plot->x.n_ticks; i++) {
		double x = tr_scale_at(&plot->x, plot->x.tick[i]);
		char text[32];
		size_t n = tr_tick_text(&plot->x, plot->x.tick[i], text);

		text[n] = '\0';
		add_rule(sink, "axis", (double[]){ x, y },
			 (double[]){ x, y + 4 });
		if (x - last < 7. * (double)n + 6)
			continue;
		tr_chart_text(sink, x - last < 11. * (double)n + 10 ?
					    "mid many" : "mid", x, y + 21,
			      text);
		last = x;
	}
	tr_chart_text(sink, "end", plot->x.to, TR_CHART_HEIGHT - 5,
		      plot->x_title);
	tr_sink_adds(sink, "\n");
}

void tr_plot_open(struct tr_sink *sink, struct tr_plot *plot)
{
	plot->x.from = LEFT;
	plot->x.to = TR_CHART_WIDTH - RIGHT;
	plot->y.from = TR_CHART_HEIGHT - BOTTOM;
	plot->y.to = TOP;
	tr_chart_open(sink, TR_CHART_HEIGHT, plot->about);
	add_y_axis(sink, plot);
	add_x_axis(sink, plot);
}

/* ---- legends ----------------------------------------------------------- */

void tr_chart_keys_open(struct tr_sink *sink)
{
	tr_sink_adds(sink, "<ul class=\"keys\">");
}

void tr_chart_key(struct tr_sink *sink, unsigned series,
		  const char *class_name, enum tr_key_shape shape,
		  const char *text)
{
	static const char *const of_shape[] = { "", " dash", " box" };

	tr_sink_adds(sink, "<li><i class=\"");
	if (class_name)
		tr_sink_adds(sink, class_name);
	else
		tr_chart_class(sink, series);
	tr_sink_addf(sink, "%s\"></i>", of_shape[shape]);
	tr_sink_xml(sink, text, 80);
	tr_sink_adds(sink, "</li>");
}

void tr_chart_keys_close(struct tr_sink *sink)
{
	tr_sink_adds(sink, "</ul>\n");
}
