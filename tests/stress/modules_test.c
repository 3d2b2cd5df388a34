/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: libraries with probes that come and go. What they measured stays
 * readable, under their names, when another lies in their place.
 */
#include "scratch.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"
#include "plugin_check.h"

#define CYCLES 1000u

struct shared {
	struct plugin_done of[8];
	uint64_t stayed; /* modules that were still there after a close */
	char path[512];
};

static struct shared *shared;
static char alpha[512], delta[512], host[512], page[128];

static void find_programs(void)
{
	const char *build = getenv("TARE_TEST_BUILD");

	if (!CHECK(build != NULL))
		abort();
	(void)snprintf(alpha, sizeof(alpha), "%s/plugin_alpha.so", build);
	(void)snprintf(delta, sizeof(delta), "%s/plugin_delta.so", build);
	(void)snprintf(host, sizeof(host), "%s/plugin_host", build);
}

static bool cycle(const char *path, struct plugin_done *done)
{
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	plugin_record_fn *record;

	if (!module)
		return false;
	*(void **)&record = dlsym(module, "plugin_record");
	if (!record)
		return false;
	record(done);
	(void)dlclose(module);
	shared->stayed += dlopen(path, RTLD_NOW | RTLD_NOLOAD) != NULL;
	return true;
}

/* This program has a copy of the library; the modules bring another. */
static void be_loader(void *arg)
{
	(void)arg;
	scratch_start(NULL);
	strcpy(shared->path, tare_ledger_path());
	for (unsigned i = 0; i < scratch_times(CYCLES); i++)
		if (!cycle(i % 2 ? delta : alpha, &shared->of[i % 2]))
			_exit(97);
}

static void check_ledger(const char *path)
{
	struct scratch_reading r;

	if (!scratch_read(path, &r))
		return;
	plugin_check(&r, "alpha", &shared->of[0]);
	plugin_check(&r, "delta", &shared->of[1]);
	CHECK_INT(tare_view_health(r.view)->lost, 0);
	/* Each name once: a module that comes again finds its own. */
	CHECK_INT(r.n, 2 * 8);
	scratch_close(&r);
}

static void prepare(void)
{
	(void)snprintf(page, sizeof(page), "%s/page", scratch_enter());
	shared = scratch_share_file(page, sizeof(*shared));
	find_programs();
}

static void clean_up(void)
{
	scratch_unshare(shared, sizeof(*shared));
	scratch_leave();
}

TEST(modules_leave_their_names_behind)
{
	prepare();
	if (scratch_run(be_loader, NULL, 200)) {
		CHECK_INT(shared->stayed, 0);
		check_ledger(shared->path);
	}
	clean_up();
}

static void be_host(void *arg)
{
	char times[16];

	(void)arg;
	(void)snprintf(times, sizeof(times), "%u", scratch_times(CYCLES) / 2);
	scratch_environment();
	(void)execl(host, host, page, times, alpha, delta, (char *)NULL);
	_exit(96);
}

TEST(a_module_brings_the_library_into_a_program_without)
{
	char path[512];
	pid_t pid;

	prepare();
	pid = scratch_fork(be_host, NULL);
	if (CHECK_INT(scratch_wait(pid, 200), 0) &&
	    CHECK(scratch_ledger(pid, path, sizeof(path))))
		check_ledger(path);
	clean_up();
}
