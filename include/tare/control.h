/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control: start and stop, options, messages, the report.
 *
 * Nothing here is needed for measuring: a program that only has probes is
 * switched on by TARE=1 in its environment or by `tare run`.
 */
#ifndef TARE_CONTROL_H
#define TARE_CONTROL_H

#include <tare/api.h>
#include <tare/error.h>

TARE_BEGIN

/*
 * Starts measuring with the options of the environment, tare.conf and
 * tare_option_set(), whatever the value of TARE. Idempotent. Any thread.
 */
TARE_API int tare_start(void);

/* Ends measuring for good and closes the ledger, as at exit. Idempotent. */
TARE_API int tare_stop(void);

/*
 * A program that only reads ledgers defines this with the value true, so that
 * TARE=1 in its environment does not make it a run itself.
 */
extern TARE_API const bool tare_only_reads __attribute__((weak));

/* Pauses and resumes all probes; a scope already open is still finished. */
TARE_API int tare_enable(bool on);
TARE_API bool tare_is_enabled(void);

/*
 * Profile only a region: from a start to its stop, stacks are sampled (option
 * sample, `tare run`) and function calls are timed (option calls, `tare run
 * --calls`), in all threads of the process. Pairs nest, and any thread may call
 * either; not for signal handlers. With the option profile_region (`tare run
 * --region`) nothing is profiled before the first start. Without it the whole
 * program is profiled, and a stop excludes the time until its start. Scopes,
 * counters and values are not affected. A function that is open at a stop is
 * timed to its end. Costs some microseconds for each sampled thread.
 */
TARE_API void tare_profile_start(void);
TARE_API void tare_profile_stop(void);

/* Discards all measurements so far. Counts of losses and repairs stay. */
TARE_API int tare_clear(void);

/* Path of this process's ledger, or NULL. Valid until tare_stop(). */
TARE_API const char *tare_ledger_path(void);

enum tare_option_type {
	TARE_OPTION_BOOL = 1,
	TARE_OPTION_INT = 2,
	TARE_OPTION_DOUBLE = 3,
	TARE_OPTION_STRING = 4,
	TARE_OPTION_CHOICE = 5
};

/*
 * What the text of an option refers to outside the program. `tare serve`
 * accepts no path, command or address from the network, except paths below the
 * root that it was started with.
 */
enum tare_option_names {
	TARE_NAMES_NOTHING = 0,
	TARE_NAMES_PATH = 1,
	TARE_NAMES_COMMAND = 2,
	TARE_NAMES_URL = 3
};

/* One row of the table of options. Strings are static. */
typedef struct tare_option {
	const char *name;	   /* key in tare.conf and in tare ctl set */
	const char *env;	   /* its environment variable */
	enum tare_option_type type;
	const char *default_value;
	const char *range;	   /* accepted values, as text for people */
	const char *unit;	   /* "" if none */
	const char *help;
	bool live;		   /* may change while the program runs */
	bool effective;		   /* false: accepted, has no effect yet */
	enum tare_option_names names;
	const char *words;	   /* values of a path option that are no paths:
				    * "none stderr" */
} tare_option;

/* The options in their order in the documentation; NULL past the end. */
TARE_API const tare_option *tare_option_at(size_t index);

/*
 * Sets an option of this process. TARE_ENOENT: no such option; TARE_ERANGE: not
 * an accepted value; TARE_EINVAL: the option cannot change after the start. On
 * an error the option keeps its value.
 */
TARE_API TARE_MUST_CHECK int
tare_option_set(const char *name, const char *value);

/* Writes the current value as text. Returns its length or an error. */
TARE_API TARE_MUST_CHECK int
tare_option_get(const char *name, char *value, size_t size);

enum tare_level {
	TARE_LEVEL_ERROR = 1,
	TARE_LEVEL_WARNING = 2,
	TARE_LEVEL_INFO = 3,
	TARE_LEVEL_PERFORMANCE = 4,
	TARE_LEVEL_PROFILING = 5
};

typedef void (*tare_log_fn)(void *arg, enum tare_level level,
			    const char *text);

/*
 * Sets the function that receives the library's messages. Without one, warnings
 * are at the end of the report, or go where the option `warnings` says. It is
 * called rarely, from the thread in which the problem occurred, and must not
 * call tare.
 */
TARE_API void tare_log_set(tare_log_fn fn, void *arg);

/*
 * The report of this process so far, as `tare report` prints it. TARE_ENOENT:
 * libtare-read was not found.
 */
TARE_API TARE_MUST_CHECK int tare_report(tare_write_fn write, void *arg);

TARE_END
#endif
