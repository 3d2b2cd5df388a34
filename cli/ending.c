/* SPDX-License-Identifier: Apache-2.0 */
#include "ending.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool name_file(const char *run, const char *suffix, char *path,
		      size_t size)
{
	size_t n = strlen(run);

	return n > 5 && strcmp(run + n - 5, ".tare") == 0 &&
	       (size_t)snprintf(path, size, "%.*s%s", (int)n - 5, run,
				suffix) < size;
}

/* Written to a temporary file and renamed: readers never see half of it. */
void ending_write(const char *run, const struct ending *ending)
{
	char path[600], part[600];
	FILE *file;
	bool is_bad;

	if (!name_file(run, ".end", path, sizeof(path)) ||
	    !name_file(run, ".end.part", part, sizeof(part)))
		return;
	file = fopen(part, "we");
	if (!file)
		return;
	(void)fprintf(file, "status %d\nat_ns %lld\npeak_bytes %lld\n"
		      "pid %lld\ncpu_ns %lld\nruns %lld\nwall_ns %lld\n"
		      "queued_ns %lld\n",
		      ending->status, (long long)ending->at_ns,
		      (long long)ending->peak_bytes, (long long)ending->pid,
		      (long long)ending->cpu_ns, (long long)ending->runs,
		      (long long)ending->wall_ns,
		      (long long)ending->queued_ns);
	is_bad = ferror(file);
	if (fclose(file) || is_bad || rename(part, path))
		(void)unlink(part);
}

bool ending_read(const char *run, struct ending *ret_ending)
{
	char path[600];
	long long at_ns, peak_bytes, pid, cpu_ns, runs, wall_ns, queued_ns;
	FILE *file;
	int status, n;

	if (!name_file(run, ".end", path, sizeof(path)))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	n = fscanf(file, "status %9d at_ns %19lld peak_bytes %18lld "
		   "pid %18lld cpu_ns %18lld runs %18lld wall_ns %18lld "
		   "queued_ns %18lld", &status, &at_ns, &peak_bytes, &pid,
		   &cpu_ns, &runs, &wall_ns, &queued_ns);
	(void)fclose(file);
	if (n < 3)
		return false;
	*ret_ending = (struct ending){ .status = status,
				       .at_ns = at_ns,
				       .peak_bytes = peak_bytes };
	if (n == 8) {
		ret_ending->wall_ns = wall_ns;
		ret_ending->queued_ns = queued_ns;
	}
	if (n >= 6) {
		ret_ending->pid = pid;
		ret_ending->cpu_ns = cpu_ns;
		ret_ending->runs = runs;
	}
	return true;
}

bool ending_read_own(const char *run, int64_t pid, struct ending *ret_ending)
{
	struct ending ending;

	if (!ending_read(run, &ending) || (ending.pid && ending.pid != pid))
		return false;
	*ret_ending = ending;
	return true;
}
