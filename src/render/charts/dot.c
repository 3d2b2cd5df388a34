/* SPDX-License-Identifier: Apache-2.0 */
/* Points with their confidence intervals. */
#include "render/charts.h"

#define CAP 5. /* half the width of a whisker's ends */

static double inside(const struct tr_scale *scale, double value)
{
	return tr_scale_at(scale, tr_most(scale->low,
					  tr_least(scale->high, value)));
}

static void add_whisker(struct tr_sink *sink, const struct tr_plot *plot,
			const struct tr_dot *point)
{
	double x = tr_scale_at(&plot->x, point->x);
	double low = inside(&plot->y, point->low);
	double high = inside(&plot->y, point->high);

	tr_sink_adds(sink, "<path class=\"whisker ");
	tr_chart_class(sink, point->series);
	tr_sink_addf(sink, "\" d=\"M%s %sh10m-5 0V%sm-5 0h10\"/>",
		     tr_as_short(x - CAP, 1).text, tr_as_short(low, 1).text,
		     tr_as_short(high, 1).text);
}

void tr_dot_draw(struct tr_sink *sink, const struct tr_plot *plot,
		   const struct tr_dot *point)
{
	tr_sink_adds(sink, "<g><title>");
	tr_sink_xml(sink, point->title, 200);
	tr_sink_adds(sink, "</title>");
	if (point->low == point->low && point->high == point->high)
		add_whisker(sink, plot, point);
	tr_sink_adds(sink, "<circle class=\"dot ");
	tr_chart_class(sink, point->series);
	tr_sink_adds(sink, "\"");
	tr_chart_place(sink, "cx", tr_scale_at(&plot->x, point->x));
	tr_chart_place(sink, "cy", inside(&plot->y, point->y));
	tr_sink_adds(sink, " r=\"5\"/></g>\n");
}
