/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/step/: the steps of a program's main loop: their pace, lines
 * in its log, the search for leaks, and scopes that report the resources they
 * used.
 *
 * Comes in: tare_step_done() and the calls of <tare/resource.h>; GPUs, energy
 * and the cost of measuring through hooks, which may be NULL. Goes out:
 * series, log lines, warnings. Called by: programs, record/train,
 * record/runtime.
 *
 * Nothing here runs by itself: a call of tare_step_done() does the work that
 * is due, in at most one thread at a time.
 */
#ifndef TR_RECORD_STEP_H
#define TR_RECORD_STEP_H

#include <tare/control.h>
#include <tare/resource.h>
#include <tare/step.h>

#include "record/probe.h"

/* Values of the options; written by record/runtime, read at any time. */
struct tr_step_options {
	uint64_t line_steps;   /* metrics_log_interval */
	uint64_t line_ns;      /* metrics_log_seconds; 0: none */
	uint64_t look_steps;   /* memory_cleanup_check_interval */
	uint32_t memory;       /* collect_memory_basic */
	uint32_t trace;	       /* enable_profiler */
	uint64_t trace_steps;  /* profiler_export_interval */
	uint64_t trace_wait;   /* profiler_wait: steps before the first turn */
	uint64_t trace_warm;   /* profiler_warmup */
	uint64_t trace_record; /* profiler_record */
	uint32_t components;   /* collect_component_profiling */
};
extern struct tr_step_options tr_step_options;
/* Options of traces have changed. */
void tr_schedule_bump(void);

/* Recorded steps; all pointers are borrowed. */
struct tr_traced {
	const char *name;   /* of the steps; "": unnamed */
	uint64_t step;	    /* number of the last one */
	uint64_t steps;	    /* how many */
	uint64_t from, to;  /* ticks */
	uint64_t keep;	    /* files; UINT64_MAX: as the option says */
	const char *folder; /* "": as the option says */
};
/* Called at the end of the last recorded step, by its thread. */
extern void (*tr_step_traced)(const struct tr_traced *traced);

/* True: a turn's warm-up begins; false: its last step, or its plan, ended. */
extern void (*tr_step_window)(bool is_open);

/* Where lines and warnings go. NULL: nowhere. */
typedef void (*tr_step_log)(enum tare_level level, const char *text);
void tr_step_set_log(tr_step_log log);
/* Does anything read the lines? NULL: yes, if there is a log. */
extern bool (*tr_step_is_read)(void);

/* Bytes allocated by malloc(); UINT64_MAX: not known. */
extern uint64_t (*tr_step_heap)(void);
/* Bytes in use on each GPU; returns the number of GPUs. */
extern size_t (*tr_step_gpu)(uint64_t *bytes, size_t size);
/* Percent of the busiest GPU; negative: not known. */
extern double (*tr_step_gpu_load)(void);
/* Joules used so far, by all devices that can be read; negative: not known. */
extern double (*tr_step_joules)(void);

/*
 * Live allocations: `text` NULL marks the present state; otherwise describes
 * the place that grew most since then. False: not known.
 */
extern bool (*tr_step_grown)(char *text, size_t size);

/* A last check, before the ledger is closed. */
void tr_step_finish(void);

/*
 * An epoch as a step: long enough that only the share of time, and not the
 * number of steps, decides when memory is read.
 */
void tr_step_epoch(uint64_t items);

#endif
