/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selection: the options that say which series and which time to look at, the
 * same in every command that has them.
 */
#ifndef CLI_SELECTION_H
#define CLI_SELECTION_H

#include <tare/read/view.h>

#include "args.h"

struct selection {
	struct words names;
	struct words sources;
	struct words types;
	uint64_t last_ns;
	uint64_t values;
	uint64_t limit; /* of records */
	bool failed, ok;
	const char *from;
	const char *to;
};

#define SELECTION_TYPES \
	"time throughput memory counter ratio percentage custom"

/* Rows for the table of a command whose struct has a `selection`. */
#define SELECTION_SERIES(type) \
	{ 'N', "name", OPTION_LIST, offsetof(type, selection.names), "GLOB", \
	  NULL, "select series by name; may be repeated" }, \
	{ 'S', "source", OPTION_LIST, offsetof(type, selection.sources), \
	  "GLOB", NULL, "select series by source; may be repeated" }, \
	{ 't', "type", OPTION_LIST, offsetof(type, selection.types), "TYPE", \
	  SELECTION_TYPES, "select series by type: " SELECTION_TYPES }
#define SELECTION_OUTCOME(type) \
	{ 'f', "failed", OPTION_FLAG, offsetof(type, selection.failed), \
	  NULL, NULL, "select only failures" }, \
	{ 0, "ok", OPTION_FLAG, offsetof(type, selection.ok), NULL, NULL, \
	  "select only successes" }
#define SELECTION_TIME(type) \
	{ 'l', "last", OPTION_DURATION, offsetof(type, selection.last_ns), \
	  "TIME", NULL, "select the last 5m, 30s, 1h30m of the run" }, \
	{ 0, "from", OPTION_TEXT, offsetof(type, selection.from), "MOMENT", \
	  NULL, "start at 14:05, 2025-11-15T14:05, +30s or -5m" }, \
	{ 0, "to", OPTION_TEXT, offsetof(type, selection.to), "MOMENT", NULL, \
	  "end at MOMENT" }
#define SELECTION_VALUES(type) \
	{ 0, "values", OPTION_COUNT, offsetof(type, selection.values), "N", \
	  NULL, "use only the last N values of each series" }
#define SELECTION_LIMIT(type) \
	{ 'n', "limit", OPTION_COUNT, offsetof(type, selection.limit), "N", \
	  NULL, "show only the newest N records" }
#define SELECTION_OPTIONS(type) \
	SELECTION_SERIES(type), SELECTION_OUTCOME(type), \
		SELECTION_TIME(type), SELECTION_VALUES(type)

void selection_release(struct selection *selection);

/*
 * Fills `filter` for a run. Returns 0, or CODE_USAGE after a message. The
 * filter borrows from the selection.
 */
int selection_apply(const struct selection *selection,
		    const struct command *command, const tare_run *run,
		    tare_filter *filter);

#endif
