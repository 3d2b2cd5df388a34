/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths: the call trees of all tracks merged into one.
 */
#include "read/view.h"

#include <assert.h>

#include "base/text.h"
#include "ledger/layout.h"

static uint32_t find(const struct tr_gather *gather, uint32_t hash,
		     const struct tr_path *like)
{
	uint32_t step = 0, i;

	while ((i = tr_lookup_next(&gather->by_parent, hash, &step)) !=
	       TR_LOOKUP_NONE) {
		const struct tr_path *p = &gather->path[i];

		if (p->parent == like->parent && p->site == like->site &&
		    p->address == like->address)
			return i;
	}
	return 0;
}

static uint32_t child_of(struct tr_gather *gather, uint32_t parent,
			 uint32_t site, uint64_t address)
{
	struct tr_path path = { .site = site, .address = address,
				.parent = parent };
	uint32_t hash = tr_tree_hash(parent, site == TR_NODE_FUNCTION ?
						     tr_tree_fold(address) :
						     site);
	uint32_t i = find(gather, hash, &path);

	if (i)
		return i;
	i = gather->n_paths ? gather->n_paths : 1; /* after the root */
	if (!TR_ARRAY_ROOM(gather->path, i, gather->cap_paths) ||
	    !tr_lookup_add(&gather->by_parent, hash, i)) {
		gather->failed = true;
		return 0;
	}
	if (i == 1)
		gather->path[0] = (struct tr_path){ .site = 0 };
	path.depth = parent ? gather->path[parent].depth + 1 : 0;
	path.next = gather->path[parent].first;
	gather->path[parent].first = i;
	gather->path[i] = path;
	gather->n_paths = i + 1;
	return i;
}

uint32_t tr_path_child(struct tr_gather *gather, uint32_t parent,
		       uint32_t site)
{
	return child_of(gather, parent, site, 0);
}

uint32_t tr_path_function(struct tr_gather *gather, uint32_t parent,
			  uint64_t address)
{
	return child_of(gather, parent, TR_NODE_FUNCTION, address);
}

bool tr_path_is_estimate(const struct tr_gather *gather, uint32_t index)
{
	const struct tr_path *p = &gather->path[index];

	assert(index < gather->n_paths);
	return tr_path_is_function(p) ? tr_path_is_sampled(p) :
					gather->series[p->site].is_estimate;
}

bool tr_path_own_is_estimate(const struct tr_gather *gather, uint32_t index)
{
	bool is_estimate = tr_path_is_estimate(gather, index);

	for (uint32_t i = gather->path[index].first; i && !is_estimate;
	     i = gather->path[i].next)
		is_estimate = tr_path_is_estimate(gather, i);
	return is_estimate;
}
