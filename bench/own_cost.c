/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does tare know its own cost in any code? Programs whose probes stand in
 * different kinds of code run with measuring on and off, as separate processes
 * in turn. The real cost is the difference of their CPU times; the ratio is
 * what the report of the measured process says, divided by that.
 *
 * The median of the differences counts, and `_error` is the half width of its
 * interval of 95 %, in percent of the cost. Where the interval is wide, the
 * ratio says nothing. `_governed`: real cost in percent of the CPU time, with
 * the governor on, in the second half of a run of several seconds.
 */
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tare/read/view.h>

#include "bench.h"

#define AGAINST "the same program with tare off"
#define PAIRS 30u
#define QUICK_PAIRS 6u

/* A program, and how many calls of its scope it makes. */
struct host {
	const char *name;
	const char *program;
	const char *args[3];
	double calls;
};

/* ---- one process ------------------------------------------------------- */

static void set_options(bool on, bool governed)
{
	if (setenv("TARE", on ? "on" : "off", 1) ||
	    setenv("TARE_AUTO_DISABLE_ON_SLOW", governed ? "1" : "0", 1) ||
	    setenv("TARE_KEEP_RUNS", "2", 1))
		bench_fail("environment", "no memory");
}

/* CPU time in ns. */
static double run_host(const struct host *host, const char *calls)
{
	extern char **environ;
	char *argv[] = { (char *)(uintptr_t)host->program,
			 (char *)(uintptr_t)host->args[0],
			 (char *)(uintptr_t)calls, NULL };
	struct rusage used;
	int status;
	pid_t pid;

	if (posix_spawn(&pid, host->program, NULL, NULL, argv, environ) ||
	    wait4(pid, &status, 0, &used) != pid || status)
		bench_fail(host->name, "does not run");
	return ((double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec) *
		       1e9 +
	       ((double)used.ru_utime.tv_usec +
		(double)used.ru_stime.tv_usec) * 1e3;
}

/* What the last run's report says, in ns. */
static double reported(const char *name)
{
	tare_view *view;
	double ns;

	if (tare_view_open("last", &view))
		bench_fail(name, "its run cannot be opened");
	ns = tare_view_health(view)->measuring_ns;
	tare_view_close(view);
	return ns;
}

/* ---- pairs ------------------------------------------------------------- */

struct pairs {
	double real[PAIRS], told[PAIRS];
	unsigned n;
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, unsigned n)
{
	qsort(values, n, sizeof(*values), by_value);
	return (values[n / 2] + values[(n - 1) / 2]) / 2;
}

/* Half of the interval of a median: between these ranks. */
static double median_error(const double *sorted, unsigned n)
{
	double out = sqrt((double)n);
	unsigned low = (unsigned)fmax(0, floor(n / 2.0 - out));
	unsigned high = (unsigned)fmin(n - 1, ceil(n / 2.0 + out));

	return (sorted[high] - sorted[low]) / 2;
}

static void take_pair(const struct host *host, const char *calls,
		      struct pairs *pairs)
{
	double cpu[2], told = 0;

	for (unsigned i = 0; i < 2; i++) {
		bool on = (i + pairs->n) % 2;

		set_options(on, false);
		cpu[on] = run_host(host, calls);
		if (on)
			told = reported(host->name);
	}
	pairs->real[pairs->n] = cpu[1] - cpu[0];
	pairs->told[pairs->n++] = told;
}

static void compare(const struct host *host)
{
	struct pairs pairs = { .n = 0 };
	unsigned n = bench_is_quick() ? QUICK_PAIRS : PAIRS;
	char text[48];
	double real, told;

	(void)snprintf(text, sizeof(text), "%.0f", host->calls);
	while (pairs.n < n)
		take_pair(host, text, &pairs);
	real = median(pairs.real, n);
	told = median(pairs.told, n);
	bench_report(host->name, real / host->calls, "ns", told / real,
		     AGAINST);
	(void)snprintf(text, sizeof(text), "%s_error", host->name);
	bench_report(text, 100 * median_error(pairs.real, n) / fabs(real), "%",
		     NAN, NULL);
}

/* ---- governed ---------------------------------------------------------- */

/* CPU time of the calls after the first two seconds. */
static double later_cpu(const struct host *host, bool on, double calls)
{
	char half[32], whole[32];
	double first;

	(void)snprintf(half, sizeof(half), "%.0f", calls);
	(void)snprintf(whole, sizeof(whole), "%.0f", 2 * calls);
	set_options(on, true);
	first = run_host(host, half);
	return run_host(host, whole) - first;
}

static void govern(const struct host *host)
{
	double calls, on = INFINITY, off = INFINITY;
	char text[48];

	set_options(false, true);
	(void)snprintf(text, sizeof(text), "%.0f", host->calls);
	calls = host->calls * 2e9 / run_host(host, text);
	for (unsigned i = 0; i < (bench_is_quick() ? 1 : 3); i++) {
		off = fmin(off, later_cpu(host, false, calls));
		on = fmin(on, later_cpu(host, true, calls));
	}
	(void)snprintf(text, sizeof(text), "%s_governed", host->name);
	bench_report(text, 100 * (1 - off / on), "%", NAN, AGAINST);
}

/* ---- parts ------------------------------------------------------------- */

static void judge(const char *name, double calls)
{
	struct host host = { name, BENCH_OWN_COST_HOST, { name }, calls };

	compare(&host);
	govern(&host);
}

static void chain(void)
{
	judge("chain", 12e6);
}

static void wide(void)
{
	judge("wide", 12e6);
}

static void memory(void)
{
	judge("memory", 4e6);
}

static void calls(void)
{
	judge("calls", 12e6);
}

/* Built by bench/costs/build: runs a script, which gets the number of calls. */
static void lua(void)
{
	const char *folder = getenv("BENCH_HOSTS");
	char program[512], script[512];
	struct host host = { "lua", program, { script }, 4e6 };

	(void)snprintf(program, sizeof(program), "%s/lua",
		       folder ? folder : "build/hosts");
	(void)snprintf(script, sizeof(script), "%s/concat.lua",
		       folder ? folder : "build/hosts");
	if (access(program, X_OK)) {
		(void)fprintf(stderr, "lua: left out; bench/costs/build makes "
			      "%s\n",
			      program);
		return;
	}
	compare(&host);
}

#define OFF { "TARE=off", NULL }

const struct bench_part bench_parts[] = {
	{ "chain", chain, OFF },   { "wide", wide, OFF },
	{ "memory", memory, OFF }, { "calls", calls, OFF },
	{ "lua", lua, OFF },	   { NULL, NULL, { NULL } },
};
