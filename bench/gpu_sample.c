/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a reading of all GPUs takes, on a machine with GPUs.
 *
 *	gpu_sample [--json] [--quick]	the benchmark
 *	gpu_sample --watch SECONDS	one line of JSON per second and GPU
 *	gpu_sample --fork		check that forked children read GPUs too
 *
 * `gpu_sample` is the driver's time for all values of all GPUs, except values
 * that are read only every 10 s; `gpu_read` is the caller's waiting time,
 * including the switch to the driver's thread and back. Not in the harness:
 * without a GPU there is nothing to measure, which is not a failure.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tare/control.h>
#include <tare/gpu.h>

#define ROUNDS 1000u
#define QUICK_ROUNDS 100u
#define BAR_US 300.0
/* Slightly above the smallest possible interval. */
#define INTERVAL "0.01"
#define PAUSE_NS 11000000

static bool is_json;

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void pause_ns(long ns)
{
	struct timespec time = { ns / 1000000000, ns % 1000000000 };

	(void)nanosleep(&time, NULL);
}

/* The driver may take seconds to start. */
static size_t find_gpus(void)
{
	for (int i = 0; i < 100 && !tare_gpu_count() &&
			strstr(tare_gpu_reason(), "answer"); i++)
		pause_ns(100000000);
	if (!tare_gpu_count())
		(void)fprintf(stderr, "gpu_sample: skipped, no GPU: %s\n",
			      tare_gpu_reason());
	return tare_gpu_count();
}

/* ---- the benchmark ----------------------------------------------------- */

static void print(const char *name, double us, double bar)
{
	if (is_json)
		(void)printf("{\"bench\":\"monitor\",\"case\":\"%s\","
			     "\"value\":%.2f,\"unit\":\"us\"}\n", name, us);
	else if (isnan(bar))
		(void)printf("%-24s %12.2f us\n", name, us);
	else
		(void)printf("%-24s %12.2f us   at most %.0f: %s\n", name, us,
			     bar, us <= bar ? "met" : "MISSED");
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_all(const char *name, double *us, size_t n, double bar)
{
	char label[32];

	qsort(us, n, sizeof(us[0]), by_value);
	print(name, us[n / 2], bar);
	(void)snprintf(label, sizeof(label), "%s_min", name);
	print(label, us[0], NAN);
	(void)snprintf(label, sizeof(label), "%s_p99", name);
	print(label, us[n * 99 / 100], bar);
	(void)snprintf(label, sizeof(label), "%s_max", name);
	print(label, us[n - 1], NAN);
}

/* One reading of all GPUs; 0: the previous reading was returned again. */
static double read_all(size_t n, double *ret_call_us)
{
	static int64_t last;
	tare_gpu gpu = { .struct_size = sizeof(gpu) };
	uint64_t from = now_ns();
	double us = 0;
	int64_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (tare_gpu_read(i, &gpu) || gpu.is_gone)
			return 0;
		if (i == 0) {
			*ret_call_us = (double)(now_ns() - from) / 1e3;
			at = gpu.at_ns;
		}
		us += (double)gpu.took_ns / 1e3;
	}
	if (at == last)
		return 0;
	last = at;
	return us;
}

static int measure(bool is_quick)
{
	static double driver[ROUNDS], caller[ROUNDS];
	size_t n_gpus = find_gpus(), n = 0;
	size_t rounds = is_quick ? QUICK_ROUNDS : ROUNDS;

	if (!n_gpus)
		return 0;
	for (size_t i = 0; n < rounds && i < 2 * rounds; i++) {
		pause_ns(PAUSE_NS);
		driver[n] = read_all(n_gpus, &caller[n]);
		n += driver[n] > 0;
	}
	if (!n) {
		(void)fprintf(stderr, "gpu_sample: no reading: %s\n",
			      tare_gpu_reason());
		return 1;
	}
	if (!is_json)
		(void)printf("%zu GPUs, %zu readings\n", n_gpus, n);
	print_all("gpu_sample", driver, n, BAR_US);
	print_all("gpu_read", caller, n, NAN);
	return 0;
}

/* ---- watching ---------------------------------------------------------- */

static void print_number(const char *name, double value)
{
	if (isnan(value))
		(void)printf(",\"%s\":null", name);
	else
		(void)printf(",\"%s\":%.3f", name, value);
}

static void print_whole(const char *name, uint64_t value)
{
	if (value == TARE_UNKNOWN)
		(void)printf(",\"%s\":null", name);
	else
		(void)printf(",\"%s\":%llu", name, (unsigned long long)value);
}

static void print_gpu(const tare_gpu *gpu)
{
	(void)printf("{\"gpu\":%u,\"uuid\":\"%s\",\"at_ns\":%lld", gpu->index,
		     gpu->uuid, (long long)gpu->at_ns);
	print_number("age_ms", (double)gpu->age_ns / 1e6);
	print_number("took_us", (double)gpu->took_ns / 1e3);
	print_number("load_percent", gpu->load_percent);
	print_number("memory_load_percent", gpu->memory_load_percent);
	print_whole("memory_used", gpu->memory_used);
	print_whole("memory_total", gpu->memory_total);
	print_whole("memory_own", gpu->memory_own);
	print_number("temperature", gpu->temperature);
	print_number("slowdown_at", gpu->slowdown_at);
	print_number("power_w", gpu->power_w);
	print_number("power_limit_w", gpu->power_limit_w);
	print_number("energy_j", gpu->energy_j);
	print_number("clock_mhz", gpu->clock_mhz);
	print_number("memory_clock_mhz", gpu->memory_clock_mhz);
	print_whole("throttle", gpu->throttle);
	(void)printf(",\"is_hot\":%s,\"is_gone\":%s}\n",
		     gpu->is_hot ? "true" : "false",
		     gpu->is_gone ? "true" : "false");
	(void)fflush(stdout);
}

static int watch(double seconds)
{
	uint64_t next = now_ns(), end = next + (uint64_t)(seconds * 1e9);
	size_t n = find_gpus();

	if (!n)
		return 0;
	for (; next < end; next += 1000000000u) {
		uint64_t now = now_ns();

		if (next > now)
			pause_ns((long)(next - now));
		for (size_t i = 0; i < n; i++) {
			tare_gpu gpu = { .struct_size = sizeof(gpu) };

			if (tare_gpu_read(i, &gpu) == 0)
				print_gpu(&gpu);
		}
	}
	return 0;
}

/* ---- forks ------------------------------------------------------------- */

static int check_fork(void)
{
	size_t n = find_gpus();
	int status = 0;
	pid_t child;

	if (!n)
		return 0;
	child = fork();
	if (child == 0) {
		tare_gpu gpu = { .struct_size = sizeof(gpu) };

		_exit(find_gpus() != n || tare_gpu_read(0, &gpu) ||
		      gpu.is_gone || isnan(gpu.temperature));
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	(void)printf("a forked child %s the GPUs\n",
		     status ? "CANNOT READ" : "reads");
	return status != 0;
}

int main(int argc, char **argv)
{
	bool is_quick = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			is_json = true;
		else if (strcmp(argv[i], "--quick") == 0)
			is_quick = true;
		else if (strcmp(argv[i], "--fork") == 0)
			return check_fork();
		else if (strcmp(argv[i], "--watch") == 0 && i + 1 < argc)
			return watch(atof(argv[i + 1]));
		else if (strcmp(argv[i], "--times") == 0)
			i++; /* of the harness; one process is enough */
	}
	if (tare_option_set("gpu_monitor_interval", INTERVAL)) {
		(void)fprintf(stderr, "gpu_sample: no interval\n");
		return 1;
	}
	return measure(is_quick);
}
