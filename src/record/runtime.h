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

/* Not wiped by a fork: a child starts the way its parent did. */
extern struct tr_config tr_config;
extern enum tr_mode tr_mode;

/* ---- start.c ----------------------------------------------------------- */

/* Opens what `tr_mode` says. 0, also if it is open already, or an error. */
int tr_start(void);
/* Starts if the environment or the file asks for it; once. The
 * first call counts: the library's constructor, or an allocation before it. */
void tr_start_at_load(void);
/* As tr_probe_open(), of what is no event. */
bool tr_open_uncounted(void);
/* Closes it for good. */
void tr_stop(void);
/*
 * The process is about to forbid itself calls of the kernel (seccomp), and
 * one of ours may end it: neither samples nor allocations from then on.
 */
void tr_confine(void);
/* File and environment, once. */
void tr_load_config(void);

/* ---- report.c ---------------------------------------------------------- */

/*
 * To where `report` says. `is_own`: this process itself has set it, by a
 * file, its environment or a call, and not another one.
 */
void tr_report_at_exit(const struct tr_config *now, bool is_own);

/* ---- reader.c ---------------------------------------------------------- */

struct tr_reader;
/* libtare-read, if it is connected; NULL. */
const struct tr_reader *tr_reader(void);
/* The same, loaded if needed. Not at the exit. */
const struct tr_reader *tr_reader_load(void);

/* ---- calibrate.c ------------------------------------------------------- */

/* Clock, its step, and the cost of a probe, into the ledger's header. */
void tr_calibrate_clock(void);
void tr_calibrate_probes(void);

/* ---- govern.c ---------------------------------------------------------- */

/* Starts to watch what measuring costs. */
void tr_self_govern(void);

/* ---- sample.c ---------------------------------------------------------- */

/* Samples stacks, if options say so. */
void tr_sample_begin(bool is_preloaded);

/* ---- region.c ---------------------------------------------------------- */

/* What the options say holds from now on. */
void tr_region_begin(void);
/* A trace of steps wants stacks, also outside of regions; or no more. */
void tr_region_window(bool is_open);

/* ---- step_sources.c ---------------------------------------------------- */

/* Gives steps and resource scopes their readings of GPUs and energy. */
void tr_step_sources_connect(void);

/* ---- trace.c ----------------------------------------------------------- */

/* Steps that were recorded become files from now on. */
void tr_trace_ready(void);
/* Those that are not written yet. */
void tr_trace_finish(void);

/* ---- window.c ---------------------------------------------------------- */

/* What the options want in traces of steps is there from now on. */
void tr_window_ready(void);

/* ---- grown.c ----------------------------------------------------------- */

/* For tr_step_grown: which place allocated what is live more. */
bool tr_grown(char *text, size_t size);

/* ---- log.c ------------------------------------------------------------- */

void tr_log(enum tare_level level, const char *format, ...) TARE_PRINTF(2, 3);
extern bool tr_log_is_quiet; /* but for a callback */
/* That measurements are lost; to stderr if no report can have it. */
void tr_log_lost(bool has_report, const char *text);
/* The configuration is in: what waited for it is said, if it is wanted. */
void tr_log_ready(void);
/* Those that wait for the report, each without an end of line; once. */
typedef void (*tr_log_write_fn)(void *arg, const char *text);
void tr_log_kept(tr_log_write_fn write, void *arg);
/* Lines about steps go to stderr where the program has no log. */
extern bool tr_log_lines;
/* A line that was asked for: not counted among the few messages. */
void tr_log_line(enum tare_level level, const char *text);
/* Are such lines read? */
bool tr_log_is_read(void);

/* ---- options.c --------------------------------------------------------- */

/* Before the ledger of a child is opened: what its parent had set. */
void tr_options_inherit(void);
/* Has another process set this option, through the control page? */
bool tr_option_is_foreign(const char *name);
/* All as they are now, with what other processes have set. */
void tr_options_read(struct tr_config *ret);

/* ---- wanted.c ---------------------------------------------------------- */

/* Shows steps, and the history's floor, what the options are now. */
void tr_follow_steps(void);

/* ---- guard.c ----------------------------------------------------------- */

/* A SIGBUS handler for our mapping alone; chains to what was there. */
void tr_guard_install(void);

/* ---- profile.c --------------------------------------------------------- */

/*
 * Prepares what the options ask for. After the ledger is opened: at the
 * start of a process, or at a forked child's first event, which may be in a
 * signal handler.
 */
void tr_profile_start(const struct tr_config *config);
/* Before there is a ledger: then the above may be in a handler. */
void tr_profile_prepare(const struct tr_config *config);

/* ---- table.c ----------------------------------------------------------- */

/* What other copies of the library in this process call here. */
extern const struct tr_probe_table tr_probe_own;

/* ---- for tr_host ------------------------------------------------------- */

bool tr_probe_open(void);
bool tr_probe_wanted(uint8_t kind, const char *name, const char *source);
void tr_log_plain(enum tare_level level, const char *text);
void tr_log_asked(enum tare_level level, const char *text);

#endif
