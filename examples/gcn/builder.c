/* SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Work of a node without its edges, in edges: mostly its words. */
#define BUILDER_NODE_WORK 12

/* Makes room for one more of `bytes`; on failure the array is unchanged. */
static int grow(void *array, size_t n, size_t *room, size_t bytes,
		struct fault *fault)
{
	size_t more = *room ? 2 * *room : 1024;
	void *old, *grown;

	if (n < *room)
		return 0;
	memcpy(&old, array, sizeof(old));
	grown = realloc(old, more * bytes);
	if (!grown)
		return fault_set(fault, "out of memory");
	memcpy(array, &grown, sizeof(grown));
	*room = more;
	return 0;
}

void builder_init(struct builder *builder, struct share share)
{
	memset(builder, 0, sizeof(*builder));
	builder->share = share;
}

void builder_release(struct builder *builder)
{
	graph_release(&builder->graph);
	free(builder->degree);
	free(builder->edges);
	memset(builder, 0, sizeof(*builder));
}

/* ---- nodes ------------------------------------------------------------- */

int builder_node(struct builder *builder, int32_t label, enum split split,
		 struct fault *fault)
{
	struct graph *graph = &builder->graph;
	size_t room = builder->node_room;
	uint32_t node = graph->n_nodes;

	if (label < -1 || label >= (int32_t)GRAPH_MOST_CLASSES)
		return fault_set(fault,
				 "label %d is out of range: -1 (not known), "
				 "or 0 to %u", label, GRAPH_MOST_CLASSES - 1);
	if (label < 0 && split != SPLIT_NONE)
		return fault_set(fault, "node %u is in a split and has no "
				 "label", node);
	if (node == GRAPH_MOST_NODES)
		return fault_set(fault, "more than %u nodes",
				 GRAPH_MOST_NODES);
	if (grow(&graph->label, node, &room, sizeof(*graph->label), fault))
		return -1;
	room = builder->node_room;
	if (grow(&graph->split, node, &room, sizeof(*graph->split), fault))
		return -1;
	builder->node_room = room;
	graph->label[node] = label;
	graph->split[node] = (uint8_t)split;
	graph->n_split[split]++;
	graph->n_nodes++;
	if (label >= 0 && !builder->first_with[label])
		builder->first_with[label] = node + 1;
	if (label >= (int32_t)graph->n_classes)
		graph->n_classes = (uint32_t)label + 1;
	return 0;
}

/* Classes are numbered without gaps: a gap is an error in the data. */
static int check_classes(const struct builder *builder, uint32_t *ret_node,
			 struct fault *fault)
{
	uint32_t n = builder->graph.n_classes, gap = 0;

	while (gap < n && builder->first_with[gap])
		gap++;
	if (gap == n)
		return 0;
	*ret_node = builder->first_with[n - 1] - 1;
	return fault_set(fault,
			 "label %u is out of range: no node has label %u",
			 n - 1, gap);
}

int builder_nodes_done(struct builder *builder, uint32_t *ret_node,
		       struct fault *fault)
{
	struct graph *graph = &builder->graph;
	uint32_t n = graph->n_nodes;

	if (n == 0)
		return fault_set(fault, "no nodes");
	if (check_classes(builder, ret_node, fault))
		return -1;
	if (!graph->n_split[SPLIT_TRAIN])
		return fault_set(fault, "no node is in split train");
	if (!graph->n_split[SPLIT_TEST])
		return fault_set(fault, "no node is in split test");
	if (n < builder->share.of)
		return fault_set(fault, "%u nodes are too few for %u "
				 "processes", n, builder->share.of);
	builder->degree = calloc(n, sizeof(*builder->degree));
	if (!builder->degree)
		return fault_set(fault, "out of memory");
	return 0;
}

/* ---- shares ------------------------------------------------------------ */

static int check_edge(const struct graph *graph, uint64_t a, uint64_t b,
		      struct fault *fault)
{
	if (a < graph->n_nodes && b < graph->n_nodes)
		return 0;
	return fault_set(fault, "there is no node %llu, only 0 to %u",
			 (unsigned long long)(a > b ? a : b),
			 graph->n_nodes - 1);
}

int builder_weigh(struct builder *builder, uint64_t a, uint64_t b,
		  struct fault *fault)
{
	if (check_edge(&builder->graph, a, b, fault))
		return -1;
	if (a != b) {
		builder->degree[a]++;
		builder->degree[b]++;
	}
	return 0;
}

/* Each share ends where its part of the work is reached, with at least one node
 * in each. */
static void cut_shares(struct builder *builder)
{
	const struct graph *graph = &builder->graph;
	uint32_t n = graph->n_nodes, of = builder->share.of, node = 0;
	uint64_t all = (uint64_t)n * BUILDER_NODE_WORK, done = 0;

	for (uint32_t i = 0; i < n; i++)
		all += builder->degree[i];
	for (uint32_t i = 1; i < of; i++) {
		uint64_t end = all / of * i;

		do {
			done += BUILDER_NODE_WORK + builder->degree[node++];
		} while (done < end && n - node > of - i);
		graph->share_at[i] = node;
	}
	graph->share_at[of] = n;
}

int builder_share_out(struct builder *builder, struct fault *fault)
{
	struct graph *graph = &builder->graph;
	struct share share = builder->share;

	graph->share_at = calloc((size_t)share.of + 1,
				 sizeof(*graph->share_at));
	if (!graph->share_at)
		return fault_set(fault, "out of memory");
	cut_shares(builder);
	/* Counted again when edges are stored. */
	memset(builder->degree, 0, graph->n_nodes * sizeof(*builder->degree));
	graph->first = graph->share_at[share.index];
	graph->n_own = graph->share_at[share.index + 1] - graph->first;
	graph->word_at = calloc((size_t)graph->n_own + 1,
				sizeof(*graph->word_at));
	return graph->word_at ? 0 : fault_set(fault, "out of memory");
}

/* ---- edges and words --------------------------------------------------- */

/* The row in the share; n_own or more: not in the share. */
static uint32_t row_of(const struct graph *graph, uint32_t node)
{
	return node - graph->first;
}

static int keep_edge(struct builder *builder, uint32_t node, uint32_t to,
		     uint32_t line, struct fault *fault)
{
	uint32_t row = row_of(&builder->graph, node);

	builder->degree[node]++;
	if (row >= builder->graph.n_own)
		return 0;
	if (grow(&builder->edges, builder->n_edges, &builder->edge_room,
		 sizeof(*builder->edges), fault))
		return -1;
	builder->edges[builder->n_edges++] =
		(struct builder_edge){ row, to, line };
	return 0;
}

int builder_edge(struct builder *builder, uint64_t a, uint64_t b,
		 uint32_t line, struct fault *fault)
{
	struct graph *graph = &builder->graph;

	if (check_edge(graph, a, b, fault))
		return -1;
	if (a == b) { /* every node has a self-loop already */
		graph->n_self++;
		return 0;
	}
	graph->n_edges++;
	if (keep_edge(builder, (uint32_t)a, (uint32_t)b, line, fault))
		return -1;
	return keep_edge(builder, (uint32_t)b, (uint32_t)a, line, fault);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int check_words(const struct builder *builder, const uint32_t *words,
		       size_t n, struct fault *fault)
{
	if (builder->next_words == builder->graph.n_nodes)
		return fault_set(fault, "there are only %u nodes",
				 builder->graph.n_nodes);
	for (size_t i = 1; i < n; i++)
		if (words[i] == words[i - 1])
			return fault_set(fault, "word %u is there twice",
					 words[i]);
	return 0;
}

int builder_words(struct builder *builder, uint32_t *words, size_t n,
		  struct fault *fault)
{
	struct graph *graph = &builder->graph;
	uint32_t row = row_of(graph, builder->next_words);
	size_t at;

	if (n > 1)
		qsort(words, n, sizeof(*words), by_number);
	if (check_words(builder, words, n, fault))
		return -1;
	builder->next_words++;
	if (n && words[n - 1] >= graph->n_words)
		graph->n_words = words[n - 1] + 1;
	if (row >= graph->n_own)
		return 0;
	at = graph->word_at[row];
	for (size_t i = 0; i < n; i++, at++) {
		if (grow(&graph->word, at, &builder->word_room,
			 sizeof(*graph->word), fault))
			return -1;
		graph->word[at] = words[i];
	}
	graph->word_at[row + 1] = at;
	return 0;
}

/* ---- the end ----------------------------------------------------------- */

static int by_row(const void *a, const void *b)
{
	const struct builder_edge *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* Sorts by row in linear time, and inside a row by node. */
static int sort_edges(struct builder *builder, struct fault *fault)
{
	struct graph *graph = &builder->graph;
	size_t n = builder->n_edges;
	struct builder_edge *sorted = malloc((n + 1) * sizeof(*sorted));
	uint64_t *end = calloc(graph->n_own + 1, sizeof(*end));
	uint64_t at = 0;

	if (!sorted || !end) {
		free(sorted);
		free(end);
		return fault_set(fault, "out of memory");
	}
	for (size_t i = 0; i < n; i++)
		end[builder->edges[i].row + 1]++;
	for (uint32_t i = 0; i < graph->n_own; i++)
		end[i + 1] += end[i];
	for (size_t i = 0; i < n; i++)
		sorted[end[builder->edges[i].row]++] = builder->edges[i];
	for (uint32_t i = 0; i < graph->n_own; at = end[i++])
		qsort(sorted + at, end[i] - at, sizeof(*sorted), by_row);
	free(end);
	free(builder->edges);
	builder->edges = sorted;
	return 0;
}

static int check_twice(const struct builder *builder, uint32_t *ret_line,
		       struct fault *fault)
{
	const struct builder_edge *edge = builder->edges;

	for (size_t i = 1; i < builder->n_edges; i++) {
		if (edge[i].row != edge[i - 1].row ||
		    edge[i].to != edge[i - 1].to)
			continue;
		*ret_line = edge[i].line;
		return fault_set(fault, "the edge %u,%u is there twice, first "
				 "in line %u",
				 builder->graph.first + edge[i].row,
				 edge[i].to, edge[i - 1].line);
	}
	return 0;
}

/* Inserts the row itself as one more edge, at its sorted place. */
static void add_edge(struct builder *builder, uint32_t row, uint32_t to)
{
	struct graph *graph = &builder->graph;
	uint64_t at = graph->edge_at[row + 1]++;
	double degrees =
		(1. + builder->degree[graph->first + row]) *
		(1. + builder->degree[to]);

	graph->edge_to[at] = to;
	graph->edge_weight[at] = (float)(1 / sqrt(degrees));
}

static int fill_rows(struct builder *builder, struct fault *fault)
{
	struct graph *graph = &builder->graph;
	const struct builder_edge *edge = builder->edges;
	const struct builder_edge *end = edge + builder->n_edges;
	size_t n = builder->n_edges + graph->n_own;

	graph->edge_at = calloc(graph->n_own + 1, sizeof(*graph->edge_at));
	graph->edge_to = malloc(n * sizeof(*graph->edge_to));
	graph->edge_weight = malloc(n * sizeof(*graph->edge_weight));
	if (!graph->edge_at || !graph->edge_to || !graph->edge_weight)
		return fault_set(fault, "out of memory");
	for (uint32_t row = 0; row < graph->n_own; row++) {
		uint32_t self = graph->first + row;

		graph->edge_at[row + 1] = graph->edge_at[row];
		while (edge < end && edge->row == row && edge->to < self)
			add_edge(builder, row, edge++->to);
		add_edge(builder, row, self);
		while (edge < end && edge->row == row)
			add_edge(builder, row, edge++->to);
	}
	return 0;
}

/* Own rows become 0 and up, followed by those of the halo. */
static int number_columns(struct builder *builder, struct fault *fault)
{
	struct graph *graph = &builder->graph;
	uint64_t n = graph->edge_at[graph->n_own];
	uint32_t *number = builder->degree; /* reused; no longer needed */

	memset(number, 0, graph->n_nodes * sizeof(*number));
	for (uint64_t i = 0; i < n; i++)
		number[graph->edge_to[i]] = 1;
	memset(number + graph->first, 0, graph->n_own * sizeof(*number));
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		graph->n_halo += number[i];
	graph->halo = malloc((graph->n_halo + 1) * sizeof(*graph->halo));
	if (!graph->halo)
		return fault_set(fault, "out of memory");
	for (uint32_t i = 0, at = 0; i < graph->n_nodes; i++) {
		if (row_of(graph, i) < graph->n_own) {
			number[i] = row_of(graph, i);
		} else if (number[i]) {
			number[i] = graph->n_own + at;
			graph->halo[at++] = i;
		}
	}
	for (uint64_t i = 0; i < n; i++)
		graph->edge_to[i] = number[graph->edge_to[i]];
	return 0;
}

/* Labels of other shares' nodes are no longer needed. */
static void keep_share(struct graph *graph)
{
	void *less;

	memmove(graph->label, graph->label + graph->first,
		graph->n_own * sizeof(*graph->label));
	memmove(graph->split, graph->split + graph->first,
		graph->n_own * sizeof(*graph->split));
	/* Failing to shrink is harmless. */
	less = realloc(graph->label, graph->n_own * sizeof(*graph->label));
	graph->label = less ? less : graph->label;
	less = realloc(graph->split, graph->n_own * sizeof(*graph->split));
	graph->split = less ? less : graph->split;
}

int builder_finish(struct builder *builder, struct graph *ret_graph,
		   uint32_t *ret_line, struct fault *fault)
{
	if (!builder->graph.n_words)
		return fault_set(fault, "no node has a word");
	if (sort_edges(builder, fault) ||
	    check_twice(builder, ret_line, fault) ||
	    fill_rows(builder, fault) || number_columns(builder, fault))
		return -1;
	keep_share(&builder->graph);
	*ret_graph = builder->graph;
	memset(&builder->graph, 0, sizeof(builder->graph));
	builder_release(builder);
	return 0;
}
