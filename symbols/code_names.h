/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code names: functions that a program generated while it ran, by the lists
 * that the program wrote: a perf map (text) or a jitdump (records).
 *
 * A generated function may be replaced at the same address. Samples have no
 * time, so the last one that was there has them.
 */
#ifndef SYMBOLS_CODE_NAMES_H
#define SYMBOLS_CODE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct texts;

#define CODE_NAMES_MOST (4u << 20) /* functions; more are left out */
#define CODE_NAME_BYTES 1024u	   /* longer names are cut */

struct code_name {
	uint64_t from, to;
	const char *name;
	uint32_t order;	  /* later is valid */
	uint64_t reaches; /* the highest end up to here, after sorting */
};

struct code_names {
	struct texts *texts; /* keeps the names */
	struct code_name *row;
	size_t n, cap;
	bool is_sorted;
};

/* Passed over: no code, no name, or no room. `name` has `bytes` bytes. */
void code_names_add(struct code_names *names, uint64_t from, uint64_t size,
		    const char *name, size_t bytes);
/* NULL: no function is known there. */
const struct code_name *code_names_find(struct code_names *names,
					uint64_t address);
void code_names_release(struct code_names *names);

/* ---- perf_map.c, jitdump.c: hostile bytes ------------------------------- */

/* Lines of "START SIZE NAME", in hexadecimal digits; others are skipped. */
void perf_map_read(struct code_names *names, const char *text, size_t bytes);
/* False: not a jitdump of this machine's byte order. */
bool jitdump_read(struct code_names *names, const void *bytes, size_t size);

#endif
