/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quiet: what a program notices of the library. Off by default it is
 * nothing; in standby one control page; on, no thread and no descriptor.
 */
#include "check.h"
#include "program.h"
#include "scratch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *folder;

/* Files below the folder, and whether others may look at them. */
static unsigned count_files(const char *sub, const char *suffix)
{
	char path[600];
	DIR *stream;
	const struct dirent *entry;
	unsigned n = 0;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, sub);
	stream = opendir(path);
	while (stream && (entry = readdir(stream))) {
		char file[1200];
		struct stat st;
		size_t len = strlen(entry->d_name), want = strlen(suffix);

		(void)snprintf(file, sizeof(file), "%s/%s", path,
			       entry->d_name);
		if (entry->d_name[0] == '.' || lstat(file, &st))
			continue;
		CHECK_INT(st.st_mode & 077, 0);
		n += len >= want &&
		     strcmp(entry->d_name + len - want, suffix) == 0;
	}
	if (stream)
		(void)closedir(stream);
	return n;
}

struct quiet {
	const char *tare; /* NAME=value, or NULL */
	const char *more;
	bool look; /* at the folder while it runs */
};

static struct outcome run(struct quiet quiet)
{
	char dir[300];
	const char *argv[] = { program_path("quiet_host"),
			       quiet.look ? folder : NULL, NULL };
	const char *env[] = { dir, quiet.tare, quiet.more, NULL };
	struct program program = { .argv = argv, .env = env,
				   .keep_stderr = true };

	if (!quiet.tare)
		env[1] = quiet.more;
	(void)snprintf(dir, sizeof(dir), "TARE_DIR=%s", folder);
	return program_run(&program);
}

static void check_run(struct quiet quiet, const char *wanted)
{
	struct outcome outcome = run(quiet);

	CHECK_INT(outcome.status, 0);
	CHECK_STR(outcome.text, wanted);
	outcome_release(&outcome);
}

/* A sanitizer has threads and handlers of its own. */
#define SKIP_SANITIZED() \
	if (SCRATCH_ASAN || SCRATCH_TSAN) \
	SKIP("a sanitizer is not quiet")

#define NOTHING "threads 1, descriptors 3, handlers 0, errno 4321\n"
/* The one handler is the guard against a truncated file. */
#define GUARDED "threads 1, descriptors 3, handlers 1, errno 4321\n"

TEST(off_by_default_there_is_no_trace_of_it)
{
	SKIP_SANITIZED();
	folder = scratch_enter();
	check_run((struct quiet){ .look = true }, NOTHING);
	check_run((struct quiet){ "TARE=0", NULL, true }, NOTHING);
	check_run((struct quiet){ "TARE=", NULL, true }, NOTHING);
	check_run((struct quiet){ "TARE=off", NULL, true }, NOTHING);
	check_run((struct quiet){ "TARE=nonsense", NULL, true }, NOTHING);
	check_run((struct quiet){ "TARE=0", "TARE_ENABLE_METRICS=1", true },
		  NOTHING);
	CHECK_INT(count_files("", ""), 0);
	scratch_leave();
}

TEST(on_it_has_no_thread_and_no_descriptor_and_prints_nothing)
{
	SKIP_SANITIZED();
	folder = scratch_enter();
	check_run((struct quiet){ .tare = "TARE=on" }, GUARDED);
	CHECK_INT(count_files("live", ""), 0);
	CHECK_INT(count_files("runs", ".tare"), 1);
	CHECK_INT(count_files("runs", ""), 1);
	check_run((struct quiet){ "TARE=on", "TARE_SIGBUS_GUARD=0", false },
		  NOTHING);
	check_run((struct quiet){ .more = "TARE_ENABLE_METRICS=1" }, GUARDED);
	CHECK_INT(count_files("runs", ".tare"), 3);
	scratch_leave();
}

TEST(on_there_are_a_ledger_and_a_control_page_and_only_for_their_owner)
{
	SKIP_SANITIZED();
	folder = scratch_enter();
	check_run((struct quiet){ "TARE=on", "TARE_LEDGER_LIMIT=1M", true },
		  GUARDED ".calibration 352 600\n.ctl 4096 600\n"
		  ".tare 1073741824 600\n");
	scratch_leave();
}

TEST(in_standby_there_is_a_control_page_and_nothing_else)
{
	SKIP_SANITIZED();
	folder = scratch_enter();
	check_run((struct quiet){ "TARE=standby", NULL, true },
		  NOTHING ".ctl 4096 600\n");
	CHECK_INT(count_files("live", ""), 0);
	CHECK_INT(count_files("runs", ""), 0);
	scratch_leave();
}

TEST(a_report_goes_to_stderr_and_only_when_asked_for)
{
	struct outcome outcome;

	SKIP_SANITIZED();
	folder = scratch_enter();
	outcome = run((struct quiet){ .tare = "TARE=1" });
	CHECK(strncmp(outcome.text, GUARDED, strlen(GUARDED)) == 0);
	CHECK(strstr(outcome.text, "call tree") != NULL);
	outcome_release(&outcome);
	check_run((struct quiet){ "TARE=1", "TARE_REPORT=none", false },
		  GUARDED);
	scratch_leave();
}
