/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training: the content of tare_training. training.c opens and closes it,
 * phase.c assigns the time of an epoch, epoch.c makes a row of it, outputs.c
 * writes the files, line.c the log.
 *
 * Two locks. `lock` guards the clock of the phases, which any thread may
 * advance; it is held for some nanoseconds. `files` guards what is written at
 * the end of an epoch, and at exit, which another thread may call. They are
 * never nested.
 */
#ifndef TR_RECORD_TRAIN_TRAINING_H
#define TR_RECORD_TRAIN_TRAINING_H

#include "record/train.h"

#include <pthread.h>

#include "record/train/names.h"
#include "record/train/stopwatch.h"

#define TR_PHASES TR_TRAINING_PHASES
#define TR_PHASE_DEPTH 16u
#define TR_PHASE_THREADS 64u
#define TR_TRAINING_VALUES 32u

/*
 * The first rows of the table of phases, and columns of a row, in this order.
 */
enum tr_column_phase {
	TR_PHASE_FORWARD,
	TR_PHASE_BACKWARD,
	TR_PHASE_COMMUNICATION,
	TR_PHASE_UPDATE,
	TR_PHASE_BROADCAST, /* this and the next: parts of communication */
	TR_PHASE_AGGREGATION,
	TR_PHASE_COLUMNS
};

/* A phase of an epoch. */
struct tr_train_phase {
	tare_site *site; /* NULL: not used yet, or not in the ledger */
	int64_t own_ns, total_ns, pending_ns;
	uint64_t calls;
	int64_t all_own_ns; /* of all epochs that have ended */
	uint64_t all_calls;
};

/* An open phase of a thread. */
struct tr_phase_frame {
	uint64_t number; /* number of its begin */
	uint64_t epoch;	 /* in which it began; 0: outside */
	int64_t since_ns;
	int64_t paused_ns; /* of the epoch, at its begin */
	tare_scope scope;
	uint8_t phase;
	bool is_pause, is_async;
};

struct tr_phase_thread {
	uintptr_t id;
	uint32_t depth; /* 0: free */
	struct tr_phase_frame frame[TR_PHASE_DEPTH];
};

struct tr_training_value {
	tare_site *site;
	double value;
};

/* The four values that are columns, from the loss on, come first. */
#define TR_VALUE_COLUMNS 4u

struct tare_training {
	tare_training *next; /* list of open trainings */
	uint32_t pid;	     /* opened by: see tr_training_is_mine() */
	bool is_kept;	     /* in the ledger */
	uint32_t worker, workers;
	uint64_t epochs;
	int (*max_allreduce)(void *data, double *numbers, size_t n);
	void (*sync)(void *data);
	void *data;
	char config[208];

	/* ---- phases: with `lock` ---- */
	pthread_mutex_t lock;
	struct tr_stopwatch watch;
	uint64_t epoch;	    /* number of the present one; 0: none */
	uint64_t n_epochs;  /* finished or present */
	uint32_t driver;    /* thread that began the epoch */
	uint32_t n_threads; /* slots ever used */
	uint32_t pauses;    /* open pauses */
	uint64_t phase_mask; /* bits: was a phase, not only a pause */
	uint64_t number;    /* number of begins */
	int64_t begin_ns, settled_ns;
	int64_t paused_ns, rest_ns; /* of the epoch */
	tare_scope scope;
	tare_site *site;
	struct tr_phase_thread *thread; /* TR_PHASE_THREADS */
	struct tr_train_phase phase[TR_PHASES];
	struct tr_names phases;

	/* ---- any thread, by atomics ---- */
	uint64_t steps, samples; /* of the epoch */

	/* ---- the thread of the epoch ---- */
	uint64_t given; /* bits: values of this epoch */
	struct tr_training_value value[TR_TRAINING_VALUES + TR_VALUE_COLUMNS];
	struct tr_names values;
	double peak_mb;
	int64_t peak_at_ns;
	bool is_told_most; /* reported: max_allreduce failed */
	tare_training_phase shown[TR_PHASES]; /* in a tare_epoch */
	struct tr_training_sums sums[TR_PHASES]; /* of all names so far */
	uint32_t n_sums;
	tare_site *samples_site;

	/* ---- files: with `files` ---- */
	pthread_mutex_t files;
	bool is_over;
	tare_run_csv *csv;     /* the run's, of worker 0 */
	tare_run_csv *own_csv; /* this worker's, of several */
	tare_event_file *events;
	int64_t flushed_at_ns;
	int64_t wall_ns; /* time of day minus phase clock, at a flush */
	bool has_complained;
	void *store;
	double total;	       /* seconds of all epochs */
	double part_total[TR_TRAINING_PARTS];
	uint64_t all_steps, all_samples;
	uint64_t columns;      /* that ever had a value */
	int64_t line_at_ns;
};

TR_INLINE bool tr_training_has(const tare_training *training, uint32_t value)
{
	return training->given >> value & 1;
}

/* Is there a value? A loss of nan is a result, if it was given. */
TR_INLINE bool tr_training_has_column(const tare_training *training,
				      const tare_run_row *row,
				      enum tr_run_column column)
{
	double value = tr_row_value(row, column);

	return value == value ||
	       (column == TR_COLUMN_loss && tr_training_has(training, 0));
}

/* A forked child has only the memory of its parent's trainings. */
bool tr_training_is_mine(const tare_training *training);

/* ---- phase.c ----------------------------------------------------------- */

void tr_phases_init(tare_training *training);
/* Begins an epoch; with no lock held. 0, TARE_EINVAL or TARE_EFULL. */
int tr_phases_begin(tare_training *training);
/*
 * Times and phases of the epoch (phases in `shown`), and of all so far
 * (`sums`). *ret_now: its end, by the watch. False: this thread did not begin
 * it.
 */
bool tr_phases_end(tare_training *training, tare_epoch *epoch,
		   int64_t *ret_now);

/* ---- outputs.c --------------------------------------------------------- */

/* Chooses where files go; NULL: the option's value. */
void tr_training_outputs_open(tare_training *training,
			      const tare_training_options *options);
/* With `files`. */
int tr_training_outputs_row(tare_training *training, const tare_epoch *epoch,
			    int64_t now_ns);
int tr_training_outputs_close(tare_training *training);

/* ---- line.c ------------------------------------------------------------ */

/* Logs a line if one is due. With `files`. */
void tr_training_line(tare_training *training, const tare_run_row *row,
		      int64_t now_ns);
void tr_training_last_line(tare_training *training);

#endif
