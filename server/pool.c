/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <string.h>

#include "ledger/runs.h"

/* Unused views of finished runs are closed after 50 generations: 10 s. */
#define POOL_IDLE 50u

static void close_view(struct pool_view *slot)
{
	tare_view_close(slot->view);
	*slot = (struct pool_view){ .view = NULL };
}

static bool is_needed(const struct pool *pool, const struct pool_view *slot)
{
	return !slot->is_live && pool->generation - slot->used < POOL_IDLE;
}

/* If the list cannot be read there are no runs: the folder may come back. */
static void begin_generation(struct pool *pool, int64_t ms)
{
	tare_run_entry *runs;
	size_t n;

	pool->generation++;
	pool->taken_ms = ms;
	for (size_t i = 0; i < POOL_VIEWS; i++)
		if (pool->at[i].view && !is_needed(pool, &pool->at[i]))
			close_view(&pool->at[i]);
	tare_runs_free(pool->runs);
	pool->runs = NULL;
	pool->n_runs = 0;
	if (tare_runs_scan(&runs, &n) == 0) {
		pool->runs = runs;
		pool->n_runs = n;
	}
}

void pool_refresh(struct pool *pool)
{
	int64_t ms = board_now_ms();

	if (!pool->generation || ms - pool->taken_ms >= POOL_AGE_MS)
		begin_generation(pool, ms);
}

void pool_expire(struct pool *pool)
{
	pool->taken_ms = 0;
}

int pool_find(const struct pool *pool, const char *name,
	      const tare_run_entry **ret_run)
{
	return tr_runs_match(pool->runs, pool->n_runs, name, ret_run);
}

/* The slot of this run, else a free one, else NULL. */
static struct pool_view *find_slot(struct pool *pool, const char *id)
{
	struct pool_view *vacant = NULL;

	for (size_t i = 0; i < POOL_VIEWS; i++) {
		if (pool->at[i].view && strcmp(pool->at[i].id, id) == 0)
			return &pool->at[i];
		if (!pool->at[i].view && !vacant)
			vacant = &pool->at[i];
	}
	return vacant;
}

bool pool_leaves_out(const struct pool *pool, const tare_run_entry *run)
{
	return board_leaves_out(pool->board, board_key(run));
}

/* Does everything that handlers do with a view, and drops the results. */
static void try_view(tare_view *view)
{
	tare_filter filter = { .struct_size = sizeof(filter) };
	const tare_record *records;
	const tare_stats *stats;
	tare_merge *merge;
	size_t n;

	if (tare_view_stats(view, &filter, &stats, &n) ||
	    tare_view_records(view, &filter, &records, &n))
		return;
	if (tare_merge_open(&view, 1, &filter, &merge) == 0)
		tare_merge_close(merge);
}

static bool open_view(struct pool *pool, struct pool_view *slot,
		      const tare_run_entry *run)
{
	uint64_t key = board_key(run);
	uint64_t *tried = &pool->tried[key % POOL_TRIED];
	int err;

	if (board_leaves_out(pool->board, key))
		return false;
	board_begin(pool->board, run, key);
	err = tare_view_open(run->path, &slot->view);
	/* By its id: the file may have moved since it was listed. */
	if (err)
		err = tare_view_open(run->id, &slot->view);
	if (!err && (*tried != key || pool->is_careful)) {
		try_view(slot->view);
		*tried = key;
	}
	board_end(pool->board);
	if (err)
		slot->view = NULL;
	return !err;
}

tare_view *pool_view(struct pool *pool, const tare_run_entry *run)
{
	struct pool_view *slot = find_slot(pool, run->id);

	if (!slot)
		return NULL;
	/* When a live run ends, its ledger moves and its state changes. */
	if (slot->view && (pool->is_careful ||
			   slot->is_live != (run->state == TARE_RUN_LIVE)))
		close_view(slot);
	if (!slot->view) {
		if (!open_view(pool, slot, run))
			return NULL;
		(void)strcpy(slot->id, run->id);
		slot->generation = pool->generation;
		slot->is_live = run->state == TARE_RUN_LIVE;
	}
	slot->used = pool->generation;
	return slot->view;
}

size_t pool_live_views(struct pool *pool, tare_view *views[POOL_VIEWS])
{
	size_t n = 0;

	pool_refresh(pool);
	for (size_t i = 0; i < pool->n_runs && n < POOL_VIEWS; i++) {
		if (pool->runs[i].state != TARE_RUN_LIVE)
			continue;
		views[n] = pool_view(pool, &pool->runs[i]);
		n += views[n] != NULL;
	}
	return n;
}

/* ---- ends -------------------------------------------------------------- */

/* The end of a killed run, from what it recorded last. 0: unknown. */
static int64_t read_end(struct pool *pool, const tare_run_entry *run,
			uint64_t key)
{
	tare_view *view;
	int64_t end_ns = 0;

	board_begin(pool->board, run, key);
	if (tare_view_open(run->path, &view) == 0) {
		end_ns = tare_view_run(view)->end_ns;
		tare_view_close(view);
	}
	board_end(pool->board);
	return end_ns;
}

/* The slot of a key; a newer key replaces an older one in the same slot. */
static struct pool_end *find_end(struct pool *pool, uint64_t key)
{
	struct pool_end *end = NULL;

	for (uint64_t i = 0; i < 8; i++) {
		end = &pool->ends[(key + i) % POOL_ENDS];
		if (end->key == key || !end->key)
			return end;
	}
	return end;
}

int64_t pool_end_ns(struct pool *pool, const tare_run_entry *run)
{
	int64_t end_ns = run->end_ns;

	if (!end_ns) {
		uint64_t key = board_key(run);
		struct pool_end *end = find_end(pool, key);

		if (end->key != key) {
			if (!key || board_leaves_out(pool->board, key))
				return run->start_ns;
			*end = (struct pool_end){
				key, read_end(pool, run, key),
			};
		}
		end_ns = end->end_ns;
	}
	return end_ns < run->start_ns ? run->start_ns : end_ns;
}

void pool_release(struct pool *pool)
{
	for (size_t i = 0; i < POOL_VIEWS; i++)
		if (pool->at[i].view)
			close_view(&pool->at[i]);
	tare_runs_free(pool->runs);
	pool->runs = NULL;
	pool->n_runs = 0;
}
