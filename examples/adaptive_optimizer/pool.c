/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <stdlib.h>

#include <tare/tare.h>

#include "random.h"

static void tokenise(const struct request *request, float *features)
{
	unsigned words;

	TARE_SCOPE("tokenise");
	words = text_tokenise(request->text, features);
	TARE_ITEMS(words);
}

static void resize(const struct request *request, float *features)
{
	TARE_SCOPE("resize");
	TARE_ITEMS(IMAGE_PIXELS);
	image_resize(request->pixels, features);
}

static void infer(const struct model *model, unsigned n,
		  const float (*inputs)[MODEL_INPUTS], unsigned *classes)
{
	TARE_SCOPE("model");
	TARE_ITEMS(n);
	model_run(model, n, inputs, classes);
}

/* Returns a sum over the answers, the same in any order. */
static uint64_t sum_up(const struct batch *batch, const unsigned *classes)
{
	uint64_t checksum = 0;

	for (unsigned i = 0; i < batch->n; i++) {
		uint64_t mixed = batch->requests[i]->id * MODEL_CLASSES +
				 classes[i];

		checksum += random_next(&mixed);
	}
	return checksum;
}

static uint64_t run_batch(const struct model *model, struct batch *batch)
{
	float inputs[QUEUE_MOST_BATCH][MODEL_INPUTS];
	unsigned classes[QUEUE_MOST_BATCH];

	TARE_OPERATION("batch");
	TARE_ATTR("phase", batch->requests[0]->phase);
	TARE_ATTR("size", batch->n);
	TARE_ATTR("batch", batch->settings.batch);
	TARE_ATTR("threads", batch->settings.threads);
	TARE_ITEMS(batch->n);

	for (unsigned i = 0; i < batch->n; i++) {
		tokenise(batch->requests[i], inputs[i]);
		resize(batch->requests[i], inputs[i] + TEXT_FEATURES);
	}
	infer(model, batch->n, (const float (*)[MODEL_INPUTS])inputs, classes);
	return sum_up(batch, classes);
}

/*
 * End to end: from when the request was due until its answer, including the
 * queue. Not inside the scope of the batch, which began later.
 */
static void answer(struct request *request)
{
	tare_duration_record(request->latency,
			     (uint64_t)(now_ns() - request->arrival_ns), NULL);
	free(request);
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	struct pool *pool = worker->pool;
	struct batch batch;

	while (queue_take(pool->queue, worker->index, &batch)) {
		uint64_t checksum;

		TARE_VALUE("batch.size", "requests", batch.n);
		TARE_GAUGE_ADD("workers.busy", "", 1);
		checksum = run_batch(pool->model, &batch);
		TARE_GAUGE_ADD("workers.busy", "", -1);
		for (unsigned i = 0; i < batch.n; i++)
			answer(batch.requests[i]);
		queue_done(pool->queue, batch.n, checksum);
	}
	return NULL;
}

/* As many as can be started; one is enough. */
int pool_start(struct pool *ret_pool, struct queue *queue,
	       const struct model *model, unsigned threads)
{
	*ret_pool = (struct pool){ .queue = queue, .model = model };
	while (ret_pool->n < threads && ret_pool->n < POOL_MOST_THREADS) {
		struct worker *worker = &ret_pool->workers[ret_pool->n];
		int err;

		*worker = (struct worker){ .pool = ret_pool,
					   .index = ret_pool->n };
		err = pthread_create(&worker->thread, NULL, worker_main,
				     worker);
		if (err)
			return ret_pool->n ? 0 : err;
		ret_pool->n++;
	}
	return 0;
}

void pool_join(struct pool *pool)
{
	for (unsigned i = 0; i < pool->n; i++)
		(void)pthread_join(pool->workers[i].thread, NULL);
}
