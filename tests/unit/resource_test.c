/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resource scopes: figures of real work, and of files that are not there or
 * hold nonsense.
 */
#include "check.h"
#include "scene.h"
#include "record/step.h"
#include "read/view.h"

#include <tare/tare.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1 << 20)

static const tare_attr_value *attr_of(const tare_record *record,
				      const char *key)
{
	for (size_t i = 0; record && i < record->n_attrs; i++)
		if (strcmp(record->attrs[i].key, key) == 0)
			return &record->attrs[i];
	return NULL;
}

static double number_of(const tare_record *record, const char *key)
{
	const tare_attr_value *a = attr_of(record, key);

	if (!CHECK(a)) {
		printf("# no %s\n", key);
		return NAN;
	}
	return a->type == TARE_ATTR_INT ? (double)a->i : a->d;
}

/* The newest record called `name`. */
static const tare_record *record_of(tare_view *view, const char *name)
{
	const tare_record *records, *found = NULL;
	size_t n = 0;

	CHECK_INT(tare_view_records(view, NULL, &records, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (strcmp(records[i].name, name) == 0)
			found = &records[i];
	CHECK(found);
	return found;
}

static const tare_stats *row_of(tare_view *view, const char *name)
{
	const tare_stats *rows;
	size_t n = scene_rows(view, NULL, &rows);

	return scene_row(rows, n, name);
}

/* ---- real work --------------------------------------------------------- */

static double thread_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void use_cpu(double seconds)
{
	double until = thread_seconds() + seconds;

	while (thread_seconds() < until)
		;
}

static char *use_memory(size_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!CHECK(memory != MAP_FAILED))
		return NULL;
	memset(memory, 1, bytes);
	return memory;
}

/* Writes n bytes and reads half of them back. */
static void use_files(size_t n)
{
	char *data = calloc(1, n);
	char path[160];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/file", scene_dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(data && fd >= 0 && write(fd, data, n) == (ssize_t)n);
	CHECK(data && pread(fd, data, n / 2, 0) == (ssize_t)(n / 2));
	(void)close(fd);
	free(data);
}

static void load(void)
{
	TARE_RESOURCE_SCOPE_IN("disk", "load");
	TARE_ATTR("id", 7);
	use_cpu(0.02);
	(void)use_memory(32 * MIB);
	use_files(MIB);
}

static void check_load(const tare_record *r)
{
	double cpu = number_of(r, "cpu_time_s");

	CHECK_STR(r->source, "disk");
	CHECK_NEAR(number_of(r, "id"), 7, 0);
	CHECK(cpu >= 0.02);
	CHECK(cpu <= (double)r->duration_ns * 1e-9 + 1e-3);
	/* The process's clock goes by microseconds and ticks. */
	CHECK(number_of(r, "process_cpu_time_s") >= cpu - 0.005);
	CHECK(number_of(r, "memory_growth_bytes") >= 30 * MIB);
	CHECK_NEAR(number_of(r, "memory_peak_exact"), 1, 0);
	CHECK(number_of(r, "memory_peak_bytes") >= 32 * MIB);
	CHECK(number_of(r, "minor_faults") >= 16); /* huge pages */
	CHECK(number_of(r, "major_faults") >= 0);
	CHECK(number_of(r, "switches") >= 0);
	CHECK(number_of(r, "preemptions") >= 0);
	CHECK(!attr_of(r, "energy_j"));
}

static void check_files(const tare_record *r)
{
	if (access("/proc/thread-self/io", R_OK)) {
		CHECK(!attr_of(r, "io_read_bytes"));
		return;
	}
	CHECK_NEAR(number_of(r, "io_written_bytes"), MIB, 0);
	CHECK_NEAR(number_of(r, "io_read_bytes"), MIB / 2, 0);
	CHECK(number_of(r, "storage_written_bytes") >= 0);
}

static void play_load(void)
{
	const tare_stats *row;
	tare_view *view;

	scene_start(NULL);
	errno = 77;
	load();
	load();
	CHECK_INT(errno, 77);
	view = scene_view();
	check_load(record_of(view, "load"));
	check_files(record_of(view, "load"));
	CHECK_INT(row_of(view, "load")->count, 2);
	row = row_of(view, "load.cpu_time");
	if (CHECK(row)) {
		CHECK_INT(row->count, 2);
		CHECK_STR(row->unit, "s");
		CHECK_STR(row->source, "disk");
		CHECK(row->mean >= 0.02);
	}
	row = row_of(view, "load.memory_growth");
	if (CHECK(row)) {
		CHECK_STR(row->unit, "B");
		CHECK_INT(row->type, TARE_TYPE_MEMORY);
		CHECK(row->min >= 30 * MIB);
	}
	CHECK(!row_of(view, "load.energy"));
	tare_view_close(view);
}

TEST(scope_tells_what_it_used)
{
	scene_play(play_load);
}

/* ---- peaks ------------------------------------------------------------- */

static void give_back(void)
{
	TARE_RESOURCE_SITE_DEFINE(site, "give back");
	tare_resource resource;
	char *memory = use_memory(64 * MIB);

	tare_resource_begin(&site, &resource);
	CHECK_INT(munmap(memory, 64 * MIB), 0);
	tare_resource_end(&resource);
	tare_resource_end(&resource); /* has ended: nothing */
}

static void play_peak(void)
{
	const tare_record *r;
	tare_view *view;

	scene_start(NULL);
	give_back();
	view = scene_view();
	r = record_of(view, "give back");
	CHECK(number_of(r, "memory_growth_bytes") <= -60 * MIB);
#if !defined(__SANITIZE_THREAD__) /* which allocates at any time */
	CHECK_NEAR(number_of(r, "memory_peak_exact"), 0, 0);
#endif
	CHECK(number_of(r, "memory_peak_bytes") >= 60 * MIB);
	CHECK(row_of(view, "give back.memory_growth")->max <= -60 * MIB);
	CHECK_INT(row_of(view, "give back")->count, 1);
	tare_view_close(view);
}

TEST(memory_given_back_is_negative_growth_and_no_new_peak)
{
	scene_play(play_peak);
}

/* ---- inside each other ------------------------------------------------- */

static void play_nested(void)
{
	const tare_record *r;
	tare_view *view;

	scene_start(NULL);
	{
		TARE_RESOURCE_SCOPE("outer");
		for (int i = 0; i < 10; i++) {
			TARE_RESOURCE_SCOPE("inner");
			TARE_STEP();
		}
	}
	view = scene_view();
	r = record_of(view, "outer");
	if (attr_of(r, "io_read_bytes"))
		CHECK_NEAR(number_of(r, "io_read_bytes"), 0, 0);
	CHECK_INT(row_of(view, "inner")->count, 10);
	CHECK_INT(row_of(view, "inner.cpu_time")->count, 10);
	tare_view_close(view);
}

TEST(own_readings_are_not_the_scopes_io)
{
	scene_play(play_nested);
}

/* ---- energy ------------------------------------------------------------ */

static double joules;

static double more_joules(void)
{
	joules += 2.5;
	return joules;
}

static void play_energy(void)
{
	tare_view *view;

	tr_step_joules = more_joules;
	scene_start(NULL);
	{
		TARE_RESOURCE_SCOPE("work");
	}
	view = scene_view();
	CHECK_NEAR(number_of(record_of(view, "work"), "energy_j"), 2.5, 1e-9);
	CHECK_STR(row_of(view, "work.energy")->unit, "J");
	tare_view_close(view);
}

TEST(joules_are_told_where_somebody_knows_them)
{
	scene_play(play_energy);
}

/* ---- what is not known ------------------------------------------------- */

static void make_file(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", scene_dir, name);
	file = fopen(path, "w");
	CHECK(file && fputs(text, file) >= 0);
	if (file)
		(void)fclose(file);
}

static void make_tree(const char *statm, const char *io)
{
	static const char *const folders[] = { "root", "root/proc",
					       "root/proc/self",
					       "root/proc/thread-self" };
	static char root[160];

	for (int i = 0; i < 4; i++) {
		(void)snprintf(root, sizeof(root), "%s/%s", scene_dir,
			       folders[i]);
		(void)mkdir(root, 0700);
	}
	make_file("root/proc/self/statm", statm);
	make_file("root/proc/thread-self/io", io);
	(void)snprintf(root, sizeof(root), "%s/root", scene_dir);
	tr_root = root;
}

static const char *const nonsense[][2] = {
	{ "", "" },
	{ "garbage", "rchar 12\nwchar\n" },
	{ "1 99999999999999999999999 3", "rchar: 99999999999999999999999\n" },
	{ "12", "cancelled_write_bytes: 5\nread_bytes:\n" },
	{ "\n\n\n", "\xff\xfe rchar:x" },
};

static void play_nonsense(void)
{
	TARE_RESOURCE_SITE_DEFINE(site, "work");
	tare_resource resource;
	const tare_record *r;
	tare_view *view;

	scene_start(NULL);
	tr_root = "/nowhere";
	for (int i = -1; i < 5; i++) {
		if (i >= 0)
			make_tree(nonsense[i][0], nonsense[i][1]);
		tare_resource_begin(&site, &resource);
		tare_resource_end(&resource);
		view = scene_view();
		r = record_of(view, "work");
		CHECK(number_of(r, "cpu_time_s") >= 0);
		CHECK(!attr_of(r, "memory_growth_bytes"));
		CHECK(!attr_of(r, "memory_peak_bytes"));
		CHECK(!attr_of(r, "io_read_bytes"));
		CHECK(!attr_of(r, "io_written_bytes"));
		CHECK(!attr_of(r, "storage_written_bytes"));
		CHECK(!row_of(view, "work.memory_growth"));
		tare_view_close(view);
	}
}

TEST(what_cannot_be_read_is_left_out)
{
	scene_play(play_nonsense);
}

/* ---- off, forked ------------------------------------------------------- */

static void play_off(void)
{
	TARE_RESOURCE_SITE_DEFINE(site, "work");
	tare_resource resource;
	tare_view *view;

	tare_resource_begin(&site, &resource);
	CHECK(!resource.scope.frame);
	scene_start(NULL);
	tare_resource_end(&resource);
	CHECK_INT(tare_option_set("exclude", "work"), 0);
	tare_resource_begin(&site, &resource);
	CHECK(!resource.scope.frame);
	tare_resource_end(&resource);
	view = scene_view();
	CHECK(!row_of(view, "work"));
	tare_view_close(view);
}

TEST(scope_that_is_off_reads_nothing)
{
	scene_play(play_off);
}

static void play_fork(void)
{
	TARE_RESOURCE_SITE_DEFINE(site, "work");
	tare_resource resource;
	tare_view *view;
	int status = -1;
	pid_t child;

	scene_start(NULL);
	tare_resource_begin(&site, &resource);
	child = fork();
	if (child == 0) {
		tare_resource_end(&resource);
		TARE_COUNT("child", 1);
		view = scene_view();
		CHECK(!row_of(view, "work.cpu_time"));
		tare_view_close(view);
		_exit(check_failures() > 0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_INT(status, 0);
	tare_resource_end(&resource);
	view = scene_view();
	CHECK_INT(row_of(view, "work.cpu_time")->count, 1);
	tare_view_close(view);
}

TEST(child_does_not_end_what_its_parent_began)
{
	if (!scene_fork_wipes())
		SKIP("a fork wipes nothing here");
	scene_play(play_fork);
}
