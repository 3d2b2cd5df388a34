/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker: a thread that takes jobs and leads each through the stages: EXIF,
 * decoding, evaluation, preset, export.
 *
 * This is where the service is measured: one operation for the job and one
 * for each stage, with photo_id, job_id and stage as attributes.
 */
#ifndef WORKER_H
#define WORKER_H

#include <pthread.h>

#include "queue.h"
#include "resources.h"
#include "store.h"
#include "tally.h"

#define WORKER_ATTEMPTS 3 /* of a job that fails for a while only */

/* What all workers share. Borrowed by them. */
struct workshop {
	struct queue queue;
	struct resources resources;
	struct store store;
};

struct worker {
	pthread_t thread;
	struct workshop *workshop;
	struct tally tally; /* the worker's, until it was joined */
};

int worker_start(struct worker *worker, struct workshop *workshop,
		 struct fault *fault);

/* Waits for its end, which is that of the queue. */
void worker_join(struct worker *worker);

#endif
