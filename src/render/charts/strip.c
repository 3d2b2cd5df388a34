/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Horizontal stacked bars, each below its name, so that names of any length
 * fit, also on a phone.
 */
#include "render/charts.h"

#include <stdio.h>

#define SIDE 4.
#define PITCH 52.
#define THICK 20.
#define FOOT 52.
#define LABEL_LEAST 46. /* a part of this width has room for its share */

static bool is_shown(const struct tr_strip_part *part)
{
	return part->value > 0 && part->value < 1e299;
}

static double whole_of(const struct tr_strip *bar)
{
	double sum = 0;

	for (size_t i = 0; i < bar->n_parts; i++)
		if (is_shown(&bar->part[i]))
			sum += bar->part[i].value;
	return sum;
}

static void add_share(struct tr_sink *sink, double share, double x, double y)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%d %%", (int)(share * 100 + 0.5));
	tr_chart_text(sink, "on mid", x, y, text);
}

static void add_parts(struct tr_sink *sink, const struct tr_strips *bars,
		      const struct tr_strip *bar, const struct tr_scale *x,
		      double y)
{
	double sum = 0, whole = whole_of(bar);

	for (size_t i = 0; i < bar->n_parts; i++) {
		const struct tr_strip_part *part = &bar->part[i];
		double from = tr_scale_at(x, sum), to;

		if (!is_shown(part))
			continue;
		sum += part->value;
		to = tr_scale_at(x, sum);
		tr_sink_adds(sink, "<g><title>");
		tr_sink_xml(sink, part->title, 200);
		tr_sink_addf(sink, "</title><rect class=\"bar %s\"",
			     part->class_name);
		tr_chart_place(sink, "x", from);
		tr_chart_place(sink, "y", y);
		tr_chart_place(sink, "width", to - from);
		tr_chart_place(sink, "height", THICK);
		tr_sink_adds(sink, "/>");
		if (bars->has_shares && to - from >= LABEL_LEAST)
			add_share(sink, part->value / whole, (from + to) / 2,
				  y + THICK / 2 + 4.5);
		tr_sink_adds(sink, "</g>");
	}
}

static void add_span(struct tr_sink *sink, const struct tr_strip *bar,
		     const struct tr_scale *x, double y)
{
	double low = tr_scale_at(x, tr_most(bar->low, x->low));
	double high = tr_scale_at(x, tr_least(bar->high, x->high));

	if (!(bar->low < bar->high))
		return;
	tr_sink_addf(sink,
		     "<path class=\"span\" d=\"M%s %sv10m0 -5H%sm0 -5v10\"/>",
		     tr_as_short(low, 1).text, tr_as_short(y + 5, 1).text,
		     tr_as_short(high, 1).text);
}

static void add_axis(struct tr_sink *sink, const struct tr_strips *bars,
		     const struct tr_scale *x, double height)
{
	double foot = height - FOOT;

	for (unsigned i = 0; i < x->n_ticks; i++) {
		double at = tr_scale_at(x, x->tick[i]);
		char text[32];

		text[tr_tick_text(x, x->tick[i], text)] = '\0';
		tr_sink_adds(sink, "<line class=\"grid\"");
		tr_chart_place(sink, "x1", at);
		tr_chart_place(sink, "x2", at);
		tr_chart_place(sink, "y1", 24);
		tr_chart_place(sink, "y2", foot + 4);
		tr_sink_adds(sink, "/>");
		tr_chart_text(sink, i == 0		? "" :
				    i + 1 == x->n_ticks ? "end" :
							  "mid",
			      i + 1 == x->n_ticks ? at + SIDE : at, foot + 20,
			      text);
	}
	tr_chart_text(sink, "end", TR_CHART_WIDTH - SIDE, height - 5,
		      bars->title);
	tr_sink_adds(sink, "\n");
}

void tr_strips_draw(struct tr_sink *sink, const struct tr_strips *bars)
{
	double height = 6 + PITCH * (double)bars->n + FOOT;
	struct tr_extent extent = { 0, 0 };
	struct tr_scale x;

	for (size_t i = 0; i < bars->n; i++) {
		tr_extent_add(&extent, whole_of(&bars->bar[i]));
		tr_extent_add(&extent, bars->bar[i].high);
	}
	tr_scale_linear(&x, extent, 5, true);
	x.from = SIDE;
	x.to = TR_CHART_WIDTH - SIDE;
	tr_chart_open(sink, height, bars->about);
	add_axis(sink, bars, &x, height);
	for (size_t i = 0; i < bars->n; i++) {
		double y = 6 + PITCH * (double)i;

		tr_chart_text(sink, "name", SIDE, y + 15, bars->bar[i].name);
		tr_chart_text(sink, "end", TR_CHART_WIDTH - SIDE, y + 15,
			      bars->bar[i].text);
		add_parts(sink, bars, &bars->bar[i], &x, y + 22);
		add_span(sink, &bars->bar[i], &x, y + 22);
		tr_sink_adds(sink, "\n");
	}
	tr_chart_close(sink);
}
