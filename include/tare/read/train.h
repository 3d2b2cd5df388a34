/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trainings of a run: epochs, phases and values from its ledger. The calls of a
 * training program are in <tare/train.h>.
 */
#ifndef TARE_READ_TRAIN_H
#define TARE_READ_TRAIN_H

#include <tare/train.h>
#include <tare/read/view.h>

TARE_BEGIN

/* A phase over all epochs of this worker: its own time. */
typedef struct tare_training_part {
	const char *name;
	double seconds;
	double last_seconds;	/* of the last epoch */
	uint64_t calls;
} tare_training_part;
TARE_ARRAY_OF_(tare_training_part)

/* A training in a ledger, also of a live or a killed run. */
typedef struct tare_training_info {
	const char *config;
	uint32_t worker, workers;
	uint64_t epochs;	/* planned; 0: unknown */
	uint64_t n_epochs;	/* finished */
	double total_training_time; /* seconds, of all finished epochs */
	double peak_memory_mb;	/* NAN: unknown */
	const tare_run_row *rows; /* the newest, as in the CSV file */
	const tare_run_row *own; /* the same epochs, this worker's times */
	size_t n_rows;
	uint32_t columns;	/* as in tare_run_table */
	const char *csv;	/* path, or "" */
	const char *events;	/* folder, or "" */
	const char *const *pairs;
	size_t n_pairs;
	uint64_t samples;	/* of this worker */
	int64_t start_ns;	/* ns since 1970 */
	int64_t end_ns;		/* of the last epoch; 0: none */
	bool is_closed;		/* by tare_training_close(), or at exit */
	const tare_training_part *parts; /* phases that were used */
	size_t n_parts;		/* 0 in ledgers of format 2.1 and older */
	/*
	 * Parts of comm_time, each of the slowest worker: over all epochs, and
	 * in the last one. NAN: unknown.
	 */
	double broadcast_time, gradient_aggregation_time;
	double last_broadcast_time, last_gradient_aggregation_time;
} tare_training_info;
TARE_ARRAY_OF_(tare_training_info)

/*
 * The trainings of a run, in order; returns their number. The array belongs to
 * the view (tare/read/view.h). A clear does not remove them.
 */
TARE_API size_t tare_view_trainings(tare_view *view,
				    const tare_training_info **ret_trainings);

TARE_END
#endif
