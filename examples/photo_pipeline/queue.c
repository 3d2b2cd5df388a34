/* SPDX-License-Identifier: Apache-2.0 */
#include "queue.h"

#include <stdlib.h>

#include <tare/tare.h>

int queue_open(struct queue *ret_queue, size_t bound, size_t workers,
	       struct fault *fault)
{
	size_t size = bound + workers;
	struct job *ring = calloc(size, sizeof(*ring));

	if (!ring)
		return fault_set(fault, "out of memory");
	*ret_queue = (struct queue){
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.can_put = PTHREAD_COND_INITIALIZER,
		.can_take = PTHREAD_COND_INITIALIZER,
		.ring = ring,
		.bound = bound,
		.size = size,
	};
	return 0;
}

void queue_free(struct queue *queue)
{
	for (size_t i = 0; i < queue->length; i++)
		photo_free(&queue->ring[(queue->first + i) %
					queue->size].photo);
	free(queue->ring);
	(void)pthread_mutex_destroy(&queue->lock);
	(void)pthread_cond_destroy(&queue->can_put);
	(void)pthread_cond_destroy(&queue->can_take);
}

/* Under the lock, so that the gauge changes in the order of the queue. */
static void set_length(struct queue *queue, size_t length)
{
	queue->length = length;
	TARE_GAUGE("queue.length", "jobs", (double)length);
}

static void append(struct queue *queue, const struct job *job)
{
	queue->ring[(queue->first + queue->length) % queue->size] = *job;
	set_length(queue, queue->length + 1);
	(void)pthread_cond_signal(&queue->can_take);
}

static void wait_for_room(struct queue *queue)
{
	TARE_SCOPE("queue.full");

	while (queue->length >= queue->bound)
		(void)pthread_cond_wait(&queue->can_put, &queue->lock);
}

void queue_put(struct queue *queue, const struct job *job)
{
	(void)pthread_mutex_lock(&queue->lock);
	if (queue->length >= queue->bound)
		wait_for_room(queue);
	append(queue, job);
	(void)pthread_mutex_unlock(&queue->lock);
}

void queue_close(struct queue *queue)
{
	(void)pthread_mutex_lock(&queue->lock);
	queue->is_closed = true;
	(void)pthread_cond_broadcast(&queue->can_take);
	(void)pthread_mutex_unlock(&queue->lock);
}

static bool is_over(const struct queue *queue)
{
	return queue->is_closed && queue->length == 0 && queue->in_work == 0;
}

static void wait_for_job(struct queue *queue)
{
	TARE_SCOPE("queue.empty");

	while (queue->length == 0 && !is_over(queue))
		(void)pthread_cond_wait(&queue->can_take, &queue->lock);
}

bool queue_take(struct queue *queue, struct job *ret_job)
{
	bool has_job;

	(void)pthread_mutex_lock(&queue->lock);
	if (queue->length == 0 && !is_over(queue))
		wait_for_job(queue);
	has_job = queue->length > 0;
	if (has_job) {
		*ret_job = queue->ring[queue->first];
		queue->first = (queue->first + 1) % queue->size;
		queue->in_work++;
		set_length(queue, queue->length - 1);
		(void)pthread_cond_signal(&queue->can_put);
	}
	(void)pthread_mutex_unlock(&queue->lock);
	return has_job;
}

void queue_done(struct queue *queue)
{
	(void)pthread_mutex_lock(&queue->lock);
	queue->in_work--;
	if (is_over(queue))
		(void)pthread_cond_broadcast(&queue->can_take);
	(void)pthread_mutex_unlock(&queue->lock);
}

void queue_put_back(struct queue *queue, const struct job *job)
{
	(void)pthread_mutex_lock(&queue->lock);
	queue->in_work--;
	append(queue, job);
	(void)pthread_mutex_unlock(&queue->lock);
}
