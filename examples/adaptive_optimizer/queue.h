/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue: requests from one producer to the active workers, in batches.
 *
 * A batch is released when it is full, or when its oldest request has waited
 * for QUEUE_PATIENCE_NS: large batches serve more and answer later. Workers
 * beyond settings.threads are parked. A full queue makes the producer wait.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "controller.h"
#include "request.h"

#define QUEUE_BOUND 256
#define QUEUE_PATIENCE_NS 30000000
#define QUEUE_MOST_BATCH 64

struct batch {
	struct request *requests[QUEUE_MOST_BATCH];
	unsigned n;
	struct settings settings; /* when it was released */
};

/* Work done so far. */
struct tally {
	uint64_t requests, batches;
	uint64_t checksum; /* of all answers, in any order */
};

struct queue {
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t can_put, can_take, has_turn, is_idle;
	struct request *ring[QUEUE_BOUND];
	unsigned first, length;
	unsigned in_work; /* taken and not done */
	struct settings settings;
	struct tally tally;
	bool is_closed;
};

void queue_open(struct queue *ret_queue, struct settings settings);
/* No thread may be using it; it must be empty. */
void queue_release(struct queue *queue);

/* Takes the request. Waits while the queue is full. Producer only. */
void queue_put(struct queue *queue, struct request *request);
/* Waits until all requests are done; returns the counts. */
struct tally queue_drain(struct queue *queue);
/* Marks the end of the input. */
void queue_close(struct queue *queue);

/* For worker `index` from 0: waits for a batch. False: the queue ended. */
bool queue_take(struct queue *queue, unsigned index, struct batch *ret_batch);
/* Called once for each batch taken. */
void queue_done(struct queue *queue, unsigned n, uint64_t checksum);

void queue_set(struct queue *queue, struct settings settings);
struct settings queue_settings(struct queue *queue);

#endif
