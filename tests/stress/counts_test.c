/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of a site that the governor paused are estimates. The interval that a
 * report has for them must hold in 95 % of runs: hosts of different density,
 * with and without rests, count their calls themselves.
 *
 * TARE_SOAK makes it 200 runs.
 */
#include "scratch.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"

#define RUNS 20u
#define CALLS 4096u /* between two looks at the clock */

struct host {
	unsigned between;	 /* work between two calls */
	unsigned rests_us;	 /* after each turn; 0: none */
	double seconds;
	const char *limit;
	uint64_t calls;		 /* as the host counted them */
	tare_stats told;	 /* its run, when finished; without names */
};

static __attribute__((noinline)) uint64_t hot(uint64_t x)
{
	TARE_SCOPE("hot");
	return x * UINT64_C(6364136223846793005) + 1;
}

static bool read_run(tare_stats *ret_told)
{
	const tare_stats *rows;
	tare_view *view;
	size_t n;

	if (tare_view_open("last", &view))
		return false;
	if (tare_view_stats(view, NULL, &rows, &n))
		n = 0;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(rows[i].name, "hot"))
			*ret_told = rows[i];
	tare_view_close(view);
	return ret_told->count > 0;
}

static void be_host(void *arg)
{
	struct host *host = arg;
	const char *options[] = { "auto_disable_on_slow", "true",
				  "performance_threshold", host->limit, NULL };
	double end = scratch_seconds() + host->seconds;
	uint64_t x = 1;

	scratch_start(options);
	while (scratch_seconds() < end) {
		for (unsigned i = 0; i < CALLS; i++) {
			x = hot(x);
			for (unsigned k = 0; k < host->between; k++) {
				x = x * UINT64_C(6364136223846793005) + 1;
				__asm__ volatile("" : "+r"(x));
			}
		}
		host->calls += CALLS;
		if (host->rests_us)
			(void)usleep(host->rests_us);
	}
	if (tare_stop() || !read_run(&host->told))
		_exit(97);
}

/* Is the interval right? Prints what is not. */
static bool holds(const struct host *host, unsigned *n_paused)
{
	const tare_stats *row = &host->told;
	bool is_right = row->count_low <= host->calls &&
			host->calls <= row->count_high;

	*n_paused += row->missed > 0;
	CHECK(row->count_low <= row->count && row->count <= row->count_high);
	CHECK(host->calls >= row->count - row->missed);
	/* All calls were counted, if the site was never paused. */
	if (!row->missed)
		CHECK(row->count_low == row->count_high && is_right);
	if (!is_right)
		printf("# between %u, rests %u us, limit %s: %llu calls, told "
		       "%llu (%llu to %llu)\n",
		       host->between, host->rests_us, host->limit,
		       (unsigned long long)host->calls,
		       (unsigned long long)row->count,
		       (unsigned long long)row->count_low,
		       (unsigned long long)row->count_high);
	return is_right;
}

TEST(intervals_of_counts_hold)
{
	static const char *const limits[] = { "0.01", "0.02", "0.05" };
	unsigned n = scratch_times(RUNS), right = 0, paused = 0;
	struct host *host;
	uint64_t random = 1;

	if (SCRATCH_TSAN)
		SKIP("probes take microseconds");
	(void)scratch_enter();
	host = scratch_share(sizeof(*host));
	for (unsigned i = 0; i < n; i++) {
		pid_t pid;

		*host = (struct host){
			.between = (unsigned)(scratch_random(&random) % 40),
			.rests_us = i % 3 ? 0 : 1000,
			/* Some end soon after the site was paused. */
			.seconds = i % 4 ? 1.6 : 0.85,
			.limit = limits[i % 3],
		};
		scratch_empty();
		pid = scratch_fork(be_host, host);
		if (CHECK_INT(scratch_wait(pid, 60), 0))
			right += holds(host, &paused);
	}
	printf("# %u of %u intervals hold, %u of paused sites\n", right, n,
	       paused);
	/* One of twenty may not; two of twenty do not in one case of four. */
	CHECK(right + n / 20 + 2 >= n);
	scratch_unshare(host, sizeof(*host));
	scratch_leave();
}
