/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs: a program with and without measuring, as separate processes in turn.
 * The median of the differences of their CPU times counts.
 */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

/* CPU time in ns of a program and of what it waited for; NAN: it failed. */
double bench_cpu_ns(const char *const argv[]);

/* Sorts the values. */
double bench_median(double *values, unsigned n);
/* Half of the median's interval of 95 %; of sorted values. */
double bench_median_error(const double *sorted, unsigned n);

#endif
