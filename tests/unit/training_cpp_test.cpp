/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training runs in C++, in a program with TARE_DISABLE: files are written,
 * phases end with their blocks, also by exceptions; the ledger has nothing.
 */
#define TARE_DISABLE

#include <tare/read/run_file.h>
#include <tare/control.h>
#include <tare/read/train.h>
#include <tare/read/view.h>

#include <cstdio>
#include <stdexcept>
#include <string>

extern "C" {
#include "check.h"
#include "scene.h"
}

static const int64_t ms = 1000000;

static void fail_in(tare_training *training)
{
	TARE_PHASE(training, "forward");
	scene_pass_ns(2 * ms);
	throw std::runtime_error("diverged");
}

static void files_alone()
{
	static const char *const none[] = { nullptr };
	std::string results = std::string(scene_dir) + "/results";
	tare_training_options options = {};
	tare_epoch epoch = {};
	tare_training *training = nullptr;
	const tare_training_info *info = nullptr;
	tare_run_file *file = nullptr;
	tare_view *view;

	scene_clock();
	scene_start(none);
	options.struct_size = sizeof(options);
	options.config = "cpp";
	options.results = results.c_str();
	epoch.struct_size = sizeof(epoch);
	CHECK_INT(tare_training_open(&options, &training), 0);
	CHECK_INT(tare_epoch_begin(training), 0);
	try {
		fail_in(training);
		CHECK(false);
	} catch (const std::runtime_error &) {
		scene_pass_ns(ms);
	}
	{
		TARE_PHASE(training, "communication");
		TARE_PHASE(training, "broadcast");
		scene_pass_ns(3 * ms);
	}
	{
		TARE_PAUSE(training, "validation");
		scene_pass_ns(ms);
	}
	CHECK_INT(tare_epoch_end(training, &epoch), 0);
	CHECK_NEAR(epoch.row.forward_time, 0.002, 0);
	CHECK_NEAR(epoch.row.comm_time, 0.003, 0);
	CHECK_NEAR(epoch.broadcast_time, 0.003, 0);
	CHECK_NEAR(epoch.rest, 0.001, 0);
	CHECK_INT(tare_run_file_open(tare_training_csv(training), &file,
				     nullptr), 0);
	CHECK_INT(tare_run_file_table(file)->n_rows, 1);
	tare_run_file_close(file);
	view = scene_view();
	CHECK_INT(tare_view_trainings(view, &info), 0);
	tare_view_close(view);
	CHECK_INT(tare_training_close(training), 0);
}

TEST(disabled_trainings_write_their_files_alone)
{
	scene_play(files_alone);
}
