/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layout of trainings: a part of layout.h, which includes it.
 *
 * A training has a ring of pages with rows, one row per epoch; the newest are
 * kept. Totals of the whole run are in its newest row, so that one store
 * publishes an epoch: `end`, which gets the same number as `begin`.
 */
#ifndef TR_LEDGER_LAYOUT_TRAINING_H
#define TR_LEDGER_LAYOUT_TRAINING_H

#include <tare/run_csv.h>

#include "base/platform.h"
#include "ledger/layout/file.h"

struct tr_training {
	uint32_t ready;		 /* 1: all of the first line is written */
	uint32_t next;		 /* previous training, offset */
	uint32_t config, csv, events; /* texts, offsets */
	uint32_t pairs;		 /* offset of 2 n_pairs offsets of texts */
	uint32_t n_pairs;
	uint32_t worker, workers;
	uint32_t reserved;
	uint64_t epochs;	 /* planned; 0: unknown */
	uint64_t start;		 /* ticks */
	uint32_t bytes;		 /* of this and its texts */
	uint32_t closed;
	uint32_t rows;		 /* a page of the ring, offset; 0: none */
	uint32_t n_pages;	 /* of the ring */
	uint32_t phases;	 /* struct tr_training_phases; 0: none */
	uint32_t reserved2[13];
};

_Static_assert(sizeof(struct tr_training) == 2 * TR_LINE, "two lines");

/*
 * Numbers of the columns of TARE_RUN_COLUMNS, used to find their values and
 * names. Written out, because the two-file build reads the names of enumerators
 * and does not expand macros.
 */
enum tr_run_column {
	TR_COLUMN_total_time,
	TR_COLUMN_forward_time,
	TR_COLUMN_backward_time,
	TR_COLUMN_comm_time,
	TR_COLUMN_update_time,
	TR_COLUMN_loss,
	TR_COLUMN_train_acc,
	TR_COLUMN_val_f1,
	TR_COLUMN_test_f1,
	TR_COLUMN_peak_memory_mb,
	TR_TRAINING_COLUMNS
};

/* Columns with a value of each worker. */
#define TR_TRAINING_OWN 6u

TR_INLINE enum tr_run_column tr_worker_column(unsigned i)
{
	return i < TR_TRAINING_OWN - 1 ? (enum tr_run_column)i :
					 TR_COLUMN_peak_memory_mb;
}

TR_INLINE const char *tr_column_name(enum tr_run_column column)
{
	static const char names[][16] = {
#define TR_COLUMN_NAME(name) [TR_COLUMN_##name] = #name,
		TARE_RUN_COLUMNS(TR_COLUMN_NAME)
#undef TR_COLUMN_NAME
	};

	return names[column];
}

_Static_assert(sizeof(tare_run_row) == (1 + TR_TRAINING_COLUMNS) * 8,
	       "a row is its epoch and an array of the columns");

TR_INLINE double *tr_row_at(tare_run_row *row, enum tr_run_column column)
{
	return (double *)(void *)((char *)row + sizeof(row->epoch)) + column;
}

TR_INLINE double tr_row_value(const tare_run_row *row,
			      enum tr_run_column column)
{
	return ((const double *)(const void *)row)[1 + column];
}

struct tr_training_row {
	uint64_t begin; /* number from 1; 0: never used */
	uint64_t epoch;
	uint64_t ticks; /* at the end of the epoch */
	uint64_t run[TR_TRAINING_COLUMNS]; /* bits of doubles */
	uint64_t own[TR_TRAINING_OWN]; /* of this worker, bits of doubles */
	uint64_t total;	  /* seconds of all epochs so far, bits */
	uint64_t samples; /* so far */
	uint64_t steps;	  /* so far */
	uint64_t columns; /* columns that ever had a value, as bits */
	uint64_t end;	  /* equals begin; else being written */
};

_Static_assert(sizeof(struct tr_training_row) == 3 * TR_LINE, "three lines");

#define TR_TRAINING_ROWS 21u

struct tr_training_page {
	uint32_t next; /* next page of the ring; the last has the first */
	uint32_t reserved[15];
	struct tr_training_row row[TR_TRAINING_ROWS];
};

_Static_assert(sizeof(struct tr_training_page) == TR_PAGE, "one page");

/*
 * Phases. Two copies are written in turn: that of the newest row counts. The
 * other one belongs to the row before it, or is being written.
 */
#define TR_TRAINING_PHASES 34u
#define TR_TRAINING_NAME 48u  /* bytes of a phase's name, with its NUL */
#define TR_TRAINING_PARTS 2u  /* of communication: broadcast, aggregation */

struct tr_training_sums {
	uint64_t seconds;      /* own time of all epochs; bits of a double */
	uint64_t last_seconds; /* of the last epoch */
	uint64_t calls;
};

struct tr_training_phase {
	uint64_t name[TR_TRAINING_NAME / 8];
	struct tr_training_sums sums[2];
};

struct tr_training_phases {
	uint64_t number[2]; /* row of each copy; 0: being written */
	/* Of the run, bits of doubles: of all epochs, then of the last one. */
	uint64_t part[2][2 * TR_TRAINING_PARTS];
	uint32_t n;
	uint32_t reserved[11];
	struct tr_training_phase phase[TR_TRAINING_PHASES];
};

_Static_assert(sizeof(struct tr_training_phases) == 53 * TR_LINE, "lines");

#endif
