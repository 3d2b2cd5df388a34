/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optimizer: a thread that reads the conditions at intervals, asks the
 * controller, and configures the pool. Each reading is an operation "adapt" in
 * the records, with the conditions and the chosen settings.
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
	struct control control; /* only used by its thread */
	pthread_t thread;
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t is_stopped;
	const char *phase; /* stored in its records */
	uint64_t looks, changes;
	bool is_over;
};

/* Starts with the queue's settings. 0, or the errno of the thread. */
int optimizer_start(struct optimizer *optimizer, struct queue *queue);
/* Later readings belong to this phase. A static text. */
void optimizer_phase(struct optimizer *optimizer, const char *phase);
void optimizer_stop(struct optimizer *optimizer);

#endif
