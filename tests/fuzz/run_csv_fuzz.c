/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run CSV files of anybody: what is accepted adds up, what is refused says
 * why in a line that a terminal can take.
 */
#include <tare/read/run_file.h>

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
	must(problem->line > 0 || problem->column == 0);
	for (const char *c = problem->text; *c; c++)
		must((unsigned char)*c >= ' ' && *c != 127);
}

static void check_table(const tare_run_table *table)
{
	must(table->columns & 1);
	for (size_t i = 0; i < table->n_rows; i++) {
		const tare_run_row *row = &table->rows[i];

		must(row->total_time >= 0 && !isinf(row->total_time));
		must(!(row->comm_time < 0) && !isinf(row->comm_time));
		must(i == 0 || row->epoch > row[-1].epoch);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tare_run_problem problem;
	tare_run_file *file = NULL;
	/* Exactly that many, so that a sanitizer sees a read too far. */
	char *text = malloc(size ? size : 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	if (tare_run_file_parse(text, size, &file, &problem) == 0)
		check_table(tare_run_file_table(file));
	else
		check_problem(&problem);
	(void)tare_run_file_comment(file, "config");
	tare_run_file_close(file);
	free(text);
	return 0;
}
