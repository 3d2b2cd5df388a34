/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of training runs share: a training in a scene, its phases by the
 * scene's clock, and the rows that it wrote.
 */
#ifndef TRAINING_SCENE_H
#define TRAINING_SCENE_H

#include <tare/read/run_file.h>
#include <tare/read/train.h>
#include <tare/control.h>
#include <tare/step.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "scene.h"

#define MS INT64_C(1000000)

static char results[160];
static unsigned n_said; /* messages so far, and the last */
static char said[512];

static inline void say(void *arg, enum tare_level level, const char *text)
{
	(void)arg;
	if (level >= TARE_LEVEL_PERFORMANCE)
		return;
	n_said++;
	(void)snprintf(said, sizeof(said), "%s", text);
}

static inline tare_training_options options_of(const char *config)
{
	tare_training_options options = { .struct_size = sizeof(options),
					  .config = config,
					  .results = results };

	(void)snprintf(results, sizeof(results), "%s/results", scene_dir);
	return options;
}

static inline tare_training *open_one(const tare_training_options *options)
{
	tare_training *training = NULL;

	CHECK_INT(tare_training_open(options, &training), 0);
	CHECK(training != NULL);
	return training;
}

/* The rows of a file that was written, which is freed at the next call. */
static inline const tare_run_table *rows_of(const char *path)
{
	static tare_run_file *file;

	tare_run_file_close(file);
	file = NULL;
	if (!CHECK_INT(tare_run_file_open(path, &file, NULL), 0))
		return NULL;
	return tare_run_file_table(file);
}

static inline const tare_run_table *rows_in(const char *name)
{
	char path[400];

	(void)snprintf(path, sizeof(path), "%s/%s", results, name);
	return rows_of(path);
}

static inline bool is_there(const char *name)
{
	char path[400];

	(void)snprintf(path, sizeof(path), "%s/%s", results, name);
	return access(path, F_OK) == 0;
}

static inline void phase(tare_training *training, const char *name, int64_t ms)
{
	TARE_PHASE(training, name);
	scene_pass_ns(ms * MS);
}

static inline const tare_training_phase *phase_of(const tare_epoch *epoch,
					   const char *name)
{
	static const tare_training_phase none;

	for (size_t i = 0; i < epoch->n_phases; i++)
		if (strcmp(epoch->phases[i].name, name) == 0)
			return &epoch->phases[i];
	return &none;
}

/* Epochs with two phases, two values and ten samples each. */
static inline void epochs_of(tare_training *training, int n)
{
	for (int i = 0; i < n; i++) {
		CHECK_INT(tare_epoch_begin(training), 0);
		phase(training, "forward", 1 + i % 7);
		phase(training, "communication", 1);
		CHECK_INT(tare_training_value(training, "loss", 1. / (i + 1)),
			  0);
		CHECK_INT(tare_training_value(training, "rate", i), 0);
		tare_training_samples(training, 10);
		CHECK_INT(tare_epoch_end(training, NULL), 0);
	}
}

#endif
