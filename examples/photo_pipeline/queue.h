/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue: jobs from one producer to many workers, in order, with a bound.
 *
 * A full queue makes the producer wait: photos do not pile up in memory. A job
 * that is put back for another attempt never waits, otherwise all workers could
 * wait for each other; the queue has room for one job per worker above the
 * bound.
 *
 * The queue ends when it is closed, is empty, and no job is in work: a job in
 * work may still be put back.
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
	size_t bound;	/* limit for queue_put() */
	size_t size;	/* of the ring: bound plus one per worker */
	size_t first;
	size_t length;
	size_t in_work; /* taken, and neither done nor put back */
	bool is_closed;
};

int queue_open(struct queue *ret_queue, size_t bound, size_t workers,
	       struct fault *fault);

/* Frees the photos of jobs that were not taken. No thread may be using it. */
void queue_free(struct queue *queue);

/* Takes the job. Waits while the queue is full. Producer only. */
void queue_put(struct queue *queue, const struct job *job);

/* Marks the end of the input. */
void queue_close(struct queue *queue);

/* Waits for a job. False: the queue ended. */
bool queue_take(struct queue *queue, struct job *ret_job);

/* Call one of these for each job taken. */
void queue_done(struct queue *queue);
void queue_put_back(struct queue *queue, const struct job *job);

#endif
