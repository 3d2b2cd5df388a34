/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model: the two-layer graph convolutional network of Kipf and Welling
 * (ICLR 2017).
 *
 *	sums   = words x weights1		words: sparse, with dropout
 *	hidden = dropout(relu(A x sums))	A: normalised adjacency
 *	votes  = hidden x weights2
 *	logits = A x votes
 *	loss   = cross entropy of the training nodes + decay/2 x |weights1|^2
 *
 * Every function works on the rows of one share. Where rows of others are
 * needed (sums, votes, and their gradients), the caller exchanges them
 * between two functions: see train.c.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stddef.h>

#include "graph.h"

struct model {
	uint32_t n_words, n_hidden, n_classes;
	uint32_t hidden_width, class_width; /* padded */
	size_t n_weights, n_first;	    /* all; of the first layer */
	float *weights;			    /* first layer, then second */
	float *gradient;
};

/* Which units are dropped: determined by seed, epoch, node and unit. */
struct dropout {
	double rate;
	uint64_t seed;
	uint32_t epoch;
};

/* The results of one pass, one row per node. With halo: sums, votes, d_logits,
 * d_hidden. */
struct pass {
	float *sums, *hidden, *votes, *logits;
	float *d_logits, *d_hidden;
	float *row;	     /* a temporary row */
	uint64_t *kept_at;   /* like graph.word_at, for words not dropped */
	uint32_t *kept;
};

struct loss {
	double sum;	  /* cross entropy of the own training nodes */
	uint32_t correct; /* predictions of these */
};

/* 0, or -1: no memory. Release in either case. */
int model_init(struct model *model, const struct graph *graph,
	       uint32_t n_hidden);
/* Uniform as by Glorot and Bengio; the same for equal seeds. */
void model_draw(struct model *model, uint64_t seed);
void model_release(struct model *model);

int pass_init(struct pass *pass, const struct graph *graph,
	      const struct model *model);
void pass_release(struct pass *pass);

/* Forward; `dropout` NULL: evaluation. Exchange sums, votes in between. */
void pass_sums(struct pass *pass, const struct graph *graph,
	       const struct model *model, const struct dropout *dropout);
void pass_votes(struct pass *pass, const struct graph *graph,
		const struct model *model, const struct dropout *dropout);
void pass_logits(struct pass *pass, const struct graph *graph,
		 const struct model *model);

/* Class with the highest logit; the first if several are equal. */
uint32_t pass_class(const struct pass *pass, const struct model *model,
		    uint32_t row);

/* Backward: exchange d_logits after the first, then d_hidden. The gradient is
 * that of the own rows, without decay. */
struct loss pass_loss(struct pass *pass, const struct graph *graph,
		      const struct model *model);
void pass_hidden_gradient(struct pass *pass, const struct graph *graph,
			  struct model *model, const struct dropout *dropout);
void pass_word_gradient(struct pass *pass, const struct graph *graph,
			struct model *model, const struct dropout *dropout);

#endif
