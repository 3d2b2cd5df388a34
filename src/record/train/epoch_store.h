/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epoch store: a training in the ledger, one row per epoch.
 *
 * Rows are written in place with a number at either end, so that a reader,
 * also one after a kill, takes a row as a whole or not at all. The pages of a
 * training are a ring that grows while there is room for it: if not all rows
 * fit, the newest are kept. All trainings of a ledger together take at most a
 * quarter of it.
 *
 * Runs in the copy of the library that measures: see TR_FIRST. The copies may
 * be of different versions, so what passes between them has a fixed format:
 * texts, and rows as in the ledger.
 *
 * One thread at a time for each training.
 */
#ifndef TR_RECORD_TRAIN_EPOCH_STORE_H
#define TR_RECORD_TRAIN_EPOCH_STORE_H

#include "record/probe.h"

#define TR_EPOCH_STORE_PAIRS 64u

struct tr_epoch_store_head {
	uint32_t struct_size;
	uint32_t worker, workers;
	uint32_t n_pairs;
	uint64_t epochs;
	uint64_t most_rows;
	const char *config, *csv, *events;
	const char *const *pairs;
};

/* NULL: no memory. Borrows its argument. Measuring may begin later. */
void *tr_epoch_store_open(const struct tr_epoch_store_head *head);
/*
 * Phases of the next row; call before the row is added. `name` is n names of
 * TR_TRAINING_NAME bytes: those of earlier calls, then new ones; `part` is in
 * seconds, as in struct tr_training_phases.
 */
struct tr_epoch_store_phases {
	uint32_t struct_size, n;
	const char *name;
	const struct tr_training_sums *sums;
	double part[2 * TR_TRAINING_PARTS];
};

void tr_epoch_store_phases(void *store,
			   const struct tr_epoch_store_phases *phases);
/* Fills in begin, end and ticks. */
void tr_epoch_store_add(void *store, const struct tr_training_row *row);
void tr_epoch_store_close(void *store);

#endif
