/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A measured program for the tests of traces: nested scopes in three threads
 * that have names, operations with attributes of all kinds, arrows between
 * them, scopes of fibers that overlap, a gauge, a counter, steps.
 *
 *	tracer N [hold]		N steps; hold: "ready", then waits for the end
 *				of stdin with a scope open
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tare/tare.h>

static int n_steps;
static pthread_barrier_t all; /* none takes the place of one that ended */

static void part(void)
{
	TARE_SCOPE("part");
}

static void make(int64_t id)
{
	TARE_OPERATION("make");
	TARE_ATTR("flow_out", id);
	part();
}

static void take(int64_t id)
{
	TARE_OPERATION_IN("shop", "take");
	TARE_ATTR("flow_in", id);
	TARE_ATTR("text", "quote \" back \\ bell \x07 no \xff text, \u00fc");
	TARE_ATTR("half", 0.5);
	TARE_ATTR("error", "an attribute of that name");
	part();
	part();
	if (id % 10 == 9)
		TARE_FAIL("line one\nline two");
}

static void *maker(void *arg)
{
	(void)pthread_setname_np(pthread_self(), "maker");
	for (int i = 0; i < n_steps; i++)
		make(i);
	(void)pthread_barrier_wait(&all);
	return arg;
}

static void *taker(void *arg)
{
	(void)pthread_setname_np(pthread_self(), "taker \"2\"");
	for (int i = 0; i < n_steps; i++)
		take(i);
	(void)pthread_barrier_wait(&all);
	return arg;
}

/* Two scopes, of which the one that begins first ends first. */
static void overlap(void)
{
	TARE_SCOPE_SITE_DEFINE(first, "fiber.first");
	TARE_SCOPE_SITE_DEFINE(second, "fiber.second");
	tare_fiber one, two;
	tare_scope a, b;

	a = tare_scope_begin(&first);
	tare_fiber_save(&one);
	(void)usleep(2000);
	b = tare_scope_begin(&second);
	(void)usleep(2000);
	tare_fiber_save(&two);
	tare_fiber_restore(&one);
	(void)usleep(2000);
	tare_scope_end(a);
	tare_fiber_restore(&two);
	(void)usleep(2000);
	tare_scope_end(b);
}

int main(int argc, char **argv)
{
	pthread_t thread[2];
	char byte;

	n_steps = argc > 1 ? atoi(argv[1]) : 10;
	overlap();
	(void)pthread_barrier_init(&all, NULL, 3);
	(void)pthread_create(&thread[0], NULL, maker, NULL);
	(void)pthread_create(&thread[1], NULL, taker, NULL);
	{
		TARE_SCOPE("outer");
		for (int i = 0; i < n_steps; i++) {
			TARE_SCOPE("inner");
			part();
			TARE_COUNT("bytes", 10);
			TARE_GAUGE("queue", "1", i);
			TARE_STEP();
		}
	}
	(void)pthread_barrier_wait(&all);
	(void)pthread_join(thread[0], NULL);
	(void)pthread_join(thread[1], NULL);
	if (argc > 2 && strcmp(argv[2], "hold") == 0) {
		TARE_SCOPE("held");

		(void)puts("ready");
		(void)fflush(stdout);
		while (read(STDIN_FILENO, &byte, 1) > 0)
			;
	}
	return 0;
}
