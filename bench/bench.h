/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bench: the harness of every program in this folder.
 *
 * A program answers one question and consists of parts. Each part runs in a
 * process of its own (whether tracing is on is fixed at a process's start),
 * several times in turn with the other parts; what is printed is the median
 * over these processes, since memory layout differs from one to the next.
 *
 * Inside a part, cases and their references run interleaved in samples of
 * about 0.1 ms and the minimum of each is kept: other guests of the machine
 * only ever add time, and a sample that short often meets none of them.
 *
 * Programs may use tare's public headers and libc alone. The harness does not
 * use tare at all, so that the same one measures the peers.
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

/* Keeps `x` alive and all memory in doubt: nothing is hoisted across. */
#define BENCH_OPAQUE(x) __asm__ volatile("" : : "r"(x) : "memory")

/* X(name) 64 times, each with a name of its own: a series for each. */
#define BENCH_64(X, p) \
	BENCH_16_(X, p "0") BENCH_16_(X, p "1") \
	BENCH_16_(X, p "2") BENCH_16_(X, p "3")
#define BENCH_16_(X, p) \
	BENCH_4_(X, p "0") BENCH_4_(X, p "1") \
	BENCH_4_(X, p "2") BENCH_4_(X, p "3")
#define BENCH_4_(X, p) X(p "0") X(p "1") X(p "2") X(p "3")

#define BENCH_MAX_RESULTS 32
#define BENCH_MAX_ENV 6

/* One line of output. NAN in `ratio`: there is nothing to compare with. */
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
	uint64_t n;	/* operations a sample; 0: found by bench_run() */
	double best_ns; /* per operation; set by bench_run() */
};

/* Hands one result to whoever prints; `against` may be NULL. */
void bench_report(const char *name, double value, const char *unit,
		  double ratio, const char *against);

/* Runs all cases in turn for `ms` in all and keeps each one's minimum. */
void bench_run(struct bench_case *cases, size_t n_cases, unsigned ms);

/* What `bench_run` found for the case of this name; NAN if there is none. */
double bench_best(const struct bench_case *cases, size_t n_cases,
		  const char *name);

/* The time in ns of a clock_gettime(CLOCK_MONOTONIC). */
uint64_t bench_ns(void);

/* ns a tick of bench_ticks(), measured once, in about 20 ms. */
double bench_tick_ns(void);

/* --quick: a part should content itself with a tenth of the work. */
bool bench_is_quick(void);

/* Binds the calling thread to the index-th CPU it may use, from the last. */
void bench_pin(unsigned index);
unsigned bench_cpus(void);

/* Times of two pinned threads, per operation, best of many short rounds. */
struct bench_threads {
	double one_ns; /* mean of each one alone */
	double two_ns; /* both at once: wall time over one's operations */
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

/* Says what went wrong and ends the part. */
void bench_fail(const char *what, const char *why);

/* References, to be put into a part's own table of cases. */
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

/* The floor of any scope: two time stamps that somebody needs. */
static inline void bench_stamps(void)
{
	uint64_t begin, end;

	begin = bench_ticks();
	BENCH_OPAQUE(begin);
	end = bench_ticks();
	BENCH_OPAQUE(end);
}

#endif
