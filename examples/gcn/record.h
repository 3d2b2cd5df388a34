/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record: what is stored about a training run of one seed: tare stores the run,
 * with its CSV file and its files for TensorBoard; the list of losses is our
 * own.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdio.h>

#include "train.h"

struct record {
	FILE *losses;
};

/* Sets the trainer's training, and ends it. */
void record_open(struct record *record, struct trainer *trainer,
		 uint64_t seed);
void record_epoch(struct record *record, const struct epoch *epoch);
void record_close(struct record *record, struct trainer *trainer,
		  const struct epoch *last);

#endif
