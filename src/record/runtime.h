/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/runtime/: the wiring: when measuring starts, what happens at
 * fork and exit, where messages go. The only room of record/ that knows all
 * others.
 *
 * Comes in: options, constructors, and the calls of <tare/control.h>. Goes
 * out: an open ledger with sampler, monitor and governor running. Called by:
 * programs, preload, and through record/host the other rooms of record/.
 */
#ifndef TR_RECORD_RUNTIME_H
#define TR_RECORD_RUNTIME_H

#include "base/config.h"
#include "ledger/write.h"
#include "record/probe.h"
#include "record/step.h"

enum tr_mode {
	TR_MODE_OFF,
	TR_MODE_STANDBY, /* a control page, nothing else */
	TR_MODE_ON,
	TR_MODE_REPORT	 /* on, and a report at exit */
};

/* Not wiped by a fork: a child starts in the same mode as its parent. */
extern struct tr_config tr_config;
extern enum tr_mode tr_mode;

/* ---- start.c ----------------------------------------------------------- */

/* Opens what `tr_mode` requires. 0, also if it is already open, or an error. */
int tr_start(void);
/*
 * Starts if the environment or the file asks for it; once. Only the first
 * call has an effect: from the library's constructor, or from an earlier
 * allocation.
 */
void tr_start_at_load(void);
/* As tr_probe_open(), for a caller that is not an event. */
bool tr_open_uncounted(void);
/* Stops measuring for good. */
void tr_stop(void);
/*
 * The process is about to restrict its system calls (seccomp), and one of ours
 * could then end it: stops samples and the tracking of allocations.
 */
void tr_confine(void);
/* Loads file and environment, once. */
void tr_load_config(void);

/* ---- report.c ---------------------------------------------------------- */

/*
 * Writes the report to where the option `report` says. `is_own`: this process
 * set the option (file, environment or call), not another process.
 */
void tr_report_at_exit(const struct tr_config *now, bool is_own);

/* ---- reader.c ---------------------------------------------------------- */

struct tr_reader;
/* libtare-read if it is connected, else NULL. */
const struct tr_reader *tr_reader(void);
/* The same; loads it if needed. Not at exit. */
const struct tr_reader *tr_reader_load(void);

/* ---- calibrate.c ------------------------------------------------------- */

/*
 * Store the clock, its resolution and the cost of a probe in the ledger's
 * header. `start`: of the process; mono_ns 0: it starts now.
 */
void tr_calibrate_clock(const struct tr_anchor *start);
void tr_calibrate_probes(void);

/* ---- calibration.c ----------------------------------------------------- */

/*
 * Fills the header with what another process of this user found a moment ago;
 * false: none did. Signal-safe, as is the second, which stores it for others.
 */
bool tr_calibration_read(void);
void tr_calibration_write(void);

/* ---- govern.c ---------------------------------------------------------- */

/* Starts the governor. */
void tr_self_govern(void);

/* ---- sample.c ---------------------------------------------------------- */

/* Starts stack sampling if the options ask for it. */
void tr_sample_begin(bool is_preloaded);
/* At exit: if much CPU time has no sample, a run that says so. */
void tr_sample_end(void);

/* ---- region.c ---------------------------------------------------------- */

/* Applies the options for regions from now on. */
void tr_region_begin(void);
/*
 * A trace of steps needs stacks, also outside of regions; or its window ends.
 */
void tr_region_window(bool is_open);

/* ---- step_sources.c ---------------------------------------------------- */

/* Gives steps and resource scopes their readings of GPUs and energy. */
void tr_step_sources_connect(void);

/* ---- trace.c ----------------------------------------------------------- */

/* From now on recorded steps are written to files. */
void tr_trace_ready(void);
/* Writes the traces that are not written yet. */
void tr_trace_finish(void);

/* ---- window.c ---------------------------------------------------------- */

/* From now on traces of steps have what the options ask for. */
void tr_window_ready(void);

/* ---- grown.c ----------------------------------------------------------- */

/* For tr_step_grown: the place whose live allocations grew most. */
bool tr_grown(char *text, size_t size);

/* ---- log.c ------------------------------------------------------------- */

void tr_log(enum tare_level level, const char *format, ...) TARE_PRINTF(2, 3);
/* `tare run` itself started this process; set in forked children, too. */
extern bool tr_is_direct_child;
/*
 * The end of the process, at exit() with a status that may be -1 for unknown.
 * Called by this library's destructor, unless another file promises to call it
 * and sets this.
 */
void tr_end(int status);
extern bool tr_end_is_known;
extern bool tr_log_is_quiet; /* except for a callback */
/* Logs that measurements are lost; to stderr if no report can show it. */
void tr_log_lost(bool has_report, const char *text);
/* The configuration is loaded: prints the deferred messages that it allows. */
void tr_log_ready(void);
/* Messages kept for the report, each without a newline; given once. */
typedef void (*tr_log_write_fn)(void *arg, const char *text);
void tr_log_kept(tr_log_write_fn write, void *arg);
/* Lines about steps go to stderr if the program has no log. */
extern bool tr_log_lines;
/* A line that the user asked for: not subject to the limit on messages. */
void tr_log_line(enum tare_level level, const char *text);
/* Does anything read such lines? */
bool tr_log_is_read(void);

/* ---- options.c --------------------------------------------------------- */

/*
 * Takes over the options that the parent had set. Before a child's ledger is
 * opened.
 */
void tr_options_inherit(void);
/* Has another process set this option, through the control page? */
bool tr_option_is_foreign(const char *name);
/* All options now, including those that other processes have set. */
void tr_options_read(struct tr_config *ret);

/* ---- wanted.c ---------------------------------------------------------- */

/* Passes the present options to steps and to the floor of records. */
void tr_follow_steps(void);

/* ---- guard.c ----------------------------------------------------------- */

/*
 * Installs a SIGBUS handler for our mapping only; chains to the previous one.
 */
void tr_guard_install(void);

/* ---- profile.c --------------------------------------------------------- */

/*
 * Prepares what the options ask for. Call after the ledger is opened: at the
 * start of a process, or at a forked child's first event, which may be in a
 * signal handler.
 */
void tr_profile_start(const struct tr_config *config);
/* Before a ledger exists, so that tr_profile_start() may run in a handler. */
void tr_profile_prepare(const struct tr_config *config);

/* ---- table.c ----------------------------------------------------------- */

/* The calls that other copies of the library in this process use. */
extern const struct tr_probe_table tr_probe_own;

/* ---- for tr_host ------------------------------------------------------- */

bool tr_probe_open(void);
bool tr_probe_wanted(uint8_t kind, const char *name, const char *source);
void tr_log_plain(enum tare_level level, const char *text);
void tr_log_asked(enum tare_level level, const char *text);

#endif
