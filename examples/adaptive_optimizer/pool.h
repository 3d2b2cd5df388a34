/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pool: the workers, and the path of a batch through the pipeline. Most probes
 * are here.
 *
 * All threads that may ever work exist from the start; the queue parks those
 * that are not needed now.
 */
#ifndef POOL_H
#define POOL_H

#include <pthread.h>

#include "model.h"
#include "queue.h"

#define POOL_MOST_THREADS 64

struct pool;

struct worker {
	struct pool *pool;
	unsigned index;
	pthread_t thread;
};

struct pool {
	struct queue *queue;
	const struct model *model;
	struct worker workers[POOL_MOST_THREADS];
	unsigned n;
};

/* 0, or the errno of the first thread: none could be started. */
int pool_start(struct pool *ret_pool, struct queue *queue,
	       const struct model *model, unsigned threads);
/* The queue must be closed. */
void pool_join(struct pool *pool);

#endif
