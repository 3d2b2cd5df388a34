/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU activities, as the recorder (gpu/) stores them. See file.h.
 *
 *	state | anchors | ring of calls | ring of activities | rows
 *
 * Rows have all totals, and do not lose anything; the rings have the newest
 * calls and activities with their times. Times of activities are those of
 * CUPTI, in ns. Readers convert them to ticks by anchors: a reader knows the
 * anchor before a time and the one after it, a writer only the one before.
 *
 * References are in units of 8 bytes from the start of the region; 0: none.
 */
#ifndef TR_LEDGER_LAYOUT_GPU_H
#define TR_LEDGER_LAYOUT_GPU_H

#include <stdint.h>

#define TR_GPU_MAGIC 0x55504754u /* "TGPU" */
#define TR_GPU_UNIT 8u
#define TR_GPU_ANCHORS 1024u
#define TR_GPU_NAME_MOST 65535u
#define TR_GPU_ROWS_BYTES (UINT64_C(4) << 20)

enum tr_gpu_recording {
	TR_GPU_NONE = 0,
	TR_GPU_RECORDING = 1,
	TR_GPU_PAUSED = 2, /* between scheduled steps, or at the end */
	TR_GPU_REFUSED = 3 /* see tr_gpu_reason */
};

enum tr_gpu_reason {
	TR_GPU_NO_REASON = 0,
	TR_GPU_NO_CUPTI = 1,	/* no library was found */
	TR_GPU_BAD_CUPTI = 2,	/* one, but of an unknown version */
	TR_GPU_TAKEN = 3,	/* by another profiler */
	TR_GPU_DENIED = 4,	/* by the driver: no permission */
	TR_GPU_FAILED = 5,	/* CUPTI said something else */
	TR_GPU_NO_SPACE = 6	/* in the ledger */
};

/* What the GPU did. */
enum tr_gpu_kind {
	TR_GPU_KERNEL = 1,
	TR_GPU_COPY = 2,
	TR_GPU_SET = 3,
	TR_GPU_KINDS = 4
};

/* What a thread called. */
enum tr_gpu_call_kind {
	TR_GPU_CALL_LAUNCH = 1,
	TR_GPU_CALL_GRAPH = 2,
	TR_GPU_CALL_COPY = 3,
	TR_GPU_CALL_SET = 4,
	TR_GPU_CALL_WAIT = 5,
	TR_GPU_CALL_KINDS = 6
};

enum tr_gpu_anchor_flags {
	TR_GPU_ANCHOR_BEGIN = 1, /* a recording begins here */
	TR_GPU_ANCHOR_END = 2	 /* and ends */
};

/* The same instant on both clocks. */
struct tr_gpu_anchor {
	uint64_t ticks;
	uint64_t gpu_ns;
	uint32_t width; /* ticks between the two reads around it */
	uint32_t flags;
	uint64_t ticket; /* number + 1, written last */
};

/* A call of the program, in a ring. */
struct tr_gpu_call {
	uint64_t ticket; /* number + 1, written last; 0: never used */
	uint64_t start;	 /* ticks */
	uint64_t end;	 /* 0: it has not returned */
	uint32_t thread;
	uint32_t stack;
	uint32_t node;	 /* of the innermost open scope; 0: none */
	uint32_t correlation;
	uint16_t kind;	 /* enum tr_gpu_call_kind */
	uint16_t domain; /* of CUPTI: 1 driver, 2 runtime */
	uint32_t function; /* its number there */
	uint64_t reserved[2];
};

/* An activity of the GPU, in a ring. */
struct tr_gpu_event {
	uint64_t ticket;
	uint64_t start_ns, end_ns; /* of CUPTI's clock */
	uint64_t call;		   /* ticket of its call; 0: not known */
	uint32_t name, stream;	   /* rows */
	uint64_t bytes;
	uint32_t correlation;
	uint32_t anchor;	   /* taken before it was stored */
	uint16_t kind;		   /* enum tr_gpu_kind */
	uint16_t detail;	   /* of a copy: its direction, by CUPTI */
	uint32_t reserved;
};

_Static_assert(sizeof(struct tr_gpu_anchor) == 32, "half a line");
_Static_assert(sizeof(struct tr_gpu_call) == 64, "a line");
_Static_assert(sizeof(struct tr_gpu_event) == 64, "a line");

enum tr_gpu_row_kind {
	TR_GPU_ROW_NAME = 1,
	TR_GPU_ROW_STREAM = 2,
	TR_GPU_ROW_PATH = 3
};

/* What all rows begin with. */
struct tr_gpu_row {
	uint32_t kind;	/* 0: not to be read */
	uint32_t bytes; /* of the row, a multiple of 8 */
};

struct tr_gpu_name {
	struct tr_gpu_row row;
	uint64_t hash;	     /* of the whole name */
	uint32_t text_bytes; /* that follow, without the NUL */
	uint32_t full_bytes; /* of the whole name */
};

struct tr_gpu_stream {
	struct tr_gpu_row row;
	uint32_t device, context, stream;
	uint32_t reserved;
	uint64_t busy_ns;  /* time with at least one activity */
	uint64_t count;
	uint64_t first_ns, last_ns;
};

/* Activities of one name, stream, stack and scope. */
struct tr_gpu_path {
	struct tr_gpu_row row;
	uint32_t name, stream;
	uint32_t stack, node;
	uint32_t kind, detail;
	uint64_t count;
	uint64_t total_ns, min_ns, max_ns;
	uint64_t bytes;
};

struct tr_gpu_region {
	uint32_t magic;
	uint32_t state;	 /* enum tr_gpu_recording */
	uint32_t reason; /* enum tr_gpu_reason */
	uint32_t cupti;	 /* version, as CUPTI says it */
	uint32_t major;	 /* of CUDA, by the library's name */
	uint32_t driver; /* version of CUDA, 12040 is 12.4 */
	uint32_t n_anchors, n_calls, n_events; /* sizes of the rings */
	uint32_t anchors, calls, events, rows; /* where they are */
	uint32_t has_stacks;
	uint64_t rows_used; /* units, from `rows` on */
	uint64_t anchor_head, call_head, event_head; /* ever written */
	uint64_t recordings; /* begun */
	uint64_t recorded_ticks; /* of those that ended */
	uint64_t began;	    /* ticks at which this one did; 0: none */
	uint64_t activities; /* in rows */
	uint64_t dropped;   /* by CUPTI: its buffers were full */
	uint64_t refused;   /* buffers that it was not given */
	uint64_t unplaced;  /* activities that found no row */
	uint64_t unmatched; /* whose call is not known */
	uint64_t unknown;   /* records of other kinds, or damaged */
	uint64_t foreign;   /* buffers that another profiler got */
	uint64_t cost_ns;   /* CPU time of the recorder's own calls */
	uint64_t synchronised; /* ns in synchronisations, by CUPTI */
	/* While `moves` is odd, `moved` is the content of row `move_to`. */
	uint64_t moves;
	uint64_t move_to;
	struct tr_gpu_path moved;
	uint64_t reserved[16];
};

_Static_assert(sizeof(struct tr_gpu_path) == 72, "nine words");
_Static_assert(sizeof(struct tr_gpu_region) % TR_GPU_UNIT == 0, "whole units");

/* Bytes of the region for rings of `events` and of `calls`. */
#define TR_GPU_RINGS_BYTES(events, calls) \
	(sizeof(struct tr_gpu_region) + \
	 TR_GPU_ANCHORS * sizeof(struct tr_gpu_anchor) + \
	 (uint64_t)(events) * sizeof(struct tr_gpu_event) + \
	 (uint64_t)(calls) * sizeof(struct tr_gpu_call))

#endif
