/* SPDX-License-Identifier: Apache-2.0 */
#include "record/runtime.h"

#include "record/alloc.h"
#include "record/python.h"
#include "record/stacks.h"

static bool profile_is_started; /* not wiped: a child finds it set */

void tr_profile_prepare(const struct tr_config *config)
{
	/*
	 * Most programs of a build or a script end before their first sample:
	 * the modules are listed then. Hooks and allocations come at once.
	 */
	if (config->calls || config->alloc || !tr_modules_prepare())
		tr_modules_learn();
	profile_is_started = true;
}

void tr_profile_start(const struct tr_config *config)
{
	bool has_stacks = tr_config_wants_stacks(config);

	if (!has_stacks && !config->calls)
		return;
	if (has_stacks && !tr_stacks_init())
		return;
	if (profile_is_started)
		tr_modules_repeat(); /* may run in a handler */
	else
		tr_modules_look();
	profile_is_started = true;
	if (has_stacks && (tr_alloc_start(config) || config->gpu_kernels))
		tr_python_opened();
}
