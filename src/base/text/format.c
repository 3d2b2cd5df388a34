/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as text for people: fixed decimals, durations, counts, sizes, dates.
 *
 * Rounding starts from the shortest decimal text of a value, so that rounding
 * the long text by hand gives the short one: 2.675 is 2.68, although the double
 * is slightly below it.
 */
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MAX_DECIMALS 30

/* Divides by 10^places and rounds half to even. */
static uint64_t round_off(uint64_t digits, int places)
{
	uint64_t divisor = 1, rest;

	if (places > 19) /* below a half, whatever the digits */
		return 0;
	for (int i = 0; i < places; i++)
		divisor *= 10;

	rest = digits % divisor;
	digits /= divisor;
	/* Compares rest with divisor - rest: twice the rest may not fit. */
	if (rest > divisor - rest ||
	    (rest == divisor - rest && (digits & 1)))
		digits++;

	return digits;
}

/* Too long, or not a number: never truncated, it would be another number. */
static size_t put_uncut(char *out, size_t size, double value)
{
	char text[32];
	size_t len = tr_double_text(text, value);

	if (size == 0)
		return 0;
	if (len >= size)
		len = 0;
	memcpy(out, text, len);
	out[len] = '\0';
	return len;
}

/* Parts of tr_fixed_text(): `digits`, zeros on both sides, a point. */
struct fixed {
	char digits[24];
	size_t n_digits;
	size_t n_before; /* zeros before the digits */
	size_t n_total;	 /* digits and zeros */
	size_t decimals;
	bool negative;
};

static struct fixed lay_out(double value, int decimals)
{
	struct tr_decimal d = tr_double_decimal(fabs(value));
	struct fixed fixed = { .decimals = (size_t)decimals };
	size_t behind = 0;

	if (d.exponent < -decimals)
		d.digits = round_off(d.digits, -decimals - d.exponent);
	else if (d.digits > 0)
		behind = (size_t)(d.exponent + decimals);

	/* No "-0.00", which looks like a mistake. */
	fixed.negative = signbit(value) && d.digits > 0;
	fixed.n_digits = tr_u64_text(fixed.digits, d.digits);
	fixed.n_total = fixed.n_digits + behind;
	if (fixed.n_total < fixed.decimals + 1) {
		fixed.n_before = fixed.decimals + 1 - fixed.n_total;
		fixed.n_total = fixed.decimals + 1;
	}

	return fixed;
}

size_t tr_fixed_text(char *out, size_t size, double value, int decimals)
{
	struct fixed f;
	size_t len = 0;

	decimals = decimals < 0 ? 0 : decimals;
	decimals = decimals > MAX_DECIMALS ? MAX_DECIMALS : decimals;
	if (!isfinite(value))
		return put_uncut(out, size, value);
	f = lay_out(value, decimals);
	if (f.n_total + f.negative + (f.decimals > 0) >= size)
		return put_uncut(out, size, value);

	if (f.negative)
		out[len++] = '-';
	for (size_t i = 0; i < f.n_total; i++) {
		bool is_zero = i < f.n_before ||
			       i - f.n_before >= f.n_digits;

		if (f.decimals > 0 && i == f.n_total - f.decimals)
			out[len++] = '.';
		out[len++] = is_zero ? '0' : f.digits[i - f.n_before];
	}

	out[len] = '\0';
	return len;
}

/* ---- by value ----------------------------------------------------------- */

static struct tr_text TARE_PRINTF(1, 2) as_text(const char *format, ...)
{
	struct tr_text out;
	va_list args;

	va_start(args, format);
	(void)vsnprintf(out.text, sizeof(out.text), format, args);
	va_end(args);
	return out;
}

struct tr_text tr_as_fixed(double value, int decimals)
{
	struct tr_text out;

	(void)tr_fixed_text(out.text, sizeof(out.text), value, decimals);
	return out;
}

/*
 * Three leading digits of a value below 1024, without trailing zeros. A sign
 * takes the column of the third digit after the point.
 */
static struct tr_text as_three(double value, bool is_signed)
{
	int decimals = value < 0.9995 ? 3 - is_signed :
		       value < 9.995  ? 2 :
		       value < 99.95  ? 1 :
					0;
	struct tr_text out = tr_as_fixed(value, decimals);
	size_t len = strlen(out.text);

	while (decimals && len > 0 && out.text[len - 1] == '0')
		len--;
	if (decimals && len > 0 && out.text[len - 1] == '.')
		len--;
	out.text[len] = '\0';
	return out;
}

static struct tr_text as_amount(double value, const char *sign,
				const char *unit)
{
	return as_text("%s%s %s", sign, as_three(value, *sign != 0).text,
		       unit);
}

static struct tr_text as_no_number(double value)
{
	return as_text(isnan(value) ? "-" : value < 0 ? "-inf" : "inf");
}

/*
 * From one minute on: two units as people type them, the second one rounded. At
 * most eight columns, like every duration: tables rely on it.
 */
static struct tr_text as_two_units(double seconds, const char *sign)
{
	static const struct {
		double second;	 /* seconds in the smaller unit */
		unsigned factor; /* smaller units in the larger one */
		unsigned limit;	 /* larger units until the next row is used */
		char large, small;
	} form[] = {
		{ 1, 60, 60, 'm', 's' },
		{ 60, 60, 24, 'h', 'm' },
		{ 3600, 24, 1000, 'd', 'h' },
	};

	for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		double smaller = seconds / form[i].second + 0.5;
		uint64_t n;

		/* Checked first: a larger number may not fit into n. */
		if (smaller >= (double)form[i].factor * form[i].limit)
			continue;
		n = (uint64_t)smaller;
		return as_text("%s%u%c%02u%c", sign,
			       (unsigned)(n / form[i].factor), form[i].large,
			       (unsigned)(n % form[i].factor), form[i].small);
	}

	if (seconds >= 99999.5 * 86400) /* not a value of a real program */
		return as_text(*sign ? "< -1e5 d" : "> 1e5 d");
	return as_text("%s%u d", sign, (unsigned)(seconds / 86400 + 0.5));
}

struct tr_text tr_as_duration(double ns)
{
	/* The limits prevent "1000 us" and "60 s" after rounding. */
	static const struct {
		double ns, limit;
		const char *unit;
	} form[] = {
		{ 1, 999.5, "ns" },
		{ 1e3, 999.5, "us" },
		{ 1e6, 999.5, "ms" },
		{ 1e9, 59.95, "s" },
	};
	const char *sign = ns < 0 ? "-" : "";

	if (!isfinite(ns))
		return as_no_number(ns);
	ns = fabs(ns);
	for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		double value = ns / form[i].ns;

		if (value < form[i].limit)
			return as_amount(value, sign, form[i].unit);
	}

	return as_two_units(ns / 1e9, sign);
}

struct tr_text tr_as_date(int64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tr_text out = { "" };
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		(void)strftime(out.text, sizeof(out.text),
			       "%Y-%m-%dT%H:%M:%SZ", &tm);
	return out;
}

struct tr_text tr_as_clock(int64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	unsigned ms = ns < 0 ? 0 : (unsigned)(ns / 1000000 % 1000);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm))
		return (struct tr_text){ "" };
	return as_text("%02d:%02d:%02d.%03uZ", tm.tm_hour, tm.tm_min,
		       tm.tm_sec, ms);
}

struct tr_text tr_as_count(uint64_t n)
{
	struct tr_text out;
	char digits[24];
	size_t count = tr_u64_text(digits, n);
	size_t len = 0;

	for (size_t i = 0; i < count; i++) {
		if (i > 0 && (count - i) % 3 == 0)
			out.text[len++] = ',';
		out.text[len++] = digits[i];
	}
	out.text[len] = '\0';
	return out;
}

struct tr_text tr_as_bytes(double bytes)
{
	static const char *const unit[] = { "B",   "KiB", "MiB", "GiB",
					    "TiB", "PiB", "EiB" };
	const size_t last = sizeof(unit) / sizeof(unit[0]) - 1;
	const char *sign = bytes < 0 ? "-" : "";
	size_t i = 0;

	if (!isfinite(bytes))
		return as_no_number(bytes);
	for (bytes = fabs(bytes); bytes >= 1023.5 && i < last; i++)
		bytes /= 1024;
	return as_amount(bytes, sign, unit[i]);
}

/* ---- numbers with other units ------------------------------------------ */

/* From ten million on: three digits and a letter, or a power of ten. */
static struct tr_text as_large(double value, const char *sign)
{
	static const char *const prefix[] = { "M", "G", "T", "P", "E" };
	int exponent = 0;
	size_t i = 0;

	for (value /= 1e6; value >= 999.5 && i < 4; i++)
		value /= 1e3;
	if (value < 999.5)
		return as_amount(value, sign, prefix[i]);
	for (exponent = 18; value >= 9.95; exponent++)
		value /= 10;
	return as_text("%s%se%d", sign, tr_as_fixed(value, 1).text, exponent);
}

struct tr_text tr_as_number(double value)
{
	double amount = fabs(value);
	int decimals = amount < 100 ? 3 : amount < 1e5 ? 1 : 0;

	if (!isfinite(value))
		return as_no_number(value);
	if (amount >= 9999999.5)
		return as_large(amount, value < 0 ? "-" : "");
	if (value == (double)(int64_t)value)
		decimals = 0;
	return tr_as_fixed(value, decimals);
}

struct tr_text tr_as_share(double share)
{
	double percent = share * 100;

	if (isnan(share))
		return as_no_number(share);
	if (fabs(percent) >= 99999.5)
		return as_text(share < 0 ? "< -1e5 %%" : "> 1e5 %%");
	return as_text("%s %%", tr_as_fixed(percent, fabs(percent) < 999.95)
					.text);
}

struct tr_text tr_as_success(double rate)
{
	return tr_as_share(rate < 1 && rate > 0.999 ? 0.999 : rate);
}

struct tr_text tr_as_change(double change)
{
	return as_text("%s%s", change >= 0 ? "+" : "",
		       tr_as_share(change).text);
}

/* "B/s" is "B" followed by "/s". */
static const char *after(const char *unit, const char *first)
{
	size_t n = strlen(first);

	if (strncmp(unit, first, n) == 0 && (!unit[n] || unit[n] == '/'))
		return unit + n;
	return NULL;
}

struct tr_text tr_as_value(double value, const char *unit)
{
	struct tr_text out;
	const char *per;

	if (isnan(value))
		return as_no_number(value);
	if ((per = after(unit, "B")) != NULL) {
		out = tr_as_bytes(value);
	} else if ((per = after(unit, "ns")) != NULL) {
		out = tr_as_duration(value);
	} else {
		out = tr_as_number(value);
		per = strcmp(unit, "1") == 0 ? "" : unit;
	}
	out = as_text("%.20s%s%.16s", out.text,
		      per[0] && per == unit ? " " : "", per);
	tr_text_make_printable(out.text);
	return out;
}
