/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs.h"

#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double ns_of(const struct timeval *time)
{
	return (double)time->tv_sec * 1e9 + (double)time->tv_usec * 1e3;
}

double bench_cpu_ns(const char *const argv[])
{
	extern char **environ;
	struct rusage used;
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)argv,
			 environ) ||
	    wait4(pid, &status, 0, &used) != pid || status)
		return NAN;
	return ns_of(&used.ru_utime) + ns_of(&used.ru_stime);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *values, unsigned n)
{
	qsort(values, n, sizeof(*values), by_value);
	return (values[n / 2] + values[(n - 1) / 2]) / 2;
}

/* Between the ranks n/2 - sqrt(n) and n/2 + sqrt(n). */
double bench_median_error(const double *sorted, unsigned n)
{
	double out = sqrt((double)n);
	unsigned low = (unsigned)fmax(0, floor(n / 2.0 - out));
	unsigned high = (unsigned)fmin(n - 1, ceil(n / 2.0 + out));

	return (sorted[high] - sorted[low]) / 2;
}
