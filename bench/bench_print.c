/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output: a text table, or one JSON object per line.
 */
#include "bench_process.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static void cpu_model(char *model, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256], *value;

	(void)snprintf(model, size, "unknown");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "model name", 10) &&
		    strncmp(line, "CPU part", 8))
			continue;
		value = strchr(line, ':');
		if (!value)
			continue;
		value[strcspn(value, "\n")] = '\0';
		(void)snprintf(model, size, "%s", value + 2);
		break;
	}
	if (file)
		(void)fclose(file);
}

/* The smallest step of the counter, in ns. */
static double resolution_ns(void)
{
	uint64_t best = UINT64_MAX, last = bench_ticks();

	for (unsigned i = 0; i < 100000; i++) {
		uint64_t now = bench_ticks();

		if (now > last && now - last < best)
			best = now - last;
		last = now;
	}
	return (double)best * bench_tick_ns();
}

static void print_clocks(void)
{
	struct bench_case cases[] = {
		{ "empty", bench_empty, 0, 0 },
		{ "pair", bench_pair, 0, 0 },
		{ "clock", bench_clock_pair, 0, 0 },
	};

	bench_run(cases, 3, 100);
	(void)printf("clocks    %s %.2f ns, clock_gettime pair %.2f ns, "
		     "empty loop %.2f ns, step %.2f ns\n\n",
		     BENCH_PAIR, cases[1].best_ns, cases[2].best_ns,
		     cases[0].best_ns, resolution_ns());
}

void bench_print_head(void)
{
	struct utsname system;
	char model[128], date[32];
	time_t now = time(NULL);
	struct tm tm;

	cpu_model(model, sizeof(model));
	(void)uname(&system);
	(void)strftime(date, sizeof(date), "%Y-%m-%d", gmtime_r(&now, &tm));
	(void)printf("bench     %s\nCPU       %s (%u used)\n"
		     "kernel    %s %s\ncompiler  %s\ndate      %s\n",
		     program_invocation_short_name, model, bench_cpus(),
		     system.release, system.machine, COMPILER, date);
	print_clocks();
	(void)printf("%-24s %12s %-6s %8s  %s\n", "case", "value", "unit",
		     "ratio", "against");
}

/* As many digits as are reproducible. */
static int digits(double value)
{
	double size = fabs(value);

	return size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
}

static void print_json(const struct bench_result *r)
{
	(void)printf("{\"bench\":\"%s\",\"case\":\"%s\",",
		     program_invocation_short_name, r->name);
	if (isfinite(r->value))
		(void)printf("\"value\":%.*f,", digits(r->value), r->value);
	else
		(void)printf("\"value\":null,");
	(void)printf("\"unit\":\"%s\"", r->unit);
	if (isfinite(r->ratio))
		(void)printf(",\"ratio\":%.3f,\"against\":\"%s\"", r->ratio,
			     r->against);
	(void)printf("}\n");
}

void bench_print_result(const struct bench_result *r, bool json)
{
	if (json)
		print_json(r);
	else if (isfinite(r->ratio))
		(void)printf("%-24s %12.*f %-6s %8.3f  %s\n", r->name,
			     digits(r->value), r->value, r->unit, r->ratio,
			     r->against);
	else
		(void)printf("%-24s %12.*f %-6s\n", r->name,
			     digits(r->value), r->value, r->unit);
	(void)fflush(stdout);
}
