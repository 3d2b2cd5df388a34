/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers of a run: beside NAME_metrics.csv the training writes a file for each
 * worker in NAME_workers/, with its memory. The run's file has only the
 * largest.
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "read/judge.h"
#include "read/training.h"

/* Limits the search if a damaged comment has a huge number. */
#define WORKERS_MOST 4096u

static double peak_of(const char *path)
{
	const tare_run_table *table;
	tare_run_file *file;
	double most = NAN;

	if (tare_run_file_open(path, &file, NULL))
		return NAN;
	table = tare_run_file_table(file);
	for (size_t i = 0; i < table->n_rows &&
			   table->columns >> TR_COLUMN_peak_memory_mb & 1;
	     i++) {
		double value = table->rows[i].peak_memory_mb;

		if (isfinite(value) && !(most >= value))
			most = value;
	}
	tare_run_file_close(file);
	return most;
}

double tr_compared_worker_memory(const char *path, uint32_t workers)
{
	const char *slash = strrchr(path, '/');
	const char *mark = tr_compared_mark(slash ? slash : path);
	char name[4352];
	double sum = 0;

	if (!mark || workers < 2 || workers > WORKERS_MOST)
		return NAN;
	for (uint32_t i = 0; i < workers; i++) {
		int n = snprintf(name, sizeof(name), "%.*s_workers/worker_%u%s",
				 (int)(mark - path), path, i, mark);

		if (n < 0 || (size_t)n >= sizeof(name))
			return NAN;
		/* If one is missing, the mean of the others says little. */
		sum += peak_of(name);
		if (isnan(sum))
			return NAN;
	}
	return sum / workers;
}
