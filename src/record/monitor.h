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
 * Something done at intervals. All three run on the monitor's thread, one job
 * at a time; a job must not wait for anything for long.
 */
struct tr_job {
	const char *name;
	/* ns between two runs; 0: off now. Asked at every wake-up. NULL: as
	 * the options say of `part`. */
	int64_t (*interval_ns)(void);
	void (*run)(int64_t now_ns);
	uint32_t part; /* enum tare_monitor_part; 0: none */
};

#define TR_JOBS_MOST 12

/* ---- thread.c ---------------------------------------------------------- */

/* Once a process image: memory for the state. */
int tr_monitor_init(const struct tr_config *config);
/* Another job, for the life of the process. False: there is no room. */
bool tr_monitor_add(const struct tr_job *job);
/*
 * Some job wants the thread: wakes it, or makes it. From normal code only,
 * measuring on. 0, TARE_EOFF, or TARE_ENOMEM: it cannot be made.
 */
int tr_monitor_start(void);
/*
 * The same from anywhere, signal handlers included. A thread that exists is
 * woken. Where there is none yet it is made here only if the caller is
 * certainly not in a handler nor inside malloc (context.c); else the wish is
 * kept, and the next call from normal code, or the next probe that looks at
 * its switches, makes it. Some 15 us while there is none: not at every event.
 */
void tr_monitor_request(void);
/* Measuring has begun, or options changed in normal code: starts it if they
 * want it. */
void tr_monitor_begin(void);
/* Switches moved: makes the thread if an option now wants it. Signal-safe. */
void tr_monitor_notice(void);
/* Ends the thread, waiting for a moment if it is at work; last readings. */
void tr_monitor_stop(void);
/* In a child, where the kernel did not wipe. */
void tr_monitor_reset(void);
/* Runs the jobs of these parts that are on, now, in the calling thread. */
void tr_monitor_run(uint32_t parts);
/* Does this thread exist in this process, at this moment? */
bool tr_monitor_is_running(void);
/* CPU time that it took so far. */
uint64_t tr_monitor_cost_ns(void);

/* ---- context.c --------------------------------------------------------- */

/* Where malloc comes from; before the first thread is made. */
void tr_context_init(void);
/* False if this may be a signal handler, malloc, or a child without locks. */
bool tr_context_is_normal(void);

/* ---- parts.c ----------------------------------------------------------- */

/*
 * Beside enum tare_monitor_part: memory of system and process alone, and the
 * GPUs, every memory_sample_interval.
 */
#define TR_TRACK_MEMORY (1u << 8)
#define TR_TRACK_GPU (1u << 9)

/* Parts that the options and calls want now. */
uint32_t tr_parts_wanted(void);
/* The same for the program: tracked parts are those that are read for it. */
uint32_t tr_parts_shown(void);
/* That part, and probes are not switched off altogether. */
bool tr_parts_has(uint32_t part);
/* What a call switches over the options; until they change themselves. */
void tr_parts_switch(uint32_t on, uint32_t off);
/* Looks at the options again, if their generation moved. */
void tr_parts_follow(const struct tr_config *config);
/* How often to read `part`, or what tracks it; 0: not at all. */
int64_t tr_parts_interval_ns(uint32_t part);

/* ---- series.c ---------------------------------------------------------- */

extern const struct tr_job tr_job_system, tr_job_process;
/* With collect_memory_basic: the memory of the process, in the header. */
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
/* Sets it to that field of a reading. */
void tr_gauge_write(const struct tr_gauge *gauge, tare_site *site,
		    const void *reading);

/* ---- series_gpu.c ------------------------------------------------------ */

extern const struct tr_job tr_job_gpu;

#endif
