/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <string.h>
#include <time.h>

#include "cli/format.h"

/* A finished run's view that nobody asked for in 50 generations: 10 s. */
#define POOL_IDLE 50u

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void close_view(struct pool_view *slot)
{
	tare_view_close(slot->view);
	*slot = (struct pool_view){ .view = NULL };
}

static bool is_needed(const struct pool *pool, const struct pool_view *slot)
{
	return !slot->is_live && pool->generation - slot->used < POOL_IDLE;
}

/* Without the list there are no runs: the folder may come back. */
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
	if (tare_runs_list(&runs, &n) == 0) {
		pool->runs = runs;
		pool->n_runs = n;
	}
}

void pool_refresh(struct pool *pool)
{
	int64_t ms = now_ms();

	if (!pool->generation || ms - pool->taken_ms >= POOL_AGE_MS)
		begin_generation(pool, ms);
}

void pool_expire(struct pool *pool)
{
	pool->taken_ms = 0;
}

/* A process may have several runs: the live one, else the newest. */
static const tare_run_entry *find_pid(const struct pool *pool, int64_t pid)
{
	const tare_run_entry *found = NULL;

	for (size_t i = 0; i < pool->n_runs; i++) {
		const tare_run_entry *run = &pool->runs[i];

		if (run->pid != pid)
			continue;
		if (run->state == TARE_RUN_LIVE)
			return run;
		if (!found)
			found = run;
	}
	return found;
}

static const tare_run_entry *find_id(const struct pool *pool,
				     const char *name)
{
	const tare_run_entry *found = NULL;
	size_t len = strlen(name);

	for (size_t i = 0; i < pool->n_runs; i++) {
		if (strncmp(pool->runs[i].id, name, len) != 0)
			continue;
		if (pool->runs[i].id[len] == '\0')
			return &pool->runs[i];
		if (!found)
			found = &pool->runs[i];
	}
	return found;
}

const tare_run_entry *pool_find(const struct pool *pool, const char *name)
{
	const tare_run_entry *run = NULL;
	uint64_t pid;

	if (strcmp(name, "last") == 0)
		return pool->n_runs ? &pool->runs[0] : NULL;
	if (parse_count(name, &pid) && pid <= INT32_MAX)
		run = find_pid(pool, (int64_t)pid);
	return run ? run : find_id(pool, name);
}

/* The slot of that run, else a free one, else NULL. */
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

tare_view *pool_view(struct pool *pool, const tare_run_entry *run)
{
	struct pool_view *slot = find_slot(pool, run->id);

	if (!slot)
		return NULL;
	/* A run that was live ends: its ledger moves, its state changes. */
	if (slot->view && slot->is_live != (run->state == TARE_RUN_LIVE))
		close_view(slot);
	if (!slot->view) {
		/* By its id: it may have moved since the list was read. */
		if (tare_view_open(run->path, &slot->view) &&
		    tare_view_open(run->id, &slot->view)) {
			slot->view = NULL;
			return NULL;
		}
		(void)strcpy(slot->id, run->id);
		slot->generation = pool->generation;
		slot->is_live = run->state == TARE_RUN_LIVE;
	}
	slot->used = pool->generation;
	return slot->view;
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
