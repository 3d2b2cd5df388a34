/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation fails in turn, alone and with all that follow it: the
 * host prints and ends as without tare, and `tare` says what is wrong.
 */
#include "check.h"
#include "program.h"
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static struct outcome plain;

static bool is_unchanged(const struct outcome *outcome)
{
	return outcome_is_same(outcome, &plain);
}

static const char *const host_argv[] = { NULL, "ask", "stop", NULL };

static void fail_host(const char *mode)
{
	char dir[300];
	const char *argv[4], *env[] = { "TARE=1", dir, NULL };
	struct program program = { .argv = argv };
	unsigned n;

	memcpy(argv, host_argv, sizeof(argv));
	argv[0] = program_path("host");
	plain = program_run(&program);
	CHECK_INT(WEXITSTATUS(plain.status), 7);
	(void)snprintf(dir, sizeof(dir), "TARE_DIR=%s", scratch_enter());
	program.env = env;
	n = program_fail_all(&program, "alloc", mode, is_unchanged);
	printf("# %u allocations\n", n);
	CHECK(n > 20);
	scratch_leave();
	outcome_release(&plain);
}

#define SKIP_SANITIZED() \
	if (SCRATCH_ASAN || SCRATCH_TSAN) \
	SKIP("a sanitizer has its own allocator")

TEST(a_host_whose_nth_allocation_fails_prints_the_same)
{
	SKIP_SANITIZED();
	fail_host("once");
}

TEST(a_host_whose_allocations_fail_from_the_nth_on_prints_the_same)
{
	SKIP_SANITIZED();
	fail_host("always");
}

/* ---- the program tare -------------------------------------------------- */

/* It worked, or there is a line on stderr and the code for trouble. */
static bool is_told(const struct outcome *outcome)
{
	if (!WIFEXITED(outcome->status) || outcome->status == -1)
		return false;
	switch (WEXITSTATUS(outcome->status)) {
	case 0:
		return true;
	case 3:
		return strstr(outcome->text, "tare: ") != NULL;
	default:
		return false;
	}
}

/* Measures the host once and leaves its ledger. */
static void make_run(const char *dir_variable)
{
	const char *argv[] = { program_path("host"), NULL };
	const char *env[] = { "TARE=on", dir_variable, NULL };
	struct program program = { .argv = argv, .env = env };
	struct outcome outcome = program_run(&program);

	CHECK_INT(WEXITSTATUS(outcome.status), 7);
	outcome_release(&outcome);
}

static void fail_tare(const char *mode)
{
	static const char *const command[][3] = {
		{ "report", "last", NULL },
		{ "report", "last", "--json" },
		{ "tree", "last", NULL },
		{ "verify", "last", NULL },
		{ "records", "last", NULL },
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
		unsigned n = program_fail_all(&program, "alloc", mode,
					      is_told);

		printf("# %s: %u allocations\n", command[i][0], n);
	}
	scratch_leave();
}

TEST(tare_tells_when_its_nth_allocation_fails)
{
	SKIP_SANITIZED();
	if (!program_tare())
		SKIP("tare is not built");
	fail_tare("once");
}

TEST(tare_tells_when_its_allocations_fail_from_the_nth_on)
{
	SKIP_SANITIZED();
	if (!program_tare())
		SKIP("tare is not built");
	fail_tare("always");
}
