/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monitor: its thread and jobs, its series, its switches.
 *
 * Jobs are run by a clock that only the test moves. A test waits for what the
 * thread does, and knows that it has looked around by a job that is off and
 * counts how often it is asked.
 */
#include "check.h"
#include "scene.h"

#include <tare/tare.h>

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpu/driver.h"
#include "record/gpu.h"
#include "record/monitor.h"
#include "read/view.h"

#define SECOND INT64_C(1000000000)

/* ---- jobs of the test -------------------------------------------------- */

static int64_t job_every;
static unsigned job_runs, looks;
static int64_t job_last;

static int64_t job_interval(void)
{
	return TR_LOAD(job_every);
}

static void job_run(int64_t now)
{
	TR_STORE(job_last, now);
	TR_PUBLISH(job_runs, TR_LOAD(job_runs) + 1);
}

static int64_t look_interval(void)
{
	TR_PUBLISH(looks, TR_LOAD(looks) + 1);
	return 0;
}

static const struct tr_job job = { "test", job_interval, job_run, 0 };
static const struct tr_job look = { "look", look_interval, job_run, 0 };

/* Until the thread has looked at all jobs once more. */
static void let_it_look(void)
{
	unsigned before = TR_ACQUIRE(looks);

	tr_monitor_request();
	/* Twice: the first may have been under way already. */
	while (TR_ACQUIRE(looks) < before + 1)
		sched_yield();
	before = TR_ACQUIRE(looks);
	tr_monitor_request();
	while (TR_ACQUIRE(looks) < before + 1)
		sched_yield();
}

/* The monitor's threads; drivers and sanitizers have some of their own. */
static size_t count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	char path[300], name[32];
	size_t n = 0;

	while (dir && (entry = readdir(dir))) {
		FILE *file;

		(void)snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			       entry->d_name);
		file = fopen(path, "r");
		if (file && fgets(name, sizeof(name), file))
			n += strcmp(name, "tare-monitor\n") == 0;
		if (file)
			(void)fclose(file);
	}
	if (dir)
		closedir(dir);
	return n;
}

static const tare_stats *series(tare_view *view, const char *source,
				const char *name)
{
	const tare_stats *rows;
	size_t n = scene_rows(view, NULL, &rows);

	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].source, source) == 0 &&
		    strcmp(rows[i].name, name) == 0 &&
		    !strstr(rows[i].labels, "gpu=\"1\""))
			return &rows[i];
	return NULL;
}

/* ---- the thread -------------------------------------------------------- */

static void play_alone(void)
{
	scene_start(NULL);
	for (int i = 0; i < 1000; i++)
		TARE_COUNT("work", 1);
	CHECK_INT(count_threads(), 0);
	CHECK_INT(tare_monitor_parts(), 0);
	CHECK_INT(tare_monitor_cost_ns(), 0);
	CHECK(!tr_monitor_is_running());
}

TEST(a_program_that_is_measured_has_no_thread_of_ours)
{
	scene_play(play_alone);
}

static void play_slots(void)
{
	int64_t start;

	scene_clock();
	scene_start(NULL);
	CHECK(tr_monitor_add(&job) && tr_monitor_add(&look));
	CHECK(tr_monitor_add(&job)); /* once is enough */
	job_every = SECOND;
	start = scene_monotonic_ns();
	CHECK_INT(tr_monitor_start(), 0);
	let_it_look();
	CHECK_INT(job_runs, 1);
	scene_pass_ns(SECOND - 1);
	let_it_look();
	CHECK_INT(job_runs, 1);
	/* Late by 0.3 s: the next one is not. */
	scene_pass_ns(SECOND * 3 / 10 + 1);
	let_it_look();
	CHECK_INT(job_runs, 2);
	CHECK_INT(job_last - start, SECOND * 13 / 10);
	scene_pass_ns(SECOND * 7 / 10);
	let_it_look();
	CHECK_INT(job_runs, 3);
	/* An hour of sleep is no reason for 3600 runs. */
	scene_pass_ns(3600 * SECOND + SECOND / 2);
	let_it_look();
	CHECK_INT(job_runs, 4);
	scene_pass_ns(SECOND / 2 - 1);
	let_it_look();
	CHECK_INT(job_runs, 4);
	scene_pass_ns(1);
	let_it_look();
	CHECK_INT(job_runs, 5);
}

TEST(jobs_keep_to_their_slots_and_leave_out_what_passed)
{
	scene_play(play_slots);
}

static void play_changes(void)
{
	scene_clock();
	scene_start(NULL);
	CHECK(tr_monitor_add(&job) && tr_monitor_add(&look));
	CHECK_INT(tr_monitor_start(), 0);
	let_it_look();
	CHECK_INT(job_runs, 0);
	job_every = 3600 * SECOND;
	let_it_look();
	CHECK_INT(job_runs, 1);
	/* Shorter: not only after the hour. */
	job_every = SECOND;
	let_it_look();
	CHECK_INT(job_runs, 2);
	/* Off and on again: at once. */
	job_every = 0;
	let_it_look();
	job_every = SECOND;
	let_it_look();
	CHECK_INT(job_runs, 3);
	/* A clock that was set back does not stop it. */
	scene_step_monotonic_ns(-1000 * SECOND);
	let_it_look();
	CHECK_INT(job_runs, 4);
}

TEST(jobs_follow_their_interval)
{
	scene_play(play_changes);
}

/* A line of /proc of the thread called so. */
static bool line_of_thread(const char *name, const char *key, char *text)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc/self/task");
	char path[300], line[256];
	bool found = false, ours;

	while (dir && !found && (entry = readdir(dir))) {
		FILE *file;

		(void)snprintf(path, sizeof(path), "/proc/self/task/%s/status",
			       entry->d_name);
		file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
		ours = false;
		while (file && fgets(line, sizeof(line), file)) {
			if (strncmp(line, "Name:", 5) == 0)
				ours = strstr(line, name) != NULL;
			if (!ours || strncmp(line, key, strlen(key)) != 0)
				continue;
			(void)strcpy(text, line + strlen(key));
			found = true;
		}
		if (file)
			(void)fclose(file);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void play_signals(void)
{
	char text[256];
	unsigned long long blocked;
	sigset_t before, after;

	(void)sigemptyset(&before);
	(void)sigaddset(&before, SIGUSR2);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	scene_start(NULL);
	CHECK(tr_monitor_add(&look));
	CHECK_INT(tare_monitor_enable(TARE_MONITOR_PROCESS), 0);
	let_it_look();
	if (CHECK(line_of_thread("tare-monitor", "SigBlk:", text))) {
		blocked = strtoull(text, NULL, 16);
		CHECK(blocked & 1ull << (SIGTERM - 1));
		CHECK(blocked & 1ull << (SIGUSR1 - 1));
		CHECK(blocked & 1ull << (SIGPROF - 1));
		CHECK(!(blocked & 1ull << (SIGBUS - 1)));
		CHECK(!(blocked & 1ull << (SIGSEGV - 1)));
	}
	(void)sigprocmask(SIG_SETMASK, NULL, &after);
	CHECK(sigismember(&after, SIGUSR2) && !sigismember(&after, SIGTERM));
	CHECK_INT(count_threads(), 1);
	CHECK(tare_monitor_cost_ns() > 0);
	(void)tare_stop();
	CHECK(!tr_monitor_is_running());
	CHECK_INT(tare_monitor_enable(TARE_MONITOR_PROCESS), TARE_EOFF);
}

TEST(the_thread_takes_no_signal_but_its_own)
{
	scene_play(play_signals);
}

/* ---- context ----------------------------------------------------------- */

static volatile sig_atomic_t normal_in_handler;

static void handle(int signal)
{
	(void)signal;
	normal_in_handler = tr_context_is_normal();
}

static bool is_normal_in(int flags)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = flags };

	(void)sigaction(SIGUSR1, &action, NULL);
	normal_in_handler = -1;
	(void)raise(SIGUSR1);
	CHECK(normal_in_handler >= 0);
	return normal_in_handler == 1;
}

static void play_context(void)
{
	struct sigaction none = { .sa_handler = SIG_DFL };
	sigset_t set;
	pid_t child;
	int status = 0;

	scene_start(NULL);
	CHECK(tr_context_is_normal());
	CHECK(!is_normal_in(0));
	CHECK(!is_normal_in(SA_NODEFER));
	(void)sigaction(SIGUSR1, &none, NULL);
	CHECK(tr_context_is_normal());
	/* Blocked for sigwait(), without a handler: no hint of one. */
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	CHECK(tr_context_is_normal());
	child = fork();
	if (!child)
		_exit(tr_context_is_normal() ? 7 : 8);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_INT(WEXITSTATUS(status), 7);
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 34)
	child = _Fork();
	if (!child)
		_exit(tr_context_is_normal() ? 7 : 8);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_INT(WEXITSTATUS(status), 8);
#endif
#endif
}

TEST(a_handler_and_a_bare_child_are_no_place_to_make_threads)
{
	scene_play(play_context);
}

static tare_site wanted_site =
	TARE_SITE_INIT_(wanted_site, TARE_KIND_COUNTER, TARE_TYPE_COUNTER, 0,
			"wanted", NULL, NULL);

static void count_in_handler(int signal)
{
	(void)signal;
	tare_counter_add(&wanted_site, 1);
}

/* As `tare ctl` does it: the page changes, and no call is made. */
static void set_from_outside(const char *name, const char *value)
{
	CHECK_INT(tr_control_set(tr_ledger->control, name, value), 0);
	tr_control_bump(tr_ledger->control);
}

static void play_outside(void)
{
	struct sigaction action = { .sa_handler = count_in_handler };

	scene_start(NULL);
	CHECK(tr_monitor_add(&look));
	(void)sigaction(SIGUSR1, &action, NULL);
	TARE_COUNT("other", 1);
	set_from_outside("monitor", "process");
	(void)raise(SIGUSR1);
	CHECK_INT(count_threads(), 0); /* seen, and left to another */
	TARE_COUNT("third", 1);
	let_it_look();
	CHECK_INT(count_threads(), 1);
	CHECK_INT(tare_monitor_parts(), TARE_MONITOR_PROCESS);
	set_from_outside("monitor", "system,gpu");
	let_it_look();
	CHECK_INT(tare_monitor_parts(), TARE_MONITOR_SYSTEM | TARE_MONITOR_GPU);
}

TEST(a_probe_sees_the_wish_from_outside)
{
	scene_play(play_outside);
}

/* ---- switches ---------------------------------------------------------- */

static void play_switches(void)
{
	static const struct {
		const char *name, *value;
		uint32_t parts;
	} step[] = {
		{ "monitor", "true", 3 },
		{ "monitor", "gpu", 4 },
		{ "monitor", "all", 15 },
		{ "monitor", "false", 0 },
		{ "debug_mode", "true", 4 },
		{ "debug_mode", "false", 0 },
		{ "enable_gpu_monitoring", "true", 4 },
		{ "enable_gpu_monitoring", "false", 0 },
		{ "debug_mode", "true", 0 }, /* what is set by hand holds */
		{ "debug_mode", "false", 0 },
		{ "collect_gpu_utilization", "true", 4 },
		{ "collect_gpu_utilization", "false", 0 },
		{ "collect_memory_detailed", "true", 10 },
		{ "collect_memory_detailed", "false", 0 },
	};

	tr_nvml_path = "/none";
	scene_start(NULL);
	CHECK(tr_monitor_add(&look));
	for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
		CHECK_INT(tare_option_set(step[i].name, step[i].value), 0);
		if (!CHECK_INT(tare_monitor_parts(), step[i].parts))
			printf("# after %s=%s\n", step[i].name, step[i].value);
	}
	let_it_look();
	CHECK_INT(count_threads(), 1);
	CHECK_INT(tare_option_set("monitor", "disk"), TARE_ERANGE);
	CHECK_INT(tare_option_set("monitor_interval", "0.0005"), TARE_ERANGE);
	CHECK_INT(tare_option_set("monitor_interval", "0.001"), 0);
	CHECK_INT(tare_option_set("gpu_monitor_interval", "2.5"), 0);
	CHECK_INT(tr_parts_interval_ns(TARE_MONITOR_SYSTEM), 0);
	CHECK_INT(tare_option_set("monitor", "system,gpu"), 0);
	CHECK_INT(tr_parts_interval_ns(TARE_MONITOR_SYSTEM), 1000000);
	CHECK_INT(tr_parts_interval_ns(TARE_MONITOR_GPU), 2500000000);
	CHECK_INT(tr_parts_interval_ns(TARE_MONITOR_PROCESS), 0);
	/* Memory is tracked beside it: the shorter interval holds. */
	CHECK_INT(tare_option_set("memory_sample_interval", "0.5"), 0);
	CHECK_INT(tr_parts_interval_ns(TARE_MONITOR_SYSTEM), 1000000);
	CHECK_INT(tr_parts_interval_ns(TARE_MONITOR_PROCESS), 500000000);
	CHECK_INT(tr_parts_interval_ns(TARE_MONITOR_GPU), 2500000000);
}

TEST(options_switch_parts)
{
	scene_play(play_switches);
}

static void play_last_word(void)
{
	CHECK_INT(tare_monitor_enable(1), TARE_EOFF);
	CHECK_INT(tare_monitor_disable(1), TARE_EOFF);
	CHECK_INT(tare_monitor_sample(), TARE_EOFF);
	CHECK_INT(tare_monitor_parts(), 0);
	scene_start(NULL);
	CHECK_INT(tare_monitor_enable(16), TARE_EINVAL);
	CHECK_INT(tare_monitor_disable(16), TARE_EINVAL);
	CHECK_INT(tare_monitor_enable(0), 0);
	CHECK_INT(count_threads(), 0);
	CHECK_INT(tare_option_set("monitor", "true"), 0);
	CHECK_INT(tare_monitor_disable(TARE_MONITOR_SYSTEM), 0);
	CHECK_INT(tare_monitor_parts(), TARE_MONITOR_PROCESS);
	/* Options about something else do not bring it back ... */
	CHECK_INT(tare_option_set("monitor_interval", "5"), 0);
	CHECK_INT(tare_monitor_parts(), TARE_MONITOR_PROCESS);
	/* ... those about it do. */
	CHECK_INT(tare_option_set("monitor", "false"), 0);
	CHECK_INT(tare_option_set("monitor", "system"), 0);
	CHECK_INT(tare_monitor_parts(), TARE_MONITOR_SYSTEM);
	CHECK_INT(tare_monitor_enable(TARE_MONITOR_PROCESS), 0);
	CHECK_INT(tare_option_set("monitor", "process"), 0);
	CHECK_INT(tare_monitor_parts(), TARE_MONITOR_PROCESS);
	CHECK_INT(tare_option_set("monitor", "false"), 0);
	CHECK_INT(tare_monitor_parts(), 0);
}

TEST(the_last_word_about_a_part_counts)
{
	scene_play(play_last_word);
}

/* ---- series ------------------------------------------------------------ */

static uint64_t count_of(tare_view *view, const char *source, const char *name)
{
	const tare_stats *row = series(view, source, name);

	return row ? row->count : 0;
}

/* The thread sleeps for an hour after its first reading: the rest is ours. */
static void play_series(void)
{
	static const char *const options[] = { "monitor", "system,process",
					       "monitor_interval", "3600",
					       NULL };
	const tare_stats *row;
	tare_view *view;
	uint64_t before;

	scene_start(options);
	CHECK(tr_monitor_add(&look));
	let_it_look();
	view = scene_view();
	CHECK_INT(count_of(view, "process", "rss"), 1);
	before = count_of(view, "system", "cpu.percent");
	tare_view_close(view);
	for (int i = 0; i < 4; i++)
		CHECK_INT(tare_monitor_sample(), 0);
	view = scene_view();
	CHECK_INT(count_of(view, "process", "rss"), 5);
	CHECK_INT(count_of(view, "system", "memory.used"), 5);
	/* A share of time needs two readings. */
	CHECK(before == 0);
	CHECK_INT(count_of(view, "system", "core.percent"), 0);
	CHECK_INT(count_of(view, "process", "pss"), 0);
	row = series(view, "process", "rss");
	if (CHECK(row)) {
		CHECK_INT(row->kind, TARE_KIND_GAUGE);
		CHECK_INT(row->type, TARE_TYPE_MEMORY);
		CHECK_STR(row->unit, "B");
		CHECK(row->last > 0 && row->last <= row->max);
		CHECK(tare_stats_is_monitor(row));
	}
	row = series(view, "process", "threads");
	CHECK(row && row->last >= 2);
	row = series(view, "system", "memory.percent");
	CHECK(row && row->type == TARE_TYPE_PERCENTAGE && row->last > 0 &&
	      row->last <= 100);
	CHECK(tare_view_health(view)->monitor_ns > 0);
	CHECK(tare_view_health(view)->measuring_ns >=
	      tare_view_health(view)->monitor_ns);
	tare_view_close(view);
}

TEST(readings_are_gauges)
{
	scene_play(play_series);
}

/* The kernel counts the time of CPUs in hundredths of a second. */
static void wait_for_ticks(void)
{
	struct timespec from, now;

	(void)clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - from.tv_sec) * SECOND + now.tv_nsec -
			 from.tv_nsec <
		 SECOND / 5);
}

static void play_detailed(void)
{
	static const char *const options[] = { "monitor", "all",
					       "monitor_interval", "3600",
					       NULL };
	tare_process now = { .struct_size = sizeof(now) };
	const tare_stats *row;
	tare_view *view;

	tr_nvml_path = "/none";
	scene_start(options);
	CHECK_INT(tare_monitor_sample(), 0);
	wait_for_ticks();
	CHECK_INT(tare_monitor_sample(), 0);
	view = scene_view();
	/* With a malloc that is not libc's, a sanitizer's, nobody knows. */
	CHECK_INT(tare_process_read(0, &now), 0);
	row = series(view, "process", "heap.used");
	CHECK(now.heap_used == TARE_UNKNOWN ? !row : row && row->last > 0);
	row = series(view, "process", "heap.fragmentation");
	CHECK(isnan(now.heap_fragmentation) ?
		      !row :
		      row && row->last >= 0 && row->last <= 100);
	CHECK(count_of(view, "process", "pss") > 0);
	row = series(view, "system", "core.percent");
	CHECK(row && strncmp(row->labels, "core=\"", 6) == 0);
	tare_view_close(view);
}

TEST(detailed_readings_have_heap_and_cores)
{
	scene_play(play_detailed);
}

/* Nothing can be read: nothing is written, and none of it is an error. */
static void play_unknown(void)
{
	static const char *const options[] = { "monitor", "all",
					       "monitor_interval", "3600",
					       NULL };
	tare_view *view;

	tr_root = "/does/not/exist";
	tr_nvml_path = "/none";
	scene_start(options);
	CHECK_INT(tare_monitor_sample(), 0);
	view = scene_view();
	CHECK_INT(count_of(view, "system", "memory.used"), 0);
	CHECK_INT(count_of(view, "system", "cpu.percent"), 0);
	CHECK_INT(count_of(view, "system", "disk.read"), 0);
	CHECK_INT(count_of(view, "process", "rss"), 0);
	CHECK_INT(count_of(view, "gpu", "load"), 0);
	tare_view_close(view);
}

TEST(what_is_unknown_is_not_written)
{
	scene_play(play_unknown);
}

static void play_paused(void)
{
	static const char *const options[] = { "monitor", "process",
					       "monitor_interval", "3600",
					       NULL };
	tare_view *view;
	uint64_t before;

	scene_start(options);
	CHECK_INT(tare_monitor_sample(), 0);
	CHECK_INT(tare_enable(false), 0);
	view = scene_view();
	before = count_of(view, "process", "rss");
	tare_view_close(view);
	CHECK_INT(tare_monitor_sample(), 0);
	view = scene_view();
	CHECK_INT(count_of(view, "process", "rss"), before);
	tare_view_close(view);
}

TEST(nothing_is_read_while_probes_are_off)
{
	scene_play(play_paused);
}

static void play_memory(void)
{
	tare_view *view;

	scene_start(NULL);
	view = scene_view();
	CHECK(tare_view_run(view)->rss_start > 0);
	CHECK(tare_view_run(view)->rss_peak >= tare_view_run(view)->rss_start);
	CHECK_INT(tare_view_run(view)->rss_end, 0);
	tare_view_close(view);
}

static void play_no_memory(void)
{
	static const char *const options[] = { "collect_memory_basic",
					       "false", NULL };
	tare_view *view;

	scene_start(options);
	view = scene_view();
	CHECK_INT(tare_view_run(view)->rss_start, 0);
	CHECK_INT(tare_view_run(view)->rss_peak, 0);
	tare_view_close(view);
}

TEST(the_memory_at_the_start_is_known)
{
	scene_play(play_memory);
	scene_play(play_no_memory);
}

/* ---- GPUs -------------------------------------------------------------- */

static unsigned warnings;

static void count_warning(void *arg, enum tare_level level, const char *text)
{
	(void)arg;
	if (level == TARE_LEVEL_WARNING && strstr(text, "overheats"))
		warnings++;
}

static size_t hot_records(tare_view *view)
{
	tare_filter f = { .struct_size = sizeof(f),
			  .outcome = TARE_OUTCOME_FAILED };
	const tare_record *records;
	size_t n = 0, hot = 0;

	CHECK_INT(tare_view_records(view, &f, &records, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (strcmp(records[i].name, "overheated") == 0) {
			CHECK_STR(records[i].source, "gpu");
			CHECK(strstr(records[i].error, "overheats"));
			hot++;
		}
	return hot;
}

static double last_of(tare_view *view, const char *name)
{
	const tare_stats *row = series(view, "gpu", name);

	return row ? row->last : (double)NAN;
}

/* A reading of the boards as they are now: the last one is too old. */
static void read_boards(void)
{
	scene_pass_ns(2 * SECOND);
	CHECK_INT(tare_monitor_sample(), 0);
}

static void play_heat(void)
{
	static const char *const options[] = { "monitor_interval", "3600",
					       "gpu_monitor_interval", "1",
					       NULL };
	struct stand_in *driver = driver_use("nvml_stand_in");
	struct stand_in_board *board = &driver->board[0];
	unsigned cool = board->temperature;
	tare_view *view;

	driver->n_boards = 2;
	tare_log_set(count_warning, NULL);
	scene_clock();
	scene_start(options);
	/* Without the thread, which the first gauge would start: it would
	 * read the boards while they change. */
	tr_monitor_stop();
	tr_parts_switch(TARE_MONITOR_GPU, 0);
	read_boards();
	view = scene_view();
	CHECK_NEAR(last_of(view, "temperature"), cool, 0);
	CHECK_NEAR(last_of(view, "hot"), 0, 0);
	CHECK_INT(hot_records(view), 0);
	tare_view_close(view);
	for (int i = 0; i < 3; i++) {
		board->temperature = 120;
		read_boards();
		board->temperature = cool; /* to and fro: one episode */
		read_boards();
	}
	view = scene_view();
	CHECK_INT(hot_records(view), 1);
	CHECK_INT(warnings, 1);
	tare_view_close(view);
	scene_pass_ns(120 * SECOND);
	read_boards();
	board->temperature = 120;
	read_boards();
	view = scene_view();
	CHECK_INT(hot_records(view), 2);
	CHECK_INT(warnings, 2);
	CHECK(!tr_monitor_is_running());
	tare_view_close(view);
}

TEST(a_hot_board_is_an_event_once_an_episode)
{
	scene_play(play_heat);
}
