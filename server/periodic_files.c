/* SPDX-License-Identifier: Apache-2.0 */
/* Names, times and retention of periodic exports. */
#include "periodic.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)

/* At multiples since 1970, so that a restart changes nothing. */
int64_t periodic_next_ns(int64_t now_ns, double interval_s)
{
	int64_t step = llround(interval_s * 1e9);

	return step > 0 ? (now_ns / step + 1) * step : INT64_MAX;
}

/* metrics_periodic_stats_20261115_000000.csv: other files are kept. */
static void prefix_of(char *out, size_t size, const char *table)
{
	(void)snprintf(out, size, "metrics_periodic_%s_", table);
}

void periodic_name(char *out, size_t size, const char *table,
		   const char *suffix, int64_t now_ns)
{
	char prefix[64], when[32];
	time_t s = (time_t)(now_ns / NS_PER_S);
	struct tm tm;

	prefix_of(prefix, sizeof(prefix), table);
	(void)strftime(when, sizeof(when), "%Y%m%d_%H%M%S", gmtime_r(&s, &tm));
	(void)snprintf(out, size, "%s%s.%s", prefix, when, suffix);
}

static bool is_digits(const char *text, size_t n)
{
	return strspn(text, "0123456789") == n;
}

static bool is_one_of_ours(const char *name, const char *prefix,
			   const char *suffix)
{
	size_t len = strlen(prefix);

	if (strncmp(name, prefix, len) != 0)
		return false;
	name += len;
	return is_digits(name, 8) && name[8] == '_' &&
	       is_digits(name + 9, 6) && name[15] == '.' &&
	       strcmp(name + 16, suffix) == 0;
}

static int newest_first(const void *a, const void *b)
{
	return strcmp(*(char *const *)b, *(char *const *)a);
}

struct names {
	char **at;
	size_t n, cap;
};

static void add_name(struct names *names, const char *name)
{
	if (names->n == names->cap) {
		size_t cap = names->cap ? names->cap * 2 : 64;
		char **more = realloc(names->at, cap * sizeof(*more));

		if (!more)
			return; /* removed the next time */
		names->at = more;
		names->cap = cap;
	}
	names->at[names->n] = strdup(name);
	names->n += names->at[names->n] != NULL;
}

unsigned periodic_retain(const char *folder, const char *table,
			 const char *suffix, size_t keep)
{
	struct names names = { NULL, 0, 0 };
	DIR *stream = opendir(folder);
	const struct dirent *file;
	char prefix[64];
	unsigned removed = 0;

	prefix_of(prefix, sizeof(prefix), table);
	while (stream && (file = readdir(stream)))
		if (is_one_of_ours(file->d_name, prefix, suffix))
			add_name(&names, file->d_name);
	if (names.n)
		qsort(names.at, names.n, sizeof(*names.at), newest_first);
	for (size_t i = 0; i < names.n; i++) {
		if (i >= keep && unlinkat(dirfd(stream), names.at[i], 0) == 0)
			removed++;
		free(names.at[i]);
	}
	free(names.at);
	if (stream)
		(void)closedir(stream);
	return removed;
}
