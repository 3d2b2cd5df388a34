/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the log into nodes and cells: the usual cases stay on the fast path.
 */
#include "check.h"
#include "scene.h"

#include "ledger/write.h"

#include <stdio.h>

TARE_SCOPE_SITE_DEFINE(inner, "inner");

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
	tare_scope_end(tare_scope_begin(&inner));
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
					   NULL });
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
