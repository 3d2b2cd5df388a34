/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The harness's own insides: what bench.c, bench_process.c and bench_print.c
 * need of each other. Programs include bench.h alone.
 */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include "bench.h"

/* What the command line asked for. */
struct bench_options {
	const char *part; /* run this one here; NULL: all, in children */
	int pipe;	  /* where a child's results go; -1: print them */
	unsigned times;	  /* processes a part */
	bool json;
	bool quick;
};

void bench_random_fill(void);

/* The empty loop at its best in this process; INFINITY: never ran. */
double bench_witness_ns(void);

/* Machine, compiler, date, clocks: the head of a table. */
void bench_print_head(void);
void bench_print_result(const struct bench_result *result, bool json);

#endif
