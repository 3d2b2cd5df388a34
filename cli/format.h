/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Format: numbers and times for people, and the times people type.
 *
 * The results are returned by value, so that a call can stand in an argument
 * list: printf("%s", format_count(n).text).
 */
#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

struct text {
	char text[40];
};

/* "1.23 us", "45.6 s", "2 h 03 min"; "-" for NAN */
struct text format_duration(double ns);
/* "1,234,567" */
struct text format_count(uint64_t n);
/* "12.3 MiB" */
struct text format_bytes(double bytes);
/* Three digits and a letter: "1.23k", "45.6M"; "-" for NAN */
struct text format_number(double value);
/* "12.3%" of 0.123; "-" for NAN */
struct text format_share(double share);
/* A value in a series' own unit: bytes and ns get their prefixes. */
struct text format_value(double value, const char *unit);
/* "2025-11-15 09:01:07", local time */
struct text format_time(int64_t ns);
/* "09:01:07.123", local time */
struct text format_clock(int64_t ns);

/* 90, 1.5s, 200ms, 1h30m; seconds when there is no unit. */
bool parse_duration(const char *text, uint64_t *ret_ns);
bool parse_count(const char *text, uint64_t *ret_n);

/*
 * A moment of a run that lasted from start_ns to end_ns: +30s after its
 * start, -5m before its end, @1763193600.5 seconds since 1970, 14:05[:09] of
 * the run's day, 2025-11-15[T14:05[:09]][Z]. Local time without the Z.
 */
bool parse_moment(const char *text, int64_t start_ns, int64_t end_ns,
		  int64_t *ret_ns);

#endif
