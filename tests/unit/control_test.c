/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control: options, switches and filters, from inside and from outside,
 * over more changes than the control page has words for sleepers.
 */
#include "check.h"
#include "scene.h"

#include "ledger/write.h"
#include "record/runtime.h"
#include "read/view.h"

#include <tare/control.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t count_of(tare_view *view, const char *name)
{
	const tare_stats *rows = NULL, *row;
	size_t n = scene_rows(view, NULL, &rows);

	row = scene_row(rows, n, name);
	return row ? row->count : 0;
}

static uint64_t count_now(const char *name)
{
	tare_view *view = scene_view();
	uint64_t n = count_of(view, name);

	tare_view_close(view);
	return n;
}

/* ---- options ----------------------------------------------------------- */

static void check_option(const char *name, const char *value, int wanted)
{
	char before[256] = "", after[256] = "";

	CHECK(tare_option_get(name, before, sizeof(before)) >= 0 ||
	      wanted == TARE_ENOENT);
	if (!CHECK_INT(tare_option_set(name, value), wanted))
		printf("# %s=%s\n", name, value);
	(void)!tare_option_get(name, after, sizeof(after));
	if (wanted)
		CHECK_STR(after, before);
}

static void play_options(void)
{
	char value[256];

	check_option("max_sites", "100", 0);
	check_option("max_sites", "1", TARE_ERANGE);
	check_option("max_sites", "many", TARE_ERANGE);
	check_option("no_such_option", "1", TARE_ENOENT);
	check_option("include", "a*", 0);
	CHECK_INT(tare_option_set(NULL, "1"), TARE_EINVAL);
	CHECK_INT(tare_option_set("trace", NULL), TARE_EINVAL);
	scene_start(NULL);
	CHECK(tare_option_get("max_sites", value, sizeof(value)) > 0);
	CHECK_STR(value, "100");
	check_option("max_sites", "200", TARE_EINVAL);
	check_option("dir", "/tmp", TARE_EINVAL);
	check_option("include", "b*", 0);
	check_option("exclude", "line\nend", TARE_ERANGE);
	check_option("max_history_size", "5", 0);
	check_option("max_history_size", "-5", TARE_ERANGE);
}

TEST(an_option_changes_when_it_may_and_keeps_its_value_otherwise)
{
	scene_play(play_options);
}

static void play_all_live_options(void)
{
	const tare_option *option;
	char value[256];
	int set = 0;

	scene_start(NULL);
	for (int round = 0; round < 50; round++)
		for (size_t i = 0; (option = tare_option_at(i)); i++) {
			bool live = option->live && option->effective;

			if (tare_option_get(option->name, value,
					    sizeof(value)) < 0)
				continue;
			if (!CHECK_INT(tare_option_set(option->name, value),
				       live ? 0 : TARE_EINVAL))
				printf("# %s\n", option->name);
			set += live;
		}
	CHECK(set > 100);
}

TEST(all_live_options_can_be_set_again_and_again)
{
	scene_play(play_all_live_options);
}

/* ---- on and off -------------------------------------------------------- */

TARE_SCOPE_SITE_DEFINE(scope_site, "scope");
TARE_SITE(value_site, TARE_KIND_VALUE, TARE_TYPE_CUSTOM, "value", "1");
TARE_SITE(counter_site, TARE_KIND_COUNTER, TARE_TYPE_COUNTER, "counter",
	  NULL);
TARE_SITE(gauge_site, TARE_KIND_GAUGE, TARE_TYPE_CUSTOM, "gauge", "1");
TARE_SITE(ratio_site, TARE_KIND_RATIO, TARE_TYPE_RATIO, "ratio", "1");

static void use_all(void)
{
	{
		TARE_SCOPE_SITE(&scope_site);
		TARE_OPERATION("operation");
	}
	tare_value_observe(&value_site, 1);
	tare_counter_add(&counter_site, 1);
	tare_gauge_set(&gauge_site, 1);
	tare_ratio_add(&ratio_site, 1, 1);
	TARE_DURATION("duration", 1000);
}

static void check_all(uint64_t wanted)
{
	static const char *const names[] = { "scope",	"operation", "value",
					     "counter", "gauge",     "ratio",
					     "duration" };
	tare_view *view = scene_view();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!CHECK_INT(count_of(view, names[i]), wanted))
			printf("# %s\n", names[i]);
	tare_view_close(view);
}

static void play_generations(void)
{
	uint64_t wanted = 0;

	CHECK_INT(tare_enable(true), TARE_EOFF);
	CHECK(!tare_is_enabled());
	use_all(); /* before the start: nothing */
	scene_start(NULL);
	CHECK(tare_is_enabled());
	for (int i = 0; i < 1400; i++) {
		bool on = i % 2;

		CHECK_INT(tare_enable(on), 0);
		CHECK_INT(tare_is_enabled(), on);
		use_all();
		use_all();
		wanted += on ? 2 : 0;
		if (i % 199 == 0)
			check_all(wanted);
	}
	check_all(wanted);
	CHECK(tr_ledger->control->generation > 2 * TR_CONTROL_SLEEP);
}

TEST(every_change_of_1400_is_followed)
{
	scene_play(play_generations);
}

/* A scope under way is finished. */
static void play_open_scope(void)
{
	tare_scope scope;

	scene_start(NULL);
	scope = tare_scope_begin(&scope_site);
	CHECK_INT(tare_enable(false), 0);
	tare_scope_end(scope);
	CHECK_INT(count_now("scope"), 1);
	scope = tare_scope_begin(&scope_site);
	CHECK_INT(tare_enable(true), 0);
	tare_scope_end(scope);
	CHECK_INT(count_now("scope"), 1);
}

TEST(a_scope_that_was_open_is_finished_after_switching_off)
{
	scene_play(play_open_scope);
}

/* Sites that sleep through many changes, all different numbers of them. */
#define N_SLEEPERS 40

static void play_sleepers(void)
{
	tare_site *site[N_SLEEPERS];
	char name[16];

	scene_start(NULL);
	for (int i = 0; i < N_SLEEPERS; i++) {
		(void)snprintf(name, sizeof(name), "s%d", i);
		site[i] = tare_site_get(TARE_KIND_COUNTER, TARE_TYPE_COUNTER,
					name, NULL, NULL);
		tare_counter_add(site[i], 1);
	}
	/* They fall asleep 17 changes apart, some after the last word. */
	CHECK_INT(tare_enable(false), 0);
	for (int i = 0; i < N_SLEEPERS; i++) {
		for (int k = 0; k < 17; k++)
			CHECK_INT(tare_enable(false), 0);
		tare_counter_add(site[i], 100);
	}
	CHECK_INT(tare_enable(true), 0);
	for (int i = 0; i < N_SLEEPERS; i++)
		tare_counter_add(site[i], 1);
	for (int i = 0; i < N_SLEEPERS; i++) {
		(void)snprintf(name, sizeof(name), "s%d", i);
		CHECK_INT(count_now(name), 2);
	}
}

TEST(sites_asleep_over_many_changes_wake_up)
{
	scene_play(play_sleepers);
}

/* ---- filters ----------------------------------------------------------- */

static void use_named(void)
{
	TARE_COUNT("db.read", 1);
	TARE_COUNT("db.write", 1);
	TARE_COUNT("net.read", 1);
	{
		TARE_SCOPE_IN("disk", "flush");
	}
}

static void check_named(uint64_t db_read, uint64_t db_write, uint64_t net_read,
			uint64_t flush)
{
	CHECK_INT(count_now("db.read"), db_read);
	CHECK_INT(count_now("db.write"), db_write);
	CHECK_INT(count_now("net.read"), net_read);
	CHECK_INT(count_now("flush"), flush);
}

static void set(const char *name, const char *value)
{
	CHECK_INT(tare_option_set(name, value), 0);
}

static void play_filters(void)
{
	scene_start(NULL);
	use_named();
	set("exclude", "*.read");
	use_named();
	check_named(1, 2, 1, 2);
	set("include", "db.*, f*");
	use_named();
	check_named(1, 3, 1, 3);
	set("exclude", "");
	use_named();
	check_named(2, 4, 1, 4);
	set("include", "");
	use_named();
	check_named(3, 5, 2, 5);
	set("include_source", "disk");
	use_named();
	check_named(3, 5, 2, 6);
	set("include_source", "");
	set("exclude_source", "d?sk");
	use_named();
	check_named(4, 6, 3, 6);
	set("exclude_source", "");
	set("collect_timing", "false");
	use_named();
	check_named(5, 7, 4, 6);
	set("collect_timing", "true");
	use_named();
	check_named(6, 8, 5, 7);
}

TEST(filters_may_change_at_any_time)
{
	scene_play(play_filters);
}

/* The child's own ledger and control page know nothing of the parent's. */
static void check_in_child(void)
{
	char value[64] = "";

	use_named();
	check_named(0, 1, 0, 1);
	CHECK_INT(tare_option_get("exclude", value, sizeof(value)), 6);
	CHECK_STR(value, "*.read");
	_exit(check_failures() ? 1 : 0);
}

static void play_forked(void)
{
	int status = -1;
	pid_t child;

	scene_start(NULL);
	set("exclude", "*.read");
	child = fork();
	if (child == 0)
		check_in_child();
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK_INT(status, 0);
}

TEST(a_child_starts_with_the_options_of_its_parent)
{
	if (!scene_fork_wipes())
		SKIP("a fork does not wipe memory here");
	scene_play(play_forked);
}

/* ---- from outside ------------------------------------------------------ */

struct shared {
	uint64_t rounds;
	uint32_t stop;
};

static struct shared *shared;

static uint64_t rounds(void)
{
	return __atomic_load_n(&shared->rounds, __ATOMIC_ACQUIRE);
}

/* Until the child has gone round so often more. */
static void wait_rounds(uint64_t more)
{
	uint64_t end = rounds() + more;

	while (rounds() < end)
		(void)usleep(100);
}

static void run_child(void)
{
	scene_start(NULL);
	while (!__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE)) {
		use_named();
		(void)__atomic_fetch_add(&shared->rounds, 1,
					 __ATOMIC_RELEASE);
		(void)usleep(20);
	}
	_exit(0);
}

static pid_t start_child(void (*run)(void))
{
	pid_t child;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	child = fork();
	if (child == 0)
		run();
	wait_rounds(2);
	return child;
}

static void stop_child(pid_t child)
{
	int status;

	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_INT(status, 0);
}

static uint64_t count_in(pid_t child, const char *name)
{
	tare_view *view = NULL;
	char which[16];
	uint64_t n = 0;

	(void)snprintf(which, sizeof(which), "%d", (int)child);
	if (CHECK_INT(tare_view_open(which, &view), 0))
		n = count_of(view, name);
	tare_view_close(view);
	return n;
}

/* Whether a series grows now. */
static bool grows(pid_t child, const char *name)
{
	uint64_t before;

	wait_rounds(2); /* the change has been seen */
	before = count_in(child, name);
	wait_rounds(20);
	return count_in(child, name) > before;
}

static void play_remote(void)
{
	pid_t child = start_child(run_child);

	CHECK(grows(child, "db.read") && grows(child, "flush"));
	CHECK_INT(tare_remote_enable(child, false), 0);
	CHECK(!grows(child, "db.read") && !grows(child, "flush"));
	CHECK_INT(tare_remote_enable(child, true), 0);
	CHECK(grows(child, "db.read") && grows(child, "flush"));
	CHECK_INT(tare_remote_set(child, "exclude", "db.*"), 0);
	CHECK(!grows(child, "db.read") && grows(child, "net.read"));
	CHECK_INT(tare_remote_set(child, "include", "db.*"), 0);
	CHECK(!grows(child, "db.read") && !grows(child, "net.read"));
	CHECK_INT(tare_remote_set(child, "exclude", ""), 0);
	CHECK(grows(child, "db.read") && !grows(child, "net.read"));
	CHECK_INT(tare_remote_set(child, "include", ""), 0);
	for (int i = 0; i < 600; i++)
		CHECK_INT(tare_remote_set(child, "exclude", i % 2 ? "db.*" :
								    "net.*"),
			  0);
	CHECK(!grows(child, "db.read") && grows(child, "net.read"));
	CHECK_INT(tare_remote_set(child, "max_sites", "100"), TARE_EINVAL);
	CHECK_INT(tare_remote_set(child, "nonsense", "100"), TARE_ENOENT);
	CHECK_INT(tare_remote_set(child, "collect_timing", "x"), TARE_ERANGE);
	stop_child(child);
	CHECK_INT(tare_remote_enable(child, true), TARE_EDEAD);
	CHECK_INT(tare_remote_enable(0, true), TARE_EDEAD);
	CHECK_INT(tare_remote_enable(-1, true), TARE_EDEAD);
	CHECK_INT(tare_remote_enable(getppid(), true), TARE_EOFF);
}

TEST(another_process_switches_and_filters)
{
	scene_play(play_remote);
}

/* The run of a process in a list; false: it has none. */
static bool run_of(pid_t child, bool is_scan, tare_run_entry *ret_run)
{
	tare_run_entry *runs = NULL;
	size_t n = 0;
	bool found = false;

	CHECK_INT(is_scan ? tare_runs_scan(&runs, &n) :
			    tare_runs_list(&runs, &n),
		  0);
	for (size_t i = 0; i < n && !found; i++)
		if (runs[i].pid == child) {
			*ret_run = runs[i];
			found = true;
		}
	tare_runs_free(runs);
	return found;
}

static void play_held_lock(void)
{
	pid_t child = start_child(run_child);
	tare_run_entry run = { .pid = 0 };
	char path[600];
	int fd;

	CHECK(run_of(child, true, &run));
	(void)snprintf(path, sizeof(path), "%.*s.ctl",
		       (int)(strlen(run.path) - strlen(".tare")), run.path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_INT(flock(fd, LOCK_EX), 0);
	CHECK_INT(tare_remote_enable(child, false), TARE_EBUSY);
	CHECK_INT(tare_remote_set(child, "exclude", "db.*"), TARE_EBUSY);
	CHECK(grows(child, "db.read"));
	(void)close(fd);
	CHECK_INT(tare_remote_enable(child, false), 0);
	CHECK(!grows(child, "db.read"));
	stop_child(child);
}

TEST(a_lock_that_is_held_ends_in_an_error)
{
	scene_play(play_held_lock);
}

static void play_scan(void)
{
	pid_t child = start_child(run_child);
	tare_run_entry quick, whole;

	CHECK(run_of(child, true, &quick) && run_of(child, false, &whole));
	CHECK_INT(quick.state, TARE_RUN_LIVE);
	CHECK_STR(quick.id, whole.id);
	CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
	CHECK(run_of(child, true, &quick) && run_of(child, false, &whole));
	CHECK_INT(quick.state, TARE_RUN_KILLED);
	CHECK_INT(quick.end_ns, 0);
	CHECK(whole.end_ns >= whole.start_ns);
	CHECK_INT(tare_runs_scan(NULL, NULL), TARE_EINVAL);
}

TEST(a_scan_leaves_the_end_of_a_killed_run_open)
{
	scene_play(play_scan);
}

static void play_remote_clear(void)
{
	pid_t child = start_child(run_child);
	uint64_t before;

	wait_rounds(200);
	before = count_in(child, "db.read");
	CHECK(before >= 200);
	CHECK_INT(tare_remote_clear(child), 0);
	CHECK(count_in(child, "db.read") < before);
	CHECK(grows(child, "db.read") && grows(child, "flush"));
	stop_child(child);
}

TEST(another_process_clears)
{
	scene_play(play_remote_clear);
}

/* Still maps what its parent wrote, but has nothing to do with it. */
static void run_silent_child(void)
{
	while (!__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE)) {
		(void)__atomic_fetch_add(&shared->rounds, 1,
					 __ATOMIC_RELEASE);
		(void)usleep(100);
	}
	_exit(0);
}

static void play_silent_child(void)
{
	tare_view *view = NULL;
	char which[16];
	pid_t child;

	scene_start(NULL);
	TARE_COUNT("mine", 1);
	child = start_child(run_silent_child);
	CHECK_INT(tare_remote_enable(child, false), TARE_EOFF);
	CHECK(tare_is_enabled());
	(void)snprintf(which, sizeof(which), "%d", (int)child);
	CHECK_INT(tare_view_open(which, &view), TARE_ENOENT);
	stop_child(child);
}

TEST(a_child_that_measured_nothing_is_not_its_parent)
{
	scene_play(play_silent_child);
}

/* ---- standby ----------------------------------------------------------- */

static void play_standby(void)
{
	tr_mode = TR_MODE_STANDBY;
	CHECK_INT(tr_start(), 0);
	use_all();
	CHECK(!tr_ledger->base && tr_ledger->control);
	CHECK_INT(tare_remote_enable(getpid(), true), 0);
	use_all();
	check_all(1);
	CHECK_INT(tare_remote_enable(getpid(), false), 0);
	use_all();
	check_all(1);
}

TEST(a_process_in_standby_is_switched_on_from_outside)
{
	scene_play(play_standby);
}

static void play_standby_start(void)
{
	tr_mode = TR_MODE_STANDBY;
	CHECK_INT(tr_start(), 0);
	use_all();
	CHECK_INT(tare_start(), 0);
	use_all();
	check_all(1);
}

TEST(a_process_in_standby_may_start_by_itself)
{
	scene_play(play_standby_start);
}

/* ---- the page itself --------------------------------------------------- */

TEST(lines_of_the_page_are_replaced_and_bounded)
{
	static struct tr_control page;
	char name[32], value[192], got[192];
	int n = 0;

	CHECK(!tr_control_get(&page, "a", got, sizeof(got)));
	CHECK_INT(tr_control_set(&page, "a", "1"), 0);
	CHECK_INT(tr_control_set(&page, "ab", "2"), 0);
	CHECK_INT(tr_control_set(&page, "a", "3"), 0);
	CHECK(tr_control_get(&page, "a", got, sizeof(got)));
	CHECK_STR(got, "3");
	CHECK(tr_control_get(&page, "ab", got, sizeof(got)));
	CHECK_STR(got, "2");
	CHECK(!tr_control_get(&page, "b", got, sizeof(got)));
	CHECK_INT(tr_control_set(&page, "a", "x\ny"), TARE_EINVAL);
	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	for (; n < 100; n++) {
		(void)snprintf(name, sizeof(name), "key%d", n);
		if (tr_control_set(&page, name, value) == TARE_EFULL)
			break;
	}
	CHECK(n >= 5 && n < 10);
	CHECK(tr_control_get(&page, "key3", got, sizeof(got)));
	CHECK_STR(got, value);
	CHECK(tr_control_get(&page, "a", got, sizeof(got)));
	CHECK_STR(got, "3");
}

/* ---- options from the page --------------------------------------------- */

static void set_outside(const char *name, const char *value)
{
	CHECK_INT(tr_control_set(tr_ledger->control, name, value), 0);
}

static void play_readers(void)
{
	static const char *const wrong[] = { "", "many", "-1", "1e99", "nan" };
	static const char *const none[] = { NULL };
	char text[TR_CONFIG_STRING];

	scene_start(none);
	CHECK_INT(tr_control_u64("max_history_size", 7), 7);
	set_outside("max_history_size", "123");
	CHECK_INT(tr_control_u64("max_history_size", 7), 123);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		set_outside("max_history_size", wrong[i]);
		set_outside("monitor_interval", wrong[i]);
		set_outside("collect_timing", wrong[i]);
		CHECK_INT(tr_control_u64("max_history_size", 7), 7);
		CHECK_NEAR(tr_control_double("monitor_interval", 3), 3, 0);
		CHECK(tr_control_bool("collect_timing", true));
	}
	set_outside("monitor_interval", "0.5");
	set_outside("collect_timing", "off");
	set_outside("include", "a*");
	CHECK_NEAR(tr_control_double("monitor_interval", 3), 0.5, 0);
	CHECK(!tr_control_bool("collect_timing", true));
	CHECK_STR(tr_control_text("include", "", text), "a*");
	CHECK_STR(tr_control_text("exclude", "b*", text), "b*");
}

TEST(nothing_in_the_page_is_believed)
{
	scene_play(play_readers);
}

static void play_once(void)
{
	static const char *const none[] = { NULL };
	uint64_t before;

	scene_start(none);
	TARE_COUNT("first", 1);
	before = tr_ledger->header->max_history;
	set_outside("max_history_size", "123");
	/* Another site asks for its switches, but none has moved. */
	TARE_COUNT("second", 1);
	CHECK_INT(tr_ledger->header->max_history, before);
	tr_control_bump(tr_ledger->control);
	TARE_COUNT("third", 1);
	CHECK_INT(tr_ledger->header->max_history, 123);
}

TEST(options_are_read_once_a_change)
{
	scene_play(play_once);
}
