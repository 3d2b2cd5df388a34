/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epoch store: a training in the ledger, a row an epoch.
 *
 * Rows are written in place with a number at either end, so that a reader,
 * also one after a kill, takes a row as a whole or not at all. The pages of a
 * training are a ring that grows while there is room for it: if not all rows
 * fit, the newest are kept. All trainings of a ledger together take a quarter
 * of it at most.
 *
 * In the copy of the library that measures: see TR_FIRST. So that the copies
 * may be of different versions, what goes between them is fixed: texts, and
 * rows as the ledger has them.
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

/* NULL: there is no memory. Borrows. Measuring may begin later. */
void *tr_epoch_store_open(const struct tr_epoch_store_head *head);
/*
 * Phases of the next row, before it is added. `name` is n names of
 * TR_TRAINING_NAME bytes, always the same ones and then some; `part` is in
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
/* begin, end and ticks are filled in. */
void tr_epoch_store_add(void *store, const struct tr_training_row *row);
void tr_epoch_store_close(void *store);

#endif
