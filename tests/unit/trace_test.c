/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of steps on a schedule: which steps, what is in the files, how many
 * are kept, and what happens where none can be written.
 */
#include "check.h"
#include "scene.h"

#include <tare/tare.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[160];

static pthread_mutex_t said_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	unsigned warnings, files; /* a line a file: TARE_LEVEL_PROFILING */
	char warning[512];
} said;

/* Called by any thread: files are written by the monitor's and at the end. */
static void hear(void *arg, enum tare_level level, const char *text)
{
	(void)arg;
	(void)pthread_mutex_lock(&said_lock);
	if (level == TARE_LEVEL_PROFILING && strstr(text, ".json"))
		said.files++;
	if (level == TARE_LEVEL_WARNING) {
		said.warnings++;
		(void)snprintf(said.warning, sizeof(said.warning), "%s", text);
	}
	(void)pthread_mutex_unlock(&said_lock);
}

static void begin(const char *const *options)
{
	(void)snprintf(folder, sizeof(folder), "%s/traces", scene_dir);
	tare_log_set(hear, NULL);
	CHECK_INT(tare_option_set("profiler_trace_dir", folder), 0);
	scene_start(options);
}

/* ---- files ------------------------------------------------------------- */

static char *read_trace(const char *name)
{
	char path[512], *text = calloc(1, 4 << 20);
	size_t n = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	if (!CHECK(file)) {
		printf("# no %s\n", path);
		return text;
	}
	n = fread(text, 1, (4 << 20) - 1, file);
	(void)fclose(file);
	CHECK(n > 10 && strcmp(text + n - 4, "\n]}\n") == 0);
	return text;
}

static unsigned times(const char *text, const char *part)
{
	unsigned n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

static bool is_there(const char *name)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return access(path, F_OK) == 0;
}

/* All that the folder holds, also what begins with a dot. */
static unsigned files(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	unsigned n = 0;

	while (dir && (entry = readdir(dir)))
		n += strcmp(entry->d_name, ".") != 0 &&
		     strcmp(entry->d_name, "..") != 0;
	if (dir)
		(void)closedir(dir);
	return n;
}

/* ---- steps ------------------------------------------------------------- */

static void work(int64_t i)
{
	TARE_OPERATION("work");
	TARE_ATTR("number", i);
	{
		TARE_SCOPE("part");
	}
	{
		TARE_SCOPE("part");
	}
}

static void do_steps(const char *name, int64_t from, int64_t to)
{
	for (int64_t i = from; i <= to; i++) {
		work(i);
		tare_step_named(name, 0);
	}
}

static void wait_for(const char *name)
{
	for (int tries = 0; tries < 2000 && !is_there(name); tries++)
		(void)usleep(5000);
	CHECK(is_there(name));
}

/* ---- which steps ------------------------------------------------------- */

static void play_plan(void)
{
	tare_trace_plan plan = {
		.struct_size = sizeof(plan),
		.step = "train",
		.wait = 2,
		.warm_up = 1,
		.record = 2,
		.repeat = 2,
	};
	char *text;

	begin(NULL);
	CHECK_INT(tare_trace_schedule(&plan), 0);
	do_steps("train", 1, 5);
	wait_for("train_step_5.json");
	do_steps("train", 6, 10);
	wait_for("train_step_10.json");
	do_steps("train", 11, 20);
	CHECK_INT(tare_stop(), 0);
	CHECK_INT(files(), 2);
	text = read_trace("train_step_5.json");
	CHECK_INT(times(text, "\"name\":\"work\""), 2);
	CHECK_INT(times(text, "\"name\":\"part\""), 4);
	CHECK_INT(times(text, "\"name\":\"step\""), 2);
	CHECK_INT(times(text, "\"number\":4"), 1);
	CHECK_INT(times(text, "\"number\":5"), 1);
	CHECK(strstr(text, "\"title\":\"train, steps 4 to 5\""));
	CHECK(strstr(text, "\"args\":{\"name\":\"steps\"}"));
	free(text);
	text = read_trace("train_step_10.json");
	CHECK_INT(times(text, "\"name\":\"work\""), 2);
	CHECK_INT(times(text, "\"number\":9"), 1);
	CHECK_INT(times(text, "\"number\":10"), 1);
	free(text);
	CHECK_INT(said.warnings, 0);
	CHECK_INT(said.files, 2);
}

TEST(a_plan_leaves_out_gets_ready_and_records)
{
	scene_play(play_plan);
}

static void play_at_once(void)
{
	tare_trace_plan plan = { .struct_size = sizeof(plan), .record = 1 };

	begin(NULL);
	CHECK_INT(tare_trace_schedule(&plan), 0);
	do_steps("s", 1, 2);
	wait_for("s_step_2.json");
	do_steps("s", 3, 3);
	wait_for("s_step_3.json");
	CHECK_INT(tare_stop(), 0);
	CHECK_INT(files(), 2);
	for (int i = 2; i <= 3; i++) {
		char name[32], *text;

		(void)snprintf(name, sizeof(name), "s_step_%d.json", i);
		text = read_trace(name);
		CHECK_INT(times(text, "\"name\":\"work\""), 1);
		free(text);
	}
}

TEST(a_plan_without_waiting_records_every_step)
{
	scene_play(play_at_once);
}

static void play_options(void)
{
	static const char *const options[] = {
		"enable_profiler", "true", "profiler_export_interval", "10",
		"profiler_wait", "5", "profiler_warmup", "2",
		"profiler_record", "4", NULL
	};
	char *text;

	begin(options);
	do_steps("train", 1, 15);
	wait_for("train_step_15.json");
	do_steps("train", 16, 24);
	CHECK_INT(tare_stop(), 0);
	CHECK_INT(files(), 1);
	text = read_trace("train_step_15.json");
	CHECK_INT(times(text, "\"name\":\"work\""), 4);
	CHECK_INT(times(text, "\"number\":12"), 1);
	CHECK_INT(times(text, "\"number\":11"), 0);
	free(text);
}

TEST(options_alone_write_a_trace_every_so_many_steps)
{
	scene_play(play_options);
}

static void play_live(void)
{
	begin(NULL);
	do_steps("x", 1, 7);
	CHECK_INT(tare_option_set("profiler_export_interval", "4"), 0);
	CHECK_INT(tare_option_set("profiler_record", "2"), 0);
	CHECK_INT(tare_option_set("enable_profiler", "true"), 0);
	do_steps("x", 8, 11);
	wait_for("x_step_11.json");
	CHECK_INT(tare_option_set("enable_profiler", "false"), 0);
	do_steps("x", 12, 40);
	CHECK_INT(tare_stop(), 0);
	CHECK_INT(files(), 1);
}

TEST(options_can_change_while_the_program_runs)
{
	scene_play(play_live);
}

static void play_names(void)
{
	static const char *const options[] = { "enable_profiler", "true",
					       "profiler_export_interval",
					       "5", NULL };
	char *text;

	begin(options);
	for (int64_t i = 1; i <= 5; i++) {
		do_steps("../tr/ain\x01", i, i);
		do_steps("", i, i);
		do_steps(".eval", i, i);
	}
	CHECK_INT(tare_stop(), 0);
	CHECK_INT(files(), 3);
	text = read_trace("_._tr_ain__step_5.json");
	/* All that ran in the window, whatever kind of step it was. */
	CHECK_INT(times(text, "\"name\":\"work\""), 9);
	free(text);
	free(read_trace("_eval_step_5.json"));
	free(read_trace("trace_test_step_5.json"));
}

TEST(kinds_of_steps_have_files_of_their_own_with_safe_names)
{
	scene_play(play_names);
}

TEST(plans_are_checked)
{
	char longest[300];
	tare_trace_plan plan = { .struct_size = sizeof(plan), .record = 1 };

	memset(longest, 'x', sizeof(longest));
	longest[299] = '\0';
	plan.record = 0;
	CHECK_INT(tare_trace_schedule(&plan), TARE_EINVAL);
	plan.record = 1;
	plan.folder = longest;
	CHECK_INT(tare_trace_schedule(&plan), TARE_EINVAL);
	plan.folder = NULL;
	plan.step = longest;
	CHECK_INT(tare_trace_schedule(&plan), TARE_EINVAL);
	plan.step = NULL;
	plan.struct_size = offsetof(tare_trace_plan, keep);
	CHECK_INT(tare_trace_schedule(&plan), 0);
	CHECK_INT(tare_trace_schedule(NULL), 0);
	plan.struct_size = sizeof(plan) - 1;
	CHECK_INT(tare_trace_schedule(&plan), TARE_EINVAL);
	plan.struct_size++;
	for (int i = 0; i < 8; i++) {
		char name[8];

		(void)snprintf(name, sizeof(name), "p%d", i);
		plan.step = name;
		CHECK_INT(tare_trace_schedule(&plan), 0);
	}
	plan.step = "one more";
	CHECK_INT(tare_trace_schedule(&plan), TARE_EFULL);
	plan.step = "p3";
	CHECK_INT(tare_trace_schedule(&plan), 0);
	CHECK_INT(tare_trace_schedule(NULL), 0);
}

/* ---- what is kept ------------------------------------------------------ */

static void write_other(const char *name, const char *text)
{
	char path[512];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	CHECK(file);
	(void)fputs(text, file);
	(void)fclose(file);
}

static void play_keep(void)
{
	tare_trace_plan plan = {
		.struct_size = sizeof(plan),
		.warm_up = 1,
		.record = 1,
		.keep = 2,
	};

	begin(NULL);
	CHECK_INT(mkdir(folder, 0700), 0);
	write_other("s_step_1.json", "{}");
	write_other("s_step_x.json", "{}");
	write_other("other_step_1.json", "{}");
	CHECK_INT(tare_trace_schedule(&plan), 0);
	for (int64_t i = 1; i <= 12; i++) {
		char name[32];

		do_steps("s", i, i);
		(void)snprintf(name, sizeof(name), "s_step_%d.json", (int)i);
		if (i % 2 == 0)
			wait_for(name);
	}
	CHECK_INT(tare_stop(), 0);
	CHECK_INT(files(), 5);
	CHECK(is_there("s_step_10.json") && is_there("s_step_12.json"));
	CHECK(is_there("s_step_1.json"));
	CHECK(is_there("s_step_x.json"));
	CHECK(is_there("other_step_1.json"));
}

TEST(the_newest_are_kept_and_nothing_else_is_touched)
{
	scene_play(play_keep);
}

/* ---- where nothing can be written -------------------------------------- */

static void play_unwritable(void)
{
	static const char *const options[] = { "enable_profiler", "true",
					       "profiler_export_interval",
					       "4", NULL };

	begin(options);
	CHECK_INT(close(open(folder, O_CREAT | O_WRONLY, 0600)), 0);
	do_steps("s", 1, 15);
	CHECK_INT(tare_stop(), 0);
	CHECK_INT(said.warnings, 1);
	CHECK(strstr(said.warning, "cannot write traces to"));
	CHECK(strstr(said.warning, "the program goes on"));
}

TEST(a_folder_that_is_none_is_told_once)
{
	scene_play(play_unwritable);
}

/* Also by the thread of the steps itself, where SIGXFSZ would be its end. */
static void play_limited(void)
{
	static const char *const options[] = { "enable_profiler", "true",
					       "profiler_export_interval",
					       "4", NULL };
	struct rlimit limit = { 1024, 1024 };
	sigset_t pending;

	begin(options);
	do_steps("s", 1, 1);
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
	do_steps("s", 2, 19);
	CHECK_INT(tare_stop(), 0);
	CHECK_INT(files(), 0);
	CHECK_INT(said.warnings, 1);
	CHECK_INT(sigpending(&pending), 0);
	CHECK_INT(sigismember(&pending, SIGXFSZ), 0);
}

TEST(a_file_that_grows_too_large_leaves_nothing_behind)
{
	scene_play(play_limited);
}

/* ---- threads, children ------------------------------------------------- */

static void *run_steps(void *arg)
{
	for (int i = 1; i <= 4000; i++) {
		work(i);
		tare_step_named(arg, 1);
	}
	return NULL;
}

static void play_threads(void)
{
	static const char *const options[] = {
		"enable_profiler", "true", "profiler_export_interval", "500",
		"profiler_keep", "100", NULL
	};
	static char odd[] = "odd", even[] = "even";
	pthread_t thread[4];

	begin(options);
	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, run_steps,
					 i % 2 ? odd : even), 0);
	for (int i = 0; i < 4; i++)
		(void)pthread_join(thread[i], NULL);
	CHECK_INT(tare_stop(), 0);
	/* Some may be left out; the names are those of whole turns. */
	CHECK(files() >= 2 && files() <= 32);
}

TEST(several_threads_step_at_once)
{
	scene_play(play_threads);
}

static void play_fork(void)
{
	static const char *const options[] = { "enable_profiler", "true",
					       "profiler_export_interval",
					       "6", NULL };
	int status;
	pid_t child;

	begin(options);
	do_steps("parent", 1, 4);
	child = fork();
	if (!child) {
		do_steps("child", 1, 6);
		exit(check_failures() ? 1 : 0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	do_steps("parent", 5, 6);
	CHECK_INT(tare_stop(), 0);
	CHECK_INT(files(), 2);
	free(read_trace("child_step_6.json"));
	free(read_trace("parent_step_6.json"));
}

TEST(a_child_counts_its_own_steps)
{
	if (scene_fork_wipes())
		scene_play(play_fork);
}

static void play_other_threads(void)
{
	tare_trace_plan plan = {
		.struct_size = sizeof(plan),
		.wait = 1,
		.record = 1,
		.repeat = 1,
	};
	char *text;

	begin(NULL);
	CHECK_INT(tare_trace_schedule(&plan), 0);
	/* More than the small log has, so that it goes round. */
	for (int i = 0; i < 30; i++)
		work(i);
	do_steps("s", 1, 1);
	for (int64_t i = 1000; i < 1050; i++)
		work(i);
	do_steps("s", 2, 2);
	CHECK_INT(tare_stop(), 0);
	text = read_trace("s_step_2.json");
	/* From the small log into the ring, without a gap. */
	CHECK_INT(times(text, "\"name\":\"work\""), 51);
	CHECK_INT(times(text, "\"name\":\"part\""), 102);
	free(text);
}

TEST(a_ring_that_begins_later_has_no_gap)
{
	scene_play(play_other_threads);
}
