/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for people: fixed decimals, durations, counts, sizes; dates.
 *
 * Numbers work on the shortest decimal text of a value, so that a person who
 * rounds the long text by hand gets the short one: 2.675 is 2.68, although
 * the double is a little below it.
 */
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MAX_DECIMALS 30
#define SHORT_TEXT 48 /* holds every text for people */

/* Copies a text of this file, cut to the room there is. */
static size_t put(char *out, size_t size, const char *text)
{
	size_t len = strlen(text);

	if (!out || size == 0)
		return 0;

	len = tr_utf8_clip(text, len, size - 1);
	memcpy(out, text, len);
	out[len] = '\0';
	return len;
}

/* Divides by 10^places and rounds half to even. */
static uint64_t round_off(uint64_t digits, int places)
{
	uint64_t divisor = 1, rest;

	if (places > 19) /* below a half, however many digits there are */
		return 0;
	for (int i = 0; i < places; i++)
		divisor *= 10;

	rest = digits % divisor;
	digits /= divisor;
	/* rest against divisor - rest: twice the rest may not fit. */
	if (rest > divisor - rest ||
	    (rest == divisor - rest && (digits & 1)))
		digits++;

	return digits;
}

/* A number too long, or none at all: never cut, it would be another one. */
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

/* What tr_fixed_text() writes: `digits`, zeros on both sides, a point. */
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

	/* No "-0.00": a person reads it as a mistake. */
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

/* Three leading digits of a value below 1024, without zeros at the end. */
static void put_three(char *out, size_t size, double value)
{
	int decimals = value < 0.9995 ? 3 :
		       value < 9.995  ? 2 :
		       value < 99.95  ? 1 :
					0;
	size_t len = tr_fixed_text(out, size, value, decimals);

	if (decimals == 0)
		return;
	while (len > 0 && out[len - 1] == '0')
		len--;
	if (len > 0 && out[len - 1] == '.')
		len--;
	out[len] = '\0';
}

static size_t put_with_unit(char *out, size_t size, double value,
			    const char *sign, const char *unit)
{
	char number[32];
	char text[SHORT_TEXT];

	put_three(number, sizeof(number), value);
	(void)snprintf(text, sizeof(text), "%s%s %s", sign, number, unit);
	return put(out, size, text);
}

/* From a minute on: two units, the second one rounded. */
static size_t put_clock(char *out, size_t size, double seconds,
			const char *sign)
{
	static const struct {
		double second;	 /* seconds in the smaller unit */
		unsigned factor; /* smaller units in the larger one */
		unsigned limit;	 /* larger units, then the next row */
		const char *large, *small;
	} form[] = {
		{ 1, 60, 60, "min", "s" },
		{ 60, 60, 24, "h", "min" },
		{ 3600, 24, 1000000, "d", "h" },
	};
	char number[32];
	char text[SHORT_TEXT];

	for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		double smaller = seconds / form[i].second + 0.5;
		uint64_t n;

		/* Looked at first: a larger one may not fit into n. */
		if (smaller >= (double)form[i].factor * form[i].limit)
			continue;
		n = (uint64_t)smaller;
		(void)snprintf(text, sizeof(text), "%s%u %s %02u %s", sign,
			       (unsigned)(n / form[i].factor), form[i].large,
			       (unsigned)(n % form[i].factor), form[i].small);
		return put(out, size, text);
	}

	(void)tr_fixed_text(number, sizeof(number), seconds / 86400, 0);
	(void)snprintf(text, sizeof(text), "%s%s d", sign, number);
	return put(out, size, text);
}

size_t tr_duration_text(char *out, size_t size, double ns)
{
	/* The limits leave no "1000 us" and no "60 s" after rounding. */
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

	if (isnan(ns))
		return put(out, size, "-");
	ns = fabs(ns);
	if (isinf(ns))
		return put(out, size, *sign ? "-inf" : "inf");

	for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		double value = ns / form[i].ns;

		if (value < form[i].limit)
			return put_with_unit(out, size, value, sign,
					     form[i].unit);
	}

	return put_clock(out, size, ns / 1e9, sign);
}

void tr_date_text(char *out, size_t size, int64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;

	out[0] = '\0';
	if (gmtime_r(&seconds, &tm))
		(void)strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

size_t tr_count_text(char *out, size_t size, uint64_t n)
{
	char digits[24];
	char text[SHORT_TEXT];
	size_t count = tr_u64_text(digits, n);
	size_t len = 0;

	for (size_t i = 0; i < count; i++) {
		if (i > 0 && (count - i) % 3 == 0)
			text[len++] = ',';
		text[len++] = digits[i];
	}
	text[len] = '\0';

	return put(out, size, text);
}

size_t tr_bytes_text(char *out, size_t size, double bytes)
{
	static const char *const unit[] = { "B",   "KiB", "MiB", "GiB",
					    "TiB", "PiB", "EiB" };
	const size_t last = sizeof(unit) / sizeof(unit[0]) - 1;
	const char *sign = bytes < 0 ? "-" : "";
	size_t i = 0;

	if (isnan(bytes))
		return put(out, size, "-");
	bytes = fabs(bytes);
	if (isinf(bytes))
		return put(out, size, *sign ? "-inf" : "inf");

	while (bytes >= 1023.5 && i < last) {
		bytes /= 1024;
		i++;
	}

	return put_with_unit(out, size, bytes, sign, unit[i]);
}
