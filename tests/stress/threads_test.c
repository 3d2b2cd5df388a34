/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads: very many one after the other, and very many at once.
 */
#include "scratch.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../check.h"
#include "base/platform.h"
#include "read/view.h"

#define SHORT_THREADS 100000u
#define BATCH 64u
#define LIVE_THREADS (SCRATCH_TSAN ? 1000u : SCRATCH_ASAN ? 2000u : 10000u)
#define LIVE_EVENTS 100u
#define STACK_BYTES (SCRATCH_TSAN || SCRATCH_ASAN ? 256u << 10 : 32u << 10)

struct shared {
	uint64_t scopes, late, counts, values;
	uint64_t bytes_warm, bytes_end; /* of the ledger's file */
	uint64_t tracks_warm, tracks_end;
	uint64_t threads;
	uint64_t tasks, expected_tasks;
	char path[512];
};

static struct shared *shared;

static void add(uint64_t *field, uint64_t n)
{
	(void)__atomic_fetch_add(field, n, __ATOMIC_RELEASE);
}

static uint64_t ledger_bytes(void)
{
	struct stat st;

	return stat(tare_ledger_path(), &st) ? 0 : (uint64_t)st.st_blocks * 512;
}

static uint64_t count_tracks(void)
{
	tare_view *view;
	uint64_t n;

	if (tare_view_open("self", &view))
		return 0;
	n = tare_view_run(view)->n_tracks;
	tare_view_close(view);
	return n;
}

static uint64_t count_tasks(void)
{
	DIR *stream = opendir("/proc/self/task");
	const struct dirent *entry;
	uint64_t n = 0;

	while (stream && (entry = readdir(stream)))
		n += entry->d_name[0] != '.';
	if (stream)
		(void)closedir(stream);
	return n;
}

/* ---- one after the other ----------------------------------------------- */

static pthread_key_t key;

/* Runs in the last round of destructors: what could end has ended. */
static void record_late(void *value)
{
	uintptr_t round = (uintptr_t)value;

	/* The thread sanitizer has left the thread before the last round. */
	if (round < (SCRATCH_TSAN ? 2 : 4)) {
		(void)pthread_setspecific(key, (void *)(round + 1));
		return;
	}
	{
		TARE_SCOPE("late");
		TARE_COUNT("count", 5);
	}
	add(&shared->late, 1);
	add(&shared->counts, 5);
}

static void *be_short(void *arg)
{
	(void)pthread_setspecific(key, (void *)(uintptr_t)1);
	{
		TARE_SCOPE("short");
		TARE_VALUE("value", "1", (double)(uintptr_t)arg);
		TARE_COUNT("count", 1);
	}
	add(&shared->scopes, 1);
	add(&shared->values, 1);
	add(&shared->counts, 1);
	return NULL;
}

static void run_batch(void)
{
	pthread_t thread[BATCH];

	for (uintptr_t i = 0; i < BATCH; i++)
		if (pthread_create(&thread[i], NULL, be_short, (void *)i))
			_exit(98);
	for (unsigned i = 0; i < BATCH; i++)
		(void)pthread_join(thread[i], NULL);
	shared->threads += BATCH;
}

static void be_batches(void *arg)
{
	unsigned n = scratch_times(SHORT_THREADS) / BATCH + 1;

	scratch_start(arg);
	strcpy(shared->path, tare_ledger_path());
	(void)pthread_key_create(&key, record_late);
	for (unsigned i = 0; i < n; i++) {
		run_batch();
		if (i == n / 4) {
			shared->bytes_warm = ledger_bytes();
			shared->tracks_warm = count_tracks();
		}
	}
	shared->bytes_end = ledger_bytes();
	shared->tracks_end = count_tracks();
}

/*
 * A track more now and then is luck, and how many threads live at once is the
 * scheduler's choice: at most a batch and this one. More than twice as many
 * tracks, and still more of them, is growth. Bytes: time slices are closed
 * meanwhile; a track has 32 KiB at most here, with its ring.
 */
static void check_growth(void)
{
	uint64_t more = shared->tracks_end - shared->tracks_warm;

	CHECK(shared->tracks_end >= shared->tracks_warm);
	CHECK(more <= BATCH / 2 || shared->tracks_end <= 2 * (BATCH + 1));
	CHECK(shared->bytes_end < shared->bytes_warm + (1u << 20) +
					  more * (32u << 10));
}

static void run_short(const char *const *options)
{
	struct scratch_reading r;

	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
	if (scratch_run(be_batches, (void *)(uintptr_t)options, 600) &&
	    scratch_read(shared->path, &r)) {
		CHECK_INT(shared->scopes, shared->threads);
		CHECK_INT(shared->late, shared->threads);
		CHECK_INT(scratch_row(&r, "short", TARE_KIND_SCOPE).count,
			  shared->scopes);
		CHECK_INT(scratch_row(&r, "late", TARE_KIND_SCOPE).count,
			  shared->late);
		CHECK_INT(scratch_row(&r, "value", TARE_KIND_VALUE).count,
			  shared->values);
		CHECK_INT(scratch_row(&r, "count", TARE_KIND_COUNTER).count,
			  shared->counts);
		CHECK_INT(tare_view_health(r.view)->lost, 0);
		CHECK_INT(tare_view_health(r.view)->threads,
			  shared->threads + 1);
		printf("# %llu threads, %llu tracks, %lld of them and %lld "
		       "KiB in the last three quarters\n",
		       (unsigned long long)shared->threads,
		       (unsigned long long)shared->tracks_end,
		       (long long)(shared->tracks_end - shared->tracks_warm),
		       (long long)(shared->bytes_end - shared->bytes_warm) >>
			       10);
		check_growth();
		scratch_close(&r);
	}
	scratch_unshare(shared, sizeof(*shared));
	scratch_leave();
}

TEST(a_hundred_thousand_short_threads_use_tracks_again)
{
	run_short(NULL);
}

TEST(tracks_with_a_ring_are_used_again)
{
	static const char *const options[] = { "trace", "true",
					       "trace_events", "256", NULL };

	run_short(options);
}

/* ---- dying in the middle of it ----------------------------------------- */

#define DYING_THREADS 1200u
#define AT_ONCE 4u

/* What the threads on a place did, one after the other. */
struct mortal {
	_Alignas(64) uint64_t begun, ended; /* scopes */
	uint64_t announced, observed;	    /* values */
	uint64_t sum, sum_announced;
};

static struct mortal *mortal;

static void *be_mortal(void *arg)
{
	struct mortal *m = &mortal[(uintptr_t)arg];
	TARE_SCOPE_SITE_DEFINE(outer_site, "outer");
	TARE_SCOPE_SITE_DEFINE(inner_site, "inner");
	TARE_SITE(value, TARE_KIND_VALUE, TARE_TYPE_CUSTOM, "mortal", "1");
	tare_scope outer, inner;

	for (unsigned i = 1;; i++) {
		DONE(m->begun, 2);
		outer = tare_scope_begin(&outer_site);
		inner = tare_scope_begin(&inner_site);
		if (i % 8 == 0)
			tare_fail("on purpose");
		tare_scope_end(inner);
		DONE(m->ended, 1);
		DONE(m->announced, 1);
		tare_value_observe(&value, i % 100 ? 2 : -3);
		DONE(m->observed, 1);
		tare_scope_end(outer);
		DONE(m->ended, 1);
	}
	return NULL;
}

/* No destructor, no clean-up: the thread is gone, wherever it was. */
static void die(int number)
{
	(void)number;
	(void)syscall(SYS_exit, 0);
}

/* A clock on which a time slice passes every few events. */
static int64_t racing_clock(int64_t *ret_real_ns)
{
	static int64_t now = 1000000000;

	*ret_real_ns = __atomic_add_fetch(&now, INT64_C(1) << 29,
					  __ATOMIC_RELAXED);
	return *ret_real_ns;
}

static void be_cemetery(void *arg)
{
	struct sigaction action = { .sa_handler = die };
	uint64_t random = 1;
	pthread_t thread[AT_ONCE];

	if (arg)
		tr_clock_replace(racing_clock);
	scratch_start(arg);
	strcpy(shared->path, tare_ledger_path());
	(void)sigaction(SIGUSR1, &action, NULL);
	for (unsigned i = 0; i < scratch_times(DYING_THREADS); i++) {
		uintptr_t place = i % AT_ONCE;

		if (i >= AT_ONCE) {
			(void)usleep(scratch_random(&random) % 500);
			(void)pthread_kill(thread[place], SIGUSR1);
			(void)pthread_join(thread[place], NULL);
		}
		if (pthread_create(&thread[place], NULL, be_mortal,
				   (void *)place))
			_exit(98);
		shared->threads++;
	}
	for (unsigned i = 0; i < AT_ONCE; i++) {
		(void)pthread_kill(thread[i], SIGUSR1);
		(void)pthread_join(thread[i], NULL);
	}
}

static void check_cemetery(const struct scratch_reading *r)
{
	struct mortal sum = { 0 };
	uint64_t scopes = scratch_row(r, "outer", TARE_KIND_SCOPE).count +
			  scratch_row(r, "inner", TARE_KIND_SCOPE).count;
	uint64_t values = scratch_row(r, "mortal", TARE_KIND_VALUE).count;

	for (unsigned i = 0; i < AT_ONCE; i++) {
		sum.begun += mortal[i].begun;
		sum.ended += mortal[i].ended;
		sum.announced += mortal[i].announced;
		sum.observed += mortal[i].observed;
	}
	printf("# %llu threads died, %u tracks, %llu scopes; %llu repaired\n",
	       (unsigned long long)shared->threads,
	       tare_view_run(r->view)->n_tracks, (unsigned long long)scopes,
	       (unsigned long long)tare_view_health(r->view)->repairs);
	CHECK(scopes >= sum.ended && scopes <= sum.begun);
	CHECK(values >= sum.observed && values <= sum.announced);
	CHECK_INT(tare_view_health(r->view)->lost, 0);
}

static void run_cemetery(const char *const *options)
{
	struct scratch_reading r;

	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
	mortal = scratch_share(AT_ONCE * sizeof(*mortal));
	if (scratch_run(be_cemetery, (void *)(uintptr_t)options, 300) &&
	    scratch_read(shared->path, &r)) {
		check_cemetery(&r);
		scratch_close(&r);
	}
	scratch_unshare(mortal, AT_ONCE * sizeof(*mortal));
	scratch_unshare(shared, sizeof(*shared));
	scratch_leave();
}

TEST(threads_may_die_anywhere)
{
	if (SCRATCH_TSAN)
		SKIP("the thread sanitizer must see a thread's end");
	run_cemetery(NULL);
}

TEST(threads_may_die_while_slices_turn)
{
	static const char *const options[] = { "clock", "monotonic", NULL };

	if (SCRATCH_TSAN)
		SKIP("the thread sanitizer must see a thread's end");
	run_cemetery(options);
}

/* ---- all at once ------------------------------------------------------- */

static pthread_barrier_t all_there, all_done, all_seen;

static void *be_live(void *arg)
{
	(void)arg;
	(void)pthread_barrier_wait(&all_there);
	for (unsigned i = 0; i < LIVE_EVENTS / 2; i++) {
		{
			TARE_SCOPE("live");
		}
		TARE_VALUE("value", "1", 1);
	}
	add(&shared->scopes, LIVE_EVENTS / 2);
	add(&shared->values, LIVE_EVENTS / 2);
	(void)pthread_barrier_wait(&all_done);
	(void)pthread_barrier_wait(&all_seen);
	return NULL;
}

/* As many as the system lets us have, at most `most`. */
static unsigned can_have(unsigned most)
{
	static const char *const limits[] = {
		"/proc/sys/kernel/threads-max", "/proc/sys/kernel/pid_max",
		"/sys/fs/cgroup/pids.max", "/proc/sys/vm/max_map_count",
	};

	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		FILE *file = fopen(limits[i], "re");
		unsigned limit;

		if (file && fscanf(file, "%u", &limit) == 1 &&
		    limit / 3 < most)
			most = limit / 3;
		if (file)
			(void)fclose(file);
	}
	return most;
}

static void start_live(pthread_t *thread, unsigned n)
{
	pthread_attr_t attr;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	(void)pthread_barrier_init(&all_there, NULL, n + 1);
	(void)pthread_barrier_init(&all_done, NULL, n + 1);
	(void)pthread_barrier_init(&all_seen, NULL, n + 1);
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&thread[i], &attr, be_live, NULL))
			_exit(98);
}

static void *be_nothing(void *arg)
{
	return arg;
}

/* With what a sanitizer adds when there is a first thread. */
static uint64_t count_own_tasks(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, be_nothing, NULL) ||
	    pthread_join(thread, NULL))
		_exit(98);
	return count_tasks();
}

static void be_crowd(void *arg)
{
	unsigned n = can_have(LIVE_THREADS);
	pthread_t *thread = calloc(n, sizeof(*thread));
	uint64_t tasks = count_own_tasks();

	scratch_start(arg);
	strcpy(shared->path, tare_ledger_path());
	start_live(thread, n);
	(void)pthread_barrier_wait(&all_there);
	(void)pthread_barrier_wait(&all_done);
	shared->threads = n;
	shared->tasks = count_tasks();
	shared->expected_tasks = tasks + n;
	(void)pthread_barrier_wait(&all_seen);
	for (unsigned i = 0; i < n; i++)
		(void)pthread_join(thread[i], NULL);
	free(thread);
}

static void run_crowd(const char *const *options, bool all)
{
	struct scratch_reading r;
	const tare_health *health;
	uint64_t counted;

	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
	if (scratch_run(be_crowd, (void *)(uintptr_t)options, 600) &&
	    scratch_read(shared->path, &r)) {
		health = tare_view_health(r.view);
		counted = scratch_row(&r, "live", TARE_KIND_SCOPE).count +
			  scratch_row(&r, "value", TARE_KIND_VALUE).count;
		printf("# %llu threads at once, %llu of %llu events lost, "
		       "ledger %llu KiB\n",
		       (unsigned long long)shared->threads,
		       (unsigned long long)health->lost,
		       (unsigned long long)(shared->scopes + shared->values),
		       (unsigned long long)tare_view_run(r.view)
				       ->ledger_bytes >> 10);
		CHECK_INT(shared->tasks, shared->expected_tasks);
		CHECK_INT(counted + health->lost,
			  shared->scopes + shared->values);
		if (all)
			CHECK_INT(health->lost, 0);
		scratch_close(&r);
	}
	scratch_unshare(shared, sizeof(*shared));
	scratch_leave();
}

TEST(ten_thousand_threads_record_at_once)
{
	static const char *const options[] = { "ledger_limit", "256M", NULL };

	run_crowd(options, true);
}

TEST(what_ten_thousand_threads_lose_at_the_limit_is_counted)
{
	static const char *const options[] = { "ledger_limit", "4M", NULL };

	run_crowd(options, false);
}
