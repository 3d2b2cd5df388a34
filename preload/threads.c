/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pthread_create: a thread is followed from its start to its end.
 *
 * The arguments for the new thread pass through a place of a fixed table,
 * which is free again as soon as the thread runs: no memory of the host. If
 * all places are used, the thread is created unchanged, and the sampler finds
 * it when it looks for threads.
 */
#include "preload.h"
#include "record/python.h"
#include "record/sampler.h"

#include <pthread.h>


#define PLACES 16384u /* threads created but not running yet */

struct place {
	uint32_t taken;
	void *(*start)(void *);
	void *arg;
	uint32_t title;	 /* of a Python thread */
	bool is_blocked; /* in the creating thread */
};

static struct place places[PLACES];
static uint32_t next_place;

static struct place *take_place(void)
{
	for (uint32_t i = 0; i < PLACES; i++) {
		struct place *place =
			&places[__atomic_fetch_add(&next_place, 1,
						   __ATOMIC_RELAXED) %
				PLACES];

		if (!__atomic_exchange_n(&place->taken, 1, __ATOMIC_ACQUIRE))
			return place;
	}
	return NULL;
}

static void give_place(struct place *place)
{
	__atomic_store_n(&place->taken, 0, __ATOMIC_RELEASE);
}

static void end_thread(void *arg)
{
	(void)arg;
	tr_sampler_thread_ends();
}

/* By a cleanup handler: pthread_exit() and cancellation end it, too. */
static void *run_thread(void *arg)
{
	struct place *place = arg;
	void *(*start)(void *) = place->start;
	void *result;
	uint32_t title;
	bool is_blocked;

	arg = place->arg;
	title = place->title;
	is_blocked = place->is_blocked;
	give_place(place);
	tr_python_title_set(title);
	if (is_blocked)
		tr_sampler_set_blocked(true);
	tr_sampler_thread_begins((const void *)(uintptr_t)start);
	pthread_cleanup_push(end_thread, NULL);
	result = start(arg);
	pthread_cleanup_pop(1);
	return result;
}

PRELOAD_API int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			       void *(*start)(void *), void *arg)
{
	__typeof__(&pthread_create) next = PRELOAD_NEXT(pthread_create);
	struct place *place = NULL;
	int err;

	if (!preload_is_own(PRELOAD_CALLER()) && tr_sampler_signal())
		place = take_place();
	if (!place)
		return next(thread, attr, start, arg);
	place->start = start;
	place->arg = arg;
	place->title = tr_python_title_new();
	place->is_blocked = tr_sampler_blocked() != 0;
	err = next(thread, attr, run_thread, place);
	if (err)
		give_place(place);
	return err;
}
