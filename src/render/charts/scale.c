/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scales: map values to positions, and choose round numbers as ticks.
 */
#include "render/charts.h"

#include "base/maths.h"

#define RATIO_FOR_LOG 50. /* logarithmic if highest/lowest is above this */
#define LEAST 1e-290	  /* values outside LEAST..MOST are not shown */
#define MOST 1e300

void tr_extent_add(struct tr_extent *extent, double value)
{
	if (!tr_is_number(value))
		return;
	if (value < extent->low)
		extent->low = value;
	if (value > extent->high)
		extent->high = value;
}

static bool is_empty_extent(const struct tr_extent *extent)
{
	return extent->low > extent->high;
}

/* An empty extent or a single value still needs a scale. */
static void widen(struct tr_extent *extent)
{
	double size;

	if (is_empty_extent(extent))
		*extent = (struct tr_extent){ 0, 1 };
	size = extent->high - extent->low;
	if (size > LEAST &&
	    size > 1e-12 * tr_most(extent->high, -extent->low))
		return;
	if (extent->high < LEAST && extent->high > -LEAST) {
		*extent = (struct tr_extent){ 0, 1 };
		return;
	}
	/* A single value is drawn in the middle. */
	size = 0.1 * (extent->high > 0 ? extent->high : -extent->high);
	extent->low -= size;
	extent->high += size;
}

/* The largest power of ten that is <= x. x > 0. */
static double decade_of(double x)
{
	double power = 1;

	x = tr_most(tr_least(x, MOST), LEAST);
	while (power > x)
		power /= 10;
	while (power * 10 <= x)
		power *= 10;
	return power;
}

/* The smallest 1, 2 or 5 times a power of ten that is >= x. */
static double round_step(double x)
{
	double power = decade_of(x);

	if (x <= 1.0000001 * power)
		return power;
	if (x <= 2.0000001 * power)
		return 2 * power;
	return x <= 5.0000001 * power ? 5 * power : 10 * power;
}

static int decimals_of(double step)
{
	int decimals = 0;

	for (; step < 0.99999 && decimals < 12; decimals++)
		step *= 10;
	return decimals;
}

void tr_scale_linear(struct tr_scale *scale, struct tr_extent extent,
		     unsigned most, bool is_wide)
{
	double step, first;

	widen(&extent);
	step = round_step((extent.high - extent.low) / most);
	first = tr_maths_floor(extent.low / step + (is_wide ? 1e-9 : -1e-9));
	first += is_wide ? 0 : 1;
	*scale = (struct tr_scale){ .low = extent.low, .high = extent.high,
				    .decimals = decimals_of(step) };
	if (is_wide) {
		scale->low = first * step;
		scale->high = step * -tr_maths_floor(-extent.high / step +
						     1e-9);
	}
	for (unsigned i = 0; i < TR_CHART_TICKS; i++) {
		double tick = (first + i) * step;

		if (tick > scale->high + 1e-9 * step)
			break;
		scale->tick[scale->n_ticks++] = tick;
	}
}

/* Ticks in every `every`th decade, at its first n of the digits 1, 2, 5. */
static void add_log_ticks(struct tr_scale *scale, unsigned n, unsigned every)
{
	static const double digits[] = { 1, 2, 5 };
	double p = decade_of(scale->low);

	for (unsigned k = 0; p <= scale->high * 1.0001; k++, p *= 10)
		for (unsigned i = 0; i < n && k % every == 0; i++)
			if (digits[i] * p >= scale->low * 0.9999 &&
			    digits[i] * p <= scale->high * 1.0001 &&
			    scale->n_ticks < TR_CHART_TICKS)
				scale->tick[scale->n_ticks++] = digits[i] * p;
}

void tr_scale_log(struct tr_scale *scale, struct tr_extent extent)
{
	double span = tr_maths_log(extent.high / extent.low) / tr_maths_log(10);

	*scale = (struct tr_scale){ .low = extent.low, .high = extent.high,
				    .is_log = true, .decimals = -1 };
	add_log_ticks(scale, span < 3 ? 3 : 1,
		      1 + (unsigned)(tr_least(span, 600) / 8));
}

void tr_scale_any(struct tr_scale *scale, struct tr_extent extent,
		  unsigned most)
{
	if (!is_empty_extent(&extent) && extent.low > LEAST &&
	    extent.high > RATIO_FOR_LOG * extent.low)
		tr_scale_log(scale, extent);
	else
		tr_scale_linear(scale, extent, most, true);
}

double tr_scale_at(const struct tr_scale *scale, double value)
{
	double low = scale->low, high = scale->high, span;

	if (scale->is_log) {
		/* Values <= 0 are drawn at the edge. */
		value = tr_maths_log(value > low ? value : low);
		low = tr_maths_log(low);
		high = tr_maths_log(high);
	}
	/* Halves: the difference of the largest numbers is infinite. */
	span = high / 2 - low / 2;
	if (!(span > 0))
		return scale->from;
	return scale->from + (value / 2 - low / 2) / span *
				     (scale->to - scale->from);
}

/* "2e-05" */
static size_t power_text(double value, double size, char *out)
{
	double power = decade_of(size * 1.0000001);
	int exponent = 0;
	size_t n;

	for (double p = power; p >= 5; p /= 10)
		exponent++;
	for (double p = power; p <= 0.5; p *= 10)
		exponent--;
	n = tr_fixed_text(out, 16, value / power, 2);
	while (out[n - 1] == '0')
		n--;
	n -= out[n - 1] == '.';
	out[n++] = 'e';
	if (exponent < 0)
		out[n++] = '-';
	return n + tr_u64_text(out + n, (uint64_t)(exponent < 0 ? -exponent :
							       exponent));
}

size_t tr_tick_text(const struct tr_scale *scale, double value, char *out)
{
	double size = value < 0 ? -value : value;
	/* All ticks of a linear scale have the same format. */
	double large = scale->is_log ? size :
				       tr_most(scale->high, -scale->low);

	if (size < 1e-12 * (scale->high - scale->low))
		return tr_fixed_text(out, 32, 0, 0);
	if (large >= 1e6 || large < 1e-3)
		return power_text(value, size, out);
	if (scale->decimals >= 0)
		return tr_fixed_text(out, 32, value, scale->decimals);
	return tr_fixed_text(out, 32, value, decimals_of(size * 1.0000001));
}
