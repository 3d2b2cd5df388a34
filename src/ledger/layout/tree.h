/* SPDX-License-Identifier: Apache-2.0 */
/* Call paths: kinds of nodes, and the hash by which both sides find a child. */
#ifndef TR_LEDGER_LAYOUT_TREE_H
#define TR_LEDGER_LAYOUT_TREE_H

#include "ledger/layout/file.h"

/*
 * Entries drained together, where entries are not drained one behind: the call
 * and its saved registers are paid once per batch. More of them would delay the
 * scope that ends a batch. See bench/README.md.
 */
#define TR_BATCH 4u

TR_INLINE bool tr_node_is_function(const struct tr_node *node)
{
	return (node->site & TR_NODE_FUNCTION) != 0;
}

/* An address in place of a site. */
TR_INLINE uint32_t tr_tree_fold(uint64_t address)
{
	return (uint32_t)(address ^ address >> 29);
}

TR_INLINE uint32_t tr_tree_hash(uint32_t parent, uint32_t site)
{
	return (uint32_t)(((uint64_t)parent << 32 | site) *
				  UINT64_C(0x9E3779B97F4A7C15) >> 40);
}

#endif
