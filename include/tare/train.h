/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training runs: epochs, their phases, their scores; one process or many.
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
 * writes results/sequential_metrics.csv as it goes, and files for TensorBoard
 * where asked; a killed run keeps every finished epoch. Works whether
 * measuring is on or not; if it is, all of it is in the ledger, too, for
 * `tare ls`, `tare report`, and tare_view_trainings(). What cannot be written
 * is said once, and training goes on. NULL is a training of which nothing is
 * kept. With TARE_DISABLE files are written, and nothing goes to a ledger.
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
	const char *events;	/* TensorBoard's; NULL: training_events */
	const char *const *pairs; /* n_pairs keys and values in turn */
	size_t n_pairs;
	uint32_t worker, workers; /* this one of how many; 0 of 0: alone */
	uint64_t epochs;	/* planned; 0: not known */
	/*
	 * Several workers: makes each number the largest of all workers', as
	 * an all-reduce does. Called by tare_training_open() and once an
	 * epoch by tare_epoch_end(), so all workers call these. Not 0: it
	 * failed. NULL: this worker's numbers are taken for the run's.
	 */
	int (*most)(void *data, double *numbers, size_t n);
	/* Waits for what runs asynchronously (a GPU), see TARE_PHASE_ASYNC. */
	void (*sync)(void *data);
	void *data;
} tare_training_options;

/*
 * Begins a run. Borrows the options. TARE_EINVAL: `config` is no file name,
 * or worker >= workers. On an error *ret_training is NULL, which all calls
 * take. Worker 0 writes <config>_metrics.csv (an older one is moved to _2, _3;
 * nothing is replaced) and the events; of several, each writes its own rows to
 * <config>_workers/worker_<n>_metrics.csv.
 */
TARE_INLINE int tare_training_open(const tare_training_options *options,
				   tare_training **ret_training);
/* Flushes and ends it; an epoch under way is left out. 0: all is written. */
TARE_API int tare_training_close(tare_training *training);

/* Path of the CSV file; "": there is none. Belongs to the training. */
TARE_API const char *tare_training_csv(const tare_training *training);
/* Its event file, for histograms and texts, or NULL. */
struct tare_event_file;
TARE_API struct tare_event_file *
tare_training_events(tare_training *training);

/* ---- an epoch ---------------------------------------------------------- */

/* `seconds` of all phases and `rest` are the epoch's total_time. */
typedef struct tare_training_phase {
	const char *name;
	double seconds;	 /* own: without phases inside it; wall time */
	double total;	 /* with them; of several threads, added up */
	double pending;	 /* from tare_pending_start() to the end of the wait */
	uint64_t calls;
} tare_training_phase;
TARE_ARRAY_OF_(tare_training_phase)

typedef struct tare_epoch {
	uint32_t struct_size;	/* sizeof(tare_epoch) */
	tare_run_row row;	/* the run's, as in the CSV file */
	tare_run_row own;	/* this worker's */
	const tare_training_phase *phases; /* this worker's; until the next */
	size_t n_phases;	/* epoch begins */
	double rest;		/* seconds of training in no phase */
	double paused;		/* seconds, not in total_time */
	uint64_t steps, samples; /* of this worker */
	double samples_per_s;	/* NAN: none */
	/* Parts of the run's comm_time, each the slowest worker's. */
	double broadcast_time, gradient_aggregation_time;
} tare_epoch;

/* TARE_EINVAL: one is under way. By one thread, which also ends it. */
TARE_API int tare_epoch_begin(tare_training *training);
/*
 * Writes the row: it is in the file when this returns. Phases still open end
 * here. `ret_epoch` may be NULL. TARE_EINVAL: none was begun by this thread;
 * other errors are of the files and were said.
 */
TARE_API int tare_epoch_end(tare_training *training, tare_epoch *ret_epoch);

/*
 * Of the epoch under way, by its name: loss, train_acc, val_f1 and test_f1
 * are columns, up to 32 others are kept beside, for TensorBoard and the
 * ledger. The last one counts. TARE_EFULL, TARE_EINVAL.
 */
TARE_API int tare_training_value(tare_training *training, const char *name,
				 double value);
/* Samples that were trained on; a step (a batch) of so many. Any thread. */
TARE_API void tare_training_samples(tare_training *training, uint64_t n);
TARE_API void tare_training_step(tare_training *training, uint64_t samples);

/* ---- phases ------------------------------------------------------------ */

/* Private fields. Zero-filled: none. */
typedef struct tare_phase {
	tare_training *training;
	uint32_t thread, depth;
	uint64_t number;
} tare_phase;

/*
 * forward, backward, communication and update are columns of the CSV file.
 * broadcast and gradient_aggregation are parts of communication: they are in
 * comm_time, and have figures of their own beside it. Phases nest, and time
 * belongs to the innermost: communication inside forward is no part of
 * forward_time, forward inside broadcast none of comm_time. While the thread
 * that began the epoch has one open, time is that phase's; else it is shared
 * equally by the other threads that have. So phases never add up to more than
 * the epoch. Outside of an epoch and in a pause they are scopes of the ledger
 * alone. At most 32 names beside these parts (the last is for all others), 16
 * inside each other, 64 threads.
 */
TARE_API tare_phase tare_phase_begin(tare_training *training,
				     const char *name);
/* Calls `sync` before it begins and before it ends: work is asynchronous. */
TARE_API tare_phase tare_phase_begin_async(tare_training *training,
					   const char *name);
TARE_API void tare_phase_end(tare_phase phase);

/* Not training: validation, saving. Not in total_time. May nest. */
TARE_API tare_phase tare_pause_begin(tare_training *training,
				     const char *name);

/*
 * Start now, wait later. Only the waiting is a phase (tare_pending_wait() to
 * tare_pending_end()), and so the only thing that counts as communication.
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

/* `is_kept`: in the ledger. */
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

/* The rest of the enclosing block. */
#define TARE_PHASE(training, name) \
	TARE_PHASE_N_(__COUNTER__, tare_phase_begin((training), (name)))
#define TARE_PHASE_ASYNC(training, name) \
	TARE_PHASE_N_(__COUNTER__, tare_phase_begin_async((training), (name)))
#define TARE_PAUSE(training, name) \
	TARE_PHASE_N_(__COUNTER__, tare_pause_begin((training), (name)))

#endif
