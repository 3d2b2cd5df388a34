/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the files of a training run of 10,000 epochs take: its CSV file,
 * a row an epoch; its event file, ten scalars an epoch; both written epoch by
 * epoch, so that a kill loses nothing. And reading the CSV file again.
 *
 * The least of several runs, in ms; the files lie where TARE_DIR does.
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include <tare/event_file.h>
#include <tare/run_csv.h>

#include "bench.h"

#define EPOCHS 10000
#define TIMES 7

static tare_run_row row_of(uint64_t epoch)
{
	double x = bench_random[epoch % 65536] / 65536.;

	return (tare_run_row){
		.epoch = epoch, .total_time = 1e-3 * x,
		.forward_time = 5e-4 * x, .backward_time = 4e-4 * x,
		.comm_time = 0, .update_time = 1e-4 * x, .loss = 1 / (x + 1),
		.train_acc = x, .val_f1 = x / 3, .test_f1 = x / 7,
		.peak_memory_mb = 12.5,
	};
}

static double write_csv(bool is_read)
{
	tare_run_csv *csv;
	tare_run_file *file;
	uint64_t start = bench_ns();

	if (tare_run_csv_open(bench_dir(), "bench", NULL, 0, &csv))
		bench_fail("csv", "cannot be opened");
	for (uint64_t i = 1; i <= EPOCHS; i++) {
		tare_run_row row = row_of(i);

		if (tare_run_csv_add(csv, &row))
			bench_fail("csv", "a row was not written");
	}
	if (is_read) {
		start = bench_ns();
		if (tare_run_file_open(tare_run_csv_path(csv), &file, NULL) ||
		    tare_run_file_table(file)->n_rows != EPOCHS)
			bench_fail("csv", "cannot be read");
		tare_run_file_free(file);
	}
	start = bench_ns() - start;
	(void)unlink(tare_run_csv_path(csv));
	(void)tare_run_csv_close(csv);
	return (double)start / 1e6;
}

static double write_events(void)
{
#define TAG(name) #name,
	static const char *const tags[] = { TARE_RUN_COLUMNS(TAG) };
#undef TAG
	tare_event_file *file;
	uint64_t start = bench_ns();

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
	start = bench_ns() - start;
	(void)unlink(tare_event_file_path(file));
	(void)tare_event_file_close(file);
	return (double)start / 1e6;
}

static void files_part(void)
{
	double csv = 1e18, events = 1e18, reading = 1e18;

	bench_pin(0);
	for (int i = 0; i < TIMES; i++) {
		csv = fmin(csv, write_csv(false));
		events = fmin(events, write_events());
		reading = fmin(reading, write_csv(true));
	}
	bench_report("csv", csv, "ms", NAN, NULL);
	bench_report("events", events, "ms", NAN, NULL);
	bench_report("both", csv + events, "ms", NAN, NULL);
	bench_report("read_csv", reading, "ms", NAN, NULL);
}

const struct bench_part bench_parts[] = {
	{ "files", files_part, { NULL } },
	{ NULL, NULL, { NULL } },
};
