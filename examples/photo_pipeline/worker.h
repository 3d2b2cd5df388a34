/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker: a thread that takes jobs and runs each through the stages: EXIF,
 * decoding, evaluation, preset, export.
 *
 * This is where the service is measured: one operation for the job and one for
 * each stage, with photo_id, job_id and stage as attributes.
 */
#ifndef WORKER_H
#define WORKER_H

#include <pthread.h>

#include "queue.h"
#include "resources.h"
#include "store.h"
#include "tally.h"

#define WORKER_ATTEMPTS 3 /* of a job with transient failures */

/* Shared by all workers, which borrow it. */
struct workshop {
	struct queue queue;
	struct resources resources;
	struct store store;
};

struct worker {
	pthread_t thread;
	struct workshop *workshop;
	struct tally tally; /* used by the worker only, until it is joined */
};

int worker_start(struct worker *worker, struct workshop *workshop,
		 struct fault *fault);

/* Waits for its end, when the queue has ended. */
void worker_join(struct worker *worker);

#endif
