/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/monitor/: the monitor thread, and the jobs that it runs at
 * intervals.
 *
 * Comes in: jobs and options. Goes out: gauges of system, process and GPUs,
 * and calls of the other jobs. Called by: programs (<tare/monitor.h>),
 * record/runtime.
 *
 * The thread does not exist until a job is due at intervals: a single-threaded
 * program stays single-threaded. The thread that switches a job on creates it
 * (in a call, at the start, or in a probe that finds the request in the
 * control page). It sleeps on a word of the control page while nothing is due,
 * and exists until tare_stop().
 *
 * Its state is in memory that the kernel wipes at a fork; a child creates its
 * own when it measures.
 */
#ifndef TR_RECORD_MONITOR_H
#define TR_RECORD_MONITOR_H

#include <tare/monitor.h>

#include "base/config.h"
#include "ledger/write.h"
#include "record/probe.h"

/*
 * A job that runs at intervals. Both calls run on the monitor's thread, one
 * job at a time; a job must not block for long.
 */
struct tr_job {
	const char *name;
	/* ns between two runs; 0: off now. Called at every wake-up. NULL: the
	 * interval that the options set for `part`. */
	int64_t (*interval_ns)(void);
	void (*run)(int64_t now_ns);
	uint32_t part; /* enum tare_monitor_part; 0: none */
};

#define TR_JOBS_MOST 12

/* ---- thread.c ---------------------------------------------------------- */

#define TR_MONITOR_BYTES 128u

/*
 * Once per process image. The state is in `memory`, TR_MONITOR_BYTES that a
 * fork wipes.
 */
void tr_monitor_init(const struct tr_config *config, void *memory);
/* Adds a job for the life of the process. False: there is no room. */
bool tr_monitor_add(const struct tr_job *job);
/*
 * A job needs the thread: wakes or creates it. From normal code only, while
 * measuring is on. 0, TARE_EOFF, or TARE_ENOMEM: it cannot be created.
 */
int tr_monitor_start(void);
/*
 * The same from anywhere, including signal handlers. Wakes the thread if it
 * exists. Otherwise creates it only if the caller is certainly neither in a
 * handler nor inside malloc (context.c); else the request is kept, and the
 * next call from normal code, or the next probe that checks its switches,
 * creates it. Costs about 15 us while there is no thread: not at every event.
 */
void tr_monitor_request(void);
/* Measuring has begun, or options changed in normal code: starts the thread if
 * the options need it. */
void tr_monitor_begin(void);
/* Switches changed: creates the thread if an option needs it. Signal-safe. */
void tr_monitor_notice(void);
/* Ends the thread, waits briefly if it is busy, and takes last readings. */
void tr_monitor_stop(void);
/* Runs those jobs of `parts` that are on, now, in the calling thread. */
void tr_monitor_run(uint32_t parts);
/* Does the monitor thread exist in this process now? */
bool tr_monitor_is_running(void);
/* CPU time of the monitor thread so far. */
uint64_t tr_monitor_cost_ns(void);

/* ---- context.c --------------------------------------------------------- */

/* Finds out where malloc comes from. Before the first thread is created. */
void tr_context_init(void);
/* False if this may be a signal handler, malloc, or a child without locks. */
bool tr_context_is_normal(void);

/* ---- parts.c ----------------------------------------------------------- */

/*
 * In addition to enum tare_monitor_part: memory of system and process only,
 * and the GPUs, every memory_sample_interval.
 */
#define TR_TRACK_MEMORY (1u << 8)
#define TR_TRACK_GPU (1u << 9)

/* Parts that options and calls request now. */
uint32_t tr_parts_wanted(void);
/* The same as shown to the program: a tracked part counts as read. */
uint32_t tr_parts_shown(void);
/* Is this part requested, and are probes not all switched off? */
bool tr_parts_has(uint32_t part);
/* A call's switches override the options until the options change. */
void tr_parts_switch(uint32_t on, uint32_t off);
/* Reads the options again if their generation changed. */
void tr_parts_follow(const struct tr_config *config);
/* Interval for `part`, including its tracking; 0: it is not read. */
int64_t tr_parts_interval_ns(uint32_t part);

/* ---- series.c ---------------------------------------------------------- */

extern const struct tr_job tr_job_system, tr_job_process;
/* With collect_memory_basic: stores the process's memory in the header. */
void tr_monitor_memory(const struct tr_config *config, bool at_end);

/* A row of a table of gauges: a field of a reading. */
enum tr_gauge_form {
	TR_GAUGE_U32,
	TR_GAUGE_U64,	 /* TARE_UNKNOWN is not written */
	TR_GAUGE_DOUBLE, /* NAN is not written */
	TR_GAUGE_SHARE,	 /* 0..1, written as a percentage */
	TR_GAUGE_BOOL
};

struct tr_gauge {
	const char *name, *unit;
	uint8_t type; /* enum tare_type */
	uint8_t form; /* enum tr_gauge_form */
	uint16_t offset;
	bool detailed;
};

tare_site *tr_gauge_site(const struct tr_gauge *gauge, const char *source);
/* Sets the gauge to its field of a reading. */
void tr_gauge_write(const struct tr_gauge *gauge, tare_site *site,
		    const void *reading);

/* ---- series_gpu.c ------------------------------------------------------ */

extern const struct tr_job tr_job_gpu;

#endif
