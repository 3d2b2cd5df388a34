/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue: jobs from one producer to many workers, in order, with a bound.
 *
 * A full queue makes the producer wait: photos do not pile up in memory. A
 * job that is put back for another attempt never waits, or all workers could
 * wait for each other; there is room for one of each worker beyond the bound.
 *
 * The queue is over when it was closed, is empty, and no job is in work: one
 * that is may still be put back.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "camera.h"
#include "fault.h"

struct job {
	uint64_t id;
	unsigned attempt; /* from 1 */
	struct photo photo;
};

struct queue {
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t can_put, can_take;
	struct job *ring;
	size_t bound;	/* of what queue_put() puts in */
	size_t size;	/* of the ring: bound and one for each worker */
	size_t first;
	size_t length;
	size_t in_work; /* taken, and neither done nor put back */
	bool is_closed;
};

int queue_open(struct queue *ret_queue, size_t bound, size_t workers,
	       struct fault *fault);

/* Frees the photos of jobs that nobody took. No thread may be using it. */
void queue_free(struct queue *queue);

/* Takes the job over. Waits while the queue is full. Producer only. */
void queue_put(struct queue *queue, const struct job *job);

/* No more will be put. */
void queue_close(struct queue *queue);

/* Gives a job; waits for one. False: it is over. */
bool queue_take(struct queue *queue, struct job *ret_job);

/* Each taken job ends by one of these. */
void queue_done(struct queue *queue);
void queue_put_back(struct queue *queue, const struct job *job);

#endif
