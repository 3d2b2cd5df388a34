/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does tare know its own cost in any code? Programs whose probes stand in
 * different kinds of code run with measuring on and off, as separate processes
 * in turn. The real cost is the difference of their CPU times; the ratio is
 * what the report of the measured process says, divided by that.
 *
 * The median of the differences counts, and `_error` is the half width of its
 * interval of 95 %, in percent of the cost. Where the interval is wide, the
 * ratio says nothing. `_net`: how far the net time of the scope around all
 * calls is from the time of the same calls with tare off, in percent.
 * `_governed`: real cost in percent of the CPU time, with the governor on, in
 * the second half of a run of several seconds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tare/read/view.h>

#include "bench.h"
#include "pairs.h"

#define AGAINST "the same program with tare off"
#define PAIRS 30u
#define QUICK_PAIRS 6u

/* A program, and how much it does: calls of its scope, or turns of a script. */
struct host {
	const char *name;
	const char *program;
	const char *argument;
	double size;
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
static double run_host(const struct host *host, double size)
{
	char text[32];
	const char *argv[] = { host->program, host->argument, text, NULL };
	double ns;

	(void)snprintf(text, sizeof(text), "%.0f", size);
	ns = bench_cpu_ns(argv);
	if (isnan(ns))
		bench_fail(host->name, "does not run");
	return ns;
}

/* What the last run's report says. */
struct told {
	double cost_ns;
	double calls;	/* of scopes */
	double net_ns;	/* of the scope around all calls; NAN: has none */
};

static struct told reported(const char *name)
{
	struct told told = { .net_ns = NAN };
	tare_filter scopes = { .struct_size = sizeof(scopes),
			       .types = 1u << TARE_TYPE_TIME };
	const tare_stats *stats;
	tare_view *view;
	size_t n;

	if (tare_view_open("last", &view) ||
	    tare_view_stats(view, &scopes, &stats, &n))
		bench_fail(name, "its run cannot be opened");
	for (size_t i = 0; i < n; i++) {
		told.calls += (double)stats[i].count;
		if (!strcmp(stats[i].name, "all"))
			told.net_ns = stats[i].net_total;
	}
	told.cost_ns = tare_view_health(view)->measuring_ns;
	tare_view_close(view);
	return told;
}

/* The time that a program without tare wrote, in ns; NAN: it did not. */
static double written_time(void)
{
	const char *path = getenv("BENCH_TIME");
	FILE *file = path ? fopen(path, "r") : NULL;
	double ns = NAN;

	if (file && fscanf(file, "%lf", &ns) != 1)
		ns = NAN;
	if (file)
		(void)fclose(file);
	return ns;
}

/* ---- pairs ------------------------------------------------------------- */

struct pairs {
	double real[PAIRS], told[PAIRS], net[PAIRS];
	double calls; /* of the scopes of a run */
	unsigned n;
};

static void take_pair(const struct host *host, struct pairs *pairs)
{
	struct told told = { 0 };
	double cpu[2], without = NAN;

	for (unsigned i = 0; i < 2; i++) {
		bool on = (i + pairs->n) % 2;

		set_options(on, false);
		cpu[on] = run_host(host, host->size);
		if (on)
			told = reported(host->name);
		else
			without = written_time();
	}
	pairs->calls = told.calls;
	pairs->net[pairs->n] = 100 * (told.net_ns / without - 1);
	pairs->real[pairs->n] = cpu[1] - cpu[0];
	pairs->told[pairs->n++] = told.cost_ns;
}

static void compare(const struct host *host)
{
	struct pairs pairs = { .n = 0 };
	unsigned n = bench_is_quick() ? QUICK_PAIRS : PAIRS;
	char text[48];
	double real, told;

	while (pairs.n < n)
		take_pair(host, &pairs);
	real = bench_median(pairs.real, n);
	told = bench_median(pairs.told, n);
	bench_report(host->name, real / pairs.calls, "ns", told / real,
		     AGAINST);
	(void)snprintf(text, sizeof(text), "%s_error", host->name);
	bench_report(text, 100 * bench_median_error(pairs.real, n) / fabs(real),
		     "%", NAN, NULL);
	if (isnan(pairs.net[0]))
		return;
	(void)snprintf(text, sizeof(text), "%s_net", host->name);
	bench_report(text, bench_median(pairs.net, n), "%", NAN, AGAINST);
}

/* ---- governed ---------------------------------------------------------- */

/* CPU time of what comes after the first two seconds. */
static double later_cpu(const struct host *host, bool on, double size)
{
	double first;

	set_options(on, true);
	first = run_host(host, size);
	return run_host(host, 2 * size) - first;
}

static void govern(const struct host *host)
{
	double size, on = INFINITY, off = INFINITY;
	char text[48];

	set_options(false, true);
	size = host->size * 2e9 / run_host(host, host->size);
	for (unsigned i = 0; i < (bench_is_quick() ? 1 : 3); i++) {
		off = fmin(off, later_cpu(host, false, size));
		on = fmin(on, later_cpu(host, true, size));
	}
	(void)snprintf(text, sizeof(text), "%s_governed", host->name);
	bench_report(text, 100 * (1 - off / on), "%", NAN, AGAINST);
}

/* ---- parts ------------------------------------------------------------- */

static void judge(const struct host *host)
{
	compare(host);
	govern(host);
}

static void judge_code(const char *name, double calls)
{
	struct host host = { name, BENCH_OWN_COST_HOST, name, calls };
	char path[] = "/tmp/tare-bench-time-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || setenv("BENCH_TIME", path, 1))
		bench_fail(name, "no temporary file");
	(void)close(fd);
	judge(&host);
	(void)unlink(path);
	(void)unsetenv("BENCH_TIME");
}

static void chain(void)
{
	judge_code("chain", 12e6);
}

static void wide(void)
{
	judge_code("wide", 12e6);
}

static void memory(void)
{
	judge_code("memory", 4e6);
}

static void calls(void)
{
	judge_code("calls", 12e6);
}

/* A program that bench/costs/build has made; its script gets the size. */
static void judge_built(const char *name, const char *file, double size)
{
	const char *folder = getenv("BENCH_HOSTS");
	char program[512], script[512];
	struct host host = { name, program, script, size };

	if (!folder)
		folder = "build/hosts";
	(void)snprintf(program, sizeof(program), "%s/%s", folder, name);
	(void)snprintf(script, sizeof(script), "%s/%s", folder, file);
	if (access(program, X_OK)) {
		(void)fprintf(stderr, "%s: left out; bench/costs/build makes "
			      "%s\n",
			      name, program);
		return;
	}
	judge(&host);
}

static void lua(void)
{
	judge_built("lua", "concat.lua", 4e6);
}

/* A turn of the script makes 36 calls of the ten scopes. */
static void sqlite(void)
{
	judge_built("sqlite", "rows.sql", 1e5);
}

#define OFF { "TARE=off", NULL }

const struct bench_part bench_parts[] = {
	{ "chain", chain, OFF },   { "wide", wide, OFF },
	{ "memory", memory, OFF }, { "calls", calls, OFF },
	{ "lua", lua, OFF },	   { "sqlite", sqlite, OFF },
	{ NULL, NULL, { NULL } },
};
