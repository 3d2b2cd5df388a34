/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths: the call trees of all tracks merged into one.
 */
#include "read/view.h"
#include "ledger/layout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool grow_paths(struct tr_gather *gather)
{
	uint32_t cap = gather->cap_paths ? gather->cap_paths * 2 : 64;
	void *more = realloc(gather->path, cap * sizeof(*gather->path));

	if (!more)
		return false;
	gather->path = more;
	gather->cap_paths = cap;
	return true;
}

static uint32_t *find(struct tr_gather *gather, uint32_t parent,
		      uint32_t site, uint64_t address)
{
	uint32_t what = site == TR_NODE_FUNCTION ? tr_tree_fold(address) :
						   site;
	uint32_t at = tr_tree_hash(parent, what) & gather->path_mask;

	while (gather->path_hash[at]) {
		const struct tr_path *p =
			&gather->path[gather->path_hash[at]];

		if (p->parent == parent && p->site == site &&
		    p->address == address)
			break;
		at = (at + 1) & gather->path_mask;
	}
	return &gather->path_hash[at];
}

static bool grow_hash(struct tr_gather *gather)
{
	uint32_t size = gather->path_hash ? (gather->path_mask + 1) * 2 : 256;
	uint32_t *bigger = calloc(size, sizeof(*bigger));

	if (!bigger)
		return false;
	free(gather->path_hash);
	gather->path_hash = bigger;
	gather->path_mask = size - 1;
	for (uint32_t i = 1; i < gather->n_paths; i++) {
		const struct tr_path *p = &gather->path[i];

		*find(gather, p->parent, p->site, p->address) = i;
	}
	return true;
}

static bool ready(struct tr_gather *gather)
{
	if (gather->n_paths == gather->cap_paths && !grow_paths(gather))
		return false;
	if (gather->n_paths == 0) {
		memset(&gather->path[0], 0, sizeof(gather->path[0]));
		gather->n_paths = 1;
	}
	if (gather->n_paths == gather->cap_paths && !grow_paths(gather))
		return false;
	return (gather->path_hash &&
		gather->n_paths * 2 < gather->path_mask) ||
	       grow_hash(gather);
}

static uint32_t child_of(struct tr_gather *gather, uint32_t parent,
			 uint32_t site, uint64_t address)
{
	uint32_t *slot;
	struct tr_path *p;

	if (!ready(gather)) {
		gather->failed = true;
		return 0;
	}
	slot = find(gather, parent, site, address);
	if (*slot)
		return *slot;
	p = &gather->path[gather->n_paths];
	memset(p, 0, sizeof(*p));
	p->site = site;
	p->address = address;
	p->parent = parent;
	p->depth = parent ? gather->path[parent].depth + 1 : 0;
	p->next = gather->path[parent].first;
	gather->path[parent].first = gather->n_paths;
	*slot = gather->n_paths;
	return gather->n_paths++;
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
