/* SPDX-License-Identifier: Apache-2.0 */
#include "optimizer.h"

#include <tare/tare.h>

#include "conditions.h"
#include "request.h"

static void show(struct settings settings)
{
	TARE_GAUGE("pool.threads", "threads", settings.threads);
	TARE_GAUGE("pool.batch", "requests", settings.batch);
}

/* Returns whether the settings changed. */
static bool look(struct optimizer *optimizer, const char *phase)
{
	struct conditions conditions;
	struct settings before = optimizer->control.settings, after;

	TARE_OPERATION("adapt");
	TARE_ATTR("phase", phase);
	conditions = conditions_read(optimizer->budget_bytes);
	conditions_record(&conditions);
	optimizer->control = controller_next(&optimizer->limits,
					     optimizer->control, &conditions);
	after = optimizer->control.settings;
	TARE_ATTR("threads", after.threads);
	TARE_ATTR("batch", after.batch);
	show(after);
	if (after.threads == before.threads && after.batch == before.batch)
		return false;
	TARE_COUNT("adapt.changes", 1);
	queue_set(optimizer->queue, after);
	return true;
}

static void *optimizer_main(void *arg)
{
	struct optimizer *optimizer = arg;
	int64_t next_ns = now_ns();

	(void)pthread_mutex_lock(&optimizer->lock);
	while (!optimizer->is_over) {
		struct timespec until = timespec_of(next_ns);

		if (now_ns() < next_ns) {
			(void)pthread_cond_timedwait(&optimizer->is_stopped,
						     &optimizer->lock, &until);
			continue;
		}
		/* Under the lock, so that a reading belongs to one phase. */
		optimizer->changes += look(optimizer, optimizer->phase);
		optimizer->looks++;
		next_ns = now_ns() + optimizer->interval_ns;
	}
	(void)pthread_mutex_unlock(&optimizer->lock);
	return NULL;
}

int optimizer_start(struct optimizer *optimizer, struct queue *queue)
{
	pthread_condattr_t attr;

	optimizer->queue = queue;
	optimizer->control = (struct control){
		.settings = queue_settings(queue)
	};
	optimizer->phase = "start";
	optimizer->is_over = false;
	optimizer->looks = optimizer->changes = 0;
	show(optimizer->control.settings);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&optimizer->is_stopped, &attr);
	(void)pthread_condattr_destroy(&attr);
	(void)pthread_mutex_init(&optimizer->lock, NULL);
	return pthread_create(&optimizer->thread, NULL, optimizer_main,
			      optimizer);
}

void optimizer_phase(struct optimizer *optimizer, const char *phase)
{
	(void)pthread_mutex_lock(&optimizer->lock);
	optimizer->phase = phase;
	(void)pthread_mutex_unlock(&optimizer->lock);
}

void optimizer_stop(struct optimizer *optimizer)
{
	(void)pthread_mutex_lock(&optimizer->lock);
	optimizer->is_over = true;
	(void)pthread_cond_signal(&optimizer->is_stopped);
	(void)pthread_mutex_unlock(&optimizer->lock);
	(void)pthread_join(optimizer->thread, NULL);
	(void)pthread_cond_destroy(&optimizer->is_stopped);
	(void)pthread_mutex_destroy(&optimizer->lock);
}
