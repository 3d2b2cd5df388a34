/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace's window contains in addition to scopes: sampled stacks, and
 * every tracked allocation.
 *
 * An allocation is a scope like any other, with its bytes as items and its
 * size in its name: so it is on the timeline of its thread, inside the scope
 * that allocated, and needs nothing special in ledger and files.
 */
#include "record/runtime.h"

#include "base/text.h"
#include "record/alloc.h"
#include "record/kernels.h"

#include <stdio.h>

#define SMALLEST 64u
#define CLASSES 25u /* up to 1 GiB, and beyond */

/* One per power of two; written before the first window is opened. */
static tare_site *size_site[CLASSES];
static uint32_t n_windows; /* open windows; atomic */

static void make_sites(void)
{
	for (unsigned i = 0; i < CLASSES; i++) {
		double most = (double)((uint64_t)SMALLEST << i);
		char name[64];

		(void)snprintf(name, sizeof(name), "malloc up to %s",
			       tr_as_bytes(most).text);
		size_site[i] = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					     name, NULL, "alloc");
	}
}

static void show_alloc(uint64_t bytes)
{
	tare_scope scope;
	unsigned i = 0;

	while (i + 1 < CLASSES && bytes > (uint64_t)SMALLEST << i)
		i++;
	scope = tare_scope_begin(size_site[i]);
	tare_scope_items(scope, bytes);
	tare_scope_end(scope);
}

static void turn_window(bool is_open)
{
	uint32_t n = __atomic_add_fetch(&n_windows, is_open ? 1 : -1u,
					__ATOMIC_RELAXED);

	if (tr_config.gpu_kernels)
		tr_kernels_window(is_open);
	if (tr_config.profiler_with_stack)
		tr_region_window(is_open);
	if (tr_config.profiler_profile_memory)
		__atomic_store_n(&tr_alloc_seen, n ? show_alloc : NULL,
				 __ATOMIC_RELEASE);
}

void tr_window_ready(void)
{
	if (!tr_config.profiler_with_stack && !tr_config.gpu_kernels &&
	    !tr_config.profiler_profile_memory)
		return;
	if (tr_config.profiler_profile_memory)
		make_sites();
	tr_step_window = turn_window;
}
