/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pool: the runs and their views, shared by all requests.
 *
 * A view is a copy of a ledger, so opening one costs by its size. Whatever
 * the number of clients, the list of runs is read and a live run is opened
 * at most once in 200 ms; these 200 ms are a generation. A run that ended
 * does not change, its view stays as long as somebody asks for it.
 *
 * A run's name comes from the network: it is looked up in the list of runs,
 * never used as a path.
 */
#ifndef SERVER_POOL_H
#define SERVER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tare/view.h>

#define POOL_AGE_MS 200
#define POOL_VIEWS 256u /* open at a time; further live runs are left out */

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

/* The view of a run, of this generation. Borrows; NULL: it has vanished. */
tare_view *pool_view(struct pool *pool, const tare_run_entry *run);

void pool_release(struct pool *pool);

#endif
