/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scan: files of the kernel as text, and numbers in it.
 *
 * A number that is missing, negative or beyond 64 bits is TARE_UNKNOWN. A
 * number cut off by the end of the buffer is never read, since the buffer ends
 * with a whole line.
 */
#ifndef TR_RECORD_SYSTEM_SCAN_H
#define TR_RECORD_SYSTEM_SCAN_H

#include "record/system.h"

/* 4,096 CPUs take 400 KB of /proc/stat. Unused pages are not allocated. */
#define TR_SCAN_BYTES (512u << 10)

/*
 * The file below tr_root as text, or NULL with the reason in *ret_error. Valid
 * until the next call; guarded by the lock.
 */
const char *tr_scan_file(int *ret_error, const char *format, ...)
	TARE_PRINTF(2, 3);
/* The path below tr_root; false if it does not fit. */
bool tr_scan_path(char *path, size_t size, const char *format, ...)
	TARE_PRINTF(3, 4);

/* The number at *at, after blanks; moves *at past the number, and past excess
 * digits. */
uint64_t tr_scan_number(const char **at);
/* "12.34", at most `most`; NAN if there is none or it is larger. */
double tr_scan_decimal(const char **at, double most);
/* The text after `name` at the start of a line, or NULL. */
const char *tr_scan_line(const char *text, const char *name);
/* The number after such a name. */
uint64_t tr_scan_value(const char *text, const char *name);
/* The next line's start, or NULL at the end. */
const char *tr_scan_next(const char *text);
/* Skips a word and the blanks before it; false: the line ends. */
bool tr_scan_skip(const char **at);

/* The product; unknown if a factor is, or if it overflows. */
uint64_t tr_scan_times(uint64_t n, uint64_t unit);
uint64_t tr_scan_sum(uint64_t a, uint64_t b);

#endif
