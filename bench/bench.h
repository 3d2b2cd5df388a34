/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bench: the harness of every program in this folder.
 *
 * A program answers one question and consists of parts. Each part runs in its
 * own process (whether tracing is on is fixed at a process's start), several
 * times in turn with the other parts. The printed result is the median over
 * these processes, since memory layout differs between processes.
 *
 * Inside a part, cases and their references run interleaved in samples of about
 * 0.1 ms, and the minimum of each is kept: other guests of the machine only add
 * time, and such a short sample is often undisturbed.
 *
 * Programs may use only tare's public headers and libc. The harness does not
 * use tare at all, so that it can also measure the peers.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#define BENCH_PAIR "rdtsc pair"
#elif defined(__aarch64__)
#define BENCH_PAIR "cntvct pair"
#else
#define BENCH_PAIR "clock pair"
#endif

/* Keeps `x` alive and acts as a compiler barrier. */
#define BENCH_OPAQUE(x) __asm__ volatile("" : : "r"(x) : "memory")

/* X(name) 64 times, each with its own name: one series each. */
#define BENCH_64(X, p) \
	BENCH_16_(X, p "0") BENCH_16_(X, p "1") \
	BENCH_16_(X, p "2") BENCH_16_(X, p "3")
#define BENCH_16_(X, p) \
	BENCH_4_(X, p "0") BENCH_4_(X, p "1") \
	BENCH_4_(X, p "2") BENCH_4_(X, p "3")
#define BENCH_4_(X, p) X(p "0") X(p "1") X(p "2") X(p "3")

#define BENCH_MAX_RESULTS 32
#define BENCH_MAX_ENV 6

/* One line of output. NAN in `ratio`: no reference. */
struct bench_result {
	char name[40];
	char unit[12];
	char against[48];
	double value;
	double ratio;
};

/* A part of a program; the table `bench_parts` ends with a NULL name. */
struct bench_part {
	const char *name;
	void (*run)(void);
	const char *env[BENCH_MAX_ENV]; /* set for its process, up to NULL */
};

/* Defined by each program. */
extern const struct bench_part bench_parts[];

/* Work to time: `run` does `n` operations. */
struct bench_case {
	const char *name;
	void (*run)(uint64_t n);
	uint64_t n;	/* operations per sample; 0: found by bench_run() */
	double best_ns; /* per operation; set by bench_run() */
};

/* Reports one result; `against` may be NULL. */
void bench_report(const char *name, double value, const char *unit,
		  double ratio, const char *against);

/* Runs all cases in turn for `ms` in total and keeps each one's minimum. */
void bench_run(struct bench_case *cases, size_t n_cases, unsigned ms);

/* The result of `bench_run` for the case of this name; NAN: no such case. */
double bench_best(const struct bench_case *cases, size_t n_cases,
		  const char *name);

/* The time in ns of a clock_gettime(CLOCK_MONOTONIC). */
uint64_t bench_ns(void);

/* ns per tick of bench_ticks(), measured once, in about 20 ms. */
double bench_tick_ns(void);

/* --quick: a part should do only a tenth of the work. */
bool bench_is_quick(void);

/* Binds the thread to the index-th allowed CPU, counted from the last. */
void bench_pin(unsigned index);
unsigned bench_cpus(void);

/* Times of two pinned threads, per operation, best of many short rounds. */
struct bench_threads {
	double one_ns; /* mean of each thread alone */
	double two_ns; /* both at once: wall time per operation of one */
};

/* `one` runs in the calling thread, `other` in a second one. */
struct bench_threads bench_two_threads(void (*one)(uint64_t),
				       void (*other)(uint64_t), uint64_t n,
				       unsigned rounds);

/* A fixed sequence of 65536 random numbers, the same in each run. */
extern uint16_t bench_random[65536];

/* The folder given to this process as TARE_DIR, and its memory in bytes. */
const char *bench_dir(void);
uint64_t bench_dir_bytes(void);

/* Prints the error and ends the part. */
_Noreturn void bench_fail(const char *what, const char *why);

/* References, for a part's own table of cases. */
void bench_empty(uint64_t n);
void bench_pair(uint64_t n);
void bench_clock_pair(uint64_t n);

static inline uint64_t bench_ticks(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return bench_ns();
#endif
}

/* The lower bound of any scope: two time stamps that are used. */
static inline void bench_stamps(void)
{
	uint64_t begin, end;

	begin = bench_ticks();
	BENCH_OPAQUE(begin);
	end = bench_ticks();
	BENCH_OPAQUE(end);
}

#endif
