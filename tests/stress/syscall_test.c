/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call into the kernel fails in turn: alone, with all that follow it,
 * by an interruption, or by doing half of what it was asked. The host prints
 * and ends as without tare, and `tare` says what is wrong.
 */
#include "check.h"
#include "program.h"
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SKIP_SANITIZED() \
	if (SCRATCH_ASAN || SCRATCH_TSAN) \
	SKIP("a sanitizer makes such calls itself")

static struct outcome plain;

static bool is_unchanged(const struct outcome *outcome)
{
	return outcome_is_same(outcome, &plain);
}

static void fail_host(const char *mode)
{
	char dir[300];
	const char *argv[] = { program_path("host"), "ask", "stop", NULL };
	const char *env[] = { "TARE=1", dir, NULL };
	/* What earlier runs left is swept, by calls of its own. */
	struct program program = { .argv = argv, .between = scratch_empty };
	unsigned n;

	plain = program_run(&program);
	CHECK_INT(WEXITSTATUS(plain.status), 7);
	(void)snprintf(dir, sizeof(dir), "TARE_DIR=%s", scratch_enter());
	program.env = env;
	n = program_fail_all(&program, "call", mode, is_unchanged);
	printf("# %u calls\n", n);
	CHECK(n > 100);
	scratch_leave();
	outcome_release(&plain);
}

TEST(a_host_whose_nth_call_fails_prints_the_same)
{
	SKIP_SANITIZED();
	fail_host("once");
}

TEST(a_host_whose_calls_fail_from_the_nth_on_prints_the_same)
{
	SKIP_SANITIZED();
	fail_host("always");
}

TEST(a_host_whose_nth_call_is_interrupted_prints_the_same)
{
	SKIP_SANITIZED();
	fail_host("eintr");
}

TEST(a_host_whose_nth_call_does_half_prints_the_same)
{
	SKIP_SANITIZED();
	fail_host("short");
}

/* ---- the program tare -------------------------------------------------- */

/* What the command prints when all is well. */
static struct outcome whole;

static bool is_told(const struct outcome *outcome)
{
	if (!WIFEXITED(outcome->status) || outcome->status == -1)
		return false;
	switch (WEXITSTATUS(outcome->status)) {
	case 0:
		return true;
	case 1: /* there is no such run: its folder could not be read */
	case 3:
		return strstr(outcome->text, "tare: ") != NULL;
	default:
		return false;
	}
}

/* An interruption or half a read is not a failure at all. */
static bool is_whole(const struct outcome *outcome)
{
	return outcome_is_same(outcome, &whole);
}

static void make_run(const char *dir_variable)
{
	const char *argv[] = { program_path("host"), NULL };
	const char *env[] = { "TARE=on", dir_variable, NULL };
	struct program program = { .argv = argv, .env = env };
	struct outcome outcome = program_run(&program);

	CHECK_INT(WEXITSTATUS(outcome.status), 7);
	outcome_release(&outcome);
}

static void fail_tare(const char *mode,
		      bool (*is_right)(const struct outcome *))
{
	static const char *const command[][3] = {
		{ "report", "last", NULL },
		{ "report", "last", "--json" },
		{ "verify", "last", NULL },
		{ "ls", NULL, NULL },
	};
	char dir[300];
	const char *env[] = { dir, NULL };

	(void)snprintf(dir, sizeof(dir), "TARE_DIR=%s", scratch_enter());
	make_run(dir);
	for (size_t i = 0; i < sizeof(command) / sizeof(command[0]); i++) {
		const char *argv[] = { program_tare(), command[i][0],
				       command[i][1], command[i][2], NULL };
		struct program program = { .argv = argv, .env = env,
					   .keep_stderr = true };
		unsigned n;

		whole = program_run(&program);
		CHECK_INT(whole.status, 0);
		n = program_fail_all(&program, "call", mode, is_right);
		printf("# %s: %u calls\n", command[i][0], n);
		outcome_release(&whole);
	}
	scratch_leave();
}

TEST(tare_tells_when_its_nth_call_fails)
{
	SKIP_SANITIZED();
	if (!program_tare())
		SKIP("tare is not built");
	fail_tare("once", is_told);
}

TEST(tare_tells_when_its_calls_fail_from_the_nth_on)
{
	SKIP_SANITIZED();
	if (!program_tare())
		SKIP("tare is not built");
	fail_tare("always", is_told);
}

TEST(tare_goes_on_after_an_interruption)
{
	SKIP_SANITIZED();
	if (!program_tare())
		SKIP("tare is not built");
	fail_tare("eintr", is_whole);
}

TEST(tare_goes_on_after_half_a_read)
{
	SKIP_SANITIZED();
	if (!program_tare())
		SKIP("tare is not built");
	fail_tare("short", is_whole);
}
