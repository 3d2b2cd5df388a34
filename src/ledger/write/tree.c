/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tree: a track's call paths, and its one cell a site.
 *
 * A child is found by a hash of (parent, site): with a list of siblings 64
 * children would cost five times as much, 2,048 a hundred times. The hash is
 * private (readers follow the list of all nodes) and grows by doubling.
 *
 * A path beyond max_nodes or max_depth is counted at the overflow node and
 * not timed; its time stays with the scope around it.
 */
#include "ledger/write.h"


#define TR_IS_CELL 1u /* in the hash: offsets are multiples of 64 */

static bool grow_hash(struct tr_hand *hand);

static uint32_t hash_of(const struct tr_hand *hand, uint32_t entry)
{
	const struct tr_node *node;

	if (entry & TR_IS_CELL)
		return tr_tree_hash(0, tr_cell_at(hand, entry & ~TR_IS_CELL)
					       ->site);
	node = tr_node_at(hand, entry);
	return tr_tree_hash(node->parent, tr_node_is_function(node) ?
						  tr_tree_fold(node->items) :
						  node->site);
}

static void insert(struct tr_hand *hand, uint32_t entry)
{
	uint32_t at = hash_of(hand, entry) & hand->hash_mask;

	while (hand->hash[at])
		at = (at + 1) & hand->hash_mask;
	hand->hash[at] = entry;
	hand->hash_used++;
}

/* Its place is empty since the ledger was replaced. */
static bool is_gone(const struct tr_hand *hand, uint32_t entry)
{
	return entry & TR_IS_CELL ?
		       !tr_cell_at(hand, entry & ~TR_IS_CELL)->site :
		       !tr_node_at(hand, entry)->site;
}

/* Room for one more at half load at most; false: keep what there is. */
static bool ready_hash(struct tr_hand *hand)
{
	if (hand->hash_used * 2 < hand->hash_mask)
		return true;
	return grow_hash(hand) || hand->hash_used + 8 < hand->hash_mask;
}

static bool grow_hash(struct tr_hand *hand)
{
	uint32_t *old = hand->hash, size = hand->hash_mask + 1;
	uint32_t *bigger = tr_memory_map((size_t)size * 4 * sizeof(*old));

	if (!bigger)
		return false;
	tr_memory_not_in_children(bigger, (size_t)size * 4 * sizeof(*old));
	hand->hash = bigger;
	hand->hash_mask = size * 4 - 1;
	hand->hash_used = 0;
	for (uint32_t i = 0; i < size; i++)
		if (old[i] && !is_gone(hand, old[i]))
			insert(hand, old[i]);
	/*
	 * The old one stays, a quarter of the new one's size: this may be a
	 * signal handler that interrupted its thread on the way to look there.
	 */
	return true;
}

static uint32_t find_cell(const struct tr_hand *hand, uint32_t site)
{
	uint32_t at = tr_tree_hash(0, site) & hand->hash_mask, entry;

	for (; (entry = hand->hash[at]); at = (at + 1) & hand->hash_mask)
		if (entry & TR_IS_CELL &&
		    tr_cell_at(hand, entry & ~TR_IS_CELL)->site == site)
			return entry & ~TR_IS_CELL;
	return 0;
}

static uint32_t find_node(const struct tr_hand *hand, uint32_t parent,
			  uint32_t site)
{
	uint32_t at = tr_tree_hash(parent, site) & hand->hash_mask, entry;

	for (; (entry = hand->hash[at]); at = (at + 1) & hand->hash_mask) {
		const struct tr_node *node = tr_node_at(hand, entry);

		if (!(entry & TR_IS_CELL) && node->site == site &&
		    node->parent == parent)
			return entry;
	}
	return 0;
}

static void start_cell(struct tr_cell *cell, uint32_t site)
{
	bool is_time = tr_site_at(site)->kind == TARE_KIND_SCOPE;
	union {
		double value;
		uint64_t bits;
	} least = { __builtin_inf() }, most = { -__builtin_inf() };

	cell->site = site;
	cell->base = is_time ? TR_TIME_BASE : 0;
	cell->min = is_time ? UINT64_MAX : least.bits;
	cell->max = is_time ? 0 : most.bits;
}

uint32_t tr_tree_cell(struct tr_hand *hand, uint32_t site)
{
	uint32_t off = find_cell(hand, site);
	struct tr_cell *cell;

	if (off)
		return off;
	if (!ready_hash(hand))
		return 0;
	off = tr_track_alloc(hand, sizeof(*cell));
	if (!off)
		return 0;
	cell = tr_cell_at(hand, off);
	start_cell(cell, site);
	tr_ring_start(hand, cell);
	cell->next = hand->held->cells;
	TR_PUBLISH(hand->held->cells, off);
	TR_STORE(hand->held->n_cells, hand->held->n_cells + 1);
	insert(hand, off | TR_IS_CELL);
	return off;
}

static bool ready_frames(struct tr_hand *hand, uint32_t depth)
{
	struct tr_track *track = hand->held;
	uint32_t off = (uint32_t)((char *)hand->frames - hand->base);
	uint32_t open = (uint32_t)(hand->top - hand->frames) + 1, real;

	/* More are open where the ledger was replaced under them. */
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

static uint32_t new_node(struct tr_hand *hand, uint32_t parent, uint32_t site,
			 uint32_t depth)
{
	struct tr_node *node;
	uint32_t off;

	if (!ready_hash(hand))
		return 0;
	off = tr_track_alloc(hand, sizeof(*node));
	if (!off)
		return 0;
	off -= TR_NODE_BIAS;
	node = tr_node_at(hand, off);
	node->site = site;
	node->parent = parent;
	node->depth = depth;
	return off;
}

/* Complete: readers and look-ups may find it. */
static void publish_node(struct tr_hand *hand, uint32_t off)
{
	struct tr_track *track = hand->held;

	tr_node_at(hand, off)->next = track->nodes;
	TR_PUBLISH(track->nodes, off);
	TR_STORE(track->n_nodes, track->n_nodes + 1);
	insert(hand, off);
}

static uint32_t add_node(struct tr_hand *hand, uint32_t parent, uint32_t site,
			 uint32_t depth)
{
	uint32_t cell = tr_tree_cell(hand, site), off;

	if (!cell)
		return 0;
	off = new_node(hand, parent, site, depth);
	if (!off)
		return 0;
	tr_node_at(hand, off)->cell = cell;
	publish_node(hand, off);
	return off;
}

static uint32_t add_function(struct tr_hand *hand, uint32_t parent,
			     uint64_t address, uint32_t depth)
{
	uint32_t off = new_node(hand, parent, TR_NODE_FUNCTION, depth);
	struct tr_node *node = tr_node_at(hand, off);

	if (!off)
		return 0;
	node->items = address;
	node->untimed = 1; /* no call yet, and the first shall have a time */
	node->cell = 1;
	publish_node(hand, off);
	return off;
}

static bool has_room(struct tr_hand *hand, uint32_t parent)
{
	uint32_t depth = tr_node_at(hand, parent)->depth;

	return parent && hand->held->n_nodes < tr_ledger->max_nodes &&
	       depth < tr_ledger->max_depth && ready_frames(hand, depth + 1);
}

uint32_t tr_tree_child(struct tr_hand *hand, uint32_t parent, uint32_t site)
{
	struct tr_node *above = tr_node_at(hand, parent);
	uint32_t off = find_node(hand, parent, site);

	if (!off && has_room(hand, parent))
		off = add_node(hand, parent, site, above->depth + 1);
	if (off)
		above->last = off;
	return off;
}

uint32_t tr_tree_find(const struct tr_hand *hand, uint32_t parent,
		      uint64_t address)
{
	uint32_t mask = hand->hash_mask, at, entry;

	/* The mask first: a handler may put a larger hash there. */
	TR_FENCE();
	at = tr_tree_hash(parent, tr_tree_fold(address)) & mask;
	for (; (entry = hand->hash[at]); at = (at + 1) & mask) {
		const struct tr_node *node = tr_node_at(hand, entry);

		if (!(entry & TR_IS_CELL) && node->items == address &&
		    node->parent == parent && tr_node_is_function(node))
			return entry;
	}
	return 0;
}

uint32_t tr_tree_function(struct tr_hand *hand, uint32_t parent,
			  uint64_t address)
{
	uint32_t off = tr_tree_find(hand, parent, address);

	if (!off && has_room(hand, parent))
		off = add_function(hand, parent, address,
				   tr_node_at(hand, parent)->depth + 1);
	return off;
}

/* So deep that nothing is made below it, but by tr_tree_elsewhere(). */
#define TR_DEPTH_NONE UINT32_MAX
#define TR_ELSEWHERE_MOST 16384u /* functions beyond max_nodes */

uint32_t tr_tree_others(struct tr_hand *hand)
{
	uint32_t root = hand->held->root;
	uint32_t off = tr_tree_find(hand, root, TR_ADDRESS_OTHERS);

	if (!off && root)
		off = add_function(hand, root, TR_ADDRESS_OTHERS,
				   TR_DEPTH_NONE);
	return off;
}

uint32_t tr_tree_elsewhere(struct tr_hand *hand, uint32_t others,
			   uint64_t address)
{
	uint32_t off;

	if (!others)
		return 0;
	off = tr_node_at(hand, others)->last;
	if (off && tr_node_at(hand, off)->items == address)
		return off;
	off = tr_tree_find(hand, others, address);
	if (!off &&
	    hand->held->n_nodes < tr_ledger->max_nodes + TR_ELSEWHERE_MOST)
		off = add_function(hand, others, address, TR_DEPTH_NONE);
	tr_node_at(hand, others)->last = off;
	return off ? off : others;
}

uint32_t tr_tree_overflow(struct tr_hand *hand)
{
	uint32_t root = hand->held->root;
	uint32_t off = find_node(hand, root, TR_SITE_OVERFLOW);

	return off ? off : add_node(hand, root, TR_SITE_OVERFLOW, 1);
}

bool tr_tree_init(struct tr_hand *hand)
{
	struct tr_track *track = hand->held;
	struct tr_node *root;

	hand->hash = hand->hash_inline;
	hand->hash_mask = TR_HASH_INLINE - 1;
	track->root = tr_track_alloc(hand, sizeof(*root));
	if (!track->root)
		return false;
	track->root -= TR_NODE_BIAS;
	root = tr_node_at(hand, track->root);
	root->parent = track->root;
	root->last = track->root;
	track->current = track->root;
	return true;
}
