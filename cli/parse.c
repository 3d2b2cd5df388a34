/* SPDX-License-Identifier: Apache-2.0 */
#include "parse.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_S 1000000000
#define NS_PER_DAY (86400LL * NS_PER_S)

/* The unit at `text` in ns; stores the length of its name. 0: no unit. */
static double unit_ns(const char *text, size_t *ret_len)
{
	static const struct {
		const char *name;
		double ns;
	} unit[] = {
		{ "ns", 1 },	  { "us", 1e3 },   { "ms", 1e6 },
		{ "min", 60e9 },  { "m", 60e9 },   { "s", 1e9 },
		{ "h", 3600e9 },  { "d", 86400e9 },
	};

	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
		*ret_len = strlen(unit[i].name);
		if (strncmp(text, unit[i].name, *ret_len) == 0)
			return unit[i].ns;
	}
	*ret_len = 0;
	return *text ? 0 : 1e9;
}

bool parse_duration(const char *text, uint64_t *ret_ns)
{
	double sum = 0, number, scale;
	size_t len;
	char *end;

	do {
		/* Digits only: no sign, no "inf". */
		if (strspn(text, "0123456789.") == 0)
			return false;
		number = strtod(text, &end);
		scale = unit_ns(end, &len);
		if (end == text || scale == 0)
			return false;
		sum += number * scale;
		text = end + len;
	} while (*text);

	/* 292 years: a larger sum could overflow a time in ns. */
	if (!(sum <= 9.2e18))
		return false;
	*ret_ns = (uint64_t)(sum + 0.5);
	return true;
}

/* Parses with strptime; accepts only if nothing or a Z is left. */
static bool read_tm(const char *text, const char *format, struct tm *tm,
		    bool *ret_utc)
{
	const char *rest = strptime(text, format, tm);

	*ret_utc = rest && strcmp(rest, "Z") == 0;
	return rest && (*rest == '\0' || *ret_utc);
}

static bool parse_date(const char *text, int64_t *ret_ns)
{
	static const char *const format[] = {
		"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M",
		"%Y-%m-%d %H:%M",    "%Y-%m-%d",
	};

	for (size_t i = 0; i < sizeof(format) / sizeof(format[0]); i++) {
		struct tm tm = { .tm_isdst = -1 };
		bool utc;
		time_t s;

		if (!read_tm(text, format[i], &tm, &utc))
			continue;
		s = utc ? timegm(&tm) : mktime(&tm);
		*ret_ns = (int64_t)s * NS_PER_S;
		return true;
	}
	return false;
}

/* 14:05: on the day the run began, or on the next if the run covers that. */
static bool parse_clock(const char *text, int64_t start_ns, int64_t end_ns,
			int64_t *ret_ns)
{
	time_t start = (time_t)(start_ns / NS_PER_S);
	struct tm tm, read = { 0 };
	int64_t ns;
	bool utc;

	if (!read_tm(text, "%H:%M:%S", &read, &utc) &&
	    !read_tm(text, "%H:%M", &read, &utc))
		return false;
	if (!(utc ? gmtime_r(&start, &tm) : localtime_r(&start, &tm)))
		return false;
	tm.tm_hour = read.tm_hour;
	tm.tm_min = read.tm_min;
	tm.tm_sec = read.tm_sec;
	tm.tm_isdst = -1;
	ns = (int64_t)(utc ? timegm(&tm) : mktime(&tm)) * NS_PER_S;
	if (ns < start_ns && ns + NS_PER_DAY <= end_ns)
		ns += NS_PER_DAY;
	*ret_ns = ns;
	return true;
}

bool parse_moment(const char *text, int64_t start_ns, int64_t end_ns,
		  int64_t *ret_ns)
{
	uint64_t ns;

	if (text[0] == '+' || text[0] == '-' || text[0] == '@') {
		if (!parse_duration(text + 1, &ns))
			return false;
		/* The run's times come from a file: they may be any numbers. */
		if (text[0] == '+')
			return !__builtin_add_overflow(start_ns, (int64_t)ns,
						       ret_ns);
		if (text[0] == '-')
			return !__builtin_sub_overflow(end_ns, (int64_t)ns,
						       ret_ns);
		*ret_ns = (int64_t)ns;
		return true;
	}
	return parse_date(text, ret_ns) ||
	       parse_clock(text, start_ns, end_ns, ret_ns);
}

bool parse_percent(const char *text, double *ret_share)
{
	char *end;
	double value = strtod(text, &end);

	if (*end == '%')
		end++;
	if (end == text || *end || !(value > 0) || !(value < 100))
		return false;
	*ret_share = value / 100;
	return true;
}
