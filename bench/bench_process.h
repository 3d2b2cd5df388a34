/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal interface of bench.c, bench_process.c and bench_print.c. Programs
 * include only bench.h.
 */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include "bench.h"

/* Options of the command line. */
struct bench_options {
	const char *part; /* run this part here; NULL: all, in children */
	int pipe;	  /* for a child's results; -1: print them */
	unsigned times;	  /* processes per part */
	bool json;
	bool quick;
};

void bench_random_fill(void);

/* The empty loop's minimum in this process; INFINITY: never ran. */
double bench_witness_ns(void);

/* Machine, compiler, date, clocks: the head of a table. */
void bench_print_head(void);
void bench_print_result(const struct bench_result *result, bool json);

#endif
