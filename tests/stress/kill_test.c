/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kill: a process in which four threads record is killed at a random
 * instant. Its ledger must be readable, and hold every measurement that was
 * finished before; the one that a thread was in may be in it or not.
 */
#include "scratch.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"
#include "base/platform.h"

#define THREADS 4u
#define KILLS 2000u

enum series {
	OUTER,	   /* scope around all others */
	INNER,	   /* two of them a round */
	FAILING,   /* scope that fails, with attributes: has a record */
	SIZE,	   /* value */
	LEVEL,	   /* gauge */
	STEPS,	   /* counter */
	ITEMS,	   /* items of OUTER */
	HANDLER,   /* scope of a signal handler */
	NOTED,	   /* value of a signal handler */
	N_SERIES
};

static const char *const series_name[] = {
	"outer", "inner", "failing", "size", "level", "steps", "items",
	"handler", "noted",
};

static const enum tare_kind series_kind[] = {
	TARE_KIND_SCOPE, TARE_KIND_SCOPE,   TARE_KIND_SCOPE,
	TARE_KIND_VALUE, TARE_KIND_GAUGE,   TARE_KIND_COUNTER,
	TARE_KIND_SCOPE, TARE_KIND_SCOPE,   TARE_KIND_VALUE,
};

/* What a thread did, on pages that the killed process shares with us. */
struct produced {
	_Alignas(64) uint64_t done[N_SERIES]; /* finished calls; a sum */
	uint64_t next[N_SERIES]; /* what the call under way would add */
	uint64_t sum[N_SERIES];	 /* of values */
	uint64_t next_value[N_SERIES];
};

struct shared {
	uint32_t ready; /* threads under way */
	char path[512];
	struct produced of[THREADS];
};

static struct shared *shared;

/* ---- the process to be killed ------------------------------------------ */

struct sites {
	tare_site *of[N_SERIES];
};

static struct sites sites[THREADS];
static __thread unsigned self = THREADS;

static tare_site *site_of(unsigned thread, enum series series)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "%s.%u", series_name[series],
		       thread);
	return tare_site_get(series_kind[series], TARE_TYPE_CUSTOM, name, NULL,
			     NULL);
}

static void started(struct produced *p, enum series series, uint64_t n)
{
	__atomic_store_n(&p->next[series], n, __ATOMIC_RELEASE);
}

static void finished(struct produced *p, enum series series)
{
	DONE(p->done[series], p->next[series]);
	__atomic_store_n(&p->next[series], 0, __ATOMIC_RELEASE);
}


static void plain_scope(struct produced *p, enum series series)
{
	tare_scope scope = tare_scope_begin(sites[self].of[series]);

	if (!scope.frame)
		return; /* lost, and counted so */
	started(p, series, 1);
	tare_scope_end(scope);
	finished(p, series);
}

static void failing_scope(struct produced *p, uint64_t id)
{
	tare_scope scope = tare_scope_begin(sites[self].of[FAILING]);

	tare_attr_int("id", (int64_t)id);
	tare_fail("did not work");
	started(p, FAILING, 1);
	tare_scope_end(scope);
	finished(p, FAILING);
}

static void observe(struct produced *p, enum series series, uint64_t value)
{
	__atomic_store_n(&p->next_value[series], value, __ATOMIC_RELEASE);
	started(p, series, 1);
	if (series == LEVEL)
		tare_gauge_set(sites[self].of[series], (double)value);
	else
		tare_value_observe(sites[self].of[series], (double)value);
	finished(p, series);
	DONE(p->sum[series], value);
	__atomic_store_n(&p->next_value[series], 0, __ATOMIC_RELEASE);
}

static void one_round(struct produced *p, uint64_t *random)
{
	uint64_t r = scratch_random(random), n = 1 + (r >> 8 & 7);
	tare_scope outer = tare_scope_begin(sites[self].of[OUTER]);

	plain_scope(p, INNER);
	if (r & 1)
		observe(p, SIZE, n * n);
	if (r & 2) {
		started(p, STEPS, n);
		tare_counter_add(sites[self].of[STEPS], n);
		finished(p, STEPS);
	}
	if (r & 4) {
		started(p, ITEMS, n);
		tare_items(n);
		finished(p, ITEMS);
	}
	plain_scope(p, INNER);
	if ((r & 0x38) == 0)
		failing_scope(p, r);
	if ((r & 0x1c0) == 0)
		observe(p, LEVEL, n);
	started(p, OUTER, 1);
	tare_scope_end(outer);
	finished(p, OUTER);
}

static void *record(void *arg)
{
	uint64_t random = (uint64_t)(uintptr_t)arg ^ (uint64_t)getpid();

	self = (unsigned)(uintptr_t)arg;
	for (unsigned i = 0; i < N_SERIES; i++)
		sites[self].of[i] = site_of(self, (enum series)i);
	one_round(&shared->of[self], &random);
	__atomic_fetch_add(&shared->ready, 1, __ATOMIC_RELEASE);
	for (;;)
		one_round(&shared->of[self], &random);
	return NULL;
}

/* A clock on which a time slice passes every few events. */
static int64_t racing_clock(int64_t *ret_real_ns)
{
	static int64_t now = 1000000000;

	*ret_real_ns = __atomic_add_fetch(&now, INT64_C(1) << 29,
					  __ATOMIC_RELAXED);
	return *ret_real_ns;
}

static void on_signal(int number)
{
	(void)number;
	if (self >= THREADS || !sites[self].of[NOTED])
		return;
	plain_scope(&shared->of[self], HANDLER);
	observe(&shared->of[self], NOTED, 3);
}

static void interrupt_often(void)
{
	struct itimerval often = { { 0, 200 }, { 0, 200 } };
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART };

	(void)sigaction(SIGALRM, &action, NULL);
	(void)setitimer(ITIMER_REAL, &often, NULL);
}

struct mode {
	const char *name;
	bool racing, signals;
	const char *options[8];
};

static const struct mode modes[] = {
	{ "plain", false, false, { NULL } },
	{ "overwriting trace", false, false,
	  { "trace", "true", "trace_events", "64", NULL } },
	{ "discarding trace", false, false,
	  { "trace", "true", "trace_events", "256", "trace_mode", "discard",
	    NULL } },
	{ "last values", false, false,
	  { "keep_values", "16", "keep_kinds", "all", NULL } },
	{ "slices", true, false, { "clock", "monotonic", NULL } },
	{ "slices, little memory", true, false,
	  { "clock", "monotonic", "window_bytes", "65536", NULL } },
	{ "signals", false, true, { NULL } },
	{ "slow clock", false, true, { "clock", "monotonic", NULL } },
};

#define N_MODES (sizeof(modes) / sizeof(modes[0]))

static void body(void *arg)
{
	const struct mode *mode = arg;
	pthread_t thread;

	if (mode->racing)
		tr_clock_replace(racing_clock);
	scratch_start(mode->options);
	strcpy(shared->path, tare_ledger_path());
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, record, (void *)i))
			_exit(98);
	if (mode->signals)
		interrupt_often();
	for (;;)
		pause();
}

/* ---- what its ledger says ---------------------------------------------- */

static uint64_t shown(const struct scratch_reading *reading, unsigned thread,
		      enum series series, double *ret_sum)
{
	enum series of = series == ITEMS ? OUTER : series;
	char name[32];
	tare_stats row;

	(void)snprintf(name, sizeof(name), "%s.%u", series_name[of], thread);
	row = scratch_row(reading, name, series_kind[of]);
	*ret_sum = row.total;
	if (series == FAILING)
		CHECK_INT(row.failures, row.count);
	return series == ITEMS ? row.items : row.count;
}

/* As done, or with what was under way. */
static bool is_right(uint64_t is, uint64_t done, uint64_t next)
{
	return is == done || is == done + next;
}

/* A handler that came while its thread got its track: lost, counted. */
static bool is_counted_loss(enum series series, uint64_t is, uint64_t done,
			    uint64_t *losses)
{
	if ((series != HANDLER && series != NOTED) || is > done ||
	    done - is > *losses)
		return false;
	*losses -= done - is;
	return true;
}

static bool check_series(const struct scratch_reading *reading,
			 unsigned thread, enum series series,
			 uint64_t *losses)
{
	const struct produced *p = &shared->of[thread];
	uint64_t done = p->done[series], next = p->next[series];
	double sum;
	uint64_t is = shown(reading, thread, series, &sum);

	if (!is_right(is, done, next) &&
	    is_counted_loss(series, is, done, losses))
		return true;
	if (!is_right(is, done, next)) {
		printf("# %s.%u is %llu, done %llu, under way %llu\n",
		       series_name[series], thread, (unsigned long long)is,
		       (unsigned long long)done, (unsigned long long)next);
		return CHECK(is_right(is, done, next));
	}
	if (series == SIZE || series == LEVEL || series == NOTED) {
		double low = (double)p->sum[series];
		double high = low + (double)p->next_value[series];

		if (sum != low && sum != high)
			return CHECK_NEAR(sum, low, 0);
	}
	return true;
}

static bool check_ledger(void)
{
	struct scratch_reading reading;
	bool ok = scratch_read(shared->path, &reading);
	const tare_health *health;
	uint64_t losses;

	if (!ok) {
		scratch_close(&reading);
		return false;
	}
	health = tare_view_health(reading.view);
	losses = health->lost_busy;
	ok = CHECK_INT(health->lost, health->lost_busy);
	for (unsigned t = 0; t < THREADS; t++)
		for (unsigned s = 0; s < N_SERIES; s++)
			ok &= check_series(&reading, t, (enum series)s,
					   &losses);
	scratch_close(&reading);
	return ok;
}

static void wait_until_ready(pid_t pid)
{
	double until = scratch_seconds() + 20;
	int status;

	while (READ(shared->ready) < THREADS && scratch_seconds() < until) {
		(void)usleep(50);
		if (waitpid(pid, &status, WNOHANG) == pid) {
			CHECK_INT(status, 0);
			return;
		}
	}
	CHECK_INT(READ(shared->ready), THREADS);
}

static bool kill_one(const struct mode *mode, uint64_t *random)
{
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	pid = scratch_fork(body, (void *)(uintptr_t)mode);
	wait_until_ready(pid);
	(void)usleep((useconds_t)(scratch_random(random) % 6000));
	(void)kill(pid, SIGKILL);
	(void)scratch_wait(pid, 10);
	if (!check_ledger()) {
		printf("# mode: %s\n", mode->name);
		return false;
	}
	return true;
}

TEST(a_ledger_holds_what_was_done_before_a_kill)
{
	unsigned kills = scratch_times(KILLS), bad = 0;
	uint64_t random = (uint64_t)getpid();

	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
	for (unsigned i = 0; i < kills && bad < 20; i++) {
		bad += !kill_one(&modes[i % N_MODES], &random);
		scratch_empty();
	}
	printf("# %u kills\n", kills);
	CHECK_INT(bad, 0);
	scratch_unshare(shared, sizeof(*shared));
	scratch_leave();
}
