/* SPDX-License-Identifier: Apache-2.0 */
#include "format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct text dash(void)
{
	return (struct text){ "-" };
}

/* Three significant digits: 1.23, 12.3, 123. */
static int decimals(double value)
{
	value = value < 0 ? -value : value;
	if (value < 9.995)
		return 2;
	return value < 99.95 ? 1 : 0;
}

/* From two minutes on, two units tell more than digits. */
static struct text long_duration(double ns)
{
	uint64_t s = (uint64_t)(ns / 1e9 + 0.5);
	struct text out;

	if (s < 3600)
		(void)snprintf(out.text, sizeof(out.text), "%u min %02u s",
			       (unsigned)(s / 60), (unsigned)(s % 60));
	else if (s < 86400)
		(void)snprintf(out.text, sizeof(out.text), "%u h %02u min",
			       (unsigned)(s / 3600),
			       (unsigned)(s / 60 % 60));
	else
		(void)snprintf(out.text, sizeof(out.text), "%llu d %02u h",
			       (unsigned long long)(s / 86400),
			       (unsigned)(s / 3600 % 24));
	return out;
}

struct text format_duration(double ns)
{
	static const char *const unit[] = { "ns", "us", "ms", "s" };
	double value = ns;
	size_t i = 0;
	struct text out;

	if (isnan(ns))
		return dash();
	if (ns >= 120e9)
		/* Beyond what 64 bits of seconds hold: not a duration. */
		return ns < 1e27 ? long_duration(ns) : dash();
	/* 999.5 would print as 1000 of the smaller unit. */
	while (i < 3 && value >= 999.5) {
		value /= 1000;
		i++;
	}
	(void)snprintf(out.text, sizeof(out.text), "%.*f %s",
		       i == 0 && value == (double)(uint64_t)value
			       ? 0
			       : decimals(value),
		       value, unit[i]);
	return out;
}

struct text format_count(uint64_t n)
{
	char digits[24];
	struct text out;
	size_t len, at = 0;

	len = (size_t)snprintf(digits, sizeof(digits), "%llu",
			       (unsigned long long)n);
	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			out.text[at++] = ',';
		out.text[at++] = digits[i];
	}
	out.text[at] = '\0';
	return out;
}

/* Divides by `step` until `value` has at most three digits before the point. */
static struct text scaled(double value, double step, const char *const unit[],
			  size_t n_units)
{
	double sign = value < 0 ? -1 : 1;
	size_t i = 0;
	struct text out;

	value *= sign;
	while (i + 1 < n_units && value >= (step < 1024 ? 999.5 : 1023.5)) {
		value /= step;
		i++;
	}
	(void)snprintf(out.text, sizeof(out.text), "%.*f%s",
		       i == 0 && value == (double)(uint64_t)value
			       ? 0
			       : decimals(value),
		       sign * value, unit[i]);
	return out;
}

struct text format_bytes(double bytes)
{
	static const char *const unit[] = { " B",   " KiB", " MiB",
					    " GiB", " TiB", " PiB" };

	return isnan(bytes) ? dash() : scaled(bytes, 1024, unit, 6);
}

struct text format_number(double value)
{
	static const char *const unit[] = { "", "k", "M", "G", "T", "P", "E" };

	return isnan(value) ? dash() : scaled(value, 1000, unit, 7);
}

struct text format_share(double share)
{
	struct text out;

	if (isnan(share))
		return dash();
	(void)snprintf(out.text, sizeof(out.text), "%.1f%%", share * 100);
	return out;
}

struct text format_value(double value, const char *unit)
{
	struct text out, number = format_number(value);

	if (isnan(value) || !unit || !unit[0] || strcmp(unit, "1") == 0)
		return number;
	if (strcmp(unit, "B") == 0)
		return format_bytes(value);
	if (strcmp(unit, "B/s") == 0) {
		number = format_bytes(value);
		(void)snprintf(out.text, sizeof(out.text), "%.20s/s",
			       number.text);
		return out;
	}
	if (strcmp(unit, "ns") == 0)
		return format_duration(value);
	(void)snprintf(out.text, sizeof(out.text), "%.20s %.16s",
		       number.text, unit);
	return out;
}

static struct text local_time(int64_t ns, const char *format)
{
	time_t s = (time_t)(ns / 1000000000);
	struct tm tm;
	struct text out;

	if (!localtime_r(&s, &tm) ||
	    !strftime(out.text, sizeof(out.text), format, &tm))
		return dash();
	return out;
}

struct text format_time(int64_t ns)
{
	return local_time(ns, "%Y-%m-%d %H:%M:%S");
}

struct text format_clock(int64_t ns)
{
	struct text out, clock = local_time(ns, "%H:%M:%S");
	unsigned ms = ns < 0 ? 0 : (unsigned)(ns / 1000000 % 1000);

	(void)snprintf(out.text, sizeof(out.text), "%.8s.%03u", clock.text,
		       ms);
	return out;
}
