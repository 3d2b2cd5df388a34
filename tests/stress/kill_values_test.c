/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kill, for kept values: threads that observe values, set gauges and end
 * scopes are killed at a random instant. The last values of each series must
 * be exactly the ones that were given last, in order; the one under way may
 * be among them or not, as its count says.
 */
#include "scratch.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"
#include "read/view.h"

#define THREADS 2u
#define KILLS 800u
#define LOG 2048u /* values that are remembered; more than any ring has */

enum series { SIZE, LEVEL, DONE_COUNT, CALL, N_SERIES };

static const char *const names[] = { "size", "level", "count", "call" };
static const enum tare_kind kinds[] = { TARE_KIND_VALUE, TARE_KIND_GAUGE,
					TARE_KIND_COUNTER, TARE_KIND_SCOPE };

struct series_log {
	uint64_t done;
	uint8_t value[LOG]; /* the n-th at n % LOG; also the one under way */
};

struct shared {
	uint32_t ready;
	char path[512];
	struct series_log of[THREADS][N_SERIES];
};

static struct shared *shared;

struct mode {
	const char *name;
	uint64_t keep;
	const char *options[8];
};

static const struct mode modes[] = {
	{ "as it is by default", 1000, { NULL } },
	{ "all kinds", 1000, { "keep_kinds", "all", NULL } },
	{ "few", 16, { "keep_kinds", "all", "keep_values", "16", NULL } },
	{ "slow clock", 1000,
	  { "keep_kinds", "all", "clock", "monotonic", NULL } },
};

#define N_MODES (sizeof(modes) / sizeof(modes[0]))

/* ---- the process to be killed ------------------------------------------ */

static void give(tare_site *site, enum series series, uint8_t value)
{
	if (series == SIZE)
		tare_value_observe(site, value);
	else if (series == LEVEL)
		tare_gauge_set(site, value);
	else if (series == DONE_COUNT)
		tare_counter_add(site, value);
	else
		tare_scope_end(tare_scope_begin(site));
}

static void *record(void *arg)
{
	unsigned self = (unsigned)(uintptr_t)arg;
	uint64_t random = self + 1 + ((uint64_t)getpid() << 8);
	tare_site *site[N_SERIES];
	char name[32];

	for (unsigned i = 0; i < N_SERIES; i++) {
		(void)snprintf(name, sizeof(name), "%s.%u", names[i], self);
		site[i] = tare_site_get(kinds[i], TARE_TYPE_CUSTOM, name, NULL,
					NULL);
	}
	__atomic_fetch_add(&shared->ready, 1, __ATOMIC_RELEASE);
	for (;;) {
		uint64_t r = scratch_random(&random);
		enum series s = (enum series)(r % N_SERIES);
		struct series_log *log = &shared->of[self][s];
		uint8_t value = (uint8_t)(r >> 16 | 1);

		__atomic_store_n(&log->value[log->done % LOG], value,
				 __ATOMIC_RELEASE);
		give(site[s], s, value);
		__atomic_store_n(&log->done, log->done + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void body(void *arg)
{
	const struct mode *mode = arg;
	pthread_t thread;

	scratch_start(mode->options);
	strcpy(shared->path, tare_ledger_path());
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, record, (void *)i))
			_exit(98);
	for (;;)
		pause();
}

/* ---- what its ledger says ---------------------------------------------- */

/* With the one under way, or without: a counter's addition is kept last. */
static bool is_right(size_t n, uint64_t done, uint64_t keep)
{
	return n == (done < keep ? done : keep) ||
	       n == (done + 1 < keep ? done + 1 : keep);
}

static bool ends_with(const struct series_log *log, const tare_record *records,
		      size_t n, uint64_t end)
{
	for (size_t i = 0; i < n; i++)
		if (records[n - 1 - i].value !=
		    (double)log->value[(end - 1 - i) % LOG])
			return false;
	return true;
}

static bool check_records(tare_view *view, unsigned t, enum series s,
			  uint64_t keep)
{
	const struct series_log *log = &shared->of[t][s];
	char text[32];
	const char *name = text;
	tare_filter filter = { .struct_size = sizeof(filter),
			       .names = &name,
			       .n_names = 1 };
	const tare_record *records;
	size_t n;

	(void)snprintf(text, sizeof(text), "%s.%u", names[s], t);
	if (!CHECK_INT(tare_view_records(view, &filter, &records, &n), 0))
		return false;
	/* Scopes that are still in the log come on top. */
	if (s == CALL && keep && log->done > keep)
		return CHECK(n >= keep && n <= keep + 4);
	if (!is_right(n, log->done, keep)) {
		printf("# %s: %zu records, done %llu\n", text, n,
		       (unsigned long long)log->done);
		return CHECK(is_right(n, log->done, keep));
	}
	return s == CALL ||
	       CHECK(ends_with(log, records, n, log->done) ||
		     ends_with(log, records, n, log->done + 1));
}

/* What statistics of the last values have must be what was counted. */
static bool check_count(tare_view *view, unsigned t, enum series s,
			uint64_t keep)
{
	tare_filter last = { .struct_size = sizeof(last),
			     .last_values = keep };
	struct scratch_reading all = { .view = view };
	char name[32];
	uint64_t count, is;

	(void)snprintf(name, sizeof(name), "%s.%u", names[s], t);
	if (!CHECK_INT(tare_view_stats(view, NULL, &all.rows, &all.n), 0))
		return false;
	count = scratch_row(&all, name, kinds[s]).count;
	if (!CHECK_INT(tare_view_stats(view, &last, &all.rows, &all.n), 0))
		return false;
	is = scratch_row(&all, name, kinds[s]).count;
	return CHECK_INT(is, count < keep ? count : keep);
}

static bool check_ledger(const struct mode *mode)
{
	struct scratch_reading reading;
	bool ok = scratch_read(shared->path, &reading);

	for (unsigned t = 0; ok && t < THREADS; t++)
		for (unsigned s = 0; s < N_SERIES; s++) {
			bool kept = s < DONE_COUNT || mode->options[0];

			if (s != DONE_COUNT && kept)
				ok &= check_count(reading.view, t,
						  (enum series)s, mode->keep);
			ok &= check_records(reading.view, t, (enum series)s,
					    kept ? mode->keep : 0);
		}
	scratch_close(&reading);
	return ok;
}

static bool kill_one(const struct mode *mode, uint64_t *random)
{
	double until = scratch_seconds() + 20;
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	pid = scratch_fork(body, (void *)(uintptr_t)mode);
	while (__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) < THREADS &&
	       scratch_seconds() < until)
		(void)usleep(50);
	(void)usleep((useconds_t)(scratch_random(random) % 3000));
	(void)kill(pid, SIGKILL);
	(void)scratch_wait(pid, 10);
	if (check_ledger(mode))
		return true;
	printf("# mode: %s\n", mode->name);
	return false;
}

TEST(the_last_values_are_right_after_a_kill)
{
	unsigned kills = scratch_times(KILLS), bad = 0;
	uint64_t random = (uint64_t)getpid();

	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
	for (unsigned i = 0; i < kills && bad < 10; i++) {
		bad += !kill_one(&modes[i % N_MODES], &random);
		scratch_empty();
	}
	printf("# %u kills\n", kills);
	CHECK_INT(bad, 0);
	scratch_unshare(shared, sizeof(*shared));
	scratch_leave();
}
