/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fork: eight busy threads make children in every way there is. A child has
 * a ledger of its own with its own events, all of them and no others, and
 * waits for nothing that a thread of its parent held.
 */
#include "scratch.h"

#include <linux/close_range.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../check.h"
#include "fork_child.h"

#define THREADS 8u
#define FORKS 1000u
#define LIMIT_SECONDS (SCRATCH_TSAN || SCRATCH_ASAN ? 20 : 2)

enum way { BY_FORK, BY_FORK_ALONE, BY_CLONE, BY_VFORK, WAYS };

enum how { CLOSES = 16, STARTS = 32, FORKS_AGAIN = 64 };

struct busy {
	_Alignas(64) uint64_t scopes, counts, values;
	uint64_t open; /* scopes around a fork */
};

struct shared {
	uint32_t next;	 /* child to be made */
	uint32_t n;
	uint32_t ended;	 /* busy threads */
	int32_t pid;
	struct busy busy[THREADS];
	struct fork_child child[];
};

/* The program that children start knows nothing but an array. */
_Static_assert(sizeof(struct shared) % sizeof(struct fork_child) == 0,
	       "a child's place is a multiple of its size");

static struct shared *shared;
static char page_path[128], program[512], folder_variable[128];

/* ---- a child ----------------------------------------------------------- */

static void start_program(struct fork_child *child)
{
	char index[16], number[16], *at = number + sizeof(number) - 1;
	size_t n = (size_t)((char *)child - (char *)shared) /
		   sizeof(*child);
	char *arguments[] = { program, page_path, index, NULL };
	char *environment[] = { (char *)(uintptr_t)"TARE=on", folder_variable,
				NULL };

	/* By hand: not even snprintf() is promised after vfork(). */
	*at = '\0';
	do {
		*--at = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	memcpy(index, at, (size_t)(number + sizeof(number) - at));
	(void)execve(program, arguments, environment);
	_exit(4);
}

static void close_all(void)
{
	if (syscall(SYS_close_range, 0u, ~0u, 0u) == 0)
		return;
	for (int fd = 0; fd < 1024; fd++)
		(void)close(fd);
}

static void be_child(struct fork_child *child, tare_scope inherited)
{
	if (child->how & CLOSES)
		close_all();
	if (child->how & STARTS)
		start_program(child);
	fork_child_record(child);
	/* It was begun in the parent and is no event of the child's. */
	tare_scope_end(inherited);
	if (child->how & FORKS_AGAIN) {
		/* fork() takes locks of its own, which may be held for ever
		 * in a child that was not made by fork(). */
		struct fork_child *grandchild = child + 1;
		pid_t pid = (child->how & 15) == BY_FORK ? fork() : _Fork();

		if (pid == 0) {
			fork_child_record(grandchild);
			_exit(0);
		}
		grandchild->pid = pid;
		grandchild->status = scratch_wait(pid, LIMIT_SECONDS);
	}
	_exit(0);
}

static pid_t make(enum way way, struct fork_child *child, tare_scope scope)
{
	pid_t pid = -1;

	switch (way) {
	case BY_FORK:
		pid = fork();
		break;
	case BY_FORK_ALONE:
		pid = _Fork();
		break;
	case BY_CLONE:
		pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		break;
	default:
		pid = vfork();
		if (pid == 0) {
			if (child->how & CLOSES)
				close_all();
			start_program(child);
		}
		return pid;
	}
	if (pid == 0)
		be_child(child, scope);
	return pid;
}

/* ---- the process with the threads -------------------------------------- */

static enum way way_of(uint32_t i)
{
	/* Its own locks are nothing that a sanitizer can put right there. */
	if (SCRATCH_TSAN)
		return i % 4 ? BY_FORK : BY_VFORK;
	return (enum way)(i % WAYS);
}

static void make_child(struct busy *busy, uint32_t i, uint64_t *random)
{
	static tare_site around[] = {
		TARE_SITE_INIT_(around[0], TARE_KIND_SCOPE, TARE_TYPE_TIME, 0,
				"around", NULL, NULL),
	};
	struct fork_child *child = &shared->child[i * 2];
	uint64_t r = scratch_random(random);
	enum way way = way_of(i);
	tare_scope scope;
	int status;
	pid_t pid;

	child->how = (uint32_t)way | (r & 1 ? CLOSES : 0);
	if (way == BY_VFORK || r >> 1 & 7)
		child->how |= way == BY_VFORK ? STARTS : 0;
	else
		child->how |= STARTS;
	if (!(child->how & STARTS) && (r >> 8 & 7) == 0)
		child->how |= FORKS_AGAIN;
	scope = tare_scope_begin(around);
	pid = make(way, child, scope);
	tare_scope_end(scope);
	fork_child_add(&busy->open, 1);
	child->pid = pid;
	status = pid > 0 ? scratch_wait(pid, LIMIT_SECONDS) : -1;
	child->status = status;
	child->late = status == -1;
}

/* Work that takes the locks of the C library. */
static void hold_locks(uint64_t r)
{
	time_t now = (time_t)(r >> 40);
	char *volatile memory = malloc(r >> 50 & 1023);
	struct tm tm;

	(void)localtime_r(&now, &tm);
	free(memory);
}

static void *work(void *arg)
{
	unsigned index = (unsigned)(uintptr_t)arg;
	struct busy *busy = &shared->busy[index];
	uint64_t random = index + 1;
	uint32_t i;

	do {
		for (unsigned k = 0; k < 2000; k++) {
			TARE_SCOPE("busy.outer");
			{
				TARE_SCOPE("busy");
				TARE_COUNT("busy.count", 3);
				fork_child_add(&busy->counts, 3);
			}
			fork_child_add(&busy->scopes, 1);
			TARE_VALUE("busy.value", "1", 1);
			fork_child_add(&busy->values, 1);
			if (k % 16 == 0)
				hold_locks(scratch_random(&random));
		}
		i = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED);
		if (i < shared->n)
			make_child(busy, i, &random);
	} while (i < shared->n);
	return NULL;
}

static void be_host(void *arg)
{
	pthread_t thread[THREADS];

	(void)arg;
	scratch_start(NULL);
	shared->pid = getpid();
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			_exit(98);
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(thread[i], NULL);
}

/* ---- what the ledgers say ---------------------------------------------- */

static void check_host(void)
{
	struct busy sum = { 0 };
	struct scratch_reading r;
	char path[512];

	if (!CHECK(scratch_ledger(shared->pid, path, sizeof(path))) ||
	    !scratch_read(path, &r))
		return;
	for (unsigned i = 0; i < THREADS; i++) {
		sum.scopes += shared->busy[i].scopes;
		sum.counts += shared->busy[i].counts;
		sum.values += shared->busy[i].values;
		sum.open += shared->busy[i].open;
	}
	CHECK_INT(scratch_row(&r, "busy", TARE_KIND_SCOPE).count, sum.scopes);
	CHECK_INT(scratch_row(&r, "busy.outer", TARE_KIND_SCOPE).count,
		  sum.scopes);
	CHECK_INT(scratch_row(&r, "around", TARE_KIND_SCOPE).count, sum.open);
	CHECK_INT(scratch_row(&r, "busy.count", TARE_KIND_COUNTER).count,
		  sum.counts);
	CHECK_INT(scratch_row(&r, "busy.value", TARE_KIND_VALUE).count,
		  sum.values);
	CHECK_INT(scratch_row(&r, "child", TARE_KIND_SCOPE).count, 0);
	CHECK_INT(scratch_row(&r, "child.count", TARE_KIND_COUNTER).count, 0);
	CHECK_INT(tare_view_health(r.view)->lost, 0);
	CHECK_INT(tare_view_health(r.view)->stray_ends, 0);
	scratch_close(&r);
}

static bool check_child(const struct fork_child *child)
{
	struct scratch_reading r;
	char path[512];
	bool ok;

	if (!CHECK_INT(child->status, 0) ||
	    !CHECK(scratch_ledger(child->pid, path, sizeof(path))) ||
	    !scratch_read(path, &r))
		return false;
	ok = CHECK_INT(child->scopes, CHILD_EVENTS);
	ok &= CHECK_INT(scratch_row(&r, "child", TARE_KIND_SCOPE).count,
			child->scopes);
	ok &= CHECK_INT(scratch_row(&r, "child.count",
				    TARE_KIND_COUNTER).count,
			child->counts);
	ok &= CHECK_INT(scratch_row(&r, "child.value", TARE_KIND_VALUE).count,
			child->values);
	ok &= CHECK_INT(scratch_row(&r, "child.value", TARE_KIND_VALUE).total,
			child->value_sum);
	/* Nothing of the threads it does not have. */
	ok &= CHECK_INT(scratch_count(&r, TARE_KIND_SCOPE), child->scopes);
	ok &= CHECK_INT(scratch_count(&r, TARE_KIND_COUNTER), child->counts);
	ok &= CHECK_INT(tare_view_health(r.view)->lost, 0);
	scratch_close(&r);
	return ok;
}

static void check_children(void)
{
	unsigned bad = 0, late = 0, n = 0;

	for (uint32_t i = 0; i < shared->n && bad < 10; i++) {
		const struct fork_child *child = &shared->child[i * 2];
		bool again = child->how & FORKS_AGAIN;

		late += child->late;
		n += 1 + again;
		if (check_child(child) && (!again || check_child(child + 1)))
			continue;
		printf("# child %u, pid %d, how %#x\n", i, child->pid,
		       child->how);
		bad++;
	}
	CHECK_INT(late, 0);
	CHECK_INT(bad, 0);
	CHECK_INT(scratch_ledgers(), n + 1);
	printf("# %u children\n", n);
}

TEST(children_of_busy_threads_record_into_ledgers_of_their_own)
{
	const char *build = getenv("TARE_TEST_BUILD"), *folder;
	unsigned n = scratch_times(FORKS);
	size_t bytes = sizeof(*shared) + 2 * n * sizeof(struct fork_child);

	if (!CHECK(build != NULL))
		return;
	folder = scratch_enter();
	(void)snprintf(program, sizeof(program), "%s/fork_child", build);
	(void)snprintf(page_path, sizeof(page_path), "%s/page", folder);
	(void)snprintf(folder_variable, sizeof(folder_variable),
		       "TARE_DIR=%s", folder);
	shared = scratch_share_file(page_path, bytes);
	shared->n = n;
	if (scratch_run(be_host, NULL, 600)) {
		check_host();
		check_children();
	}
	scratch_unshare(shared, bytes);
	scratch_leave();
}
