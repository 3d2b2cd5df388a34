/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sweep: programs that never meet the command `tare` leave no heap behind.
 * What a killed one left is put away by the next that ends, only so many
 * runs are kept, and what lives, or a forked child, is left alone.
 */
#include "scratch.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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
