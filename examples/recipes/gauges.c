/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 7: how long is the queue now, and how long was it?
 *
 *	tare run -- ./recipe_gauges
 *
 * TARE_GAUGE sets a gauge: the length of a queue, a temperature. The report has
 * the current value, and mean, median, p95 and max of all settings.
 * TARE_GAUGE_ADD changes a gauge up and down from several threads: here every
 * thread adds one while it works. A gauge is one number for all threads.
 */
#include <pthread.h>
#include <stdio.h>
#include <tare/tare.h>

#define WORKERS 4
#define JOBS 200

static struct queue {
	pthread_mutex_t lock;
	int length;
} queue = { PTHREAD_MUTEX_INITIALIZER, JOBS };

/* The gauge is set under the lock, in the order of the queue. */
static int take(void)
{
	int has_job;

	pthread_mutex_lock(&queue.lock);
	has_job = queue.length > 0;
	if (has_job) {
		queue.length--;
		TARE_GAUGE("queue.length", "jobs", queue.length);
	}
	pthread_mutex_unlock(&queue.lock);
	return has_job;
}

static void *worker(void *arg)
{
	int *done = arg;

	TARE_GAUGE_ADD("workers.busy", "", 1);
	while (take())
		(*done)++;
	TARE_GAUGE_ADD("workers.busy", "", -1);
	return NULL;
}

int main(void)
{
	pthread_t thread[WORKERS];
	int done[WORKERS] = { 0 }, n = 0, sum = 0;

	while (n < WORKERS && !pthread_create(&thread[n], NULL, worker,
					      &done[n]))
		n++;
	for (int i = 0; i < n; i++) {
		pthread_join(thread[i], NULL);
		sum += done[i];
	}
	printf("%d jobs done, %d left\n", sum, queue.length);
	return 0;
}
