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
 * Starts measuring as the environment, tare.conf and tare_option_set() say,
 * whatever TARE is. Idempotent. Any thread.
 */
TARE_API int tare_start(void);

/* Ends measuring for good and closes the ledger, as at exit. Idempotent. */
TARE_API int tare_stop(void);

/*
 * A program that only reads ledgers, and must not become a run itself when
 * its environment says TARE=1, defines this with the value true.
 */
extern TARE_API const bool tare_only_reads __attribute__((weak));

/* Pauses and resumes all probes; a scope already open is still finished. */
TARE_API int tare_enable(bool on);
TARE_API bool tare_is_enabled(void);

/*
 * The profile of a region alone: stacks are sampled (sample, `tare run`) and
 * calls followed (calls, `tare run --calls`) from a start to its stop, in all
 * threads of the process. Pairs nest, and any thread may call either; not for
 * signal handlers. With the option profile_region (`tare run --region`)
 * nothing is profiled before the first start; without it the whole program
 * is, and a stop leaves out what comes until its start. Scopes, counters and
 * values do not depend on it. A function that is open at a stop is timed to
 * its end. Costs some microseconds a thread that is sampled.
 */
TARE_API void tare_profile_start(void);
TARE_API void tare_profile_stop(void);

/* Forgets what was measured so far; the loss and repair counts stay. */
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
 * What the text of an option refers to outside the program. A path, a command
 * or an address is never taken from the network as it is: `tare serve` refuses
 * all three, but for paths below the root that it was started with.
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
	const char *range;	   /* accepted values, for people */
	const char *unit;	   /* "" if none */
	const char *help;
	bool live;		   /* may change while the program runs */
	bool effective;		   /* false: accepted, has no effect yet */
	enum tare_option_names names;
	const char *words;	   /* of a path: "none stderr" are no paths */
} tare_option;

/* The options in their order in the documentation; NULL past the end. */
TARE_API const tare_option *tare_option_at(size_t index);

/*
 * Sets an option of this process. TARE_ENOENT: no such option; TARE_ERANGE:
 * not an accepted value; TARE_EINVAL: it cannot change after the start. On
 * an error the option keeps its value.
 */
TARE_API TARE_MUST_CHECK int
tare_option_set(const char *name, const char *value);

/* Writes the present value as text; returns its length or an error. */
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
 * Where the library's few messages go. Without it warnings are at the end of
 * the report, or go where the option `warnings` says. Called rarely, from the
 * thread that met the condition; it must not call tare itself.
 */
TARE_API void tare_log_set(tare_log_fn fn, void *arg);

/* The report of this process so far, as `tare report` prints it. */
TARE_API TARE_MUST_CHECK int tare_report(tare_write_fn write, void *arg);

TARE_END
#endif
