/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pool: the runs and their views, shared by all requests. In a reader process
 * only.
 *
 * A view is a copy of a ledger, so opening one costs by its size. Whatever
 * the number of clients, the list of runs is read and a live run is opened
 * at most once in 200 ms; these 200 ms are a generation. A run that ended
 * does not change, its view stays as long as requests ask for it, and when
 * it ended is read once.
 *
 * Everything that follows what a ledger says is done under the eyes of the
 * server (board.h). Before a ledger's view is used for the first time its
 * statistics and records are read once, so that one that hangs a reader does
 * so where the server sees which it is.
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
#define POOL_VIEWS 256u /* open at a time; further live runs are left out */

#define POOL_ENDS 4096u	/* ends that are known; a power of two */
#define POOL_TRIED 1024u /* ledgers that were read whole once; likewise */

struct pool_end {
	uint64_t key; /* board_key() */
	int64_t end_ns;
};

struct pool_view {
	char id[48];
	tare_view *view;
	uint64_t generation; /* when it was opened */
	uint64_t used;	     /* the last one that asked for it */
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
	struct board *board; /* NULL: the server sees nothing of this one */
	bool is_careful;     /* try every ledger again */
};

/*
 * Begins a generation if the last one is too old: live views are closed. Once
 * a request, before it borrows any.
 */
void pool_refresh(struct pool *pool);

/* What was read is out of date at once: somebody changed something. */
void pool_expire(struct pool *pool);

/* The run of that name: id, its beginning, process, "last"; or NULL. */
const tare_run_entry *pool_find(const struct pool *pool, const char *name);

/*
 * The view of a run, of this generation. Borrows; NULL: it has vanished, or
 * is left out.
 */
tare_view *pool_view(struct pool *pool, const tare_run_entry *run);

/* The views of all live runs, where no request says which; how many. */
size_t pool_live_views(struct pool *pool, tare_view *views[POOL_VIEWS]);

/* Reading it has failed or taken too long, and is not tried again. */
bool pool_leaves_out(const struct pool *pool, const tare_run_entry *run);

/* When it ended; its start where that is not known. */
int64_t pool_end_ns(struct pool *pool, const tare_run_entry *run);

void pool_release(struct pool *pool);

#endif
