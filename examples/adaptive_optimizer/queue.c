/* SPDX-License-Identifier: Apache-2.0 */
#include "queue.h"

#include <tare/tare.h>

/* Uses the clock of now_ns(), for timed waits. */
static void cond_open(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(cond, &attr);
	(void)pthread_condattr_destroy(&attr);
}

void queue_open(struct queue *ret_queue, struct settings settings)
{
	*ret_queue = (struct queue){ .settings = settings };
	(void)pthread_mutex_init(&ret_queue->lock, NULL);
	cond_open(&ret_queue->can_put);
	cond_open(&ret_queue->can_take);
	cond_open(&ret_queue->has_turn);
	cond_open(&ret_queue->is_idle);
}

void queue_release(struct queue *queue)
{
	(void)pthread_mutex_destroy(&queue->lock);
	(void)pthread_cond_destroy(&queue->can_put);
	(void)pthread_cond_destroy(&queue->can_take);
	(void)pthread_cond_destroy(&queue->has_turn);
	(void)pthread_cond_destroy(&queue->is_idle);
}

/* Under the lock, so that the gauge changes in the order of the queue. */
static void set_length(struct queue *queue, unsigned length)
{
	queue->length = length;
	TARE_GAUGE("queue.length", "requests", length);
}

static void wait_for_room(struct queue *queue)
{
	TARE_SCOPE("queue.full");

	while (queue->length == QUEUE_BOUND)
		(void)pthread_cond_wait(&queue->can_put, &queue->lock);
}

void queue_put(struct queue *queue, struct request *request)
{
	(void)pthread_mutex_lock(&queue->lock);
	if (queue->length == QUEUE_BOUND)
		wait_for_room(queue);
	queue->ring[(queue->first + queue->length) % QUEUE_BOUND] = request;
	set_length(queue, queue->length + 1);
	(void)pthread_cond_signal(&queue->can_take);
	(void)pthread_mutex_unlock(&queue->lock);
}

struct tally queue_drain(struct queue *queue)
{
	struct tally tally;

	(void)pthread_mutex_lock(&queue->lock);
	while (queue->length || queue->in_work)
		(void)pthread_cond_wait(&queue->is_idle, &queue->lock);
	tally = queue->tally;
	(void)pthread_mutex_unlock(&queue->lock);
	return tally;
}

static void wake_all(struct queue *queue)
{
	(void)pthread_cond_broadcast(&queue->can_take);
	(void)pthread_cond_broadcast(&queue->has_turn);
}

void queue_close(struct queue *queue)
{
	(void)pthread_mutex_lock(&queue->lock);
	queue->is_closed = true;
	wake_all(queue);
	(void)pthread_mutex_unlock(&queue->lock);
}

/*
 * A worker that is parked must leave can_take at once, or it would consume
 * signals for the others: so all are woken.
 */
void queue_set(struct queue *queue, struct settings settings)
{
	(void)pthread_mutex_lock(&queue->lock);
	queue->settings = settings;
	wake_all(queue);
	(void)pthread_mutex_unlock(&queue->lock);
}

struct settings queue_settings(struct queue *queue)
{
	struct settings settings;

	(void)pthread_mutex_lock(&queue->lock);
	settings = queue->settings;
	(void)pthread_mutex_unlock(&queue->lock);
	return settings;
}

/* Is a batch ready? If not, waits for a change. */
static bool is_ready(struct queue *queue)
{
	int64_t due_ns;
	struct timespec until;

	if (queue->length == 0) {
		(void)pthread_cond_wait(&queue->can_take, &queue->lock);
		return false;
	}
	due_ns = queue->ring[queue->first]->arrival_ns + QUEUE_PATIENCE_NS;
	if (queue->length >= queue->settings.batch || queue->is_closed ||
	    now_ns() >= due_ns)
		return true;
	until = timespec_of(due_ns);
	(void)pthread_cond_timedwait(&queue->can_take, &queue->lock, &until);
	return false;
}

static void take(struct queue *queue, struct batch *ret_batch)
{
	unsigned n = queue->settings.batch;

	n = n < queue->length ? n : queue->length;
	n = n < QUEUE_MOST_BATCH ? n : QUEUE_MOST_BATCH;
	for (unsigned i = 0; i < n; i++)
		ret_batch->requests[i] =
			queue->ring[(queue->first + i) % QUEUE_BOUND];
	ret_batch->n = n;
	ret_batch->settings = queue->settings;
	queue->first = (queue->first + n) % QUEUE_BOUND;
	queue->in_work += n;
	set_length(queue, queue->length - n);
	(void)pthread_cond_signal(&queue->can_put);
	if (queue->length) /* the rest may be a batch for another worker */
		(void)pthread_cond_signal(&queue->can_take);
}

bool queue_take(struct queue *queue, unsigned index, struct batch *ret_batch)
{
	bool has_batch = false;

	(void)pthread_mutex_lock(&queue->lock);
	while (!has_batch && !(queue->is_closed && queue->length == 0)) {
		if (index >= queue->settings.threads) {
			if (queue->is_closed)
				break;
			(void)pthread_cond_wait(&queue->has_turn,
						&queue->lock);
		} else if (is_ready(queue)) {
			take(queue, ret_batch);
			has_batch = true;
		}
	}
	(void)pthread_mutex_unlock(&queue->lock);
	return has_batch;
}

void queue_done(struct queue *queue, unsigned n, uint64_t checksum)
{
	(void)pthread_mutex_lock(&queue->lock);
	queue->tally.requests += n;
	queue->tally.batches++;
	queue->tally.checksum += checksum;
	queue->in_work -= n;
	if (!queue->length && !queue->in_work)
		(void)pthread_cond_signal(&queue->is_idle);
	(void)pthread_mutex_unlock(&queue->lock);
}
