/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: finding and naming runs, for the commands that read. */
#ifndef CLI_RUNS_H
#define CLI_RUNS_H

#include <stdio.h>

#include <tare/read/view.h>

#include "base/text.h"
#include "terminal.h"

/*
 * Gives the view's places names, as far as program files and debug files have
 * them. Missing files are reported once, on stderr. The names live until the
 * program ends: one set serves all views.
 */
void names_attach(tare_view *view);
/*
 * Before the first view: functions of libc and the like get names, and no
 * lines, which take longer to read than a short program runs. For reports that
 * show such functions below their callers.
 */
void names_of_runtime_alone(void);
/* Stores names that are gone later beside runs that have ended. */
void names_keep(const tare_run_entry *runs, size_t n);

/* Opens a run; on failure prints why and returns an exit code, else 0. */
int run_open(const char *which, tare_view **ret_view);
/*
 * Opens one of a list. Its process may have ended since, and its ledger moved:
 * then it is found by its id. 0 or a TARE_E*.
 */
int run_open_listed(const tare_run_entry *run, tare_view **ret_view);
/*
 * Says why tare_view_open() failed with `err`, with the runs that the word may
 * mean; returns an exit code.
 */
int run_refused(const char *which, int err);

/*
 * As message_error(), for a run or 'runs': names the folder or file to which
 * access was refused.
 */
int runs_error(const char *what, const char *which, int err);

/* The colour of a run's state. */
enum tint run_state_tint(enum tare_run_state state);

/*
 * The runs as `tare ls` prints them; with `exact_bytes` as --size. `processes`
 * has the number of processes of each, NULL: all are one.
 */
void runs_print(const tare_run_entry *runs, size_t n,
		const uint32_t *processes, bool exact_bytes, FILE *stream);
void runs_json(struct tr_json *json, const tare_run_entry *runs, size_t n);

/* One attribute of a record as a member of an object. */
void attribute_json(struct tr_json *json, const tare_attr_value *attr);

/* A tare_write_fn; `arg` is a FILE. */
int stream_write(void *arg, const char *text, size_t len);

/* Options for a report of these parts that fits `stream`. */
tare_report_options report_options(FILE *stream, uint32_t parts);
/*
 * Writes a report to stdout, as text or as a line of JSON. Returns an exit
 * code, after a message: "cannot <what> '<which>'".
 */
int report_write(tare_view *view, const tare_report_options *how,
		 bool as_json, const char *what, const char *which);

#endif
