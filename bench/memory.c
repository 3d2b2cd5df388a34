/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory measuring uses, in bytes: real pages of the ledger's files on
 * tmpfs and anonymous pages of the process, never lengths.
 *
 * Pages and chunks are coarse, so every figure is the growth over many items,
 * divided by their number.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tare/control.h>
#include <tare/probe.h>
#include <tare/read/view.h>

#include "bench.h"

#define N_THREADS 256u
#define N_SERIES 10000u
#define N_HISTOGRAMS 128u
#define N_OBSERVED 50000u
#define TRACED 200000u

static uint64_t anonymous_bytes(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "re");
	unsigned long kib = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Anonymous: %lu kB", &kib) == 1)
			break;
	if (file)
		(void)fclose(file);
	return (uint64_t)kib * 1024;
}

static double used_bytes(void)
{
	return (double)(bench_dir_bytes() + anonymous_bytes());
}

/* Releases the threads for their first and their second action. */
static pthread_barrier_t gate;

static void pass(void)
{
	(void)pthread_barrier_wait(&gate);
}

static void *idle_thread(void *arg)
{
	pass(); /* all threads run; their stacks are allocated */
	pass();
	{
		TARE_SCOPE("bench.idle");
	}
	pass();
	pass();
	return arg;
}

static void start_threads(pthread_t *threads, size_t n,
			  void *(*main)(void *))
{
	(void)pthread_barrier_init(&gate, NULL, (unsigned)n + 1);
	for (size_t i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, main, NULL))
			bench_fail("memory", "cannot create a thread");
}

static void join_threads(pthread_t *threads, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)pthread_join(threads[i], NULL);
}

/* A thread that has recorded one scope and waits. */
static void idle_thread_part(void)
{
	pthread_t threads[N_THREADS];
	uint64_t ledger, anonymous;

	start_threads(threads, N_THREADS, idle_thread);
	pass();
	ledger = bench_dir_bytes();
	anonymous = anonymous_bytes();
	pass();
	pass();
	ledger = bench_dir_bytes() - ledger;
	anonymous = anonymous_bytes() - anonymous;
	pass();
	join_threads(threads, N_THREADS);
	bench_report("idle_thread",
		     (double)(ledger + anonymous) / N_THREADS, "B", NAN, NULL);
	bench_report("idle_thread_ledger", (double)ledger / N_THREADS, "B",
		     NAN, NULL);
}

static void traced(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		TARE_SCOPE("bench.traced");
		BENCH_OPAQUE(i);
	}
}

static uint64_t events_kept(void)
{
	tare_view *view;
	uint64_t n;

	if (tare_view_open("self", &view))
		bench_fail("traced_scope", "cannot open a view");
	n = tare_view_health(view)->trace_events;
	tare_view_close(view);
	return n;
}

struct footprint {
	double bytes;
	double events;
};

/* Total cost of TRACED scopes, in their own process. */
static struct footprint footprint_here(const char *trace)
{
	double before = used_bytes();

	before = used_bytes(); /* memory for reading is already allocated */
	if (tare_option_set("trace", trace) || tare_start())
		bench_fail("traced_scope", "cannot start");
	traced(TRACED);
	return (struct footprint){ .bytes = used_bytes() - before,
				   .events = (double)events_kept() };
}

static struct footprint footprint(const char *trace)
{
	struct footprint f = { 0, 0 };
	int fds[2], status;
	pid_t pid;

	if (pipe(fds))
		bench_fail("traced_scope", "no pipe");
	pid = fork();
	if (!pid) {
		f = footprint_here(trace);
		_exit(write(fds[1], &f, sizeof(f)) != sizeof(f));
	}
	if (waitpid(pid, &status, 0) != pid || status ||
	    read(fds[0], &f, sizeof(f)) != sizeof(f))
		bench_fail("traced_scope", "a child failed");
	return f;
}

/* What tracing adds to a thread that has filled its ring. */
static void traced_scope_part(void)
{
	struct footprint off = footprint("off"), on = footprint("on");

	bench_report("traced_scope", (on.bytes - off.bytes) / on.events, "B",
		     NAN, NULL);
	bench_report("traced_scope_kept", on.events, "events", NAN, NULL);
}

static tare_site *series[N_SERIES];

static void make_series(enum tare_kind kind, enum tare_type type, size_t n)
{
	char name[16];

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "c%zu", i);
		series[i] = tare_site_get(kind, type, name, NULL, NULL);
	}
}

static void count_all(void)
{
	for (size_t i = 0; i < N_SERIES; i++)
		tare_counter_add(series[i], 1);
}

static void *counting_thread(void *arg)
{
	TARE_SCOPE("bench.counting");
	pass();
	pass();
	count_all();
	pass();
	pass();
	return arg;
}

/* Growth since `before`: in total, and of the ledger alone. */
struct growth {
	double all, ledger;
};

static struct growth growth_now(void)
{
	return (struct growth){ used_bytes(), (double)bench_dir_bytes() };
}

static void report_growth(const char *name, const char *name_ledger,
			  struct growth before, double n)
{
	struct growth now = growth_now();

	bench_report(name, (now.all - before.all) / n, "B", NAN, NULL);
	if (name_ledger)
		bench_report(name_ledger, (now.ledger - before.ledger) / n,
			     "B", NAN, NULL);
}

/* What a second thread adds to each series. */
static void report_second_thread(void)
{
	struct growth before;
	pthread_t thread;

	start_threads(&thread, 1, counting_thread);
	pass();
	before = growth_now();
	pass();
	pass();
	report_growth("counter_series_thread", NULL, before, N_SERIES);
	pass();
	join_threads(&thread, 1);
}

/* Names created at run time: includes the handle and its copy of the name. */
static void counter_handle_part(void)
{
	struct growth before;

	memset(series, 1, sizeof(series)); /* the benchmark's own memory */
	TARE_COUNT("bench.first", 1);
	(void)growth_now();
	before = growth_now();
	make_series(TARE_KIND_COUNTER, TARE_TYPE_COUNTER, N_SERIES);
	count_all();
	report_growth("counter_series_handle", "counter_series_ledger",
		      before, N_SERIES);
	report_second_thread();
}

static tare_site static_sites[N_SERIES];
static char static_names[N_SERIES][8];

/* Sites as TARE_COUNT makes them: they are in the program's own data. */
static void counter_series_part(void)
{
	struct growth before;

	for (size_t i = 0; i < N_SERIES; i++) {
		(void)snprintf(static_names[i], sizeof(static_names[i]),
			       "c%zu", i);
		static_sites[i] = (tare_site)TARE_SITE_INIT_(
			static_sites[i], TARE_KIND_COUNTER, TARE_TYPE_COUNTER,
			0, static_names[i], NULL, NULL);
		series[i] = &static_sites[i];
	}
	TARE_COUNT("bench.first", 1);
	(void)growth_now();
	before = growth_now();
	count_all();
	report_growth("counter_series", NULL, before, N_SERIES);
}

static double values[N_OBSERVED];

/* Log-normal, sigma 1: about one and a half decades wide. */
static void fill_values(void)
{
	uint64_t x = 88172645463325252u;

	for (size_t i = 0; i < N_OBSERVED; i++) {
		double u[2];

		for (size_t k = 0; k < 2; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			u[k] = ((double)(x >> 11) + 0.5) / 9007199254740992.0;
		}
		values[i] = exp(sqrt(-2 * log(u[0])) * cos(6.283185307 * u[1]));
	}
}

static void observe_all(void)
{
	for (size_t i = 0; i < N_HISTOGRAMS; i++)
		for (size_t k = 0; k < N_OBSERVED; k++)
			tare_value_observe(series[i], values[k]);
}

static void *observing_thread(void *arg)
{
	TARE_SCOPE("bench.observing");
	pass();
	pass();
	observe_all();
	pass();
	pass();
	return arg;
}

/* In a second thread, so that the cost of names is not included. */
static void histograms(const char *name)
{
	pthread_t thread;
	double before;

	fill_values();
	make_series(TARE_KIND_VALUE, TARE_TYPE_CUSTOM, N_HISTOGRAMS);
	for (size_t i = 0; i < N_HISTOGRAMS; i++)
		tare_value_observe(series[i], 1);

	start_threads(&thread, 1, observing_thread);
	pass();
	before = used_bytes();
	pass();
	pass();
	bench_report(name, (used_bytes() - before) / N_HISTOGRAMS, "B", NAN,
		     NULL);
	pass();
	join_threads(&thread, 1);
}

/* With its last 1,000 values, as by default, and without. */
static void histogram_part(void)
{
	histograms("histogram_per_thread");
}

static void unkept_part(void)
{
	histograms("histogram_unkept");
}

static void *first_value_thread(void *arg)
{
	TARE_SCOPE("bench.first_values");
	pass();
	pass();
	for (size_t i = 0; i < N_SERIES; i++)
		tare_value_observe(series[i], 1);
	pass();
	pass();
	return arg;
}

/* A series with one value in a thread. */
static void one_value_part(void)
{
	pthread_t thread;
	double before;

	make_series(TARE_KIND_VALUE, TARE_TYPE_CUSTOM, N_SERIES);
	for (size_t i = 0; i < N_SERIES; i++)
		tare_value_observe(series[i], 1);
	start_threads(&thread, 1, first_value_thread);
	pass();
	before = used_bytes();
	pass();
	pass();
	bench_report("one_value_per_thread", (used_bytes() - before) / N_SERIES,
		     "B", NAN, NULL);
	pass();
	join_threads(&thread, 1);
}

/* Total cost for a small program, from nothing to a view of its scope. */
static void hello_part(void)
{
	double before = used_bytes();
	uint64_t ledger;

	before = used_bytes(); /* memory for reading is already allocated */
	if (tare_start())
		bench_fail("hello", "cannot start");
	for (unsigned i = 0; i < 100; i++) {
		TARE_SCOPE("bench.hello");
		TARE_COUNT("bench.greetings", 1);
	}
	ledger = bench_dir_bytes();
	bench_report("hello", used_bytes() - before, "B", NAN, NULL);
	bench_report("hello_ledger", (double)ledger, "B", NAN, NULL);
}

const struct bench_part bench_parts[] = {
	{ "traced_scope", traced_scope_part, { NULL } },
	{ "idle_thread", idle_thread_part, { "TARE=on" } },
	{ "counter_series_handle", counter_handle_part,
	  { "TARE=on", "TARE_MAX_SITES=16384" } },
	{ "counter_series", counter_series_part,
	  { "TARE=on", "TARE_MAX_SITES=16384" } },
	{ "histogram_per_thread", histogram_part, { "TARE=on" } },
	{ "histogram_unkept", unkept_part,
	  { "TARE=on", "TARE_KEEP_VALUES=0" } },
	{ "one_value_per_thread", one_value_part,
	  { "TARE=on", "TARE_MAX_SITES=16384" } },
	{ "hello", hello_part, { NULL } },
	{ NULL, NULL, { NULL } },
};
