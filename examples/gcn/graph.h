/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graph: the rows of a citation graph that one process owns.
 *
 * Nodes are divided into ranges of numbers, with equal work for each process. A
 * process keeps labels, words and edges of its own rows. Columns of edges are
 * numbered locally: its own rows first, then the rows of others that it needs,
 * its halo, in the order of their numbers. A single process owns all rows and
 * has no halo.
 *
 * Reading and generating process all nodes and edges and keep what touches the
 * share; meanwhile other nodes take 9 bytes each: label, split, degree.
 */
#ifndef GRAPH_H
#define GRAPH_H

#include <stdint.h>

#include "fault.h"

#define GRAPH_MOST_NODES 0x7fffffffu
#define GRAPH_MOST_CLASSES 1000u
#define GRAPH_MOST_WORDS (1u << 24)

enum split {
	SPLIT_NONE,
	SPLIT_TRAIN,
	SPLIT_VAL,
	SPLIT_TEST,
	N_SPLITS
};

struct graph {
	uint32_t n_nodes, n_words, n_classes; /* of the whole graph */
	uint64_t n_edges, n_self;	      /* likewise; n_self: not used */
	uint32_t n_split[N_SPLITS];	      /* likewise */
	uint32_t *share_at;		      /* first rows of all shares */
	uint32_t first, n_own;		      /* the share */
	uint32_t n_halo;
	int32_t *label;			      /* -1: unknown */
	uint8_t *split;
	uint32_t *halo;			      /* global numbers, ascending */

	/* Row i of the normalised adjacency: edge_at[i] to edge_at[i + 1]. */
	uint64_t *edge_at;
	uint32_t *edge_to;
	float *edge_weight;

	/* Words of row i; each weighs 1 / their number. */
	uint64_t *word_at;
	uint32_t *word;
};

/* The part of the nodes that a process owns. */
struct share {
	uint32_t index, of;
};

/* Parameters of a generated graph, which determine it completely. */
struct graph_shape {
	uint32_t n_nodes, n_words, n_classes;
	uint64_t seed;
};

/* From the three files of `folder`. 0, or -1 with a fault. */
int graph_read(const char *folder, struct share share,
	       struct graph *ret_graph, struct fault *fault);
int graph_make(const struct graph_shape *shape, struct share share,
	       struct graph *ret_graph, struct fault *fault);
void graph_release(struct graph *graph);

#endif
