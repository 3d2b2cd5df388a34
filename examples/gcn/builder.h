/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builder: takes all nodes, then all edges, then all words of a graph, one by
 * one, and keeps the share of one process. Both the file reader and the graph
 * generator use it.
 *
 * Where a share ends depends on all edges, so each of several processes reads
 * them twice: first to weigh them, then to keep them. All calls return 0, or -1
 * with a fault without a position; a file reader adds the position.
 */
#ifndef BUILDER_H
#define BUILDER_H

#include <stddef.h>

#include "graph.h"

struct builder_edge {
	uint32_t row, to; /* row: of the share, to: global */
	uint32_t line;	  /* in the input */
};

struct builder {
	struct share share;
	struct graph graph;
	uint32_t *degree;   /* of all nodes */
	size_t node_room;
	struct builder_edge *edges;
	size_t n_edges, edge_room;
	size_t word_room;
	uint32_t next_words; /* the node whose words come next */
	uint32_t first_with[GRAPH_MOST_CLASSES]; /* node + 1; 0: none */
};

void builder_init(struct builder *builder, struct share share);
void builder_release(struct builder *builder);

/* All nodes, in the order of their numbers. */
int builder_node(struct builder *builder, int32_t label, enum split split,
		 struct fault *fault);
/* After the last node. *ret_node is set if the fault concerns a node. */
int builder_nodes_done(struct builder *builder, uint32_t *ret_node,
		       struct fault *fault);
/* All edges, if there are several shares; then how they are cut. */
int builder_weigh(struct builder *builder, uint64_t a, uint64_t b,
		  struct fault *fault);
int builder_share_out(struct builder *builder, struct fault *fault);
int builder_edge(struct builder *builder, uint64_t a, uint64_t b,
		 uint32_t line, struct fault *fault);
/* The words of the next node, each less than GRAPH_MOST_WORDS; they may be
 * reordered. */
int builder_words(struct builder *builder, uint32_t *words, size_t n,
		  struct fault *fault);

/*
 * Sorts, checks for duplicate edges, normalises and numbers the halo. *ret_line
 * is set if the fault concerns a line of the edges. Gives the graph; the
 * builder is empty afterwards.
 */
int builder_finish(struct builder *builder, struct graph *ret_graph,
		   uint32_t *ret_line, struct fault *fault);

#endif
