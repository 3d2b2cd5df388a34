/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of record/gpu, shared by its thread and its callers.
 *
 * Everything is in memory that a fork wipes, so a child has no readings and no
 * thread, and starts from the beginning.
 */
#ifndef TR_RECORD_GPU_STATE_H
#define TR_RECORD_GPU_STATE_H

#include <pthread.h>

#include "record/gpu.h"
#include "base/platform.h"

#define TR_GPU_MOST 64u
#define TR_GPU_TEXT 256u
#define TR_GPU_TEXTS 32u

/*
 * A kind of driver. Only the GPU thread calls these, between open and close.
 * `index` counts the boards of this driver.
 */
struct tr_gpu_backend {
	const char *name;
	/* Number of boards; 0: none, and a reason has been reported. */
	unsigned (*open)(void);
	/* Name, uuid, memory_total: the constant values. */
	void (*describe)(unsigned index, tare_gpu *gpu);
	/* All values that change except energy; all are unknown before. False:
	 * the board is lost, or returned no value at all. */
	bool (*read)(unsigned index, tare_gpu *gpu);
	/* Millijoules since an arbitrary moment; false: not available. NULL:
	 * the driver has no counter. */
	bool (*energy)(unsigned index, uint64_t *ret_mj);
	/* Memory of this process, or TARE_UNKNOWN. NULL: always unknown. */
	uint64_t (*own)(unsigned index);
	void (*close)(void);
};

extern const struct tr_gpu_backend tr_gpu_nvml, tr_gpu_amdgpu;

/* Energy of a board: a counter that is slow to read, and power in between. */
struct tr_gpu_energy {
	double total;	    /* joules shown so far; never falls */
	double settled;	    /* at the last reading of the counter */
	double since;	    /* power over time since then */
	double power;	    /* at power_at */
	int64_t power_at;   /* monotonic; 0: not known */
	uint64_t counter;   /* millijoules, at counter_at */
	int64_t counter_at; /* 0: never read */
	bool is_known;
};

/* A board; used by the GPU thread only. */
struct tr_gpu_board {
	const struct tr_gpu_backend *backend;
	unsigned index; /* of the backend */
	tare_gpu gpu;
	struct tr_gpu_energy energy;
	int64_t read_at; /* monotonic, last answer; 0: never */
	int64_t slow_at; /* monotonic, last slow reading; 0: never */
	uint64_t own;	 /* as last read */
	int64_t own_ns;	 /* least time that this took; 0: never */
};

/* A board as callers see it; guarded by `lock`. */
struct tr_gpu_shown {
	tare_gpu gpu;
	int64_t read_at;
};

enum tr_gpu_phase {
	TR_GPU_IDLE,	/* no thread */
	TR_GPU_RUNNING,
	TR_GPU_LEAVING	/* asked to end */
};

struct tr_gpu_state {
	pthread_mutex_t lock; /* all zero is PTHREAD_MUTEX_INITIALIZER */
	struct tr_gpu_shown shown[TR_GPU_MOST];
	size_t n_shown;
	int64_t next_due; /* monotonic; no reading earlier. With `lock` */

	/*
	 * Atomic. Requests are numbered from 1; `done` is the last one that
	 * was sent before the last round began.
	 */
	uint32_t phase;	  /* enum tr_gpu_phase */
	uint32_t asked;	  /* the last request */
	uint32_t done;	  /* the last one answered; 0: none ever */
	uint32_t call;	  /* changes to wake the thread; a futex */
	uint32_t turn;	  /* changes to wake callers; a futex */
	uint32_t is_late; /* a caller timed out; none waits */
	uint32_t wants_energy;
	int64_t round_since; /* monotonic; 0: no round in progress */
	uint64_t cost_ns;

	const char *reason; /* into `text`, or a literal; atomic */
	char text[TR_GPU_TEXTS][TR_GPU_TEXT];
	unsigned n_texts; /* thread only */

	struct tr_gpu_board board[TR_GPU_MOST]; /* thread only */
	size_t n_boards;
	int64_t opened_at; /* monotonic */
};

/* ---- read.c ------------------------------------------------------------ */

/* NULL: no caller so far and `make` is false, or no memory. */
struct tr_gpu_state *tr_gpu_state(bool make);
/* How long a caller waits for an answer, for tests; 0: the default. */
extern int64_t tr_gpu_patience_ns;
/* Has a round been in progress for too long? */
bool tr_gpu_is_hung(const struct tr_gpu_state *state, int64_t now);

/* ---- worker.c ---------------------------------------------------------- */

/* Requests a reading of all boards; creates the thread if there is none.
 * Returns the number of the request; 0: the process exits, no answer. */
uint32_t tr_gpu_ask(struct tr_gpu_state *state);
/* There is no thread, and none is being created. */
bool tr_gpu_is_idle(const struct tr_gpu_state *state);

/* ---- board.c ----------------------------------------------------------- */

/* Sets every value to unknown; constant values stay. */
void tr_gpu_forget(tare_gpu *gpu);
/* Reads the board and derives further values. GPU thread only. */
void tr_gpu_board_read(struct tr_gpu_board *board, bool with_energy);

/* ---- messages.c -------------------------------------------------------- */

enum tr_gpu_cause {
	TR_GPU_SAY_NONE,
	TR_GPU_SAY_LIBRARY,
	TR_GPU_SAY_VALUE,
	TR_GPU_SAY_LOST,
	TR_GPU_SAY_BACK,
	TR_GPU_SAY_HOT,
	TR_GPU_SAY_HANGS,
	TR_GPU_SAY_RETURNS,
	TR_GPU_SAY_THREAD,
	TR_GPU_CAUSES
};

/* Logs once per cause and number, which is from 0 to 63. */
void tr_gpu_log_once(enum tr_gpu_cause cause, unsigned number,
		     enum tare_level level, const char *format, ...)
	TARE_PRINTF(4, 5);
/* Starts without reasons, when drivers are opened. GPU thread only. */
void tr_gpu_reason_begin(void);
/* Adds a reason. */
void tr_gpu_reason_add(const char *format, ...) TARE_PRINTF(1, 2);
/* The same, and logs one warning. */
void tr_gpu_reason_told(enum tr_gpu_cause cause, unsigned number,
			const char *format, ...) TARE_PRINTF(3, 4);
/* A driver is missing: matters only if no other driver has a board. */
void tr_gpu_reason_absent(const char *format, ...) TARE_PRINTF(1, 2);
/* Publishes the reason. */
void tr_gpu_reason_end(struct tr_gpu_state *state);

/* Copies a driver's text: printable, and cut to `size`. */
void tr_gpu_text(char *out, size_t size, const char *text);

#endif
