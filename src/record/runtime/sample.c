/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the sampler, and lets the monitor's thread look for threads.
 *
 * In a preloaded library the host's threads announce themselves, and samples
 * find the others: no thread is needed. A program that links the library may
 * create threads in any way, and wait in the first one: there the monitor's
 * thread looks for them.
 */
#include "record/runtime.h"

#include <time.h>

#include "record/monitor.h"
#include "record/python.h"
#include "record/sampler.h"
#include "record/stacks.h"

#define TR_LOOK_EACH_NS INT64_C(50000000)
#define TR_SILENT_NS 20000000 /* CPU time that is worth a run of its own */

/* Always, or only in traces of steps. */
static bool wants_samples(void)
{
	return tr_config.sample || tr_config.profiler_with_stack;
}

static int64_t look_interval_ns(void)
{
	return wants_samples() ? TR_LOOK_EACH_NS : 0;
}

static void look_for_threads(int64_t now_ns)
{
	(void)now_ns;
	tr_sampler_look();
	tr_modules_look();
}

static const struct tr_job look_job = { "sampler", look_interval_ns,
					look_for_threads, 0 };

void tr_sample_end(void)
{
	struct timespec used;

	if (tr_ledger_is_ready() || !wants_samples() ||
	    tr_config.profile_region ||
	    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used))
		return;
	if (used.tv_sec || used.tv_nsec >= TR_SILENT_NS)
		(void)tr_open_uncounted();
}

void tr_sample_begin(bool is_preloaded)
{
	struct tr_sampler_setup setup = {
		.config = &tr_config,
		.open = tr_open_uncounted,
		.has_monitor_thread = !is_preloaded,
		.has_early = is_preloaded && tr_is_direct_child,
	};

	tr_region_begin();
	if (wants_samples() || tr_config.alloc || tr_config.gpu_kernels)
		tr_python_find();
	if (!wants_samples())
		return;
	if (is_preloaded)
		tr_profile_prepare(&tr_config);
	if (!tr_sampler_start(&setup))
		tr_log(TARE_LEVEL_WARNING, "no timer: no stacks are sampled");
	else if (!is_preloaded && tr_monitor_add(&look_job))
		(void)tr_monitor_start();
}
