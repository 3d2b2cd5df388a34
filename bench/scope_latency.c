/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single scopes: the time of the slowest, and of a thread's first.
 *
 * A round of p9999 runs in its own thread and opens 4096 new paths among its
 * scopes, so it allocates every chunk that a track can need. Threads stay alive
 * until the end: an ended thread's track would be reused with its memory. Each
 * quantile is the minimum over the rounds, since other guests of the machine
 * add stalls of milliseconds; the same loop with a bare pair shows the
 * remaining stalls.
 */
#include "scope.h"

#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 500000u
#define ROUNDS 7u
#define OUTER 8u
#define INNER 512u
#define BURST 64u /* scopes under one outer scope */
#define THREADS 256u

static uint32_t samples[SAMPLES]; /* ticks, of the current round */
static sem_t round_done, may_end;

struct quantiles {
	double p50, p9999, max; /* ns */
};

/* A thread that does `work` once and waits until it may end. */
static void *staying_thread(void *arg)
{
	void (*work)(void);

	memcpy(&work, arg, sizeof(work));
	bench_pin(0);
	work();
	(void)sem_post(&round_done);
	(void)sem_wait(&may_end);
	return NULL;
}

static pthread_t start(void *(*main)(void *), void (*work)(void))
{
	pthread_t thread;
	pthread_attr_t attr;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, 256 * 1024);
	if (pthread_create(&thread, &attr, main, &work))
		bench_fail("latency", "cannot create a thread");
	(void)sem_wait(&round_done);
	(void)pthread_attr_destroy(&attr);
	return thread;
}

static void end(pthread_t *threads, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)sem_post(&may_end);
	for (size_t i = 0; i < n; i++)
		(void)pthread_join(threads[i], NULL);
}

static inline tare_site *inner_site(uint32_t i)
{
	return scope_sites[OUTER + bench_random[i & 65535] % INNER];
}

static void pairs_burst(uint32_t from)
{
	for (uint32_t i = from; i < from + BURST; i++) {
		uint64_t begin;

		BENCH_OPAQUE(inner_site(i));
		begin = bench_ticks();
		bench_stamps();
		samples[i] = (uint32_t)(bench_ticks() - begin);
	}
}

static void scopes_burst(uint32_t from)
{
	TARE_SCOPE_SITE(scope_sites[from / BURST % OUTER]);
	for (uint32_t i = from; i < from + BURST; i++) {
		tare_site *site = inner_site(i);
		uint64_t begin = bench_ticks();

		tare_scope_end(tare_scope_begin(site));
		samples[i] = (uint32_t)(bench_ticks() - begin);
	}
}

static void sample_pairs(void)
{
	for (uint32_t i = 0; i + BURST <= SAMPLES; i += BURST)
		pairs_burst(i);
}

static void sample_scopes(void)
{
	for (uint32_t i = 0; i + BURST <= SAMPLES; i += BURST)
		scopes_burst(i);
}

static int by_size(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void take_least(struct quantiles *least)
{
	size_t n = SAMPLES / BURST * BURST;
	double ns = bench_tick_ns();

	qsort(samples, n, sizeof(samples[0]), by_size);
	least->p50 = fmin(least->p50, samples[n / 2] * ns);
	least->p9999 = fmin(least->p9999, samples[n - n / 10000] * ns);
	least->max = fmin(least->max, samples[n - 1] * ns);
}

static void report(const char *name, double scope, double pair)
{
	bench_report(name, scope, "ns", scope / pair,
		     "the same quantile of " BENCH_PAIR "s");
}

void scope_latency_part(void)
{
	struct quantiles scope = { INFINITY, INFINITY, INFINITY };
	struct quantiles pair = scope;
	unsigned rounds = bench_is_quick() ? 2 : ROUNDS;
	pthread_t threads[2 * ROUNDS];

	scope_sites_make(OUTER + INNER);
	memset(samples, 1, sizeof(samples)); /* avoids page faults of our own */
	(void)sem_init(&round_done, 0, 0);
	(void)sem_init(&may_end, 0, 0);
	for (unsigned i = 0; i < rounds; i++) {
		threads[2 * i] = start(staying_thread, sample_pairs);
		take_least(&pair);
		threads[2 * i + 1] = start(staying_thread, sample_scopes);
		take_least(&scope);
	}
	end(threads, 2 * rounds);
	report("p50", scope.p50, pair.p50);
	report("p9999", scope.p9999, pair.p9999);
	report("p9999_max", scope.max, pair.max);
}

static uint32_t first_ticks[THREADS];
static size_t n_first;

static void first_scope(void)
{
	uint64_t begin = bench_ticks();

	{
		TARE_SCOPE("bench.first");
		BENCH_OPAQUE(begin);
	}
	first_ticks[n_first++] = (uint32_t)(bench_ticks() - begin);
}

static void *leaving_thread(void *arg)
{
	void (*work)(void);

	memcpy(&work, arg, sizeof(work));
	bench_pin(0);
	work();
	(void)sem_post(&round_done);
	return NULL;
}

static void report_first(const char *name, const char *name_min)
{
	double ns = bench_tick_ns();

	qsort(first_ticks, n_first, sizeof(first_ticks[0]), by_size);
	bench_report(name, first_ticks[n_first / 2] * ns, "ns", NAN, NULL);
	bench_report(name_min, first_ticks[0] * ns, "ns", NAN, NULL);
	n_first = 0;
}

void scope_first_event_part(void)
{
	pthread_t threads[THREADS];

	(void)sem_init(&round_done, 0, 0);
	(void)sem_init(&may_end, 0, 0);
	scope_one(1);
	for (size_t i = 0; i < THREADS; i++)
		threads[i] = start(staying_thread, first_scope);
	end(threads, THREADS);
	report_first("first_event", "first_event_min");

	for (size_t i = 0; i < THREADS; i++) {
		threads[i] = start(leaving_thread, first_scope);
		(void)pthread_join(threads[i], NULL);
	}
	report_first("first_event_reused", "first_event_reused_min");
}
