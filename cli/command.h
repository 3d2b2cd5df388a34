/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command: the common structure of all commands of `tare`.
 *
 * A command is one file, cmd_<name>.c, that defines one `struct command`: its
 * help, its options and its function. main.c lists them. Parser and help read
 * the same table of options, so they cannot disagree.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include <tare/read/view.h>

struct args;
struct option_spec;

/* Exit codes of `tare`. `tare run` returns its program's status instead. */
enum exit_code {
	CODE_OK = 0,
	CODE_FOUND = 1, /* the check found a problem */
	CODE_USAGE = 2,
	CODE_IO = 3, /* input or output; what was asked for is not there */
	CODE_UNSURE = 4 /* tare check: more runs are needed to tell */
};

/* What `show` gets if the user's word means several processes. */
enum command_processes {
	PROCESSES_ONE,	  /* one of them, after a message that says so */
	PROCESSES_JOINED, /* all in one view: read/profile/joined.c */
	PROCESSES_ITSELF  /* one, and the command finds the others */
};

#define OPERANDS_ANY 1000000u

struct command {
	const char *name;
	const char *usage;   /* operands and options in short */
	const char *summary; /* one line, no full stop */
	const char *examples;
	const char *notes;   /* after the options, or NULL */
	const struct option_spec *options; /* ends with a name of NULL */
	unsigned max_operands;
	bool stops_at_operand; /* the rest belongs to another program */
	/* Called after options are parsed; 0 or an exit code. NULL: none. */
	int (*check)(struct args *args);
	int (*run)(struct args *args);
	/* Instead of `run`, for commands about one run: `which` as typed. */
	int (*show)(tare_view *view, const char *which);
	enum command_processes processes; /* of a `tare run` of several */
};

/* For commands that take a run. */
#define NOTE_RUN \
	"RUN is 'last' (the newest run), 'last~1' (the one before), PROGRAM " \
	"or the\ncommand of 'tare run' (its newest run), 'PROGRAM~1', a " \
	"process id, a run id or\nits beginning, or a file with a slash: " \
	"'./x.tare'\n"

extern const struct command cmd_run;
extern const struct command cmd_report;
extern const struct command cmd_stages;
extern const struct command cmd_tree;
extern const struct command cmd_flags;
extern const struct command cmd_flame;
extern const struct command cmd_alloc;
extern const struct command cmd_top;
extern const struct command cmd_ls;
extern const struct command cmd_rm;
extern const struct command cmd_merge;
extern const struct command cmd_mpi;
extern const struct command cmd_records;
extern const struct command cmd_summary;
extern const struct command cmd_export;
extern const struct command cmd_verify;
extern const struct command cmd_trend;
extern const struct command cmd_alerts;
extern const struct command cmd_bench;
extern const struct command cmd_check;
extern const struct command cmd_amdahl;
extern const struct command cmd_changes;
extern const struct command cmd_compare;
extern const struct command cmd_history;
extern const struct command cmd_ctl;
extern const struct command cmd_config;
extern const struct command cmd_doctor;
extern const struct command cmd_serve;
extern const struct command cmd_url;

#endif
