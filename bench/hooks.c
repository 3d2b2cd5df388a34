/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hooks of -finstrument-functions cost per call, by mode, and how many
 * bytes the profile of a deep recursion takes.
 *
 * The same functions are loaded twice: bound to empty hooks in a library beside
 * them, and to tare's, which is preloaded. `sparse`, `counts` and `off` are the
 * time added to the empty hooks; `timed` is the total time of a call, and its
 * ratio to the empty hooks.
 */
#include "bench.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEAF_EMPTY, LEAF, PIPE_EMPTY, PIPE, RECURSION_EMPTY, RECURSION, PAIR };

static struct bench_case cases[] = {
	[LEAF_EMPTY] = { "leaf_empty", NULL, 0, 0 },
	[LEAF] = { "leaf", NULL, 0, 0 },
	[PIPE_EMPTY] = { "pipe_empty", NULL, 0, 0 },
	[PIPE] = { "pipe", NULL, 0, 0 },
	[RECURSION_EMPTY] = { "recursion_empty", NULL, 0, 0 },
	[RECURSION] = { "recursion", NULL, 0, 0 },
	[PAIR] = { "pair", bench_pair, 0, 0 },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static void load(const char *path, int how, unsigned first)
{
	static const char *const names[] = { "body_leaf", "body_pipe",
					     "body_recursion" };
	void *body = dlopen(path, RTLD_NOW | how);

	if (!body)
		bench_fail("load", dlerror());
	for (unsigned i = 0; body && i < 3; i++)
		*(void **)&cases[first + 2 * i].run = dlsym(body, names[i]);
}

static void measure(void)
{
	/* Deep: its own library before the preloaded one. */
	load(BENCH_HOOKED_EMPTY, RTLD_LOCAL | RTLD_DEEPBIND, LEAF_EMPTY);
	load(BENCH_HOOKED_ANY, RTLD_LOCAL, LEAF);
	for (unsigned i = 0; i < 3; i++)
		if (!cases[2 * i].run || !cases[2 * i + 1].run)
			bench_fail("find", "the functions");
	bench_run(cases, N_CASES, bench_is_quick() ? 300 : 3000);
}

static void report_added(const char *mode)
{
	static const char *const what[] = { "_leaf", "", "_recursion" };
	char name[40];

	measure();
	for (unsigned i = 0; i < 3; i++) {
		double empty = cases[2 * i].best_ns;
		double ns = cases[2 * i + 1].best_ns;

		(void)snprintf(name, sizeof(name), "%s%s", mode, what[i]);
		bench_report(name, ns - empty, "ns added", ns / empty,
			     "empty hooks");
	}
}

static void off(void)
{
	report_added("off");
}

static void counts(void)
{
	report_added("counts");
}

static void sparse(void)
{
	report_added("sparse");
}

static void timed(void)
{
	static const char *const what[] = { "_leaf", "", "_recursion" };
	double pair;
	char name[40];

	measure();
	pair = cases[PAIR].best_ns;
	for (unsigned i = 0; i < 3; i++) {
		double empty = cases[2 * i].best_ns;
		double ns = cases[2 * i + 1].best_ns;

		(void)snprintf(name, sizeof(name), "timed%s", what[i]);
		bench_report(name, ns, "ns", ns / pair, BENCH_PAIR);
		(void)snprintf(name, sizeof(name), "timed%s_added", what[i]);
		bench_report(name, ns - empty, "ns", (ns - empty) / pair,
			     BENCH_PAIR);
	}
}

static void run_recursion(void)
{
	(void)setenv("LD_PRELOAD", BENCH_PRELOAD, 1);
	(void)setenv("TARE", "on", 1);
	(void)setenv("TARE_CALLS", "sparse", 1);
	(void)execl(BENCH_RECURSION, BENCH_RECURSION,
		    bench_is_quick() ? "small" : NULL, NULL);
	_exit(127);
}

static void profile_size(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		run_recursion();
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		bench_fail("run", BENCH_RECURSION);
	bench_report("profile_size", (double)bench_dir_bytes(), "bytes", NAN,
		     NULL);
}

#define HOOKED(mode) \
	{ "LD_PRELOAD=" BENCH_PRELOAD, "TARE=on", "TARE_CALLS=" mode, NULL }

const struct bench_part bench_parts[] = {
	{ "off", off, HOOKED("off") },
	{ "counts", counts, HOOKED("counts") },
	{ "sparse", sparse, HOOKED("sparse") },
	{ "timed", timed, HOOKED("timed") },
	{ "profile_size", profile_size, { NULL } },
	{ NULL, NULL, { NULL } },
};
