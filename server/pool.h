/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pool: the runs and their views, shared by all requests. Only in a reader
 * process.
 *
 * A view is a copy of a ledger, so the cost of opening one grows with its size.
 * For any number of clients, the list of runs is read and a live run is opened
 * at most once in 200 ms; these 200 ms are a generation. A finished run does
 * not change: its view stays open while requests use it, and its end is read
 * once.
 *
 * The server watches everything that follows a ledger's content (board.h).
 * Before a view is used for the first time, its statistics and records are read
 * once, so that a ledger that hangs a reader does so where the server can
 * identify it.
 *
 * A run's name comes from the network: it is looked up in the list of runs,
 * never used as a path.
 */
#ifndef SERVER_POOL_H
#define SERVER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tare/read/view.h>

#include "board.h"

#define POOL_AGE_MS 200
#define POOL_VIEWS 256u /* open at once; further live runs are left out */

#define POOL_ENDS 4096u	/* number of cached ends; a power of two */
#define POOL_TRIED 1024u /* ledgers that were fully read once; likewise */

struct pool_end {
	uint64_t key; /* board_key() */
	int64_t end_ns;
};

struct pool_view {
	char id[48];
	tare_view *view;
	uint64_t generation; /* when it was opened */
	uint64_t used;	     /* generation of its last use */
	bool is_live;
};

struct pool {
	tare_run_entry *runs; /* newest first */
	size_t n_runs;
	int64_t taken_ms;    /* monotonic; when the list was read */
	uint64_t generation; /* 0: nothing was read yet */
	struct pool_view at[POOL_VIEWS];
	struct pool_end ends[POOL_ENDS];
	uint64_t tried[POOL_TRIED]; /* board_key() */
	struct board *board; /* NULL: the server does not watch this pool */
	bool is_careful;     /* try every ledger again */
};

/*
 * Begins a generation if the last one is too old: closes live views. Called
 * once per request, before it borrows views.
 */
void pool_refresh(struct pool *pool);

/* Makes cached data invalid at once, after a change. */
void pool_expire(struct pool *pool);

/* The run of that name, as tr_runs_match(). */
int pool_find(const struct pool *pool, const char *name,
	      const tare_run_entry **ret_run);

/*
 * The view of a run in this generation. Borrows; NULL: the run has vanished or
 * is left out.
 */
tare_view *pool_view(struct pool *pool, const tare_run_entry *run);

/* The views of all live runs, for requests without `run=`; their number. */
size_t pool_live_views(struct pool *pool, tare_view *views[POOL_VIEWS]);

/* Reading the run failed or took too long; it is not tried again. */
bool pool_leaves_out(const struct pool *pool, const tare_run_entry *run);

/* The end of a run; its start if the end is unknown. */
int64_t pool_end_ns(struct pool *pool, const tare_run_entry *run);

void pool_release(struct pool *pool);

#endif
