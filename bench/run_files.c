/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long it takes to write the files of a training run of 10,000 epochs: its
 * CSV file with one row per epoch, and its event file with ten scalars per
 * epoch, both written epoch by epoch, so that a kill loses nothing. And to read
 * the CSV file.
 *
 * The minimum of several runs, in ms; the files are in TARE_DIR.
 */
#include <math.h>
#include <unistd.h>

#include <tare/read/run_file.h>

#include "epochs.h"

#define TIMES 7

static double write_csv(bool is_read)
{
	uint64_t start = bench_ns();
	tare_run_csv *csv = epochs_csv("bench");
	tare_run_file *file;

	if (is_read) {
		start = bench_ns();
		if (tare_run_file_open(tare_run_csv_path(csv), &file, NULL) ||
		    tare_run_file_table(file)->n_rows != EPOCHS)
			bench_fail("csv", "cannot be read");
		tare_run_file_close(file);
	}
	start = bench_ns() - start;
	(void)unlink(tare_run_csv_path(csv));
	(void)tare_run_csv_close(csv);
	return (double)start / 1e6;
}

static double write_events(void)
{
	uint64_t start = bench_ns();
	tare_event_file *file = epochs_events();

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
