/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates a graph similar to citation graphs. Papers have a field (the
 * label); they cite earlier papers, mostly of their own field, and early ones
 * more often; they use words of their field more often than others.
 *
 * Everything about a node follows from the seed and its number, so every
 * process can compute any node's label without storing it. As in Cora, a
 * twentieth of the nodes is for training, and there are 18 words and two
 * citations per paper.
 */
#include <math.h>
#include <stdbool.h>

#include "builder.h"
#include "random.h"

#define CITED 2	     /* citations per paper */
#define WORDS 18
#define TRIES 8	     /* attempts to find a paper of the same field */
#define SAME 0.75    /* share of citations that prefer the own field */
#define TOPICAL 0.46 /* share of words from the field's vocabulary */

/* Purpose of a random number. */
enum { FOR_LABEL = 1, FOR_SPLIT, FOR_CITING, FOR_WORDS };

static uint64_t bits_of(const struct graph_shape *shape, unsigned what,
			uint32_t node)
{
	return random_mix(random_mix(shape->seed, what), node);
}

static uint32_t label_of(const struct graph_shape *shape, uint32_t node)
{
	/* Assigned in turn at first: even a small graph has all classes. */
	if (node < shape->n_classes)
		return node;
	return (uint32_t)(bits_of(shape, FOR_LABEL, node) % shape->n_classes);
}

static enum split split_of(const struct graph_shape *shape, uint32_t node)
{
	double u = random_unit(bits_of(shape, FOR_SPLIT, node));

	if (node < 3)
		return (enum split)(SPLIT_TRAIN + node);
	return u < 0.052 ? SPLIT_TRAIN :
	       u < 0.237 ? SPLIT_VAL :
	       u < 0.606 ? SPLIT_TEST :
			   SPLIT_NONE;
}

/* The k-th paper that `node` cites, with a lower number. */
static uint32_t cited_by(const struct graph_shape *shape, uint32_t node,
			 unsigned k)
{
	uint64_t bits = random_mix(bits_of(shape, FOR_CITING, node), k);
	bool looks = random_unit(bits) < SAME;
	uint32_t found = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		double u;

		bits = random_mix(bits, i);
		u = random_unit(bits);
		found = (uint32_t)(u * sqrt(u) * node);
		if (!looks || label_of(shape, found) == label_of(shape, node))
			break;
	}
	return found;
}

static int make_edges(const struct graph_shape *shape,
		      struct builder *builder, bool are_kept,
		      struct fault *fault)
{
	for (uint32_t node = 1; node < shape->n_nodes; node++) {
		uint32_t first = cited_by(shape, node, 0), to = first;

		for (unsigned k = 0; k < CITED; k++) {
			if (k)
				to = cited_by(shape, node, k);
			if (k && to == first)
				continue;
			if (are_kept ? builder_edge(builder, node, to, 0,
						    fault) :
				       builder_weigh(builder, node, to, fault))
				return -1;
		}
	}
	return 0;
}

static uint32_t word_of(const struct graph_shape *shape, uint32_t label,
			uint64_t bits)
{
	uint32_t part = shape->n_words / shape->n_classes;
	double u = random_unit(random_mix(bits, 1));

	if (random_unit(bits) < TOPICAL)
		return label * part + (uint32_t)(u * part);
	return (uint32_t)(u * shape->n_words);
}

static int make_words(const struct graph_shape *shape,
		      struct builder *builder, struct fault *fault)
{
	for (uint32_t node = 0; node < shape->n_nodes; node++) {
		uint64_t bits = bits_of(shape, FOR_WORDS, node);
		uint32_t label = label_of(shape, node), words[WORDS];
		size_t n = 0;

		/* Words of other shares' rows are not needed. */
		if (node - builder->graph.first >= builder->graph.n_own) {
			builder->next_words++;
			continue;
		}
		for (unsigned i = 0; i < WORDS; i++) {
			uint32_t word = word_of(shape, label,
						random_mix(bits, i));
			bool is_new = true;

			for (size_t k = 0; k < n; k++)
				is_new &= words[k] != word;
			if (is_new)
				words[n++] = word;
		}
		if (builder_words(builder, words, n, fault))
			return -1;
	}
	/* Even if no node uses the last word. */
	builder->graph.n_words = shape->n_words;
	return 0;
}

int graph_make(const struct graph_shape *shape, struct share share,
	       struct graph *ret_graph, struct fault *fault)
{
	struct builder builder;
	uint32_t unused;
	int err = 0;

	builder_init(&builder, share);
	for (uint32_t i = 0; !err && i < shape->n_nodes; i++)
		err = builder_node(&builder, (int32_t)label_of(shape, i),
				   split_of(shape, i), fault);
	if (err || builder_nodes_done(&builder, &unused, fault) ||
	    (share.of > 1 && make_edges(shape, &builder, false, fault)) ||
	    builder_share_out(&builder, fault) ||
	    make_edges(shape, &builder, true, fault) ||
	    make_words(shape, &builder, fault) ||
	    builder_finish(&builder, ret_graph, &unused, fault)) {
		builder_release(&builder);
		return -1;
	}
	return 0;
}
