/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the log into nodes and cells: both ways to drain count every scope once,
 * at any instant, and the usual cases stay on the fast path. Without trials,
 * whose calls are not in the log.
 */
#include "check.h"
#include "scene.h"

#include "ledger/write.h"

#include <stdio.h>
#include <string.h>

TARE_SCOPE_SITE_DEFINE(outer, "outer");
TARE_SCOPE_SITE_DEFINE(inner, "inner");
TARE_SCOPE_SITE_DEFINE(failing, "failing");

static uint64_t done[3];

static void one_scope(tare_site *site, unsigned which)
{
	tare_scope_end(tare_scope_begin(site));
	done[which]++;
}

/* A few scopes of all kinds: with a failure, with items, repaired. */
static void some_scopes(struct dice *dice)
{
	tare_scope scope = tare_scope_begin(&outer);
	uint64_t n = dice_next(dice);

	for (uint64_t i = 0; i < (n & 3); i++)
		one_scope(&inner, 1);
	if (n & 4)
		tare_items(1);
	if (n & 8) {
		tare_scope fails = tare_scope_begin(&failing);

		tare_fail("no");
		if (n & 16)
			tare_scope_end(fails); /* else with the outer one */
		done[2]++;
	}
	tare_scope_end(scope);
	done[0]++;
}

static bool is_exact(void)
{
	static const char *const name[] = { "outer", "inner", "failing" };
	tare_view *view = scene_view();
	const tare_stats *rows;
	size_t n = scene_rows(view, NULL, &rows);
	bool ok = true;

	for (unsigned i = 0; i < 3; i++) {
		const tare_stats *row = scene_row(rows, n, name[i]);

		ok &= CHECK_INT(row ? row->count : 0, done[i]);
	}
	ok &= CHECK_INT(tare_view_health(view)->damaged, 0);
	tare_view_close(view);
	return ok;
}

static void use(bool behind)
{
	for (unsigned i = 0; i < TR_BATCH; i++) {
		if (tr_drain_use(tr_this_thread(), behind))
			return;
		one_scope(&inner, 1);
	}
	CHECK(false);
}

/* Three laps of a log, read after every few scopes. */
static void read_often(bool behind)
{
	const struct tr_track *track = tr_this_thread()->own_track;
	uint64_t most = (behind ? 2 : TR_BATCH - 1) * sizeof(struct tr_entry);
	struct dice dice = { 7 };

	use(behind);
	for (int i = 0; i < 60 && is_exact(); i++) {
		some_scopes(&dice);
		CHECK(track->write - track->intent.stage <= most);
	}
}

static void play_both(const char *const *options)
{
	scene_start(options);
	one_scope(&inner, 1);
	read_often(false);
	read_often(true);
	read_often(false);
}

static void play_plain(void)
{
	static const char *const options[] = { "auto_disable_on_slow", "false",
					       "cost_trials", "false", NULL };
	play_both(options);
}

static void play_traced(void)
{
	static const char *const options[] = { "auto_disable_on_slow", "false",
					       "cost_trials", "false",
					       "trace", "true",
					       "trace_events", "128",
					       "keep_kinds", "all",
					       "keep_values", "16", NULL };
	play_both(options);
}

static void play_slow_clock(void)
{
	static const char *const options[] = { "auto_disable_on_slow", "false",
					       "cost_trials", "false",
					       "clock", "monotonic", NULL };
	play_both(options);
}

TEST(both_ways_to_drain_are_exact_at_any_instant)
{
	scene_play(play_plain);
}

TEST(so_they_are_for_traces_and_last_values)
{
	scene_play(play_traced);
}

TEST(so_they_are_with_the_slow_clock)
{
	scene_play(play_slow_clock);
}

static void play_switch(void)
{
	struct dice dice = { 11 };

	scene_start((const char *const[]){ "auto_disable_on_slow", "false",
					   "cost_trials", "false", NULL });
	one_scope(&inner, 1);
	for (int i = 0; i < 200; i++) {
		for (uint64_t n = dice_next(&dice) & 15; n > 0; n--)
			some_scopes(&dice);
		use(i & 1);
	}
	CHECK(is_exact());
}

TEST(a_change_of_the_way_loses_and_doubles_nothing)
{
	scene_play(play_switch);
}

/* ---- the fast path ----------------------------------------------------- */

static const struct tr_node *node_of(uint32_t site)
{
	const struct tr_thread *thread = tr_this_thread();
	uint32_t off = thread->own_track->nodes;

	while (off && tr_node_at(thread, off)->site != site)
		off = tr_node_at(thread, off)->next;
	return off ? tr_node_at(thread, off) : NULL;
}

static void play_tick(void)
{
	struct tr_thread *thread;
	const struct tr_node *node;
	uint32_t off;

	scene_start(NULL);
	one_scope(&inner, 1);
	thread = tr_this_thread();
	node = node_of(inner.id);
	if (!CHECK(node))
		return;
	off = (uint32_t)((const char *)node - thread->base) - TR_NODE_BIAS;
	for (unsigned i = 0; i < 2 * TR_BATCH; i++) {
		CHECK(tr_thread_enter(thread));
		tr_log_append(thread, tr_ledger_ticks(), 1, off);
		tr_thread_leave(thread);
	}
	CHECK(node->calls > TR_BATCH);
	CHECK_INT(tr_cell_at(thread, node->cell)->min, 1);
	/* No list of pages beside the window. */
	CHECK_INT(tr_cell_at(thread, node->cell)->extra, 0);
}

TEST(a_scope_of_one_tick_is_in_the_window_of_its_cell)
{
	scene_play(play_tick);
}

#define PARENTS 4
#define SITES 1000

/* The same sites below several parents; each a path of the root first. */
static void play_paths(void)
{
	static tare_site *site[SITES];
	const struct tr_thread *thread;
	const struct tr_node *node;
	char name[32];
	unsigned nodes = 0, behind_cells = 0;

	scene_start((const char *const[]){ "auto_disable_on_slow", "false",
					   "cost_trials", "false", NULL });
	for (unsigned i = 0; i < SITES; i++) {
		(void)snprintf(name, sizeof(name), "site.%u", i);
		site[i] = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME, name,
					NULL, NULL);
	}
	for (unsigned p = 0; p < PARENTS; p++) {
		tare_scope scope = { NULL };

		if (p)
			scope = tare_scope_begin(site[p]);
		for (unsigned i = 0; i < SITES; i++)
			tare_scope_end(tare_scope_begin(site[i]));
		tare_scope_end(scope);
	}
	thread = tr_this_thread();
	for (uint32_t off = thread->own_track->nodes; off; off = node->next) {
		node = tr_node_at(thread, off);
		nodes++;
		/* Bit 0: a cell. */
		behind_cells += thread->hash[tr_tree_hash(node->parent,
							  node->site) &
					     thread->hash_mask] & 1;
	}
	CHECK(nodes >= PARENTS * SITES);
	CHECK_INT(behind_cells, 0);
}

TEST(no_cell_is_in_the_first_place_of_a_node)
{
	scene_play(play_paths);
}
