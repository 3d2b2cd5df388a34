/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sweep: programs that never meet the command `tare` leave no heap behind.
 * What a killed one left is put away by the next that ends, only so many
 * runs are kept, and what lives, or a forked child, is left alone.
 */
#include "scratch.h"

#include <errno.h>
#include <glob.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tare/control.h>

#include "../check.h"

static const char *folder;

static void measure(const char *const *options)
{
	scratch_start(options);
	{
		TARE_SCOPE("work");
	}
}

static void end_in_order(void *arg)
{
	measure(arg);
	tare_stop();
}

static void get_killed(void *arg)
{
	measure(arg);
	(void)raise(SIGKILL);
}

static void wait_for_ever(void *arg)
{
	measure(arg);
	for (;;)
		(void)pause();
}

/* Its child measures, and ends in order; then it is killed itself. */
static void have_a_child(void *arg)
{
	pid_t child;

	measure(arg);
	child = fork();
	if (child == 0) {
		TARE_SCOPE("child");
		tare_stop();
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
	(void)raise(SIGKILL);
}

static unsigned count(const char *part)
{
	char pattern[128];
	unsigned n = 0;
	glob_t found;

	(void)snprintf(pattern, sizeof(pattern), "%s/%s/*", folder, part);
	if (glob(pattern, 0, NULL, &found) == 0) {
		n = (unsigned)found.gl_pathc;
		globfree(&found);
	}
	return n;
}

static void kill_one(void (*body)(void *arg), void *arg)
{
	CHECK_INT(scratch_wait(scratch_fork(body, arg), 20), SIGKILL);
}

TEST(what_a_killed_program_left_is_put_away)
{
	folder = scratch_enter();
	for (int i = 0; i < 3; i++)
		kill_one(get_killed, NULL);
	CHECK_INT(count("live"), 6); /* a control page each */
	CHECK_INT(count("runs"), 0);
	(void)scratch_run(end_in_order, NULL, 20);
	CHECK_INT(count("live"), 0);
	CHECK_INT(count("runs"), 4);
	scratch_leave();
}

TEST(so_many_runs_are_kept)
{
	static const char *const options[] = { "keep_runs", "3", NULL };

	folder = scratch_enter();
	for (int i = 0; i < 8; i++)
		(void)scratch_run(end_in_order, (void *)(uintptr_t)options,
				  20);
	kill_one(get_killed, (void *)(uintptr_t)options);
	CHECK_INT(count("runs"), 3);
	(void)scratch_run(end_in_order, (void *)(uintptr_t)options, 20);
	CHECK_INT(count("runs"), 3);
	CHECK_INT(count("live"), 0);
	scratch_leave();
}

/* ---- groups ------------------------------------------------------------- */

struct member {
	const char *group;
	const char *const *options;
};

static void end_in_group(void *arg)
{
	const struct member *member = arg;

	(void)setenv("TARE_GROUP", member->group, 1);
	measure(member->options);
	tare_stop();
}

static void wait_in_group(void *arg)
{
	const struct member *member = arg;

	(void)setenv("TARE_GROUP", member->group, 1);
	wait_for_ever((void *)(uintptr_t)member->options);
}

static void sweep_in_group(void *arg)
{
	end_in_group(arg);
	if (tare_runs_sweep() < 0)
		_exit(1);
}

static void run_members(const char *group, int n, const char *const *options)
{
	struct member member = { group, options };

	for (int i = 0; i < n; i++)
		CHECK(scratch_run(end_in_group, &member, 20));
}

TEST(the_processes_of_a_group_are_one_run)
{
	static const char *const options[] = { "keep_runs", "2", NULL };
	struct member last = { "of-1", options };

	folder = scratch_enter();
	run_members("old-1", 2, options);
	/* Two at a time: they are not side by side in the list. */
	for (int i = 0; i < 4; i++) {
		run_members("of-1", 1, options);
		run_members("of-2", 1, options);
	}
	CHECK_INT(count("runs"), 10);
	CHECK(scratch_run(sweep_in_group, &last, 20));
	CHECK_INT(count("runs"), 9);
	scratch_leave();
}

TEST(nothing_of_a_run_under_way_is_deleted)
{
	static const char *const options[] = { "keep_runs", "1", NULL };
	struct member other = { "of-1", options }, own = { "of-2", options };
	pid_t pid;

	folder = scratch_enter();
	run_members("of-2", 3, options);
	run_members("of-1", 3, options);
	pid = scratch_fork(wait_in_group, &other);
	while (count("live") < 2)
		(void)usleep(1000);
	CHECK(scratch_run(sweep_in_group, &own, 20));
	CHECK_INT(count("runs"), 3 + 4);
	(void)kill(pid, SIGKILL);
	CHECK_INT(scratch_wait(pid, 20), SIGKILL);
	CHECK(scratch_run(sweep_in_group, &own, 20));
	CHECK_INT(count("live"), 0);
	CHECK_INT(count("runs"), 5);
	scratch_leave();
}

TEST(who_lives_is_left_alone)
{
	pid_t other;

	folder = scratch_enter();
	other = scratch_fork(wait_for_ever, NULL);
	while (count("live") < 2)
		(void)usleep(1000);
	(void)scratch_run(end_in_order, NULL, 20);
	CHECK_INT(count("live"), 2);
	CHECK_INT(count("runs"), 1);
	(void)kill(other, SIGKILL);
	CHECK_INT(scratch_wait(other, 20), SIGKILL);
	scratch_leave();
}

TEST(a_forked_child_does_not_sweep)
{
	folder = scratch_enter();
	kill_one(get_killed, NULL);
	kill_one(have_a_child, NULL);
	CHECK_INT(count("live"), 4);
	CHECK_INT(count("runs"), 1);
	scratch_leave();
}

/* ---- two namespaces, the same process id in both ----------------------- */

#define OF_EACH 600

struct spaces {
	uint32_t is_refused; /* no namespace to be had here */
	uint32_t has_failed; /* a process in one, before its time */
	uint32_t is_ready[2];
	uint32_t may_end[2];
	uint64_t counted[2];
	uint32_t pid[2]; /* as each calls itself */
};

static struct spaces *spaces;

static void wait_until(const uint32_t *flag)
{
	while (!READ(*flag) && !READ(spaces->is_refused) &&
	       !READ(spaces->has_failed))
		(void)usleep(1000);
}

static void count_to(int which, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		TARE_COUNT("made", 1);
		DONE(spaces->counted[which], 1);
	}
}

/* The first process of a namespace: half of it, and the rest when it may. */
static void count_inside(int which, bool has_proc)
{
	/* Not "/": in a folder that is the root by chroot() it is no mount. */
	if (has_proc &&
	    (mount(NULL, "/proc", NULL, MS_REC | MS_PRIVATE, NULL) ||
	     mount("proc", "/proc", "proc", 0, NULL)))
		_exit(1);
	spaces->pid[which] = (uint32_t)getpid();
	scratch_start(NULL);
	count_to(which, OF_EACH / 2);
	DONE(spaces->is_ready[which], 1);
	wait_until(&spaces->may_end[which]);
	count_to(which, OF_EACH / 2);
	tare_stop();
	_exit(0);
}

struct inside {
	int which;
	bool has_proc; /* of its own */
};

static void enter_namespace(void *arg)
{
	const struct inside *inside = arg;
	int status = 0;
	pid_t child;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWPID | (inside->has_proc ? CLONE_NEWNS : 0))) {
		DONE(spaces->is_refused, 1);
		_exit(0);
	}
	child = fork();
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		count_inside(inside->which, inside->has_proc);
	}
	(void)waitpid(child, &status, 0);
	if (status)
		DONE(spaces->has_failed, 1);
	_exit(status != 0);
}

/* What all ledgers of the folder, put away or not, have counted. */
static uint64_t count_made(void)
{
	static const char *const parts[] = { "live", "runs" };
	uint64_t sum = 0;

	for (int i = 0; i < 2; i++) {
		char pattern[128];
		glob_t found;

		(void)snprintf(pattern, sizeof(pattern), "%s/%s/*.tare",
			       folder, parts[i]);
		if (glob(pattern, 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++) {
			struct scratch_reading reading;

			if (!scratch_read(found.gl_pathv[k], &reading))
				continue;
			sum += (uint64_t)scratch_row(&reading, "made",
						     TARE_KIND_COUNTER)
				       .total;
			scratch_close(&reading);
		}
		globfree(&found);
	}
	return sum;
}

/* As `tare run` does at its end. */
static void sweep_all(void *arg)
{
	measure(arg);
	tare_stop();
	if (tare_runs_sweep() < 0)
		_exit(1);
}

/* Both are live at once, then the older one alone. */
static void share_folder(bool has_proc)
{
	struct inside inside[2] = { { 0, has_proc }, { 1, has_proc } };
	pid_t pid[2];

	folder = scratch_enter();
	spaces = scratch_share(sizeof(*spaces));
	for (int i = 0; i < 2; i++) {
		pid[i] = scratch_fork(enter_namespace, &inside[i]);
		wait_until(&spaces->is_ready[i]);
	}
	if (READ(spaces->is_refused)) {
		for (int i = 0; i < 2; i++)
			(void)scratch_wait(pid[i], 20);
		scratch_unshare(spaces, sizeof(*spaces));
		scratch_leave();
		SKIP("no pid namespace may be made here");
	}
	CHECK_INT(READ(spaces->has_failed), 0);
	CHECK_INT(spaces->pid[0], spaces->pid[1]);
	CHECK(scratch_run(sweep_all, NULL, 20));
	CHECK_INT(count("live"), 4);
	DONE(spaces->may_end[1], 1); /* the newer one ends first */
	CHECK_INT(scratch_wait(pid[1], 20), 0);
	CHECK(scratch_run(sweep_all, NULL, 20));
	CHECK_INT(count("live"), 2);
	DONE(spaces->may_end[0], 1);
	CHECK_INT(scratch_wait(pid[0], 20), 0);
	CHECK_INT(READ(spaces->counted[0]), OF_EACH);
	CHECK_INT(READ(spaces->counted[1]), OF_EACH);
	CHECK_INT(count_made(), 2 * OF_EACH);
	scratch_unshare(spaces, sizeof(*spaces));
	scratch_leave();
}

TEST(who_lives_in_another_namespace_is_left_alone)
{
	share_folder(true);
}

TEST(numbers_of_another_namespaces_proc_are_not_believed)
{
	share_folder(false);
}

/* Killed, with all of its namespace: nothing maps the ledger any more. */
TEST(what_was_killed_in_another_namespace_is_put_away)
{
	struct inside inside = { 0, true };
	pid_t pid;

	folder = scratch_enter();
	spaces = scratch_share(sizeof(*spaces));
	pid = scratch_fork(enter_namespace, &inside);
	wait_until(&spaces->is_ready[0]);
	if (READ(spaces->is_refused)) {
		(void)scratch_wait(pid, 20);
		scratch_unshare(spaces, sizeof(*spaces));
		scratch_leave();
		SKIP("no pid namespace may be made here");
	}
	CHECK_INT(READ(spaces->has_failed), 0);
	(void)kill(pid, SIGKILL);
	CHECK_INT(scratch_wait(pid, 20), SIGKILL);
	/* Its child is gone a moment later: the kernel takes its time. */
	for (int i = 0; i < 500 && count("live"); i++) {
		(void)usleep(10000);
		CHECK(scratch_run(sweep_all, NULL, 20));
	}
	CHECK_INT(count("live"), 0);
	CHECK_INT(count_made(), OF_EACH / 2);
	scratch_unshare(spaces, sizeof(*spaces));
	scratch_leave();
}
