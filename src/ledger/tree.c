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
#include "ledger/ledger.h"


#define TR_IS_CELL 1u /* in the hash: offsets are multiples of 64 */

static bool grow_hash(struct tr_hand *hand);

static uint32_t hash_of(const struct tr_hand *hand, uint32_t entry)
{
	const struct tr_node *node;

	if (entry & TR_IS_CELL)
		return tr_tree_hash(0, tr_cell_at(hand, entry & ~TR_IS_CELL)
					       ->site);
	node = tr_node_at(hand, entry);
	return tr_tree_hash(node->parent, node->site);
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

/* Ring of the last values, where asked for and where there is room. */
static void add_values(struct tr_hand *hand, struct tr_cell *cell)
{
	uint32_t n = tr_ledger->keep_values, off;
	struct tr_values *values;

	if (!n)
		return;
	off = tr_track_alloc(hand, (uint32_t)sizeof(*values) + n * 16);
	if (!off)
		return;
	values = (void *)(hand->base + off);
	values->size = n;
	TR_PUBLISH(cell->values, off);
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
	add_values(hand, cell);
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

static uint32_t add_node(struct tr_hand *hand, uint32_t parent, uint32_t site,
			 uint32_t depth)
{
	struct tr_track *track = hand->held;
	uint32_t cell = tr_tree_cell(hand, site), off;
	struct tr_node *node;

	if (!cell || !ready_hash(hand))
		return 0;
	off = tr_track_alloc(hand, sizeof(*node));
	if (!off)
		return 0;
	off -= TR_NODE_BIAS;
	node = tr_node_at(hand, off);
	node->site = site;
	node->parent = parent;
	node->cell = cell;
	node->depth = depth;
	node->next = track->nodes;
	TR_PUBLISH(track->nodes, off);
	TR_STORE(track->n_nodes, track->n_nodes + 1);
	insert(hand, off);
	return off;
}

uint32_t tr_tree_child(struct tr_hand *hand, uint32_t parent, uint32_t site)
{
	struct tr_track *track = hand->held;
	struct tr_node *above = tr_node_at(hand, parent);
	uint32_t off = find_node(hand, parent, site);

	if (!off && parent && track->n_nodes < tr_ledger->max_nodes &&
	    above->depth < tr_ledger->max_depth &&
	    ready_frames(hand, above->depth + 1))
		off = add_node(hand, parent, site, above->depth + 1);
	if (off)
		above->last = off;
	return off;
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
