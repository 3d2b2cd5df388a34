/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Truncate: somebody cuts the ledger at a random length, again and again,
 * while three threads record. The host lives and goes on, the loss is
 * counted, and what is done after the last cut is all in the new ledger.
 */
#include "scratch.h"

#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../check.h"
#include "read/view.h"

#define THREADS 3u
#define CUTS 500u
#define LAST 2000u /* rounds after the last cut */

enum phase { BEING_CUT, NOTICING, AFTERWARDS };

struct shared {
	uint32_t phase, ready;
	char path[512];		   /* of the ledger when it ended */
	uint64_t rounds[THREADS];  /* while being cut */
	uint64_t after[THREADS];   /* since */
};

static struct shared *shared;
static const char *folder;

static void round_of(const char *name)
{
	tare_site *site = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME, name,
					NULL, NULL);
	tare_scope outer = tare_scope_begin(site);

	TARE_COUNT("steps", 1);
	TARE_VALUE("size", "B", 3.0);
	{
		TARE_SCOPE("inner");
		tare_attr_int("id", 7);
	}
	tare_scope_end(outer);
}

static void *record(void *arg)
{
	unsigned self = (unsigned)(uintptr_t)arg;

	round_of("cut");
	(void)__atomic_add_fetch(&shared->ready, 1, __ATOMIC_RELEASE);
	while (READ(shared->phase) == BEING_CUT) {
		round_of("cut");
		DONE(shared->rounds[self], 1);
	}
	/* A cut where nobody writes is noticed within two slices. */
	while (READ(shared->phase) == NOTICING)
		round_of("cut");
	for (unsigned i = 0; i < LAST; i++) {
		round_of("after");
		DONE(shared->after[self], 1);
	}
	return NULL;
}

static void be_cut(void *arg)
{
	pthread_t thread[THREADS];

	scratch_start(arg);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, record, (void *)i))
			_exit(98);
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(thread[i], NULL);
	strcpy(shared->path, tare_ledger_path());
}

/* TIME-PID.tare, TIME+1-PID.tare, TIME+2-PID.tare: the number of it. */
static unsigned number_of(const char *path)
{
	const char *plus = strrchr(path, '+');

	return plus ? (unsigned)strtoul(plus + 1, NULL, 10) : 0;
}

static bool newest(pid_t pid, char *path, size_t size)
{
	char pattern[128];
	const char *found = NULL;
	glob_t all;

	(void)snprintf(pattern, sizeof(pattern), "%s/live/*-%d.tare", folder,
		       (int)pid);
	if (glob(pattern, GLOB_NOSORT, NULL, &all))
		return false;
	for (size_t i = 0; i < all.gl_pathc; i++)
		if (!found || number_of(all.gl_pathv[i]) > number_of(found))
			found = all.gl_pathv[i];
	if (found)
		(void)snprintf(path, size, "%s", found);
	globfree(&all);
	return found != NULL;
}

static bool cut(pid_t pid, unsigned n, uint64_t *random)
{
	char path[256];
	struct stat st;
	off_t length;

	if (!newest(pid, path, sizeof(path)) || stat(path, &st))
		return false;
	/* Half of them where the header, the tracks and the cells lie. */
	length = n % 2 ? (off_t)(scratch_random(random) % (256 << 10)) :
			 (off_t)(scratch_random(random) %
				 (uint64_t)(st.st_size + 1));
	return truncate(path, length) == 0;
}

static void cut_often(pid_t pid)
{
	unsigned n = scratch_times(CUTS), done = 0;
	uint64_t random = 42;

	while (READ(shared->ready) < THREADS)
		(void)usleep(100);
	for (unsigned i = 0; i < n; i++) {
		done += cut(pid, i, &random);
		(void)usleep((useconds_t)(scratch_random(&random) % 4000));
	}
	CHECK_INT(done, n);
	__atomic_store_n(&shared->phase, NOTICING, __ATOMIC_RELEASE);
	(void)usleep(3000000);
	__atomic_store_n(&shared->phase, AFTERWARDS, __ATOMIC_RELEASE);
}

/*
 * An update that a thread was in the middle of may end in the new ledger: a
 * count too many here, a node without a name there. One a thread, at most.
 */
static void check_last(void)
{
	const tare_stats *rows;
	const tare_health *health;
	tare_view *view;
	uint64_t after = 0, counted = 0;
	size_t n;

	if (!CHECK_INT(tare_view_open(shared->path, &view), 0))
		return;
	health = tare_view_health(view);
	CHECK_INT(tare_view_stats(view, NULL, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].name, "after") == 0)
			counted += rows[i].count;
	for (unsigned i = 0; i < THREADS; i++) {
		CHECK(shared->rounds[i] > 0);
		after += shared->after[i];
	}
	printf("# %llu ledgers, %llu of %llu rounds\n",
	       (unsigned long long)health->lost_damage + 1,
	       (unsigned long long)counted, (unsigned long long)after);
	CHECK_INT(counted, after);
	CHECK(health->lost_damage > 0 && health->lost > 0);
	CHECK(health->damaged <= THREADS);
	tare_view_close(view);
}

TEST(a_truncated_ledger_is_replaced)
{
	pid_t pid;

	/* An emergency: nobody can ask the other threads to stand still. */
	if (SCRATCH_TSAN)
		SKIP("the ledger is replaced under threads that run");
	folder = scratch_enter();
	shared = scratch_share(sizeof(*shared));
	pid = scratch_fork(be_cut, NULL);
	cut_often(pid);
	if (CHECK_INT(scratch_wait(pid, 100), 0))
		check_last();
	scratch_unshare(shared, sizeof(*shared));
	scratch_leave();
}
