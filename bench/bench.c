/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_process.h"

/* Long compared with the clock's 50 ns, short with the timer's 4 ms. */
#define SAMPLE_NS 100000u

uint16_t bench_random[65536];

/*
 * Runs in every bench_run(). An empty loop slows down first when another
 * process uses the other hardware thread of this core, while rdtsc hardly does:
 * the ratios of such a process are too high, and the parent discards it.
 */
static struct bench_case witness = { "witness", bench_empty, 0, 0 };
static double witness_ns = INFINITY;

double bench_witness_ns(void)
{
	return witness_ns;
}

uint64_t bench_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double bench_tick_ns(void)
{
	static double tick_ns;
	uint64_t from_ns, to_ns, from, to;

	if (tick_ns > 0)
		return tick_ns;

	from = bench_ticks();
	from_ns = bench_ns();
	do {
		to = bench_ticks();
		to_ns = bench_ns();
	} while (to_ns - from_ns < 20000000u);
	tick_ns = (double)(to_ns - from_ns) / (double)(to - from);
	return tick_ns;
}

void bench_empty(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		BENCH_OPAQUE(i);
}

void bench_pair(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		bench_stamps();
}

void bench_clock_pair(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		BENCH_OPAQUE(bench_ns());
		BENCH_OPAQUE(bench_ns());
	}
}

/* Not rand(): its sequence may differ between versions of libc. */
void bench_random_fill(void)
{
	uint64_t x = 0x9e3779b97f4a7c15u;

	for (size_t i = 0; i < 65536; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		bench_random[i] = (uint16_t)(x >> 24);
	}
}

static uint64_t time_of(const struct bench_case *c)
{
	uint64_t from = bench_ns();

	c->run(c->n);
	return bench_ns() - from;
}

/* Doubles n until a sample is long enough; also warms up the case. */
static void find_n(struct bench_case *c)
{
	c->best_ns = INFINITY;
	if (c->n) {
		(void)time_of(c);
		return;
	}
	c->n = 64;
	while (time_of(c) < SAMPLE_NS && c->n < (UINT64_C(1) << 32))
		c->n *= 2;
}

static void sample(struct bench_case *c)
{
	c->best_ns = fmin(c->best_ns, (double)time_of(c) / (double)c->n);
}

void bench_run(struct bench_case *cases, size_t n_cases, unsigned ms)
{
	uint64_t end_ns;

	if (bench_is_quick())
		ms = ms / 10 + 1;
	find_n(&witness);
	for (size_t i = 0; i < n_cases; i++)
		find_n(&cases[i]);

	end_ns = bench_ns() + (uint64_t)ms * 1000000u;
	do {
		sample(&witness);
		for (size_t i = 0; i < n_cases; i++)
			sample(&cases[i]);
	} while (bench_ns() < end_ns);
	witness_ns = fmin(witness_ns, witness.best_ns);
}

double bench_best(const struct bench_case *cases, size_t n_cases,
		  const char *name)
{
	for (size_t i = 0; i < n_cases; i++)
		if (!strcmp(cases[i].name, name))
			return cases[i].best_ns;
	return NAN;
}

/* The second thread: waits for a round, runs, records when it ended. */
struct partner {
	void (*run)(uint64_t n);
	uint64_t n;
	_Atomic unsigned round; /* requested by the first thread */
	_Atomic unsigned ready; /* the partner has seen it */
	_Atomic unsigned start; /* both run */
	_Atomic unsigned done;
	uint64_t from_ns, to_ns; /* written before `done` */
};

#define LAST_ROUND 0xffffffffu

/*
 * Spins, since a sleeping thread wakes too late for a round of 0.1 ms; yields
 * if the machine's CPUs are busy.
 */
static void wait_for(_Atomic unsigned *word, unsigned value)
{
	for (unsigned spins = 0; atomic_load(word) != value; spins++)
		if (spins > 10000)
			(void)sched_yield();
}

static unsigned next_round(struct partner *p, unsigned last)
{
	unsigned round;

	for (unsigned spins = 0; (round = atomic_load(&p->round)) == last;
	     spins++)
		if (spins > 10000)
			(void)sched_yield();
	return round;
}

static void *partner_main(void *arg)
{
	struct partner *p = arg;
	unsigned round = 0;

	bench_pin(1);
	p->run(p->n);
	while ((round = next_round(p, round)) != LAST_ROUND) {
		atomic_store(&p->ready, round);
		wait_for(&p->start, round);
		p->from_ns = bench_ns();
		p->run(p->n);
		p->to_ns = bench_ns();
		atomic_store(&p->done, round);
	}
	return NULL;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One round of the partner, with or without the calling thread. */
static uint64_t round_ns(struct partner *p, unsigned round,
			 void (*run)(uint64_t))
{
	uint64_t from, to;

	atomic_store(&p->round, round);
	wait_for(&p->ready, round);
	atomic_store(&p->start, round);
	from = bench_ns();
	if (run)
		run(p->n);
	to = bench_ns();
	wait_for(&p->done, round);
	if (!run)
		return p->to_ns - p->from_ns;
	return max_u64(to, p->to_ns) - min_u64(from, p->from_ns);
}

static uint64_t alone_ns(void (*run)(uint64_t), uint64_t n)
{
	uint64_t from = bench_ns();

	run(n);
	return bench_ns() - from;
}

struct bench_threads bench_two_threads(void (*one)(uint64_t),
				       void (*other)(uint64_t), uint64_t n,
				       unsigned rounds)
{
	struct partner p = { .run = other, .n = n };
	uint64_t first = UINT64_MAX, second = UINT64_MAX, both = UINT64_MAX;
	pthread_t thread;

	bench_pin(0);
	one(n);
	if (pthread_create(&thread, NULL, partner_main, &p))
		bench_fail("two threads", "cannot create a thread");
	for (unsigned i = 0; i < rounds; i++) {
		first = min_u64(first, alone_ns(one, n));
		second = min_u64(second, round_ns(&p, 2 * i + 1, NULL));
		both = min_u64(both, round_ns(&p, 2 * i + 2, one));
	}
	atomic_store(&p.round, LAST_ROUND);
	(void)pthread_join(thread, NULL);

	return (struct bench_threads){
		.one_ns = (double)(first + second) / 2 / (double)n,
		.two_ns = (double)both / (double)n,
	};
}
