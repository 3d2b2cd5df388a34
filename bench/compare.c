/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long it takes to make a page of a training run of 10,000 epochs: its
 * CSV file is read, compared, and written as HTML; and what all files of such
 * a run take together, written epoch by epoch (CSV, events for TensorBoard)
 * and at the end (the page).
 *
 * The least of several runs, in ms; the files lie where TARE_DIR does.
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include <tare/compare.h>
#include <tare/event_file.h>

#include "bench.h"

#define EPOCHS 10000
#define TIMES 7
#define N_PATH 4096

static tare_run_row row_of(uint64_t epoch)
{
	double x = bench_random[epoch % 65536] / 65536.;

	return (tare_run_row){
		.epoch = epoch, .total_time = 1e-3 * x,
		.forward_time = 5e-4 * x, .backward_time = 4e-4 * x,
		.comm_time = 0, .update_time = 1e-4 * x,
		.loss = 1 / (x + (double)epoch / 1000), .train_acc = x,
		.val_f1 = x / 3, .test_f1 = x / 7, .peak_memory_mb = 12.5,
	};
}

/* Leaves the file's path behind. */
static void write_csv(char *path)
{
	tare_run_csv *csv;

	if (tare_run_csv_open(bench_dir(), "sequential", NULL, 0, &csv))
		bench_fail("csv", "cannot be opened");
	for (uint64_t i = 1; i <= EPOCHS; i++) {
		tare_run_row row = row_of(i);

		if (tare_run_csv_add(csv, &row))
			bench_fail("csv", "a row was not written");
	}
	(void)snprintf(path, N_PATH, "%s", tare_run_csv_path(csv));
	(void)tare_run_csv_close(csv);
}

static void write_events(void)
{
#define TAG(name) #name,
	static const char *const tags[] = { TARE_RUN_COLUMNS(TAG) };
#undef TAG
	tare_event_file *file;

	if (tare_event_file_open(bench_dir(), &file))
		bench_fail("events", "cannot be opened");
	for (uint64_t i = 1; i <= EPOCHS; i++) {
		tare_run_row row = row_of(i);
#define VALUE(name) row.name,
		double values[] = { TARE_RUN_COLUMNS(VALUE) };
#undef VALUE

		if (tare_event_file_scalars(file, (int64_t)i, tags, values,
					    sizeof(tags) / sizeof(tags[0])) ||
		    tare_event_file_flush(file))
			bench_fail("events", "an epoch was not written");
	}
	(void)unlink(tare_event_file_path(file));
	(void)tare_event_file_close(file);
}

static int to_stream(void *arg, const char *text, size_t len)
{
	return fwrite(text, 1, len, arg) == len ? 0 : -1;
}

/* Gives the bytes of the page. */
static long write_page(const char *csv)
{
	const tare_compared *result;
	tare_comparison *c = NULL;
	char path[N_PATH];
	FILE *stream;
	long bytes;

	(void)snprintf(path, sizeof(path), "%.4000s/report.html", bench_dir());
	stream = fopen(path, "w");
	if (!stream || tare_comparison_new(&c) ||
	    tare_comparison_add_file(c, csv, NULL) ||
	    tare_compare(c, NULL, &result) ||
	    tare_comparison_write(c, TARE_COMPARED_HTML, to_stream, stream))
		bench_fail("html", "was not written");
	bytes = ftell(stream);
	(void)fclose(stream);
	tare_comparison_free(c);
	(void)unlink(path);
	return bytes;
}

static void compare_part(void)
{
	double html = 1e18, all = 1e18;
	long bytes = 0;

	bench_pin(0);
	for (int i = 0; i < TIMES; i++) {
		char csv[N_PATH];
		uint64_t start = bench_ns(), written;

		write_csv(csv);
		write_events();
		written = bench_ns();
		bytes = write_page(csv);
		html = fmin(html, (double)(bench_ns() - written) / 1e6);
		all = fmin(all, (double)(bench_ns() - start) / 1e6);
		(void)unlink(csv);
	}
	bench_report("html_10000", html, "ms", NAN, NULL);
	bench_report("html_10000_size", (double)bytes / 1024, "KiB", NAN,
		     NULL);
	/* The bar is 1,000 ms. */
	bench_report("csv_events_html_10000", all, "ms", NAN, NULL);
}

const struct bench_part bench_parts[] = {
	{ "compare", compare_part, { NULL } },
	{ NULL, NULL, { NULL } },
};
