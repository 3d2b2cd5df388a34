/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training runs: epochs, their phases and values; one process or many.
 *
 *	tare_training_options options = { .struct_size = sizeof(options),
 *					  .epochs = 200 };
 *	tare_training *training;
 *
 *	(void)tare_training_open(&options, &training);
 *	for (int i = 0; i < 200; i++) {
 *		(void)tare_epoch_begin(training);
 *		{ TARE_PHASE(training, "forward"); ... }
 *		{ TARE_PHASE(training, "backward"); ... }
 *		{ TARE_PAUSE(training, "validation"); ... }
 *		(void)tare_training_value(training, "loss", loss);
 *		(void)tare_epoch_end(training, NULL);
 *	}
 *	(void)tare_training_close(training);
 *
 * writes results/sequential_metrics.csv after each epoch, and files for
 * TensorBoard if configured; a killed run keeps every finished epoch. Works
 * whether measuring is on or not; if it is on, the ledger has the training,
 * too, for `tare ls`, `tare report` and tare_view_trainings(). A failure to
 * write is reported once, and training goes on. All calls accept NULL as the
 * training and then keep nothing. With TARE_DISABLE files are written, but no
 * ledger.
 */
#ifndef TARE_TRAIN_H
#define TARE_TRAIN_H

#include <tare/api.h>
#include <tare/error.h>
#include <tare/run_csv.h>

TARE_BEGIN

typedef struct tare_training tare_training;

typedef struct tare_training_options {
	uint32_t struct_size;	/* sizeof(tare_training_options) */
	const char *config;	/* names the files; NULL: sequential, mpi_4 */
	const char *results;	/* folder; NULL: training_results; "": none */
	const char *events;	/* for TensorBoard; NULL: training_events */
	const char *const *pairs; /* n_pairs keys, each followed by its value */
	size_t n_pairs;
	uint32_t worker, workers; /* this worker, of how many; 0 of 0: alone */
	uint64_t epochs;	/* planned; 0: unknown */
	/*
	 * Several workers: replaces each number by the largest of all workers,
	 * as an all-reduce does. Called by tare_training_open() and once per
	 * epoch by tare_epoch_end(), so all workers must call these. Nonzero:
	 * it failed. NULL: this worker's numbers are used for the run.
	 */
	int (*most)(void *data, double *numbers, size_t n);
	/* Waits for asynchronous work (a GPU), see TARE_PHASE_ASYNC. */
	void (*sync)(void *data);
	void *data;
} tare_training_options;

/*
 * Begins a training. Borrows the options. TARE_EINVAL: `config` is not a file
 * name, or worker >= workers. On an error *ret_training is NULL, which all
 * calls accept. Worker 0 writes <config>_metrics.csv (an older file is renamed
 * to _2, _3; none is replaced) and the events. If there are several workers,
 * each writes its own rows to <config>_workers/worker_<n>_metrics.csv.
 */
TARE_INLINE int tare_training_open(const tare_training_options *options,
				   tare_training **ret_training);
/*
 * Writes what is left and ends the training, without an unfinished epoch.
 * Returns 0 if all is written.
 */
TARE_API int tare_training_close(tare_training *training);

/* Path of the CSV file; "": there is none. Belongs to the training. */
TARE_API const char *tare_training_csv(const tare_training *training);
/* The event file of the training, for histograms and texts, or NULL. */
struct tare_event_file;
TARE_API struct tare_event_file *
tare_training_events(tare_training *training);

/* ---- an epoch ---------------------------------------------------------- */

/* total_time of an epoch is `seconds` of all phases plus `rest`. */
typedef struct tare_training_phase {
	const char *name;
	double seconds;	 /* own wall time: without phases inside it */
	double total;	 /* with phases inside it; the sum of all threads */
	double pending;	 /* from tare_pending_start() to the end of the wait */
	uint64_t calls;
} tare_training_phase;
TARE_ARRAY_OF_(tare_training_phase)

typedef struct tare_epoch {
	uint32_t struct_size;	/* sizeof(tare_epoch) */
	tare_run_row row;	/* of the run, as in the CSV file */
	tare_run_row own;	/* of this worker */
	const tare_training_phase *phases; /* this worker's, until the next */
	size_t n_phases;	/* epoch begins */
	double rest;		/* seconds of training outside of phases */
	double paused;		/* seconds in pauses, not in total_time */
	uint64_t steps, samples; /* of this worker */
	double samples_per_s;	/* NAN: none */
	/* Parts of the run's comm_time, each of the slowest worker. */
	double broadcast_time, gradient_aggregation_time;
} tare_epoch;

/* TARE_EINVAL: an epoch is already open. The thread that begins it ends it. */
TARE_API int tare_epoch_begin(tare_training *training);
/*
 * Ends the epoch and writes its row: it is in the file when this returns. Open
 * phases end here. `ret_epoch` may be NULL. TARE_EINVAL: this thread has no
 * open epoch; other errors come from the files and were reported.
 */
TARE_API int tare_epoch_end(tare_training *training, tare_epoch *ret_epoch);

/*
 * Sets a value of the open epoch: loss, train_acc, val_f1 and test_f1 are
 * columns; up to 32 others are kept for TensorBoard and the ledger. The last
 * call for a name counts. Returns 0, TARE_EFULL or TARE_EINVAL.
 */
TARE_API int tare_training_value(tare_training *training, const char *name,
				 double value);
/* Adds samples; adds a step (a batch) with its samples. Any thread. */
TARE_API void tare_training_samples(tare_training *training, uint64_t n);
TARE_API void tare_training_step(tare_training *training, uint64_t samples);

/* ---- phases ------------------------------------------------------------ */

/* An open phase. Private fields. Zero-filled: none. */
typedef struct tare_phase {
	tare_training *training;
	uint32_t thread, depth;
	uint64_t number;
} tare_phase;

/*
 * forward, backward, communication and update are columns of the CSV file.
 * broadcast and gradient_aggregation are parts of communication: they are in
 * comm_time, and also have figures of their own. Phases nest, and time belongs
 * to the innermost phase: communication inside forward is not in forward_time,
 * and forward inside broadcast is not in comm_time. While the thread that began
 * the epoch has a phase open, time belongs to that phase. Otherwise it is
 * divided equally between the other threads with an open phase. So the phases
 * never add up to more than the epoch. Outside of an epoch and in a pause,
 * phases are only scopes of the ledger. At most 32 names beside the two parts
 * (the last is for all others), 16 levels of nesting, 64 threads.
 */
TARE_API tare_phase tare_phase_begin(tare_training *training,
				     const char *name);
/* For asynchronous work: calls `sync` before the phase begins and ends. */
TARE_API tare_phase tare_phase_begin_async(tare_training *training,
					   const char *name);
TARE_API void tare_phase_end(tare_phase phase);

/* Not training: validation, saving. Not in total_time. May nest. */
TARE_API tare_phase tare_pause_begin(tare_training *training,
				     const char *name);

/*
 * Communication that starts now and is waited for later. Only the wait
 * (tare_pending_wait() to tare_pending_end()) is a phase and counts as
 * communication.
 */
typedef struct tare_pending {
	tare_phase phase;
	const char *name;
	int64_t start_ns;
} tare_pending;

TARE_API tare_pending tare_pending_start(tare_training *training,
					 const char *name);
TARE_API void tare_pending_wait(tare_pending *pending);
TARE_API void tare_pending_end(tare_pending *pending);

/* ---- private ----------------------------------------------------------- */

/* `is_kept`: also store the training in the ledger. */
TARE_API int tare_training_open_(const tare_training_options *options,
				 tare_training **ret_training, bool is_kept);

TARE_INLINE int tare_training_open(const tare_training_options *options,
				   tare_training **ret_training)
{
#ifdef TARE_DISABLE
	return tare_training_open_(options, ret_training, false);
#else
	return tare_training_open_(options, ret_training, true);
#endif
}

TARE_INLINE void tare_phase_leave_(tare_phase *phase)
{
	tare_phase_end(*phase);
}

TARE_END

#ifdef __cplusplus
#include <tare/train.hpp>
#define TARE_PHASE_HOLD_(var, begin) ::tare::phase var(begin)
#else
#define TARE_PHASE_HOLD_(var, begin) \
	tare_phase var __attribute__((cleanup(tare_phase_leave_), unused)) = \
		begin
#endif
#define TARE_PHASE_N_(n, begin) \
	TARE_PHASE_HOLD_(TARE_CAT(tare_phase_, n), begin)

/* The rest of the enclosing block is a phase, or a pause. */
#define TARE_PHASE(training, name) \
	TARE_PHASE_N_(__COUNTER__, tare_phase_begin((training), (name)))
#define TARE_PHASE_ASYNC(training, name) \
	TARE_PHASE_N_(__COUNTER__, tare_phase_begin_async((training), (name)))
#define TARE_PAUSE(training, name) \
	TARE_PHASE_N_(__COUNTER__, tare_pause_begin((training), (name)))

#endif
