/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings: every event of a trace is in its ring or counted as dropped, the
 * newest ones where old ones are overwritten, the first ones where new ones
 * are discarded. What is aggregated beside it is complete in both.
 */
#include "scratch.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../check.h"
#include "base/platform.h"
#include "read/view.h"

#define THREADS 5u
#define RING 256u

struct produced {
	_Alignas(64) uint64_t first, later; /* scopes, by order */
	uint64_t failed;
	int64_t thread;
};

struct shared {
	struct produced of[THREADS];
	bool at_once;
	char path[512];
};

static struct shared *shared;
static pthread_barrier_t all_done; /* no thread takes over another's ring */

static uint64_t entries_of(const tare_view *view)
{
	const tare_health *health = tare_view_health(view);

	return health->trace_events + health->trace_dropped;
}

/* Less than a ring, just one, and several; `first` are those that fit. */
static void *record(void *arg)
{
	static const unsigned events[THREADS] = { 10, RING, RING + 1,
						  3 * RING, 40 * RING + 77 };
	unsigned index = (unsigned)(uintptr_t)arg;
	struct produced *p = &shared->of[index];

	p->thread = syscall(SYS_gettid);
	for (unsigned i = 0; i < events[index]; i++) {
		if (i < RING) {
			TARE_SCOPE("first");
			DONE(p->first, 1);
		} else if (i % 5) {
			TARE_SCOPE("later");
			DONE(p->later, 1);
		} else {
			TARE_SCOPE("later");
			TARE_FAIL("on purpose");
			DONE(p->later, 1);
			DONE(p->failed, 1);
		}
	}
	if (shared->at_once)
		(void)pthread_barrier_wait(&all_done);
	return NULL;
}

static void be_traced(void *arg)
{
	pthread_t thread[THREADS];

	scratch_start(arg);
	strcpy(shared->path, tare_ledger_path());
	(void)pthread_barrier_init(&all_done, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, record, (void *)i))
			_exit(98);
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(thread[i], NULL);
}

/* The same, but each ends before the next: all on one track. */
static void be_traced_in_turn(void *arg)
{
	pthread_t thread;

	scratch_start(arg);
	strcpy(shared->path, tare_ledger_path());
	for (uintptr_t i = 0; i < THREADS; i++) {
		if (pthread_create(&thread, NULL, record, (void *)i))
			_exit(98);
		(void)pthread_join(thread, NULL);
		/* Joined is a moment before gone. */
		while (tr_thread_alive((uint32_t)getpid(),
				       (uint32_t)shared->of[i].thread))
			(void)sched_yield();
	}
}

struct seen {
	uint64_t first, later, failed;
};

static struct seen events_of(const struct scratch_reading *r, int64_t thread)
{
	struct seen seen = { 0 };
	const tare_event *event;
	size_t n;

	if (!CHECK_INT(tare_view_events(r->view, &event, &n), 0))
		return seen;
	for (size_t i = 0; i < n; i++) {
		CHECK(i == 0 || event[i].start_ns >= event[i - 1].start_ns);
		if (event[i].thread != thread)
			continue;
		seen.first += strcmp(event[i].name, "first") == 0;
		seen.later += strcmp(event[i].name, "later") == 0;
		seen.failed += !event[i].ok;
	}
	return seen;
}

static void check_thread(const struct scratch_reading *r,
			 const struct produced *p, bool discard)
{
	struct seen seen = events_of(r, p->thread);
	uint64_t all = p->first + p->later;

	CHECK_INT(seen.first + seen.later, all < RING ? all : RING);
	if (discard)
		CHECK_INT(seen.first, p->first);
	else if (all >= 2 * RING)
		CHECK_INT(seen.later, RING);
	else
		CHECK_INT(seen.later, p->later);
}

/* Of all threads; the aggregates beside the rings are complete. */
static uint64_t check_sums(const struct scratch_reading *r)
{
	struct produced sum = { 0 };
	tare_stats later = scratch_row(r, "later", TARE_KIND_SCOPE);

	for (unsigned i = 0; i < THREADS; i++) {
		sum.first += shared->of[i].first;
		sum.later += shared->of[i].later;
		sum.failed += shared->of[i].failed;
	}
	CHECK_INT(scratch_row(r, "first", TARE_KIND_SCOPE).count, sum.first);
	CHECK_INT(later.count, sum.later);
	CHECK_INT(later.failures, sum.failed);
	return sum.first + sum.later;
}

static void run_at_once(const char *const *options, bool discard)
{
	struct scratch_reading r;

	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
	shared->at_once = true;
	if (scratch_run(be_traced, (void *)(uintptr_t)options, 100) &&
	    scratch_read(shared->path, &r)) {
		for (unsigned i = 0; i < THREADS; i++)
			check_thread(&r, &shared->of[i], discard);
		CHECK_INT(entries_of(r.view), check_sums(&r));
		scratch_close(&r);
	}
	scratch_unshare(shared, sizeof(*shared));
	scratch_leave();
}

TEST(a_ring_that_overwrites_keeps_the_newest)
{
	static const char *const options[] = { "trace", "true", "trace_events",
					       "256", NULL };

	run_at_once(options, false);
}

TEST(a_ring_that_discards_keeps_the_first)
{
	static const char *const options[] = { "trace", "true", "trace_events",
					       "256", "trace_mode", "discard",
					       NULL };

	run_at_once(options, true);
}

/* In turn, on one ring: who is told apart by marks, an entry each. */
static void run_in_turn(const char *const *options, unsigned ring)
{
	struct scratch_reading r;
	uint64_t n = 0;

	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
	if (scratch_run(be_traced_in_turn, (void *)(uintptr_t)options, 100) &&
	    scratch_read(shared->path, &r)) {
		CHECK_INT(tare_view_run(r.view)->n_tracks, 2);
		CHECK_INT(entries_of(r.view), check_sums(&r) + THREADS - 1);
		for (unsigned i = 0; i < THREADS; i++) {
			const struct produced *p = &shared->of[i];
			struct seen seen = events_of(&r, p->thread);

			n += seen.first + seen.later;
			if (!ring) {
				CHECK_INT(seen.first, p->first);
				CHECK_INT(seen.later, p->later);
			}
		}
		/* Every event is somebody's. */
		if (ring)
			CHECK(n >= ring - THREADS && n <= ring);
		scratch_close(&r);
	}
	scratch_unshare(shared, sizeof(*shared));
	scratch_leave();
}

TEST(threads_in_turn_on_one_ring_are_told_apart)
{
	static const char *const options[] = { "trace", "true", "trace_events",
					       "65536", NULL };

	run_in_turn(options, 0);
}

TEST(threads_are_told_apart_where_their_marks_were_overwritten)
{
	static const char *const options[] = { "trace", "true", "trace_events",
					       "256", NULL };

	run_in_turn(options, 256);
}

TEST(threads_are_told_apart_where_their_marks_were_discarded)
{
	static const char *const options[] = { "trace", "true", "trace_events",
					       "128", "trace_mode", "discard",
					       NULL };

	run_in_turn(options, 128);
}

static void be_alone(void *arg)
{
	scratch_start(arg);
	strcpy(shared->path, tare_ledger_path());
	(void)record((void *)(uintptr_t)1);
}

/* The cost of a probe is measured in it, and taken out again. */
TEST(the_ring_of_the_starting_thread_starts_empty)
{
	static const char *const options[] = { "trace", "true", "trace_events",
					       "256", "trace_mode", "discard",
					       NULL };
	struct scratch_reading r;

	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
	if (scratch_run(be_alone, (void *)(uintptr_t)options, 100) &&
	    scratch_read(shared->path, &r)) {
		CHECK_INT(entries_of(r.view), check_sums(&r));
		check_thread(&r, &shared->of[1], true);
		scratch_close(&r);
	}
	scratch_unshare(shared, sizeof(*shared));
	scratch_leave();
}
