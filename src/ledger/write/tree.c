/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tree: a track's call paths, and its one cell per site.
 *
 * A child is found by a hash of (parent, site): with a list of siblings 64
 * children would cost five times as much, 2,048 a hundred times. The hash is
 * private (readers follow the list of all nodes) and grows fourfold.
 *
 * A path beyond max_nodes or max_depth is counted at the overflow node and not
 * timed; its time stays with the scope around it.
 */
#include "ledger/write.h"

#include <assert.h>


#define TR_IS_CELL 1u /* in the hash: offsets are multiples of 64 */

static bool grow_hash(struct tr_thread *thread);

static uint32_t hash_of(const struct tr_thread *thread, uint32_t entry)
{
	const struct tr_node *node;

	if (entry & TR_IS_CELL)
		return tr_tree_hash(0, tr_cell_at(thread, entry & ~TR_IS_CELL)
					       ->site);
	node = tr_node_at(thread, entry);
	return tr_tree_hash(node->parent, tr_node_is_function(node) ?
						  tr_tree_fold(node->items) :
						  node->site);
}

/*
 * A node takes the place of a cell, and the cell moves on: every begin looks
 * for a node, and its fast path looks in one place. The cells of sites that
 * were registered together are as far apart as their nodes, so where one node
 * finds a cell in its place, most do.
 */
static void insert(struct tr_thread *thread, uint32_t entry)
{
	uint32_t at = hash_of(thread, entry) & thread->hash_mask, there;

	assert(entry);
	assert(!(thread->hash_mask & (thread->hash_mask + 1)));
	while ((there = thread->hash[at])) {
		if (there & TR_IS_CELL && !(entry & TR_IS_CELL)) {
			thread->hash[at] = entry;
			entry = there;
		}
		at = (at + 1) & thread->hash_mask;
	}
	thread->hash[at] = entry;
	thread->hash_used++;
}

/* The node or cell is empty since the ledger was replaced. */
static bool is_gone(const struct tr_thread *thread, uint32_t entry)
{
	return entry & TR_IS_CELL ?
		       !tr_cell_at(thread, entry & ~TR_IS_CELL)->site :
		       !tr_node_at(thread, entry)->site;
}

/* Room for one more, at half load at most; false: the hash stays as it is. */
static bool ready_hash(struct tr_thread *thread)
{
	if (thread->hash_used * 2 < thread->hash_mask)
		return true;
	return grow_hash(thread) || thread->hash_used + 8 < thread->hash_mask;
}

static bool grow_hash(struct tr_thread *thread)
{
	uint32_t *old = thread->hash, size = thread->hash_mask + 1;
	uint32_t *bigger = tr_memory_map((size_t)size * 4 * sizeof(*old));

	if (!bigger)
		return false;
	tr_memory_not_in_children(bigger, (size_t)size * 4 * sizeof(*old));
	thread->hash = bigger;
	thread->hash_mask = size * 4 - 1;
	thread->hash_used = 0;
	for (uint32_t i = 0; i < size; i++)
		if (old[i] && !is_gone(thread, old[i]))
			insert(thread, old[i]);
	/*
	 * The old hash is not freed (a quarter of the new size): this may be a
	 * signal handler that interrupted its thread while it searched there.
	 */
	return true;
}

static uint32_t find_cell(const struct tr_thread *thread, uint32_t site)
{
	uint32_t at = tr_tree_hash(0, site) & thread->hash_mask, entry;

	for (; (entry = thread->hash[at]); at = (at + 1) & thread->hash_mask)
		if (entry & TR_IS_CELL &&
		    tr_cell_at(thread, entry & ~TR_IS_CELL)->site == site)
			return entry & ~TR_IS_CELL;
	return 0;
}

static uint32_t find_node(const struct tr_thread *thread, uint32_t parent,
			  uint32_t site)
{
	uint32_t at = tr_tree_hash(parent, site) & thread->hash_mask, entry;

	for (; (entry = thread->hash[at]); at = (at + 1) & thread->hash_mask) {
		const struct tr_node *node = tr_node_at(thread, entry);

		if (!(entry & TR_IS_CELL) && node->site == site &&
		    node->parent == parent)
			return entry;
	}
	return 0;
}

static void start_cell(struct tr_cell *cell, uint32_t site)
{
	bool is_time = tr_site_at(site)->kind == TARE_KIND_SCOPE;

	cell->site = site;
	cell->base = is_time ? TR_TIME_BASE : 0;
	tr_cell_clear_range(cell, !is_time);
}

uint32_t tr_tree_cell(struct tr_thread *thread, uint32_t site)
{
	uint32_t off = find_cell(thread, site);
	struct tr_cell *cell;

	assert(tr_thread_is_busy(thread));
	if (off)
		return off;
	if (!ready_hash(thread))
		return 0;
	off = tr_track_alloc(thread, sizeof(*cell));
	if (!off)
		return 0;
	cell = tr_cell_at(thread, off);
	start_cell(cell, site);
	tr_ring_start(thread, cell);
	cell->next = thread->own_track->cells;
	TR_PUBLISH(thread->own_track->cells, off);
	TR_STORE(thread->own_track->n_cells, thread->own_track->n_cells + 1);
	insert(thread, off | TR_IS_CELL);
	return off;
}

static bool ready_frames(struct tr_thread *thread, uint32_t depth)
{
	struct tr_track *track = thread->own_track;
	uint32_t off = (uint32_t)((char *)thread->frames - thread->base);
	uint32_t open = (uint32_t)(thread->top - thread->frames) + 1, real;

	/* More may be open if the ledger was replaced meanwhile. */
	if (depth < open)
		depth = open;
	if (depth + 1 >= TR_MAX_FRAMES)
		return false;
	while ((real = TR_LOAD(track->frames_real)) <= depth + 1) {
		if (!tr_space_reserve(off + real * 16, TR_PAGE))
			return false;
		TR_STORE(track->frames_real, real + TR_PAGE / 16);
	}
	return true;
}

static uint32_t new_node(struct tr_thread *thread, uint32_t parent,
			 uint32_t site, uint32_t depth)
{
	struct tr_node *node;
	uint32_t off;

	assert(tr_thread_is_busy(thread));
	if (!ready_hash(thread))
		return 0;
	off = tr_track_alloc(thread, sizeof(*node));
	if (!off)
		return 0;
	off -= TR_NODE_BIAS;
	node = tr_node_at(thread, off);
	node->site = site;
	node->parent = parent;
	node->depth = depth;
	return off;
}

/* Complete: readers and lookups may find it. */
static void publish_node(struct tr_thread *thread, uint32_t off)
{
	struct tr_track *track = thread->own_track;

	assert(off);
	tr_node_at(thread, off)->next = track->nodes;
	TR_PUBLISH(track->nodes, off);
	TR_STORE(track->n_nodes, track->n_nodes + 1);
	insert(thread, off);
}

static uint32_t add_node(struct tr_thread *thread, uint32_t parent,
			 uint32_t site, uint32_t depth)
{
	uint32_t cell = tr_tree_cell(thread, site), off;

	if (!cell)
		return 0;
	off = new_node(thread, parent, site, depth);
	if (!off)
		return 0;
	tr_node_at(thread, off)->cell = cell;
	publish_node(thread, off);
	return off;
}

static uint32_t add_function(struct tr_thread *thread, uint32_t parent,
			     uint64_t address, uint32_t depth)
{
	uint32_t off = new_node(thread, parent, TR_NODE_FUNCTION, depth);
	struct tr_node *node = tr_node_at(thread, off);

	if (!off)
		return 0;
	node->items = address;
	node->untimed = 1; /* no call yet; the first one is to be timed */
	node->cell = 1;
	publish_node(thread, off);
	return off;
}

static bool has_room(struct tr_thread *thread, uint32_t parent)
{
	uint32_t depth = tr_node_at(thread, parent)->depth;

	return parent && thread->own_track->n_nodes < tr_ledger->max_nodes &&
	       depth < tr_ledger->max_depth && ready_frames(thread, depth + 1);
}

uint32_t tr_tree_child(struct tr_thread *thread, uint32_t parent, uint32_t site)
{
	struct tr_node *above = tr_node_at(thread, parent);
	uint32_t off = find_node(thread, parent, site);

	assert(tr_thread_is_busy(thread));
	if (!off && has_room(thread, parent))
		off = add_node(thread, parent, site, above->depth + 1);
	if (off)
		above->last = off;
	return off;
}

uint32_t tr_tree_find(const struct tr_thread *thread, uint32_t parent,
		      uint64_t address)
{
	uint32_t mask = thread->hash_mask, at, entry;

	/* The mask first: a handler may install a larger hash. */
	TR_FENCE();
	at = tr_tree_hash(parent, tr_tree_fold(address)) & mask;
	for (; (entry = thread->hash[at]); at = (at + 1) & mask) {
		const struct tr_node *node = tr_node_at(thread, entry);

		if (!(entry & TR_IS_CELL) && node->items == address &&
		    node->parent == parent && tr_node_is_function(node))
			return entry;
	}
	return 0;
}

uint32_t tr_tree_function(struct tr_thread *thread, uint32_t parent,
			  uint64_t address)
{
	uint32_t off = tr_tree_find(thread, parent, address);

	assert(tr_thread_is_busy(thread));
	if (!off && has_room(thread, parent))
		off = add_function(thread, parent, address,
				   tr_node_at(thread, parent)->depth + 1);
	return off;
}

/* Too deep for children, except by tr_tree_elsewhere(). */
#define TR_DEPTH_NONE UINT32_MAX
#define TR_ELSEWHERE_MOST 16384u /* functions beyond max_nodes */

uint32_t tr_tree_others(struct tr_thread *thread)
{
	uint32_t root = thread->own_track->root;
	uint32_t off = tr_tree_find(thread, root, TR_ADDRESS_OTHERS);

	assert(tr_thread_is_busy(thread));
	if (!off && root)
		off = add_function(thread, root, TR_ADDRESS_OTHERS,
				   TR_DEPTH_NONE);
	return off;
}

uint32_t tr_tree_elsewhere(struct tr_thread *thread, uint32_t others,
			   uint64_t address)
{
	uint32_t off;

	assert(tr_thread_is_busy(thread));
	if (!others)
		return 0;
	off = tr_node_at(thread, others)->last;
	if (off && tr_node_at(thread, off)->items == address)
		return off;
	off = tr_tree_find(thread, others, address);
	if (!off && thread->own_track->n_nodes <
			    tr_ledger->max_nodes + TR_ELSEWHERE_MOST)
		off = add_function(thread, others, address, TR_DEPTH_NONE);
	tr_node_at(thread, others)->last = off;
	return off ? off : others;
}

uint32_t tr_tree_overflow(struct tr_thread *thread)
{
	uint32_t root = thread->own_track->root;
	uint32_t off = find_node(thread, root, TR_SITE_OVERFLOW);

	assert(tr_thread_is_busy(thread));
	return off ? off : add_node(thread, root, TR_SITE_OVERFLOW, 1);
}

bool tr_tree_init(struct tr_thread *thread)
{
	struct tr_track *track = thread->own_track;
	struct tr_node *root;

	assert(tr_thread_is_busy(thread));
	thread->hash = thread->hash_inline;
	thread->hash_mask = TR_HASH_INLINE - 1;
	track->root = tr_track_alloc(thread, sizeof(*root));
	if (!track->root)
		return false;
	track->root -= TR_NODE_BIAS;
	root = tr_node_at(thread, track->root);
	root->parent = track->root;
	root->last = track->root;
	track->current = track->root;
	return true;
}
