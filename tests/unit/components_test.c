/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Components of a step: what each scope took, in the log and as a series.
 */
#include "check.h"
#include "scene.h"
#include "read/view.h"

#include <tare/tare.h>

#include <stdio.h>
#include <string.h>

#define MS INT64_C(1000000)

static char components[512];

static void hear_components(void *arg, enum tare_level level, const char *text)
{
	(void)arg;
	if (level == TARE_LEVEL_PERFORMANCE &&
	    strncmp(text, "components ", 11) == 0)
		(void)snprintf(components, sizeof(components), "%s", text);
}

/* As the source document has it: total_step around two components. */
static void train_steps(int n)
{
	for (int i = 0; i < n; i++) {
		{
			TARE_SCOPE("total_step");
			{
				TARE_SCOPE("flow_processor");
				scene_pass_ns(6 * MS);
			}
			TARE_SCOPE("loss_computation");
			scene_pass_ns(3 * MS);
		}
		scene_pass_ns(1 * MS);
		TARE_STEP();
	}
}

static void play_components(const char *option)
{
	const char *const options[] = { option, "true",
					"metrics_log_interval", "10", NULL };
	const tare_stats *rows;
	tare_view *view;
	size_t n, found = 0;

	tare_log_set(hear_components, NULL);
	scene_clock();
	scene_start(options);
	train_steps(40);
	CHECK_STR(components, "components of a step: total_step 9 ms (90.0 %), "
			      "flow_processor 6 ms (60.0 %), loss_computation "
			      "3 ms (30.0 %)");
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].name, "step.component") == 0 &&
		    strcmp(rows[i].labels, "component=\"flow_processor\"") ==
			    0) {
			CHECK_NEAR(rows[i].max, 6, 0.1);
			found++;
		}
	CHECK_INT(found, 1);
	tare_view_close(view);
}

static void play_profiled(void)
{
	play_components("collect_component_profiling");
}

static void play_debug(void)
{
	play_components("debug_mode");
}

/* What is set by hand holds, whatever debug_mode says. */
static void play_against(void)
{
	static const char *const options[] = {
		"debug_mode", "true", "collect_component_profiling", "false",
		"metrics_log_interval", "10", NULL
	};

	tare_log_set(hear_components, NULL);
	scene_clock();
	scene_start(options);
	train_steps(40);
	CHECK_STR(components, "");
}

TEST(components_of_a_step_are_told)
{
	scene_play(play_profiled);
	scene_play(play_debug);
	scene_play(play_against);
}
