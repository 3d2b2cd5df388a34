/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the log into nodes and cells: the usual cases stay on the fast path.
 */
#include "check.h"
#include "scene.h"

#include "ledger/write.h"

#include <stdio.h>

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
