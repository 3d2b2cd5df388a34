/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scrape costs: the Prometheus text of 10,000 and of 100,000 counters
 * with two labels, from open views. CPU time of the thread.
 *
 * The exporter is kept between scrapes, as a server does; `first` is an export
 * without one. A process has at most 16,384 counters: 100,000 are those of
 * eight processes, and every series has the labels of its run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tare/probe.h>
#include <tare/read/export.h>

#include "bench.h"

#define N_ROUNDS 50u
#define MOST_RUNS 8u

struct counted {
	uint64_t bytes, lines;
};

static int count(void *arg, const char *text, size_t len)
{
	struct counted *counted = arg;

	(void)text;
	counted->bytes += len;
	return 0;
}

static int count_lines(void *arg, const char *text, size_t len)
{
	struct counted *counted = arg;

	for (size_t i = 0; i < len; i++)
		counted->lines += text[i] == '\n' &&
				  (i + 1 == len || text[i + 1] != '#');
	counted->bytes += len;
	return 0;
}

static double cpu_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void make_counters(size_t n)
{
	TARE_SITE(site, TARE_KIND_COUNTER, TARE_TYPE_COUNTER, "http.requests",
		  NULL);
	char route[32], code[8];
	const char *pairs[] = { "route", route, "code", code };

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(route, sizeof(route), "/api/item/%zu", i / 5);
		(void)snprintf(code, sizeof(code), "%zu", 200 + i % 5);
		tare_counter_add(tare_site_labels(&site, 2, pairs),
				 1 + i * 1103515245u % 1000000007u);
	}
}

/* A child with counters, which waits until its input is closed. */
static pid_t start(size_t n, int *ret_input)
{
	int ready[2], input[2];
	char byte = 1;
	pid_t child;

	if (pipe(ready) || pipe(input))
		bench_fail("scrape", "no pipe");
	child = fork();
	if (child < 0)
		bench_fail("scrape", "cannot fork");
	if (child == 0) {
		(void)close(input[1]);
		make_counters(n);
		if (write(ready[1], &byte, 1) != 1 ||
		    read(input[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	(void)close(input[0]);
	(void)close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		bench_fail("scrape", "a child ended");
	(void)close(ready[0]);
	*ret_input = input[1];
	return child;
}

static tare_view *open_child(pid_t pid)
{
	char which[16];
	tare_view *view;

	(void)snprintf(which, sizeof(which), "%d", (int)pid);
	if (tare_view_open(which, &view))
		bench_fail("scrape", "cannot open a view");
	return view;
}

static double first_ms(tare_view **views, size_t n,
		       const tare_export_options *how, size_t series)
{
	struct counted counted = { 0, 0 };
	double from, best = HUGE_VAL;

	if (tare_export(views, n, how, count_lines, &counted))
		bench_fail("scrape", "an export failed");
	if (counted.lines < series)
		bench_fail("scrape", "series are missing");
	for (unsigned i = 0; i < N_ROUNDS / 5; i++) {
		from = cpu_ms();
		if (tare_export(views, n, how, count, &counted))
			bench_fail("scrape", "an export failed");
		best = fmin(best, cpu_ms() - from);
	}
	return best;
}

static double scrape_ms(tare_view **views, size_t n,
			const tare_export_options *how, uint64_t *ret_bytes)
{
	struct counted counted = { 0, 0 };
	double best = HUGE_VAL;
	tare_exporter *exporter;

	if (tare_exporter_new(&exporter))
		bench_fail("scrape", "no exporter");
	for (unsigned i = 0; i < N_ROUNDS; i++) {
		double from = cpu_ms();

		counted.bytes = 0;
		if (tare_exporter_write(exporter, views, n, how, count,
					&counted))
			bench_fail("scrape", "a scrape failed");
		best = fmin(best, cpu_ms() - from);
	}
	tare_exporter_free(exporter);
	*ret_bytes = counted.bytes;
	return best;
}

static void measure(const char *name, tare_view **views, size_t n,
		    size_t series)
{
	tare_export_options how = {
		.struct_size = sizeof(how),
		.format = TARE_FORMAT_PROMETHEUS,
	};
	const tare_stats *stats;
	uint64_t bytes;
	char label[48];
	size_t n_stats;
	double from;

	bench_report(name, scrape_ms(views, n, &how, &bytes), "ms", NAN, NULL);
	(void)snprintf(label, sizeof(label), "%s_first", name);
	bench_report(label, first_ms(views, n, &how, series), "ms", NAN, NULL);
	how.format = TARE_FORMAT_OPENMETRICS;
	(void)snprintf(label, sizeof(label), "%s_openmetrics", name);
	bench_report(label, scrape_ms(views, n, &how, &bytes), "ms", NAN,
		     NULL);
	from = cpu_ms();
	for (size_t i = 0; i < n; i++)
		if (tare_view_stats(views[i], NULL, &stats, &n_stats))
			bench_fail("scrape", "no statistics");
	(void)snprintf(label, sizeof(label), "%s_stats", name);
	bench_report(label, cpu_ms() - from, "ms", NAN, NULL);
}

static void scrape(const char *name, size_t n_runs, size_t series)
{
	tare_view *views[MOST_RUNS];
	pid_t child[MOST_RUNS];
	int input[MOST_RUNS];

	for (size_t i = 0; i < n_runs; i++)
		child[i] = start(series / n_runs, &input[i]);
	for (size_t i = 0; i < n_runs; i++)
		views[i] = open_child(child[i]);
	measure(name, views, n_runs, series);
	/* Close all first: a child also holds the inputs of earlier ones. */
	for (size_t i = 0; i < n_runs; i++) {
		tare_view_close(views[i]);
		(void)close(input[i]);
	}
	for (size_t i = 0; i < n_runs; i++)
		(void)waitpid(child[i], NULL, 0);
}

static void small_part(void)
{
	scrape("series_10k", 1, 10000);
}

static void large_part(void)
{
	scrape("series_100k", 8, 100000);
}

#define ENVIRONMENT { "TARE=on", "TARE_MAX_SITES=100000", \
		      "TARE_LEDGER_LIMIT=256M" }

const struct bench_part bench_parts[] = {
	{ "series_10k", small_part, ENVIRONMENT },
	{ "series_100k", large_part, ENVIRONMENT },
	{ NULL, NULL, { NULL } },
};
