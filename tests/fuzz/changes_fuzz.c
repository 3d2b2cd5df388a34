/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series files of anybody, and their changes: in order, inside the series, and
 * the same each time.
 */
#include "read/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void check_problem(const tare_run_problem *problem)
{
	must(problem->text[0] != '\0');
	must(memchr(problem->text, '\0', sizeof(problem->text)) != NULL);
	for (const char *c = problem->text; *c; c++)
		must((unsigned char)*c >= ' ' && *c != 127);
}

static void check_changes(const double *value, size_t n)
{
	tare_change *once, *twice;
	size_t n_once, n_twice;

	if (tare_changes_find(value, n, NULL, &once, &n_once))
		return;
	if (tare_changes_find(value, n, NULL, &twice, &n_twice) == 0) {
		must(n_once == n_twice);
		for (size_t i = 0; i < n_twice; i++)
			must(once[i].index == twice[i].index);
		tare_changes_free(twice);
	}
	for (size_t i = 0; i < n_once; i++) {
		must(once[i].index > 0 && once[i].index < n);
		must(i == 0 || once[i].index > once[i - 1].index);
		must(isfinite(value[once[i].index]));
		must(isfinite(once[i].before) && isfinite(once[i].after));
		must(once[i].strength >= 1);
	}
	tare_changes_free(once);
}

/* The same bytes as doubles, which no text has. */
static void check_bytes(const uint8_t *data, size_t size)
{
	size_t n = size / sizeof(double);
	double *value = malloc(n ? n * sizeof(double) : 1);

	if (!value)
		return;
	if (n)
		memcpy(value, data, n * sizeof(double));
	check_changes(value, n);
	free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tare_run_problem problem;
	struct tr_value_list series;

	if (tr_value_list_parse((const char *)data, size, NULL, &series,
			    &problem) == 0) {
		check_changes(series.value, series.n);
		tr_value_list_release(&series);
	} else {
		check_problem(&problem);
	}
	if (tr_value_list_parse((const char *)data, size, "2", &series, NULL) ==
	    0)
		tr_value_list_release(&series);
	check_bytes(data, size);
	return 0;
}
