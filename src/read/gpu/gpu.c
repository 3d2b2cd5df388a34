/* SPDX-License-Identifier: Apache-2.0 */
#include "read/gpu/parts.h"

#include <stdlib.h>

#include "read/profile.h"

/* Of a process that was killed, what is known to be its last moment. */
static uint64_t last_ticks(const tare_view *view,
			   const struct tr_gpu_region *state)
{
	const struct tr_image *image = &view->image;
	uint64_t last = tr_image_header(image)->end.ticks;
	const struct tr_gpu_anchor *row = tr_gpu_at(
		image, state->anchors, TR_GPU_ANCHORS * sizeof(*row));

	if (view->live || last)
		return tr_time_now(image);
	for (unsigned i = 0; row && i < TR_GPU_ANCHORS; i++)
		if (row[i].ticket && row[i].ticks > last)
			last = row[i].ticks;
	return last;
}

static double recorded_of(const struct tr_gpu_region *state,
			  const tare_view *view)
{
	const struct tr_image *image = &view->image;
	double ns_per_tick = tr_image_header(image)->sec_per_tick * 1e9;
	uint64_t ticks = state->recorded_ticks, now = last_ticks(view, state);

	if (state->began && now > state->began)
		ticks += now - state->began;
	return ticks < (UINT64_C(1) << 62) ? (double)ticks * ns_per_tick : 0;
}

int tr_gpu_take(tare_view *view, struct tr_gpu **ret)
{
	struct tr_gpu_times times = { .n = 0 };
	struct tr_gpu *gpu;
	int err;

	*ret = NULL;
	if (!tr_gpu_region_of(&view->image))
		return 0;
	gpu = calloc(1, sizeof(*gpu));
	if (!gpu)
		return TARE_ENOMEM;
	gpu->state = tr_gpu_region_of(&view->image);
	gpu->recorded_ns = recorded_of(gpu->state, view);
	err = tr_profile_modules(view);
	if (!err)
		err = tr_gpu_times_read(&times, view, &gpu->clock);
	if (!err)
		err = tr_gpu_read_rows(gpu, view);
	if (!err)
		err = tr_gpu_read_rings(gpu, view, &times);
	if (!err)
		err = tr_gpu_explain(gpu, view);
	tr_gpu_times_release(&times);
	if (err) {
		tr_gpu_free(gpu);
		return err;
	}
	*ret = gpu;
	return 0;
}

void tr_gpu_free(struct tr_gpu *gpu)
{
	if (!gpu)
		return;
	free(gpu->kernel);
	free(gpu->lane);
	free(gpu->call);
	free(gpu->done);
	free(gpu->idle);
	free(gpu->where);
	tr_lookup_release(&gpu->by_stack);
	tr_pool_release(&gpu->texts);
	free(gpu);
}

const char *tr_gpu_idle_name(enum tr_gpu_idle_cause cause)
{
	static const char *const names[] = {
		[TR_GPU_IDLE_DATA] = "data loading",
		[TR_GPU_IDLE_HOST] = "code of the program",
		[TR_GPU_IDLE_LAUNCH] = "launch overhead",
		[TR_GPU_IDLE_WAIT] = "synchronisation",
		[TR_GPU_IDLE_COPY] = "copies",
		[TR_GPU_IDLE_OPTIMIZER] = "optimizer",
		[TR_GPU_IDLE_UNKNOWN] = "unknown",
	};

	return TR_NAME_OF(names, cause, "unknown");
}

const char *tr_gpu_refusal(const struct tr_gpu_region *state)
{
	static const char *const reasons[] = {
		[TR_GPU_NO_CUPTI] = "no libcupti was found",
		[TR_GPU_BAD_CUPTI] = "libcupti has an unknown version",
		[TR_GPU_TAKEN] = "another profiler used CUPTI",
		[TR_GPU_DENIED] = "the driver did not permit it",
		[TR_GPU_FAILED] = "CUPTI failed",
		[TR_GPU_NO_SPACE] = "the ledger had no room",
	};

	return state->reason ?
		       TR_NAME_OF(reasons, state->reason, "CUPTI failed") :
		       NULL;
}
