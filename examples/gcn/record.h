/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record: what is kept of a training run: a CSV file, files for TensorBoard,
 * a list of losses. Rank 0 keeps it for all. Where one cannot be written,
 * that is said once, and training goes on.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdio.h>

#include <tare/event_file.h>
#include <tare/run_csv.h>

#include "train.h"

struct record {
	tare_run_csv *csv;
	tare_event_file *events;
	FILE *losses;
	bool has_complained;
};

/* A run of one seed. */
void record_open(struct record *record, const struct trainer *trainer,
		 uint64_t seed);
void record_epoch(struct record *record, const struct epoch *epoch);
void record_close(struct record *record, const struct trainer *trainer,
		  const struct epoch *last);

#endif
