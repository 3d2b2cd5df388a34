/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons of run CSV files of anybody, in all formats: whatever numbers
 * and names they hold, nothing breaks, and the page stays text.
 *
 * The input is several files, with a line of "=" between them.
 */
#include <tare/read/compare.h>

#include <math.h>
#include <string.h>

#include "read/judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void add_text(tare_comparison *c, const char *text, size_t len)
{
	tare_run_file *file;
	const tare_run_table *table;
	const char *config;
	tare_compare_source source = { .struct_size = sizeof(source) };

	if (tare_run_file_parse(text, len, &file, NULL))
		return;
	table = tare_run_file_table(file);
	config = tare_run_file_comment(file, "config");
	source.config = config ? config : "";
	source.origin = tare_run_file_comment(file, "host");
	source.rows = table->rows;
	source.n_rows = table->n_rows;
	source.columns = table->columns;
	source.is_cut = table->is_cut;
	source.total_training_time = table->total_training_time;
	source.comm_share = NAN;
	must(tare_comparison_add(c, &source) == 0);
	tare_run_file_close(file);
}

static void add_all(tare_comparison *c, const char *text, size_t len)
{
	size_t from = 0;

	for (size_t i = 0; i + 3 <= len; i++)
		if (memcmp(text + i, "\n=\n", 3) == 0) {
			add_text(c, text + from, i + 1 - from);
			from = i + 3;
		}
	add_text(c, text + from, len - from);
}

static int count(void *arg, const char *text, size_t len)
{
	size_t *n = arg;

	must(memchr(text, '\0', len) == NULL);
	*n += len;
	return 0;
}

static void check_result(const tare_compared *result)
{
	must(result->n_configs > 0 && result->baseline < result->n_configs);
	must(result->summary && result->summary[0]);
	for (size_t i = 0; i < result->n_configs; i++) {
		const tare_compared_config *config = &result->configs[i];

		must(config->workers > 0 && config->n_runs > 0);
		must(config->is_baseline == (i == result->baseline));
		must(!(config->speedup.mean < 0));
		must(!(config->speedup.low > config->speedup.high));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tare_compare_options options = { .struct_size = sizeof(options),
					 .target_loss = 0.5,
					 .target_f1 = 0.5 };
	const tare_compared *result;
	tare_comparison *c;
	size_t n = 0;

	if (size > 65536 || tare_comparison_new(&c))
		return 0;
	options.by = size % 4;
	add_all(c, (const char *)data, size);
	if (tare_compare(c, &options, &result) == 0) {
		check_result(result);
		for (uint32_t i = 1; i <= 3; i++)
			must(tare_comparison_write(c, i, count, &n) == 0);
		must(n > 0);
	}
	tare_comparison_free(c);
	return 0;
}
