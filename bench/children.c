/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children: what measuring adds to processes that end soon: 300 times `true`
 * in a shell under `tare run`, and a program with a probe that runs 1 ms.
 *
 * With and without measuring in turn, and the shortest of each counts. The
 * runs are kept in a folder on disk, as a user's are: what storing them costs
 * is part of the answer.
 */
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define LOOP "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done"
#define ALONE "the same, not measured"

static char folder[] = "/var/tmp/tare-bench-XXXXXX";

/* The folders of a user, on disk, and no other setting of tare. */
static void use_folder(void)
{
	if (!mkdtemp(folder))
		bench_fail("folder", "cannot be made");
	(void)unsetenv("TARE_DIR");
	(void)unsetenv("TARE");
	(void)setenv("HOME", folder, 1);
	(void)unsetenv("XDG_STATE_HOME");
	(void)unsetenv("XDG_CONFIG_HOME");
	(void)setenv("TARE_KEEP_RUNS", "5", 1);
}

/* ns until the program has ended. */
static double time_of(const char *const argv[])
{
	uint64_t start = bench_ns();
	int status = 0;
	pid_t pid;

	if (posix_spawn(&pid, argv[0], NULL, NULL, (char *const *)argv,
			environ) ||
	    waitpid(pid, &status, 0) != pid || status)
		bench_fail(argv[0], "cannot be run");
	return (double)(bench_ns() - start);
}

static void remove_folder(void)
{
	const char *argv[] = { "/bin/rm", "-rf", folder, NULL };

	(void)time_of(argv);
}

static void report_added(const char *name, double with, double without)
{
	bench_report(name, (with - without) / 1e6, "ms", with / without,
		     ALONE);
}

static void true_300(void)
{
	const char *alone[] = { "/bin/sh", "-c", LOOP, NULL };
	const char *measured[] = { BENCH_TARE, "run", "-o", "/dev/null", "--",
			     "/bin/sh", "-c", LOOP, NULL };
	unsigned turns = bench_is_quick() ? 3 : 12;
	double with = INFINITY, without = INFINITY;

	use_folder();
	for (unsigned i = 0; i < turns; i++) {
		without = fmin(without, time_of(alone));
		with = fmin(with, time_of(measured));
	}
	remove_folder();
	report_added("true_300", with, without);
}

static void instrumented_1ms(void)
{
	const char *program[] = { BENCH_SHORT, NULL };
	unsigned turns = bench_is_quick() ? 30 : 200;
	double with = INFINITY, without = INFINITY;

	use_folder();
	for (unsigned i = 0; i < turns; i++) {
		(void)setenv("TARE", "0", 1);
		without = fmin(without, time_of(program));
		(void)setenv("TARE", "on", 1);
		with = fmin(with, time_of(program));
	}
	remove_folder();
	report_added("instrumented_1ms", with, without);
}

const struct bench_part bench_parts[] = {
	{ "true_300", true_300, { NULL } },
	{ "instrumented_1ms", instrumented_1ms, { NULL } },
	{ NULL, NULL, { NULL } },
};
