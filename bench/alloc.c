/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tracking an allocation adds to a pair of malloc and free.
 *
 * The parts run with libtare-alloc loaded, as `tare run --alloc` does. A pair
 * without it calls libc's functions, found by name, in the same process and in
 * turn with the others. Sizes of 16 to 496 bytes; the stack has about ten
 * frames, eight of them between the thread's start and the loop.
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define MASK 1023u /* number of pairs before sizes repeat */

static void *(*libc_malloc)(size_t n);
static void (*libc_free)(void *block);

static size_t size_of(uint64_t i)
{
	return 16 + (bench_random[i & MASK] & 15) * 32u;
}

static void bare(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		void *block = libc_malloc(size_of(i));

		BENCH_OPAQUE(block);
		libc_free(block);
	}
}

static void noted(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		void *block = malloc(size_of(i));

		BENCH_OPAQUE(block);
		free(block);
	}
}

/* ---- deeper ------------------------------------------------------------ */

static void (*volatile deepest)(uint64_t n);

__attribute__((noinline)) static void descend(int depth, uint64_t n)
{
	if (depth > 0)
		descend(depth - 1, n);
	else
		deepest(n);
	BENCH_OPAQUE(depth); /* prevents a tail call */
}

/* In its own thread: clone, start, this function, bench_run, its parts. */
static void noted_8(uint64_t n)
{
	deepest = noted;
	descend(1, n);
}

static void bare_8(uint64_t n)
{
	deepest = bare;
	descend(1, n);
}

static void noted_32(uint64_t n)
{
	deepest = noted;
	descend(25, n);
}

static struct bench_case cases[] = {
	{ "bare", bare_8, 0, 0 },
	{ "noted", noted_8, 0, 0 },
	{ "deep", noted_32, 0, 0 },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static void find_libc(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	Dl_info info;

	if (libc) {
		*(void **)(void *)&libc_malloc = dlsym(libc, "malloc");
		*(void **)(void *)&libc_free = dlsym(libc, "free");
	}
	if (!libc_malloc || !libc_free)
		bench_fail("alloc", "no malloc in libc.so.6");
	if (!dladdr(dlsym(RTLD_DEFAULT, "malloc"), &info) ||
	    !strstr(info.dli_fname, "libtare-alloc"))
		bench_fail("alloc", "libtare-alloc.so is not loaded");
}

static void *run_cases(void *arg)
{
	(void)arg;
	bench_pin(0);
	bench_run(cases, N_CASES, 800);
	return NULL;
}

static double added(const char *name)
{
	return bench_best(cases, N_CASES, name) -
	       bench_best(cases, N_CASES, "bare");
}

static void measure(void)
{
	pthread_t thread;

	find_libc();
	if (pthread_create(&thread, NULL, run_cases, NULL))
		bench_fail("alloc", "no thread");
	(void)pthread_join(thread, NULL);
}

static void exact_part(void)
{
	double pair;

	measure();
	pair = bench_best(cases, N_CASES, "bare");
	bench_report("exact", added("noted"), "ns", added("noted") / pair,
		     "malloc+free");
	bench_report("exact_depth_32", added("deep"), "ns",
		     added("deep") / pair, "malloc+free");
	bench_report("bare", pair, "ns", NAN, NULL);
}

static void sampled_part(void)
{
	measure();
	bench_report("sampled", added("noted"), "ns",
		     added("noted") / bench_best(cases, N_CASES, "bare"),
		     "malloc+free");
}

static void threads_part(void)
{
	struct bench_threads with, without;

	find_libc();
	if (bench_cpus() < 2)
		return;
	without = bench_two_threads(bare, bare, 20000, 60);
	with = bench_two_threads(noted, noted, 20000, 60);
	bench_report("exact_two_threads", with.two_ns - without.two_ns, "ns",
		     (with.two_ns - without.two_ns) /
			     (with.one_ns - without.one_ns),
		     "one thread");
}

/* ---- another tool ------------------------------------------------------ */

#define LOOP "pair takes "

/* The program of the part below, with another tool or without. */
static void run_loop(void)
{
	struct bench_case loop = { "loop", noted_8, 0, 0 };

	bench_run(&loop, 1, 500);
	(void)printf(LOOP "%.3f\n", loop.best_ns);
	(void)fflush(stdout);
	_exit(0);
}

static double loop_ns(const char *with)
{
	char command[600];
	double ns = NAN;
	FILE *from;

	(void)snprintf(command, sizeof(command),
		       "BENCH_ALLOC_LOOP=1 %s /proc/%ld/exe --part heaptrack "
		       "2>/dev/null", with, (long)getpid());
	from = popen(command, "r");
	if (!from)
		return NAN;
	for (char line[256]; fgets(line, sizeof(line), from);)
		if (strncmp(line, LOOP, strlen(LOOP)) == 0)
			ns = strtod(line + strlen(LOOP), NULL);
	(void)pclose(from);
	return ns;
}

static void heaptrack_part(void)
{
	char with[400];
	double bare_ns, ns;

	if (getenv("BENCH_ALLOC_LOOP"))
		run_loop();
	if (system("command -v heaptrack >/dev/null") != 0)
		return;
	(void)snprintf(with, sizeof(with), "heaptrack -o %s/heaptrack",
		       bench_dir());
	bare_ns = loop_ns("");
	ns = loop_ns(with);
	if (!isnan(ns) && !isnan(bare_ns))
		bench_report("heaptrack", ns - bare_ns, "ns", ns / bare_ns,
			     "malloc+free");
}

#define PRELOADED "LD_PRELOAD=" ALLOC_LIBRARY

const struct bench_part bench_parts[] = {
	{ "exact", exact_part,
	  { "TARE=on", "TARE_REPORT=none", "TARE_ALLOC=exact", PRELOADED } },
	{ "sampled", sampled_part,
	  { "TARE=on", "TARE_REPORT=none", "TARE_ALLOC=sampled", PRELOADED } },
	{ "threads", threads_part,
	  { "TARE=on", "TARE_REPORT=none", "TARE_ALLOC=exact", PRELOADED } },
	{ "heaptrack", heaptrack_part, { "TARE=0" } },
	{ NULL, NULL, { NULL } },
};
