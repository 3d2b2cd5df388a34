/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of stages against the real clock: a push pipeline of three threads
 * and a pull pipeline whose stages are busy for known times. The test reads
 * the clock around the same work, so a loaded machine makes both longer. Only
 * a thread that has to wait for a processor between the two readings is far
 * off by chance; an error of ours is there each time.
 */
#define TARE_PIPELINE "real"

#include "check.h"
#include "scene.h"
#include "read/view.h"

#include <tare/read/pipeline.h>
#include <tare/tare.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RECORDS 120
#define STAGES 3
#define FAR_OFF 3 /* exit status of a play */
#define TRIES 10

static const double busy_us[STAGES] = { 200, 500, 1000 };
static double measured_ns[STAGES], waited_ns[STAGES];
static bool is_far_off;
static unsigned failures_before;

static double now_ns(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Busy for so much CPU time; what that took is in measured_ns. */
static void work(int stage)
{
	double begin = now_ns(CLOCK_MONOTONIC);
	double until = now_ns(CLOCK_THREAD_CPUTIME_ID) + busy_us[stage] * 1e3;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
	measured_ns[stage] += now_ns(CLOCK_MONOTONIC) - begin;
}

static const tare_stage_stats *stage_of(const tare_pipeline *line,
					const char *name)
{
	for (size_t i = 0; i < line->n_stages; i++)
		if (strcmp(line->stages[i].name, name) == 0)
			return &line->stages[i];
	CHECK(false);
	return &line->stages[0];
}

static void check_close(const char *what, double is, double wanted)
{
	printf("# %s: %.3f ms, by the test %.3f ms\n", what, is / 1e6,
	       wanted / 1e6);
	if (!(is > wanted * 0.95 && is < wanted * 1.05))
		is_far_off = true;
}

static void close_view(tare_view *view)
{
	tare_view_close(view);
	if (is_far_off && check_failures() == failures_before) {
		(void)fflush(stdout);
		exit(FAR_OFF);
	}
}

static void play_until_close(void (*play)(void))
{
	int status, tries = 0;

	do
		status = scene_status(play);
	while (status == FAR_OFF && ++tries < TRIES);
	CHECK_INT(status, 0);
}

static void start(void)
{
	static const char *const options[] = { NULL };

	failures_before = check_failures();
	scene_start(options);
}

static const tare_pipeline *line_of(tare_view *view)
{
	const tare_pipeline *line = NULL;
	size_t n = 0;

	CHECK_INT(tare_view_pipelines(view, 2, &line, &n), 0);
	return CHECK_INT(n, 1) && CHECK_INT(line->n_stages, STAGES) ? line :
								      NULL;
}

static int most(const double *of)
{
	int at = 0;

	for (int i = 1; i < STAGES; i++)
		if (of[i] > of[at])
			at = i;
	return at;
}

static void check_times(const tare_pipeline *line, const char *const *names)
{
	for (int i = 0; i < STAGES; i++) {
		const tare_stage_stats *s = stage_of(line, names[i]);

		CHECK_STR(line->stages[i].name, names[i]);
		check_close(names[i], s->own_ns, measured_ns[i]);
		CHECK(measured_ns[i] >= RECORDS * busy_us[i] * 1e3);
	}
}

/* ---- push, a thread a stage -------------------------------------------- */

struct item {
	tare_ticket ticket;
	double since;
};

/* Bounded, so that the slowest stage is felt by all. */
struct queue {
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct item item[4];
	unsigned from, to;
	tare_queue tare;
};

static struct queue queues[STAGES - 1];

static void put(struct queue *q)
{
	struct item *item;

	TARE_STAGE_WAIT("room");
	(void)pthread_mutex_lock(&q->lock);
	while (q->to - q->from == 4)
		(void)pthread_cond_wait(&q->change, &q->lock);
	item = &q->item[q->to++ % 4];
	item->since = now_ns(CLOCK_MONOTONIC);
	tare_queue_enter(&q->tare, &item->ticket);
	(void)pthread_cond_signal(&q->change);
	(void)pthread_mutex_unlock(&q->lock);
}

static void take(struct queue *q, int stage)
{
	struct item *item;

	(void)pthread_mutex_lock(&q->lock);
	while (q->to == q->from)
		(void)pthread_cond_wait(&q->change, &q->lock);
	item = &q->item[q->from++ % 4];
	tare_queue_leave(&q->tare, &item->ticket);
	waited_ns[stage] += now_ns(CLOCK_MONOTONIC) - item->since;
	(void)pthread_cond_signal(&q->change);
	(void)pthread_mutex_unlock(&q->lock);
}

static void read_one(void)
{
	TARE_STAGE("read");
	work(0);
	put(&queues[0]);
}

static void resize_one(void)
{
	TARE_STAGE("resize");
	work(1);
	put(&queues[1]);
}

static void encode_one(void)
{
	TARE_STAGE("encode");
	work(2);
}

static void *reader(void *arg)
{
	for (int i = 0; i < RECORDS; i++)
		read_one();
	return arg;
}

static void *resizer(void *arg)
{
	for (int i = 0; i < RECORDS; i++) {
		take(&queues[0], 1);
		resize_one();
	}
	return arg;
}

static void *encoder(void *arg)
{
	for (int i = 0; i < RECORDS; i++) {
		take(&queues[1], 2);
		encode_one();
	}
	return arg;
}

static void play_push(void)
{
	static const char *const names[] = { "read", "resize", "encode" };
	void *(*const run[])(void *) = { reader, resizer, encoder };
	const tare_pipeline *line;
	pthread_t thread[STAGES];
	tare_view *view;

	start();
	for (int i = 0; i < STAGES - 1; i++) {
		(void)pthread_mutex_init(&queues[i].lock, NULL);
		(void)pthread_cond_init(&queues[i].change, NULL);
		tare_queue_init(&queues[i].tare, "real", names[i + 1]);
	}
	for (int i = 0; i < STAGES; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, run[i], NULL), 0);
	for (int i = 0; i < STAGES; i++)
		(void)pthread_join(thread[i], NULL);
	view = scene_view();
	line = line_of(view);
	if (!line)
		return;
	check_times(line, names);
	for (int i = 1; i < STAGES; i++)
		check_close("waits", line->stages[i].queue.mean * RECORDS,
			    waited_ns[i]);
	for (int i = 0; i < STAGES; i++) {
		CHECK_INT(line->stages[i].in, RECORDS);
		CHECK_INT(line->stages[i].out, RECORDS);
	}
	CHECK_INT(line->threads, STAGES);
	CHECK(is_far_off || (int)line->bottleneck == most(measured_ns));
	/* The slowest stage hardly waits for room, those before it do. */
	CHECK(line->stages[0].waiting_ns > line->stages[2].waiting_ns);
	close_view(view);
}

TEST(threads_that_push_are_within_5_percent)
{
	play_until_close(play_push);
}

/* ---- pull -------------------------------------------------------------- */

static bool source(void *self, void *record)
{
	(void)record;
	work(0);
	return ++*(int *)self <= RECORDS;
}

static bool second(void *self, void *record)
{
	if (!tare_stage_next(self, record))
		return false;
	work(1);
	return true;
}

static bool third(void *self, void *record)
{
	if (!tare_stage_next(self, record))
		return false;
	work(2);
	return true;
}

static void play_pull(void)
{
	static const char *const names[] = { "source", "second", "third" };
	double behind = 0, since = 0;
	const tare_pipeline *line;
	tare_stage stage[STAGES];
	tare_view *view;
	int n = 0, record;

	start();
	TARE_STAGE_WRAP_NEXT(&stage[0], source, &n);
	TARE_STAGE_WRAP_NEXT(&stage[1], second, &stage[0]);
	TARE_STAGE_WRAP_NEXT(&stage[2], third, &stage[1]);
	for (;;) {
		double begin = now_ns(CLOCK_MONOTONIC);

		if (since > 0)
			behind += begin - since;
		if (!tare_stage_next(&stage[2], &record))
			break;
		since = now_ns(CLOCK_MONOTONIC);
		for (int i = 0; i < 5000; i++)
			(void)now_ns(CLOCK_MONOTONIC);
	}
	view = scene_view();
	line = line_of(view);
	if (!line)
		return;
	check_times(line, names);
	CHECK_INT(line->stages[2].in, RECORDS);
	CHECK_INT(line->stages[2].out, RECORDS);
	check_close("behind all", line->stages[2].downstream_ns, behind);
	check_close("behind the source", line->stages[0].downstream_ns,
		    measured_ns[1] + measured_ns[2] + behind);
	check_close("before the last", line->stages[2].upstream_ns,
		    measured_ns[0] + measured_ns[1]);
	CHECK(is_far_off || (int)line->bottleneck == most(measured_ns));
	close_view(view);
}

TEST(iterators_that_pull_are_within_5_percent)
{
	play_until_close(play_pull);
}
