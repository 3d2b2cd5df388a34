/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the monitor's readings cost, in CPU time of the reading thread.
 *
 * `sample` is one reading of the system and of this process, as by the monitor.
 * Each is timed by itself; the minimum and the median of many are reported,
 * since other processes add time to some.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tare/system.h>

#include "bench.h"
#include "monitor.h"

#define N_SAMPLES 3000u

static double samples[N_SAMPLES];
static tare_system machine;
static tare_process process;

static double cpu_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void take_system(void)
{
	machine.struct_size = sizeof(machine);
	if (tare_system_read(&machine))
		bench_fail("system", "cannot be read");
}

static void take_process(void)
{
	process.struct_size = sizeof(process);
	if (tare_process_read(0, &process))
		bench_fail("process", "cannot be read");
}

static void take_both(void)
{
	take_system();
	take_process();
}

static void take_detailed(void)
{
	process.struct_size = sizeof(process);
	if (tare_process_read_detailed(0, &process))
		bench_fail("process", "cannot be read");
}

static void take_cores(void)
{
	double percent[1024];
	size_t n;

	if (tare_cpu_read(percent, 1024, &n))
		bench_fail("cores", "cannot be read");
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Reports the minimum as `name`, and median and 99 % quantile as cases. */
static void measure(const char *name, void (*take)(void))
{
	size_t n = bench_is_quick() ? N_SAMPLES / 10 : N_SAMPLES;
	char text[40];

	for (int i = 0; i < 20; i++)
		take();
	for (size_t i = 0; i < n; i++) {
		double from = cpu_us();

		take();
		samples[i] = cpu_us() - from;
	}
	qsort(samples, n, sizeof(samples[0]), by_size);
	bench_report(name, samples[0], "us", NAN, NULL);
	(void)snprintf(text, sizeof(text), "%s_median", name);
	bench_report(text, samples[n / 2], "us", NAN, NULL);
	(void)snprintf(text, sizeof(text), "%s_p99", name);
	bench_report(text, samples[n - 1 - n / 100], "us", NAN, NULL);
}

static void sample_part(void)
{
	measure("sample", take_both);
	measure("system", take_system);
	measure("process", take_process);
	measure("process_detailed", take_detailed);
	measure("cores", take_cores);
}

const struct bench_part bench_parts[] = {
	{ "sample", sample_part, { NULL } },
	{ "share", monitor_share_part,
	  { "TARE=on", "TARE_MONITOR=all", "TARE_MONITOR_INTERVAL=1",
	    "TARE_GPU_MONITOR_INTERVAL=1" } },
	{ NULL, NULL, { NULL } },
};
