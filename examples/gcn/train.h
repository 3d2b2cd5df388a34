/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Train: epochs of one model on the share of one process, measured.
 */
#ifndef TRAIN_H
#define TRAIN_H

#include <tare/classify.h>
#include <tare/train.h>

#include "adam.h"
#include "model.h"
#include "options.h"
#include "team.h"

struct trainer {
	const struct options *options;
	struct team *team;
	const struct graph *graph;
	struct model model;
	struct adam adam;
	struct pass pass;
	tare_classify *val, *test;
	tare_training *training; /* NULL: not measured */
};

/* Results of an epoch, for the whole team. */
struct epoch {
	uint32_t number; /* from 1 */
	double loss, train_acc, val_f1, test_f1, test_acc;
	double total;	 /* seconds; 0: not measured */
};

int train_init(struct trainer *trainer, const struct options *options,
	       struct team *team, const struct graph *graph,
	       struct fault *fault);
void train_release(struct trainer *trainer);

/* New weights, the same on all ranks. */
void train_begin(struct trainer *trainer, uint64_t seed);
/* Without `is_evaluated` the scores are NAN. */
struct epoch train_epoch(struct trainer *trainer, uint64_t seed,
			 uint32_t number, bool is_evaluated);

#endif
