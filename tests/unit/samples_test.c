/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of memory and GPU at a call, and the age of records.
 */
#include "check.h"
#include "scene.h"
#include "read/view.h"

#include <tare/control.h>
#include <tare/probe.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

static const tare_attr_value *attr_of(const tare_record *record,
				      const char *key)
{
	for (size_t i = 0; i < record->n_attrs; i++)
		if (strcmp(record->attrs[i].key, key) == 0)
			return &record->attrs[i];
	return NULL;
}

static int64_t int_of(const tare_record *record, const char *key)
{
	const tare_attr_value *a = attr_of(record, key);

	if (!CHECK(a && a->type == TARE_ATTR_INT))
		printf("# no integer %s\n", key);
	return a ? a->i : -1;
}

/* ---- memory ------------------------------------------------------------ */

static void check_memory(const tare_record *record)
{
	long page = sysconf(_SC_PAGESIZE), pages = sysconf(_SC_PHYS_PAGES);
	int64_t total = int_of(record, "total_bytes");
	int64_t used = int_of(record, "used_bytes");
	int64_t available = int_of(record, "available_bytes");
	const tare_attr_value *percent = attr_of(record, "used_percent");

	CHECK_STR(record->name, "load");
	CHECK_INT(record->kind, TARE_RECORD_MEMORY);
	CHECK_INT(record->duration_ns, 0);
	CHECK(record->ok);
	/* Less in a container with a limit. */
	CHECK(total > 0 && total <= (int64_t)pages * page);
	CHECK_INT(used + available, total);
	CHECK(int_of(record, "vm_bytes") >= int_of(record, "rss_bytes"));
	if (CHECK(percent && percent->type == TARE_ATTR_DOUBLE))
		CHECK_NEAR(percent->d, 100.0 * (double)used / (double)total,
			   1e-9);
}

/* 64 MiB more that are touched are seen. */
static void play_memory(void)
{
	static char large[64 << 20];
	tare_filter f = { .struct_size = sizeof(f),
			  .types = 1u << TARE_TYPE_MEMORY };
	const tare_record *records;
	const tare_stats *rows;
	tare_view *view;
	size_t n;

	scene_clock();
	scene_start(NULL);
	{
		TARE_OPERATION("load");
		errno = 77;
		CHECK_INT(tare_memory_record("load"), 0);
		CHECK_INT(errno, 77);
		scene_pass_ns(5);
		memset(large, 1, sizeof(large));
		TARE_RECORD_MEMORY("load");
		TARE_ATTR("n", large[4096]);
	}
	view = scene_view();
	CHECK_INT(tare_view_records(view, &f, &records, &n), 0);
	if (CHECK_INT(n, 2)) {
		check_memory(&records[0]);
		check_memory(&records[1]);
		CHECK_INT(records[1].start_ns - records[0].start_ns, 5);
		CHECK(int_of(&records[1], "rss_bytes") -
			      int_of(&records[0], "rss_bytes") >=
		      (int64_t)sizeof(large) / 2);
	}
	/* The operation has its own attributes, and no series came of it. */
	CHECK_INT(tare_view_records(view, NULL, &records, &n), 0);
	CHECK_INT(n, 3);
	for (size_t i = 0; i < n; i++)
		if (records[i].kind == TARE_RECORD_OPERATION)
			CHECK_INT(records[i].n_attrs, 1);
	CHECK_INT(scene_rows(view, NULL, &rows), 1);
	tare_view_close(view);
}

TEST(memory_at_a_call_is_a_record)
{
	scene_play(play_memory);
}

static void play_gpu(void)
{
	const tare_record *records;
	tare_view *view;
	size_t n;

	/* A machine with a GPU is tested as one without. */
	(void)setenv("TARE_NVML_LIBRARY", "/nonexistent/libnvidia-ml.so", 1);
	scene_start(NULL);
	TARE_RECORD_GPU("infer");
	view = scene_view();
	CHECK_INT(tare_view_records(view, NULL, &records, &n), 0);
	if (CHECK_INT(n, 1)) {
		CHECK_STR(records[0].name, "infer");
		CHECK_INT(records[0].kind, TARE_RECORD_GPU);
		CHECK_INT(int_of(&records[0], "available"), 0);
		CHECK(records[0].ok);
		CHECK(strstr(records[0].error, "nonexistent") != NULL);
	}
	tare_view_close(view);
}

TEST(a_gpu_that_is_not_there_is_not_available)
{
	scene_play(play_gpu);
}

static void play_refusals(void)
{
	static const char *const options[] = { "exclude", "secret", NULL };
	struct rlimit files, none;
	const tare_record *records;
	tare_view *view;
	size_t n;

	CHECK_INT(tare_memory_record("load"), TARE_EOFF);
	CHECK_INT(tare_gpu_record("load"), TARE_EOFF);
	scene_start(options);
	CHECK_INT(tare_memory_record(NULL), TARE_EINVAL);
	CHECK_INT(tare_gpu_record(NULL), TARE_EINVAL);
	CHECK_INT(tare_memory_record("secret"), TARE_EOFF);
	CHECK_INT(tare_memory_record("load"), 0);
	CHECK_INT(tare_enable(false), 0);
	CHECK_INT(tare_memory_record("load"), TARE_EOFF);
	CHECK_INT(tare_enable(true), 0);
	/* No file can be opened: a record says so, and the host goes on. */
	CHECK_INT(getrlimit(RLIMIT_NOFILE, &files), 0);
	none = files;
	none.rlim_cur = 0;
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
	errno = 77;
	CHECK_INT(tare_memory_record("load"), TARE_EIO);
	CHECK_INT(errno, 77);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &files), 0);
	view = scene_view();
	CHECK_INT(tare_view_records(view, NULL, &records, &n), 0);
	if (CHECK_INT(n, 2)) {
		CHECK(!records[1].ok);
		CHECK(strstr(records[1].error, "/proc") != NULL);
		CHECK_INT(records[1].n_attrs, 0);
	}
	tare_view_close(view);
}

TEST(what_cannot_be_sampled_is_told_and_never_fatal)
{
	scene_play(play_refusals);
}

/* ---- age --------------------------------------------------------------- */

static size_t shown(void)
{
	const tare_record *records;
	tare_view *view = scene_view();
	size_t n = 0;

	CHECK_INT(tare_view_records(view, NULL, &records, &n), 0);
	CHECK_INT(tare_view_health(view)->records, n);
	for (size_t i = 0; i < n; i++)
		CHECK_INT(records[i].attrs[0].i, 99 - (int)(n - 1 - i));
	tare_view_close(view);
	return n;
}

static void play_age(void)
{
	static const char *const options[] = { "max_history_age", "30", NULL };

	scene_clock();
	scene_start(options);
	for (int i = 0; i < 100; i++) {
		TARE_OPERATION("second");
		TARE_ATTR("n", i);
		scene_pass_ns(SECOND);
	}
	/* They end at 1, 2, ... 100 s, and it is 100 s now. */
	CHECK_INT(shown(), 30);
	CHECK_INT(tare_option_set("max_history_age", "10"), 0);
	CHECK_INT(shown(), 10);
	scene_pass_ns(5 * SECOND);
	CHECK_INT(shown(), 5);
	CHECK_INT(tare_option_set("max_history_age", "1000000000"), 0);
	CHECK_INT(shown(), 100);
	CHECK_INT(tare_option_set("max_history_age", "0"), 0);
	CHECK_INT(shown(), 100);
	CHECK_INT(tare_option_set("max_history_size", "7"), 0);
	CHECK_INT(shown(), 7);
	CHECK_INT(tare_option_set("max_history_age", "-1"), TARE_ERANGE);
}

TEST(records_beyond_an_age_are_not_shown)
{
	scene_play(play_age);
}
