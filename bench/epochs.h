/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epochs: the files of a training run of EPOCHS epochs, written epoch by epoch,
 * so that a kill loses nothing. They are in bench_dir().
 */
#ifndef BENCH_EPOCHS_H
#define BENCH_EPOCHS_H

#include <tare/event_file.h>
#include <tare/run_csv.h>

#include "bench.h"

#define EPOCHS 10000

static tare_run_row epochs_row(uint64_t epoch)
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

/* Gives the file, still open. */
static tare_run_csv *epochs_csv(const char *config)
{
	tare_run_csv *csv;

	if (tare_run_csv_open(bench_dir(), config, NULL, 0, &csv))
		bench_fail("csv", "cannot be opened");
	for (uint64_t i = 1; i <= EPOCHS; i++) {
		tare_run_row row = epochs_row(i);

		if (tare_run_csv_add(csv, &row))
			bench_fail("csv", "a row was not written");
	}
	return csv;
}

/* The same for events: ten scalars per epoch. */
static tare_event_file *epochs_events(void)
{
#define TAG(name) #name,
	static const char *const tags[] = { TARE_RUN_COLUMNS(TAG) };
#undef TAG
	tare_event_file *file;

	if (tare_event_file_open(bench_dir(), &file))
		bench_fail("events", "cannot be opened");
	for (uint64_t i = 1; i <= EPOCHS; i++) {
		tare_run_row row = epochs_row(i);
#define VALUE(name) row.name,
		double values[] = { TARE_RUN_COLUMNS(VALUE) };
#undef VALUE

		if (tare_event_file_scalars(file, (int64_t)i, tags, values,
					    sizeof(tags) / sizeof(tags[0])) ||
		    tare_event_file_flush(file))
			bench_fail("events", "an epoch was not written");
	}
	return file;
}

#endif
