/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole programs under `tare run`, sampled 250 times per second of CPU time,
 * against the same without it. CPU times include that of `tare run` itself.
 *
 * Runs with and without are made in turn; the median of the differences
 * counts, in percent of the program's CPU time. `_error` is the half width of
 * the median's interval of 95 %, in the same percent.
 */
#include "sampling_programs.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "pairs.h"

#define PAIRS 12u
#define QUICK_PAIRS 4u
#define TEXT_BYTES (4u << 20)
#define WORDS_MOST 8u
#define AGAINST "the same, not under tare"

#ifndef BENCH_TARE
#define BENCH_TARE ""
#endif
#ifndef BENCH_DEEP
#define BENCH_DEEP ""
#endif

static void left_out(const char *name, const char *why)
{
	(void)fprintf(stderr, "sampling: %s: left out; %s\n", name, why);
}

static double cpu_of(const char *name, const char *const argv[])
{
	double ns = bench_cpu_ns(argv);

	if (isnan(ns))
		bench_fail(name, "does not run");
	return ns;
}

/* `program`: its words, up to NULL. */
static void compare(const char *name, const char *const program[])
{
	const char *sampled[5 + WORDS_MOST] = { BENCH_TARE, "run",
						"--no-report", "--rate=250",
						"--" };
	double added[PAIRS], alone[PAIRS], base;
	unsigned n = bench_is_quick() ? QUICK_PAIRS : PAIRS;
	char text[48];

	for (unsigned i = 0; i + 1 < WORDS_MOST && program[i]; i++)
		sampled[5 + i] = program[i];
	/* Not this program's settings. */
	(void)unsetenv("TARE");
	(void)setenv("TARE_KEEP_RUNS", "2", 1);
	for (unsigned i = 0; i < n; i++) {
		double with = i % 2 ? cpu_of(name, sampled) : 0;

		alone[i] = cpu_of(name, program);
		added[i] = (i % 2 ? with : cpu_of(name, sampled)) - alone[i];
	}
	base = bench_median(alone, n);
	bench_report(name, 100 * bench_median(added, n) / base, "%",
		     1 + bench_median(added, n) / base, AGAINST);
	(void)snprintf(text, sizeof(text), "%s_error", name);
	bench_report(text, 100 * bench_median_error(added, n) / base, "%", NAN,
		     NULL);
}

static void compare_built(const char *name, const char *path)
{
	const char *words[] = { path, NULL };

	if (!BENCH_TARE[0] || !path[0])
		left_out(name, "it is not built");
	else
		compare(name, words);
}

void sampling_deep(void)
{
	compare_built("deep", BENCH_DEEP);
}

void sampling_threads16(void)
{
	compare_built("threads16", BENCH_THREADS16);
}

/* Words of a small vocabulary and numbers, always the same. */
static bool write_text(int fd)
{
	uint64_t x = 1;
	FILE *file = fdopen(fd, "w");

	for (unsigned i = 0; file && i < TEXT_BYTES / 8; i++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
		(void)fprintf(file, "w%06x ",
			      (unsigned)(x >> 40) &
				      (x >> 63 ? 0xfffu : 0xffffffu));
	}
	return file && !fclose(file);
}

void sampling_zstd(void)
{
	char path[] = "/tmp/tare-bench-XXXXXX";
	const char *words[] = { "zstd", "-qf19", "--single-thread", path,
				"-o", "/dev/null", NULL };
	int fd;

	fd = mkstemp(path);
	if (fd < 0 || !write_text(fd))
		bench_fail("sampling", "no file");
	if (!BENCH_TARE[0] || isnan(bench_cpu_ns(words)))
		left_out("zstd", "there is no program zstd");
	else
		compare("zstd", words);
	(void)unlink(path);
}
