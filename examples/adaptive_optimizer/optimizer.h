/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optimizer: a thread that reads the conditions at intervals, asks the
 * controller, and sets the pool. Each look is an operation "adapt" of the
 * history, with what was seen and what was chosen.
 */
#ifndef OPTIMIZER_H
#define OPTIMIZER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "controller.h"
#include "queue.h"

struct optimizer {
	struct queue *queue;
	struct limits limits;
	uint64_t budget_bytes; /* 0: none */
	int64_t interval_ns;
	struct control control; /* of its thread only */
	pthread_t thread;
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t is_stopped;
	const char *phase; /* goes into its records */
	uint64_t looks, changes;
	bool is_over;
};

/* The settings begin with the queue's. 0, or the errno of the thread. */
int optimizer_start(struct optimizer *optimizer, struct queue *queue);
/* Looks from now on are of this phase. A static text. */
void optimizer_phase(struct optimizer *optimizer, const char *phase);
void optimizer_stop(struct optimizer *optimizer);

#endif
