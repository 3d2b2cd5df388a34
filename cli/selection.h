/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selection: the options that select series and time, the same in every command
 * that has them.
 */
#ifndef CLI_SELECTION_H
#define CLI_SELECTION_H

#include <tare/read/view.h>

#include "args.h"

extern struct selection {
	struct words names;
	struct words sources;
	struct words types;
	uint64_t last_ns;
	uint64_t values;
	uint64_t limit; /* of records */
	bool failed, ok;
	const char *from;
	const char *to;
} selection;

#define SELECTION_TYPES \
	"time throughput memory counter ratio percentage custom"

/* Rows for the table of a command. */
#define SELECTION_SERIES \
	OPTION_LIST('N', "name", &selection.names, "GLOB", NULL, \
		    "select series by name; may be repeated"), \
	OPTION_LIST('S', "source", &selection.sources, "GLOB", NULL, \
		    "select series by source; may be repeated"), \
	OPTION_LIST('t', "type", &selection.types, "TYPE", SELECTION_TYPES, \
		    "select series by type: " SELECTION_TYPES)
#define SELECTION_OUTCOME \
	OPTION_FLAG('f', "failed", &selection.failed, \
		    "select only failures"), \
	OPTION_FLAG(0, "ok", &selection.ok, "select only successes")
#define SELECTION_TIME \
	OPTION_DURATION('l', "last", &selection.last_ns, "TIME", \
			"select the last 5m, 30s, 1h30m of the run"), \
	OPTION_TEXT(0, "from", &selection.from, "MOMENT", \
		    "start at 14:05, 2025-11-15T14:05, +30s or -5m"), \
	OPTION_TEXT(0, "to", &selection.to, "MOMENT", "end at MOMENT")
#define SELECTION_VALUES \
	OPTION_COUNT(0, "values", &selection.values, "N", \
		     "use only the last N values of each series")
#define SELECTION_LIMIT \
	OPTION_COUNT('n', "limit", &selection.limit, "N", \
		     "show only the newest N records")
#define SELECTION_OPTIONS \
	SELECTION_SERIES, SELECTION_OUTCOME, SELECTION_TIME, SELECTION_VALUES

/*
 * Fills `filter` for a run. Returns 0, or CODE_USAGE after a message. The
 * filter borrows from the selection.
 */
int selection_apply(const tare_run *run, tare_filter *filter);

/*
 * The exit code of a command that found `n` rows: CODE_IO if there are none,
 * unless something was selected, and nothing is left of it.
 */
int selection_result(size_t n);

#endif
