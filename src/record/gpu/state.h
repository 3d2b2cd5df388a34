/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of gpu/: what its thread and its callers share.
 *
 * All of it lies in memory that a fork wipes, so a child finds GPUs that were
 * never read and no thread, and starts anew.
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
 * A kind of driver. All calls are made by the thread alone, between open and
 * close. `index` counts the boards of this driver.
 */
struct tr_gpu_backend {
	const char *name;
	/* How many boards; 0: none, and a reason has been told. */
	unsigned (*open)(void);
	/* Name, uuid, memory_total: what stays. */
	void (*describe)(unsigned index, tare_gpu *gpu);
	/* All values that change but energy; they are unknown before. False:
	 * the board is lost, or gave no value at all. */
	bool (*read)(unsigned index, tare_gpu *gpu);
	/* Millijoules since some moment; false: it does not tell. NULL:
	 * it counts none. */
	bool (*energy)(unsigned index, uint64_t *ret_mj);
	/* Memory of this process, or TARE_UNKNOWN. NULL: always that. */
	uint64_t (*own)(unsigned index);
	void (*close)(void);
};

extern const struct tr_gpu_backend tr_gpu_nvml, tr_gpu_amdgpu;

/* Energy of a board: a counter that is dear to read, and power in between. */
struct tr_gpu_energy {
	double total;	    /* joules shown so far; never falls */
	double settled;	    /* at the last reading of the counter */
	double since;	    /* power over time since then */
	double power;	    /* at power_at */
	int64_t power_at;   /* monotonic; 0: not known then */
	uint64_t counter;   /* millijoules, at counter_at */
	int64_t counter_at; /* 0: never read */
	bool is_known;
};

/* A board, for the thread alone. */
struct tr_gpu_board {
	const struct tr_gpu_backend *backend;
	unsigned index; /* of the backend */
	tare_gpu gpu;
	struct tr_gpu_energy energy;
	int64_t read_at; /* monotonic, when it answered last; 0: never */
	int64_t slow_at; /* monotonic, of what is dear to read; 0: never */
	uint64_t own;	 /* as last read */
	int64_t own_ns;	 /* least time that took; 0: never read */
};

/* A board as others see it; guarded by `lock`. */
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
	int64_t next_due; /* monotonic; no reading before. With `lock` */

	/*
	 * Atomic. Questions are numbered from 1, and `done` is the last one
	 * that was asked before the last round began.
	 */
	uint32_t phase;	  /* enum tr_gpu_phase */
	uint32_t asked;	  /* the last question */
	uint32_t done;	  /* the last one answered; 0: none ever */
	uint32_t call;	  /* changes when the thread is to look; waited on */
	uint32_t turn;	  /* changes when others are to; waited on */
	uint32_t is_late; /* a caller waited in vain; none waits then */
	uint32_t wants_energy;
	int64_t round_since; /* monotonic; 0: no round is under way */
	uint64_t cost_ns;

	const char *reason; /* into `text`, or a literal; atomic */
	char text[TR_GPU_TEXTS][TR_GPU_TEXT];
	unsigned n_texts; /* thread only */

	struct tr_gpu_board board[TR_GPU_MOST]; /* thread only */
	size_t n_boards;
	int64_t opened_at; /* monotonic */
};

/* ---- read.c ------------------------------------------------------------ */

/* NULL: no caller so far, and it is not to be made; or no memory. */
struct tr_gpu_state *tr_gpu_state(bool make);
/* How long an answer is waited for, for tests; 0: a moment. */
extern int64_t tr_gpu_patience_ns;
/* Is a round under way for too long? */
bool tr_gpu_is_hung(const struct tr_gpu_state *state, int64_t now);

/* ---- worker.c ---------------------------------------------------------- */

/* Has the thread read all boards; makes the thread if there is none. The
 * number of the question; 0: the process ends: no answer. */
uint32_t tr_gpu_ask(struct tr_gpu_state *state);
/* There is no thread, and none is being made. */
bool tr_gpu_is_idle(const struct tr_gpu_state *state);

/* ---- board.c ----------------------------------------------------------- */

/* Every value unknown; what stays is left as it is. */
void tr_gpu_forget(tare_gpu *gpu);
/* Reads it, and works out what follows from the values. Thread only. */
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

/* Once for a cause and a number from 0 to 63. */
void tr_gpu_log_once(enum tr_gpu_cause cause, unsigned number,
		     enum tare_level level, const char *format, ...)
	TARE_PRINTF(4, 5);
/* Of this opening of the drivers: none so far. Thread only. */
void tr_gpu_reason_begin(void);
/* Something is wrong. */
void tr_gpu_reason_add(const char *format, ...) TARE_PRINTF(1, 2);
/* The same, and once a warning in the log. */
void tr_gpu_reason_told(enum tr_gpu_cause cause, unsigned number,
			const char *format, ...) TARE_PRINTF(3, 4);
/* A driver is not there: of interest only where no other has a board. */
void tr_gpu_reason_absent(const char *format, ...) TARE_PRINTF(1, 2);
/* Makes it the one that is reported. */
void tr_gpu_reason_end(struct tr_gpu_state *state);

/* A driver's text: printable, and cut to what there is room for. */
void tr_gpu_text(char *out, size_t size, const char *text);

#endif
