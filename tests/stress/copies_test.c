/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies: several copies of the library in one process, each linked into
 * another of its parts. The one that is started first measures for all.
 */
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"
#include "plugin_check.h"

static struct plugin_done *done; /* by place */
static char page[128];

struct start {
	const char *program;
	const char *arguments[4]; /* "keep" before a module, or none */
	const char *preload;
};

static void path_of(char *path, size_t size, const char *name)
{
	const char *build = getenv("TARE_TEST_BUILD");
	bool keep = strncmp(name, "keep", 4) == 0;

	(void)snprintf(path, size, "%s%s/%s", keep ? "keep" : "",
		       build ? build : ".", name + (keep ? 4 : 0));
}

static void be_program(void *arg)
{
	const struct start *start = arg;
	static char program[512], preload[512], module[4][512];
	char *arguments[8] = { program, page };
	int n = 2;

	path_of(program, sizeof(program), start->program);
	for (int i = 0; i < 4 && start->arguments[i]; i++) {
		if (strchr(start->arguments[i], '.'))
			path_of(module[i], sizeof(module[i]),
				start->arguments[i]);
		else
			strcpy(module[i], start->arguments[i]);
		arguments[n++] = module[i];
	}
	if (start->preload) {
		path_of(preload, sizeof(preload), start->preload);
		(void)setenv("LD_PRELOAD", preload, 1);
		/* Its library comes after the module then; it does not mind. */
		(void)setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
	}
	scratch_environment();
	(void)execv(program, arguments);
	_exit(96);
}

/* Names of the parts that recorded, in the order of their places. */
static void run(const struct start *start, const char *first,
		const char *second)
{
	struct scratch_reading r;
	char path[512];
	pid_t pid;

	(void)snprintf(page, sizeof(page), "%s/page", scratch_enter());
	done = scratch_share_file(page, 8 * sizeof(*done));
	pid = scratch_fork(be_program, (void *)(uintptr_t)start);
	if (CHECK_INT(scratch_wait(pid, 100), 0) &&
	    CHECK_INT(scratch_ledgers(), 1) &&
	    CHECK(scratch_ledger(pid, path, sizeof(path))) &&
	    scratch_read(path, &r)) {
		plugin_check(&r, first, &done[0]);
		plugin_check(&r, second, &done[1]);
		CHECK(done[0].scopes && done[1].scopes);
		CHECK_INT(tare_view_health(r.view)->lost, 0);
		scratch_close(&r);
	}
	scratch_unshare(done, 8 * sizeof(*done));
	scratch_leave();
}

TEST(a_modules_copy_follows_the_programs)
{
	run(&(struct start){ "copies_host", { "copy_one.so" }, NULL }, "host",
	    "one");
}

TEST(the_programs_copy_follows_that_of_a_module_before_it)
{
	run(&(struct start){ "copies_host", { "copy_one.so" }, "copy_one.so" },
	    "host", "one");
}

/* The program's names then win over those in the module. */
TEST(a_program_may_export_its_copy)
{
	run(&(struct start){ "copies_exporting", { "copy_one.so" }, NULL },
	    "host", "one");
}

TEST(a_program_may_export_its_copy_and_come_second)
{
	run(&(struct start){ "copies_exporting",
			     { "copy_one.so" },
			     "copy_one.so" },
	    "host", "one");
}

TEST(a_shared_library_follows_the_programs_copy)
{
	run(&(struct start){ "copies_host", { "plugin_alpha.so" }, NULL },
	    "host", "alpha");
}

TEST(the_programs_copy_follows_a_shared_library)
{
	run(&(struct start){ "copies_exporting",
			     { "plugin_alpha.so" },
			     "plugin_alpha.so" },
	    "host", "alpha");
}

TEST(a_module_whose_copy_others_use_stays)
{
	run(&(struct start){ "plugin_host",
			     { "20", "copy_one.so", "copy_two.so" },
			     NULL },
	    "one", "two");
}

TEST(two_modules_may_come_in_any_order)
{
	run(&(struct start){ "plugin_host",
			     { "20", "copy_two.so", "keepcopy_one.so" },
			     NULL },
	    "two", "one");
}
