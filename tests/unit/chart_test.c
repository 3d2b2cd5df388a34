/* SPDX-License-Identifier: Apache-2.0 */
/* Scales, ticks, and curves that are thinned without losing a peak. */
#include "render/charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* ---- scales ------------------------------------------------------------ */

static const char *tick_texts(const struct tr_scale *scale)
{
	static char out[512];
	size_t n = 0;

	for (unsigned i = 0; i < scale->n_ticks; i++) {
		n += tr_tick_text(scale, scale->tick[i], out + n);
		out[n++] = i + 1 < scale->n_ticks ? ' ' : '\0';
	}
	if (!scale->n_ticks)
		out[0] = '\0';
	return out;
}

static const char *linear(double low, double high, unsigned most)
{
	static struct tr_scale scale;

	tr_scale_linear(&scale, (struct tr_extent){ low, high }, most, true);
	return tick_texts(&scale);
}

TEST(ticks_are_round_numbers)
{
	CHECK_STR(linear(0, 10, 5), "0 2 4 6 8 10");
	CHECK_STR(linear(0.61, 1.97, 6), "0.5 1.0 1.5 2.0");
	CHECK_STR(linear(-3, 4, 8), "-3 -2 -1 0 1 2 3 4");
	CHECK_STR(linear(0, 0.00037, 4), "0 1e-4 2e-4 3e-4 4e-4");
	CHECK_STR(linear(0, 7.5e6, 4), "0 2e6 4e6 6e6 8e6");
	CHECK_STR(linear(0.7, 0.81, 4), "0.70 0.75 0.80 0.85");
}

TEST(the_scale_holds_all_its_values)
{
	unsigned seed = 7;

	for (int i = 0; i < 2000; i++) {
		double a = (double)rand_r(&seed) / 1e6 - 1000;
		double b = a + (double)rand_r(&seed) / 1e9;
		struct tr_scale scale;

		tr_scale_linear(&scale, (struct tr_extent){ a, b }, 6, true);
		if (!CHECK(scale.low <= a && scale.high >= b) ||
		    !CHECK(scale.n_ticks >= 2 && scale.n_ticks <= 9))
			return;
	}
}

TEST(one_value_or_none_still_has_a_scale)
{
	struct tr_extent none = TR_EXTENT_NONE;
	struct tr_scale scale;

	tr_scale_linear(&scale, none, 5, true);
	CHECK(scale.low < scale.high);
	tr_scale_linear(&scale, (struct tr_extent){ 3, 3 }, 5, true);
	CHECK(scale.low < 3 && scale.high > 3);
	tr_scale_linear(&scale, (struct tr_extent){ 0, 0 }, 5, true);
	CHECK(scale.low < scale.high);
	tr_scale_linear(&scale, (struct tr_extent){ 5e-324, 5e-323 }, 5, true);
	CHECK(scale.low < scale.high);
	tr_scale_linear(&scale, (struct tr_extent){ -1e299, 1e299 }, 5, true);
	CHECK(scale.low <= -1e299 && scale.high >= 1e299);
}

TEST(many_decades_are_logarithmic)
{
	struct tr_scale scale;

	tr_scale_any(&scale, (struct tr_extent){ 0.01, 2 }, 6);
	CHECK(scale.is_log);
	CHECK_STR(tick_texts(&scale), "0.01 0.02 0.05 0.1 0.2 0.5 1 2");
	scale.from = 0;
	scale.to = 100;
	CHECK_NEAR(tr_scale_at(&scale, 0.01), 0, 1e-9);
	CHECK_NEAR(tr_scale_at(&scale, 2), 100, 1e-9);
	CHECK_NEAR(tr_scale_at(&scale, sqrt(0.02)), 50, 1e-9);
	/* What has no logarithm lies at the edge. */
	CHECK_NEAR(tr_scale_at(&scale, 0), 0, 1e-9);
	/* The width of this one is infinite, that of the next 0. */
	scale = (struct tr_scale){ .low = -1.7e308, .high = 1.7e308,
				   .to = 100 };
	CHECK_NEAR(tr_scale_at(&scale, -1.7e308), 0, 1e-9);
	CHECK_NEAR(tr_scale_at(&scale, 1.7e308), 100, 1e-9);
	scale = (struct tr_scale){ .low = 3, .high = 3, .to = 100 };
	CHECK_NEAR(tr_scale_at(&scale, 3), 0, 1e-9);
	tr_scale_any(&scale, (struct tr_extent){ 0.1, 2 }, 6);
	CHECK(!scale.is_log);
	tr_scale_any(&scale, (struct tr_extent){ 0, 2000 }, 6);
	CHECK(!scale.is_log);
	tr_scale_any(&scale, (struct tr_extent){ 1e-200, 1e200 }, 6);
	CHECK(scale.n_ticks >= 2);
}

/* ---- curves ------------------------------------------------------------ */

struct drawn {
	char *text;
	size_t len;
};

static int keep(void *arg, const char *text, size_t len)
{
	struct drawn *drawn = arg;
	char *grown = realloc(drawn->text, drawn->len + len + 1);

	if (!grown)
		return -1;
	memcpy(grown + drawn->len, text, len);
	drawn->text = grown;
	drawn->len += len;
	drawn->text[drawn->len] = '\0';
	return 0;
}

static struct drawn draw(const double *x, const double *y, size_t n)
{
	struct tr_extent over_x = TR_EXTENT_NONE, over_y = TR_EXTENT_NONE;
	struct tr_plot plot = { .x_title = "", .y_title = "", .about = "" };
	struct drawn drawn = { NULL, 0 };
	struct tr_sink sink;

	for (size_t i = 0; i < n; i++) {
		tr_extent_add(&over_x, x[i]);
		tr_extent_add(&over_y, y[i]);
	}
	tr_scale_linear(&plot.x, over_x, 5, true);
	tr_scale_linear(&plot.y, over_y, 5, true);
	if (!CHECK_INT(tr_sink_init(&sink, keep, &drawn), 0))
		return drawn;
	tr_plot_open(&sink, &plot);
	tr_curve_draw(&sink, &plot, &(struct tr_curve){
		.x = x, .y = y, .n = n, .name = "a<b" });
	tr_chart_close(&sink);
	CHECK_INT(tr_sink_finish(&sink), 0);
	return drawn;
}

/* Lowest and highest y of a path, and how many points it has. */
static size_t path_extent(const char *text, double *ret_low, double *ret_high)
{
	const char *at = strstr(text, " d=\"");
	size_t n = 0;

	*ret_low = 1e9;
	*ret_high = -1e9;
	for (at = at ? at + 4 : ""; *at == 'M' || *at == 'L';) {
		char *end;
		double y;

		(void)strtod(at + 1, &end);
		y = strtod(end, &end);
		*ret_low = fmin(*ret_low, y);
		*ret_high = fmax(*ret_high, y);
		at = end;
		n++;
	}
	return n;
}

TEST(a_curve_of_very_many_points_keeps_its_peaks)
{
	static double x[100000], y[100000];
	struct drawn drawn;
	double low, high;
	size_t n;

	for (size_t i = 0; i < 100000; i++) {
		x[i] = (double)i;
		y[i] = 0.5 + 0.01 * sin((double)i);
	}
	/* One point each among a hundred in its column. */
	y[31415] = 0;
	y[77777] = 1;
	drawn = draw(x, y, 100000);
	n = path_extent(drawn.text ? drawn.text : "", &low, &high);
	CHECK(n > 900 && n < 5000);
	/* The frame is 30 to 278, upwards. */
	CHECK_NEAR(low, 30, 0.1);
	CHECK_NEAR(high, 278, 0.1);
	CHECK(drawn.len < 80000);
	CHECK(drawn.text && strstr(drawn.text, "<title>a&lt;b</title>"));
	free(drawn.text);
}

/* Their columns are larger than any integer: such points were left out. */
TEST(points_far_from_the_plot_are_drawn)
{
	static const double x[] = { -1e200, -1e150, 0, 1, 1e150, 1e200 };
	static const double y[] = { 0, 1, 0, 1, 0, 1 };
	struct tr_plot plot = { .x_title = "", .y_title = "", .about = "" };
	struct drawn drawn = { NULL, 0 };
	double least, most;
	struct tr_sink sink;

	tr_scale_linear(&plot.x, (struct tr_extent){ 0, 1 }, 5, true);
	tr_scale_linear(&plot.y, (struct tr_extent){ 0, 1 }, 5, true);
	if (!CHECK_INT(tr_sink_init(&sink, keep, &drawn), 0))
		return;
	tr_plot_open(&sink, &plot);
	tr_curve_draw(&sink, &plot, &(struct tr_curve){
		.x = x, .y = y, .n = 6, .name = "" });
	CHECK_INT(tr_sink_finish(&sink), 0);
	/* Two on the left, two inside, two on the right. */
	CHECK_INT(path_extent(drawn.text ? drawn.text : "", &least, &most), 6);
	free(drawn.text);
}

TEST(what_is_no_number_is_a_gap)
{
	static const double x[] = { 0, 1, 2, 3, 4 };
	static const double y[] = { 1, 2, NAN, 3, INFINITY };
	struct drawn drawn = draw(x, y, 5);
	const char *path = drawn.text ? strstr(drawn.text, " d=\"M") : NULL;

	if (CHECK(path != NULL)) {
		CHECK(strchr(path + 5, 'M') != NULL);
		CHECK(strstr(path, "nan") == NULL);
		CHECK(strstr(path, "inf") == NULL);
	}
	free(drawn.text);
}

TEST(a_curve_of_nothing_is_nothing)
{
	static const double x[] = { 0, 1 }, y[] = { NAN, NAN };
	struct drawn drawn = draw(x, y, 2);

	CHECK(drawn.text && !strstr(drawn.text, "<path"));
	free(drawn.text);
}

TEST(a_curve_of_one_point_is_a_dot)
{
	static const double x[] = { 0, 1, 2 }, y[] = { NAN, 3, NAN };
	struct drawn drawn = draw(x, y, 3);

	CHECK(drawn.text && strstr(drawn.text, "<circle class=\"dot "));
	CHECK(drawn.text && !strstr(drawn.text, "class=\"line"));
	free(drawn.text);
}
