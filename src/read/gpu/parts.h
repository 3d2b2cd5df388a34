/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of read/gpu/ share. */
#ifndef TR_READ_GPU_PARTS_H
#define TR_READ_GPU_PARTS_H

#include "read/gpu.h"

/* ---- clock.c ----------------------------------------------------------- */

struct tr_gpu_times {
	const struct tr_image *image;
	struct tr_gpu_anchor *anchor; /* in order */
	size_t n;
	uint64_t first; /* number of the first */
	double nominal; /* ticks per ns */
};

int tr_gpu_times_read(struct tr_gpu_times *times, const tare_view *view,
		      struct tr_gpu_clock *clock);
void tr_gpu_times_release(struct tr_gpu_times *times);
/*
 * Ticks of a time of the GPU's clock. `anchor`: how many there were when it
 * was stored. *ret_is_uncertain: the clock jumped around then.
 */
uint64_t tr_gpu_times_ticks(const struct tr_gpu_times *times, uint64_t gpu_ns,
			    uint32_t anchor, bool *ret_is_uncertain);

/* ---- rings.c ----------------------------------------------------------- */

int tr_gpu_read_rings(struct tr_gpu *gpu, tare_view *view,
		      const struct tr_gpu_times *times);

/* ---- rows.c ------------------------------------------------------------ */

int tr_gpu_read_rows(struct tr_gpu *gpu, tare_view *view);
/* Index of the lane with this row; UINT32_MAX: there is none. */
uint32_t tr_gpu_lane_of(const struct tr_gpu *gpu,
			const struct tr_gpu_stream *row);

/* ---- place.c ----------------------------------------------------------- */

/* What a stack says of the program. */
struct tr_gpu_where {
	uint32_t stack; /* the ledger's number */
	/*
	 * "train.py:33 (load)", the innermost place of the program's own code;
	 * "" if there is none.
	 */
	const char *place;
	bool is_loading;    /* inside torch's loader */
	bool is_optimizing; /* inside one of torch's optimizers */
};

/* Belongs to `gpu`; never NULL. */
const struct tr_gpu_where *tr_gpu_where(struct tr_gpu *gpu, tare_view *view,
					uint32_t stack);

/* ---- idle.c ------------------------------------------------------------ */

int tr_gpu_explain(struct tr_gpu *gpu, tare_view *view);

#endif
