/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging 10,000 ledgers of 100 series: wall time, CPU time and peak memory of
 * tare_merge_files(), the same from 100 summaries of 100 ledgers, and whether
 * both give the same.
 *
 * The ledgers are those of 10,000 processes, each with 100 series (scopes,
 * counters, values) of 20 measurements. The minimum of three runs; other load
 * adds to the wall time, so that CPU time is printed, too.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tare/probe.h>
#include <tare/read/view.h>

#include "bench.h"

#define N_SERIES 100u
#define N_CALLS 20u
#define TIMES 3
#define A_HOST 100u /* ledgers of a summary */

static tare_run_entry *runs;
static const char **path;
static size_t n_paths;

/* ---- ledgers ----------------------------------------------------------- */

static void measure(tare_site *site, unsigned kind, uint32_t random)
{
	if (kind < 2)
		tare_scope_end(tare_scope_begin(site));
	else if (kind == 2)
		tare_counter_add(site, random & 7);
	else
		tare_value_observe(site, random & 0xffff);
}

static tare_site *site_of(unsigned i)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "bench.series.%u", i);
	return i % 4 < 2 ? tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME, name,
					 NULL, NULL) :
	       i % 4 == 2 ? tare_site_get(TARE_KIND_COUNTER, TARE_TYPE_COUNTER,
					  name, NULL, NULL) :
			    tare_site_get(TARE_KIND_VALUE, TARE_TYPE_CUSTOM,
					  name, NULL, NULL);
}

/* A child: a fork of a measured process has a ledger of its own. */
static _Noreturn void be_process(uint32_t random)
{
	for (unsigned i = 0; i < N_SERIES; i++) {
		tare_site *site = site_of(i);

		for (unsigned k = 0; k < N_CALLS; k++) {
			random = random * 1103515245u + 12345u;
			measure(site, i % 4, random >> 8);
		}
	}
	exit(0);
}

static void make_ledgers(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			be_process(i);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			bench_fail("merge", "a process failed");
	}
}

/* All but that of this process. */
static void list_ledgers(unsigned n)
{
	size_t n_runs;

	if (tare_runs_list(&runs, &n_runs))
		bench_fail("merge", "the ledgers cannot be listed");
	path = calloc(n_runs + 1, sizeof(*path));
	for (size_t i = 0; path && i < n_runs; i++)
		if (runs[i].pid != getpid())
			path[n_paths++] = runs[i].path;
	if (!path || n_paths != n)
		bench_fail("merge", "ledgers are missing");
}

/* ---- merging ----------------------------------------------------------- */

/* Of one merge, in a process of its own: its peak memory. */
struct taken {
	double wall_s, cpu_s, peak_mb;
	uint64_t count, runs; /* of all series, to be compared */
	double p99;
};

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void add_up(const tare_merge *merge, struct taken *taken)
{
	size_t n;
	const tare_stats *stats = tare_merge_stats(merge, &n);

	taken->runs = tare_merge_runs(merge, NULL);
	for (size_t i = 0; i < n; i++) {
		taken->count += stats[i].count;
		if (stats[i].p99 == stats[i].p99)
			taken->p99 += stats[i].p99;
	}
}

static void take(const char *const *paths, size_t n, struct taken *taken)
{
	struct rusage usage;
	tare_merge *merge;
	uint64_t start = bench_ns();

	if (tare_merge_files(paths, n, NULL, &merge))
		bench_fail("merge", "it failed");
	taken->wall_s = (double)(bench_ns() - start) * 1e-9;
	add_up(merge, taken);
	tare_merge_close(merge);
	(void)getrusage(RUSAGE_SELF, &usage);
	taken->cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
	taken->peak_mb = (double)usage.ru_maxrss / 1024;
}

/* A process that only reads: this one has a ledger and memory of its own. */
static struct taken in_child(const char *const *paths, size_t n)
{
	struct taken taken = { .wall_s = 0 };
	int ends[2], status;
	pid_t pid;

	if (pipe(ends))
		bench_fail("merge", "no pipe");
	pid = fork();
	if (pid == 0) {
		take(paths, n, &taken);
		_exit(write(ends[1], &taken, sizeof(taken)) !=
		      (ssize_t)sizeof(taken));
	}
	(void)close(ends[1]);
	if (pid < 0 || read(ends[0], &taken, sizeof(taken)) !=
			       (ssize_t)sizeof(taken))
		bench_fail("merge", "the process that merges failed");
	(void)waitpid(pid, &status, 0);
	(void)close(ends[0]);
	return taken;
}

static struct taken best_of(const char *const *paths, size_t n)
{
	struct taken best = in_child(paths, n);

	for (int i = 1; i < TIMES; i++) {
		struct taken one = in_child(paths, n);

		best.wall_s = fmin(best.wall_s, one.wall_s);
		best.cpu_s = fmin(best.cpu_s, one.cpu_s);
		best.peak_mb = fmax(best.peak_mb, one.peak_mb);
	}
	return best;
}

static void report(const char *what, const struct taken *taken)
{
	char name[40];

	(void)snprintf(name, sizeof(name), "%s", what);
	bench_report(name, taken->wall_s, "s", NAN, NULL);
	(void)snprintf(name, sizeof(name), "%s_cpu", what);
	bench_report(name, taken->cpu_s, "s", NAN, NULL);
	(void)snprintf(name, sizeof(name), "%s_memory", what);
	bench_report(name, taken->peak_mb, "MB", NAN, NULL);
}

/* ---- a summary for each host ------------------------------------------- */

static void save_host(const char *const *paths, size_t n, const char *to)
{
	tare_merge *merge;

	if (tare_merge_files(paths, n, NULL, &merge) ||
	    tare_merge_save(merge, to))
		bench_fail("merge", "a summary was not written");
	tare_merge_close(merge);
}

static struct taken by_host(void)
{
	size_t n = (n_paths + A_HOST - 1) / A_HOST;
	char (*name)[512] = calloc(n, sizeof(*name));
	const char **host = calloc(n, sizeof(*host));

	if (!name || !host)
		bench_fail("merge", "out of memory");
	for (size_t i = 0; i < n; i++) {
		size_t from = i * A_HOST;

		(void)snprintf(name[i], sizeof(name[i]), "%.400s/%zu.summary",
			       bench_dir(), i);
		host[i] = name[i];
		save_host(path + from,
			  n_paths - from < A_HOST ? n_paths - from : A_HOST,
			  name[i]);
	}
	return best_of(host, n);
}

static void merge_part(void)
{
	unsigned n = bench_is_quick() ? 500 : 10000;
	struct taken all, hosts;

	make_ledgers(n);
	list_ledgers(n);
	all = best_of(path, n_paths);
	hosts = by_host();
	if (all.runs != n || all.count != hosts.count ||
	    all.p99 != hosts.p99)
		bench_fail("merge", "summaries give something else");
	report("ledgers", &all);
	report("summaries", &hosts);
	bench_report("bytes", (double)bench_dir_bytes() / n / 1024, "KiB", NAN,
		     NULL);
	tare_runs_free(runs);
}

const struct bench_part bench_parts[] = {
	{ "merge", merge_part,
	  { "TARE=on", "TARE_REPORT=none", "TARE_KEEP_RUNS=20000" } },
	{ NULL, NULL, { NULL } },
};
