/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs at a call, as records of the history.
 */
#include "check.h"
#include "scene.h"

#include <tare/control.h>
#include <tare/probe.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu/driver.h"
#include "record/gpu/state.h"
#include "read/view.h"

static size_t all_records(tare_view *view, const tare_record **ret_records)
{
	size_t n = 0;

	CHECK_INT(tare_view_records(view, NULL, ret_records, &n), 0);
	return n;
}

static double number(const tare_record *record, const char *key)
{
	for (size_t i = 0; i < record->n_attrs; i++)
		if (strcmp(record->attrs[i].key, key) == 0)
			return record->attrs[i].type == TARE_ATTR_INT ?
				       (double)record->attrs[i].i :
				       record->attrs[i].d;
	return NAN;
}

/* Records are of one moment: which board, only the attribute says. */
static const tare_record *record_of(const tare_record *records, size_t n,
				    double gpu)
{
	for (size_t i = 0; i < n; i++)
		if (number(&records[i], "gpu") == gpu)
			return &records[i];
	return NULL;
}

static void check_board(const tare_record *r, const struct stand_in_board *b)
{
	CHECK_STR(r->name, "infer");
	CHECK_INT(r->kind, TARE_RECORD_GPU);
	CHECK(r->ok);
	CHECK_NEAR(number(r, "available"), 1, 0);
	CHECK_NEAR(number(r, "load_percent"), b->load, 0);
	CHECK_NEAR(number(r, "memory_used_bytes"), (double)b->used, 0);
	CHECK_NEAR(number(r, "memory_total_bytes"), (double)b->total, 0);
	CHECK_NEAR(number(r, "memory_percent"),
		   100.0 * (double)b->used / (double)b->total, 1e-9);
	CHECK_NEAR(number(r, "temperature"), b->temperature, 0);
	CHECK_NEAR(number(r, "power_w"), b->power_mw / 1e3, 0);
}

static void play_boards(void)
{
	struct stand_in *driver = driver_use("nvml_stand_in");
	const tare_record *records, *record;
	const tare_stats *rows;
	tare_view *view;
	size_t n;

	driver->n_boards = 3;
	scene_start(NULL);
	driver->result[CALL_TEMPERATURE] = 0;
	TARE_RECORD_GPU("infer");
	view = scene_view();
	n = all_records(view, &records);
	CHECK_INT(n, 3);
	for (unsigned i = 0; i < 3; i++) {
		record = record_of(records, n, i);
		if (CHECK(record != NULL))
			check_board(record, &driver->board[i]);
	}
	/* No series comes of it. */
	CHECK_INT(scene_rows(view, NULL, &rows), 0);
	tare_view_close(view);
}

TEST(each_board_is_a_record)
{
	scene_play(play_boards);
}

/* What is unknown is left out; a board that is gone is a failure. */
static void play_trouble(void)
{
	struct stand_in *driver = driver_use("nvml_stand_in");
	const tare_record *records, *record;
	tare_view *view;
	size_t n;

	driver->n_boards = 2;
	CHECK_INT(tare_gpu_count(), 2);
	driver->board[0].is_lost = 15;
	driver->result[CALL_TEMPERATURE] = 3;
	driver_poll();
	scene_start(NULL);
	TARE_RECORD_GPU("infer");
	view = scene_view();
	n = all_records(view, &records);
	CHECK_INT(n, 2);
	record = record_of(records, n, 0);
	if (CHECK(record != NULL)) {
		CHECK(!record->ok);
		CHECK_STR(record->error, "the GPU does not answer");
		CHECK_NEAR(number(record, "available"), 0, 0);
		CHECK_INT(record->n_attrs, 2);
	}
	record = record_of(records, n, 1);
	if (CHECK(record != NULL)) {
		CHECK(record->ok);
		CHECK(isnan(number(record, "temperature")));
		CHECK_NEAR(number(record, "load_percent"),
			   driver->board[1].load, 0);
	}
	tare_view_close(view);
}

TEST(a_board_that_is_gone_is_a_failed_record)
{
	scene_play(play_trouble);
}

static void play_none(void)
{
	const tare_record *records;
	tare_view *view;

	(void)driver_use(NULL);
	scene_start(NULL);
	TARE_RECORD_GPU("infer");
	view = scene_view();
	if (CHECK_INT(all_records(view, &records), 1)) {
		CHECK(records[0].ok);
		CHECK_NEAR(number(&records[0], "available"), 0, 0);
		CHECK_INT(records[0].n_attrs, 1);
		CHECK_STR(records[0].error, tare_gpu_reason());
		CHECK(strstr(records[0].error, "cannot load") != NULL);
	}
	tare_view_close(view);
}

TEST(no_board_is_no_failure_and_has_a_reason)
{
	scene_play(play_none);
}

/* Off: no driver is touched. */
static void play_off(void)
{
	struct stand_in *driver = driver_use("nvml_stand_in");

	TARE_RECORD_GPU("infer");
	CHECK_INT(driver->n_calls[CALL_INIT], 0);
	CHECK_INT(driver_threads(), 0);
}

TEST(a_program_that_is_not_measured_asks_no_driver)
{
	scene_play(play_off);
}
