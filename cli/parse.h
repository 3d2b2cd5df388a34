/* SPDX-License-Identifier: Apache-2.0 */
/* Parse: numbers and times that users type. */
#ifndef CLI_PARSE_H
#define CLI_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/* 90, 1.5s, 200ms, 1h30m; seconds if there is no unit. */
bool parse_duration(const char *text, uint64_t *ret_ns);

/* "1%", "0.5": a share of 1; above 0 and below 100 percent. */
bool parse_percent(const char *text, double *ret_share);

/*
 * A moment of a run that lasted from start_ns to end_ns: +30s after its
 * start, -5m before its end, @1763193600.5 seconds since 1970, 14:05[:09] of
 * the run's day, 2025-11-15[T14:05[:09]][Z]. Local time without the Z.
 */
bool parse_moment(const char *text, int64_t start_ns, int64_t end_ns,
		  int64_t *ret_ns);

#endif
