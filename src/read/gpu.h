/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/gpu/: kernels and copies of GPUs, on the time of the program.
 *
 * Comes in: the GPU region of a view's image, its calls, scopes and samples.
 * Goes out: totals by kernel and by stream, single activities with the calls
 * that started them, and what the host did while a GPU had nothing to do.
 * Called by: render/report, render/timeline, cli.
 */
#ifndef TR_READ_GPU_H
#define TR_READ_GPU_H

#include "read/view.h"

#define TR_GPU_NO_CALL UINT32_MAX

struct tr_gpu_kernel {
	const char *name; /* demangled, if there is a function for that */
	uint32_t kind;	  /* enum tr_gpu_kind */
	uint64_t count, bytes;
	double total_ns, min_ns, max_ns;
	double share; /* of all activities' time, 0..1 */
};

struct tr_gpu_lane {
	uint32_t device, context, stream;
	uint64_t count;
	double busy_ns;
	double busy_share; /* of the recorded time; NaN: not known */
};

/* A call of the program that gave the GPU work, or waited for it. */
struct tr_gpu_started {
	int64_t start_ns, end_ns; /* since 1970 */
	int64_t thread;
	uint64_t ticket;
	uint32_t stack;	    /* the ledger's number; 0: not known */
	const char *scope;  /* innermost open one, or "" */
	uint32_t kind;	    /* enum tr_gpu_call_kind */
};

struct tr_gpu_done {
	int64_t start_ns, end_ns;
	const char *name;
	uint64_t bytes;
	uint32_t lane; /* index */
	uint32_t call; /* index, or TR_GPU_NO_CALL */
	uint32_t kind;
};

/* How well times of the GPU are known. */
struct tr_gpu_clock {
	double bound_ns;   /* half of the widest anchor, and what a middle
			    * anchor is off the line between its neighbours */
	double early_ns;   /* most that an activity seems to begin before its
			    * call: the error is at least this */
	double drift_ppm;  /* of the GPU's clock, against the program's */
	uint64_t anchors;
	uint64_t jumps;	   /* of the GPU's clock */
	uint64_t uncertain; /* activities between two anchors with a jump */
};

enum tr_gpu_idle_cause {
	TR_GPU_IDLE_DATA,
	TR_GPU_IDLE_HOST,
	TR_GPU_IDLE_LAUNCH,
	TR_GPU_IDLE_WAIT,
	TR_GPU_IDLE_COPY,
	TR_GPU_IDLE_OPTIMIZER,
	TR_GPU_IDLE_UNKNOWN,
	TR_GPU_IDLE_CAUSES
};

/* Time without work for the GPU, and what the host did. */
struct tr_gpu_idle {
	enum tr_gpu_idle_cause cause;
	const char *label; /* scope or place in the source; "" none */
	bool is_scope;
	bool is_sampled; /* the place is where the thread was, by samples */
	double ns;
	uint64_t pieces;
};

struct tr_gpu {
	const struct tr_gpu_region *state;
	struct tr_gpu_kernel *kernel; /* most time first */
	size_t n_kernels;
	double total_ns; /* of all activities, overlaps counted twice */
	struct tr_gpu_lane *lane;
	size_t n_lanes;
	struct tr_gpu_started *call; /* by time */
	size_t n_calls;
	struct tr_gpu_done *done; /* by time */
	size_t n_done;
	struct tr_gpu_clock clock;
	double recorded_ns;
	/* Of the time from the first to the last activity in the rings. */
	double span_ns, busy_ns, idle_ns;
	uint64_t steps; /* in it; 0: not known */
	double step_ns; /* of one, the mean */
	struct tr_gpu_idle *idle; /* most first */
	size_t n_idle, cap_idle;
	double by_cause[TR_GPU_IDLE_CAUSES];
	struct tr_gpu_where *where; /* of stacks, at most so many */
	size_t n_where, cap_where;
	struct tr_lookup by_stack; /* these */
	struct tr_pool texts;
};

/* NULL in *ret: the ledger has nothing of it. Gives: tr_gpu_free(). */
int tr_gpu_take(tare_view *view, struct tr_gpu **ret);
void tr_gpu_free(struct tr_gpu *gpu);

/* "data loading", ... */
const char *tr_gpu_idle_name(enum tr_gpu_idle_cause cause);
/* Why nothing was recorded; NULL: something was, or may be. */
const char *tr_gpu_refusal(const struct tr_gpu_region *state);

#endif
