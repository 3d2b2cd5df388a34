/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "sparse.h"

int model_init(struct model *model, const struct graph *graph,
	       uint32_t n_hidden)
{
	*model = (struct model){
		.n_words = graph->n_words,
		.n_hidden = n_hidden,
		.n_classes = graph->n_classes,
		.hidden_width = sparse_width(n_hidden),
		.class_width = sparse_width(graph->n_classes),
	};
	model->n_first = (size_t)model->n_words * model->hidden_width;
	model->n_weights = model->n_first +
			   (size_t)model->hidden_width * model->class_width;
	model->weights = sparse_rows(model->n_weights, 1);
	model->gradient = sparse_rows(model->n_weights, 1);
	return model->weights && model->gradient ? 0 : -1;
}

/* All but the padding, which stays zero. */
static void draw_layer(float *weights, uint32_t n_in, uint32_t n_out,
		       uint64_t seed)
{
	double range = sqrt(6. / (n_in + n_out));

	for (uint32_t i = 0; i < n_in; i++) {
		uint64_t row = random_mix(seed, i);

		for (uint32_t k = 0; k < n_out; k++) {
			double u = random_unit(random_mix(row, k));

			weights[(size_t)i * sparse_width(n_out) + k] =
				(float)((2 * u - 1) * range);
		}
	}
}

void model_draw(struct model *model, uint64_t seed)
{
	draw_layer(model->weights, model->n_words, model->n_hidden,
		   random_mix(seed, 1));
	draw_layer(model->weights + model->n_first, model->n_hidden,
		   model->n_classes, random_mix(seed, 2));
}

void model_release(struct model *model)
{
	free(model->weights);
	free(model->gradient);
	memset(model, 0, sizeof(*model));
}

int pass_init(struct pass *pass, const struct graph *graph,
	      const struct model *model)
{
	uint32_t h = model->hidden_width, c = model->class_width;
	size_t own = graph->n_own, all = own + graph->n_halo;
	size_t n_words = graph->word_at[own];

	*pass = (struct pass){
		.sums = sparse_rows(all, h),
		.hidden = sparse_rows(own, h),
		.votes = sparse_rows(all, c),
		.logits = sparse_rows(own, c),
		.d_logits = sparse_rows(all, c),
		.d_hidden = sparse_rows(all, h),
		.row = sparse_rows(1, h > c ? h : c),
		.kept_at = calloc(own + 1, sizeof(*pass->kept_at)),
		.kept = malloc((n_words + 1) * sizeof(*pass->kept)),
	};
	return pass->sums && pass->hidden && pass->votes && pass->logits &&
	       pass->d_logits && pass->d_hidden && pass->row &&
	       pass->kept_at && pass->kept ? 0 : -1;
}

void pass_release(struct pass *pass)
{
	free(pass->sums);
	free(pass->hidden);
	free(pass->votes);
	free(pass->logits);
	free(pass->d_logits);
	free(pass->d_hidden);
	free(pass->row);
	free(pass->kept_at);
	free(pass->kept);
	memset(pass, 0, sizeof(*pass));
}

/* ---- dropout ----------------------------------------------------------- */

enum { FOR_WORDS = 1, FOR_HIDDEN };

static uint64_t dropout_key(const struct dropout *dropout, unsigned what)
{
	return random_mix(random_mix(dropout->seed, what), dropout->epoch);
}

/* Keeps a unit's expected value the same with and without dropout. */
static float dropout_scale(const struct dropout *dropout)
{
	return dropout ? (float)(1 / (1 - dropout->rate)) : 1;
}

/* Lists the words that are kept. */
static void drop_words(struct pass *pass, const struct graph *graph,
		       const struct dropout *dropout)
{
	uint64_t key = dropout_key(dropout, FOR_WORDS), at = 0;
	uint32_t least = (uint32_t)(dropout->rate * 0x1p32);

	for (uint32_t i = 0; i < graph->n_own; i++) {
		uint32_t row = (uint32_t)random_mix(key, graph->first + i);

		for (uint64_t k = graph->word_at[i];
		     k < graph->word_at[i + 1]; k++) {
			uint32_t word = graph->word[k];

			/* Always stored: a random branch is mispredicted. */
			pass->kept[at] = word;
			at += random_of_unit(row, word) >= least;
		}
		pass->kept_at[i + 1] = at;
	}
}

/*
 * Four units per random number, 16 bits each. Bits of the float are masked,
 * since a random branch would be mispredicted.
 */
static void drop_hidden(float *row, uint32_t width, uint64_t row_key,
			const struct dropout *dropout)
{
	uint32_t least = (uint32_t)(dropout->rate * 0x1p16);
	float scale = dropout_scale(dropout);

	for (uint32_t k = 0; k < width; k += 4) {
		uint64_t bits = random_mix(row_key, k / 4);
		v4i lane = { (int)(bits & 0xffff), (int)(bits >> 16 & 0xffff),
			     (int)(bits >> 32 & 0xffff), (int)(bits >> 48) };
		v4i bound = { (int)least, (int)least, (int)least, (int)least };
		v4 factor = { scale, scale, scale, scale };
		v4 *at = (v4 *)(row + k);

		*at = (v4)((v4i)(*at * factor) & (lane >= bound));
	}
}

/* ---- rows -------------------------------------------------------------- */

static struct sparse_list edges_of(const struct graph *graph, uint32_t row)
{
	uint64_t at = graph->edge_at[row];

	return (struct sparse_list){ .at = graph->edge_to + at,
				     .weight = graph->edge_weight + at,
				     .n = graph->edge_at[row + 1] - at };
}

/* Words of a row in this pass; each weighs 1 / their total number. */
static struct sparse_list words_of(const struct pass *pass,
				   const struct graph *graph, uint32_t row,
				   const struct dropout *dropout)
{
	uint64_t n = graph->word_at[row + 1] - graph->word_at[row];
	const uint64_t *at = dropout ? pass->kept_at : graph->word_at;
	const uint32_t *words = dropout ? pass->kept : graph->word;

	return (struct sparse_list){
		.at = words + at[row],
		.n = at[row + 1] - at[row],
		.scale = n ? dropout_scale(dropout) / (float)n : 0,
	};
}

static void relu(float *row, uint32_t width)
{
	for (uint32_t k = 0; k < width; k++)
		row[k] = row[k] > 0 ? row[k] : 0;
}

/* ---- forward ----------------------------------------------------------- */

void pass_sums(struct pass *pass, const struct graph *graph,
	       const struct model *model, const struct dropout *dropout)
{
	uint32_t width = model->hidden_width;

	if (dropout)
		drop_words(pass, graph, dropout);
	for (uint32_t i = 0; i < graph->n_own; i++) {
		struct sparse_list words = words_of(pass, graph, i, dropout);

		sparse_gather(&words, model->weights, width,
			      pass->sums + (size_t)i * width);
	}
}

void pass_votes(struct pass *pass, const struct graph *graph,
		const struct model *model, const struct dropout *dropout)
{
	uint64_t key = dropout ? dropout_key(dropout, FOR_HIDDEN) : 0;
	uint32_t width = model->hidden_width;

	for (uint32_t i = 0; i < graph->n_own; i++) {
		struct sparse_list edges = edges_of(graph, i);
		float *hidden = pass->hidden + (size_t)i * width;

		sparse_gather(&edges, pass->sums, width, hidden);
		relu(hidden, width);
		if (dropout)
			drop_hidden(hidden, width,
				    random_mix(key, graph->first + i),
				    dropout);
	}
	sparse_multiply(pass->hidden, graph->n_own, width,
			model->weights + model->n_first, model->class_width,
			pass->votes);
}

void pass_logits(struct pass *pass, const struct graph *graph,
		 const struct model *model)
{
	uint32_t width = model->class_width;

	for (uint32_t i = 0; i < graph->n_own; i++) {
		struct sparse_list edges = edges_of(graph, i);

		sparse_gather(&edges, pass->votes, width,
			      pass->logits + (size_t)i * width);
	}
}

uint32_t pass_class(const struct pass *pass, const struct model *model,
		    uint32_t row)
{
	const float *logit = pass->logits + (size_t)row * model->class_width;
	uint32_t best = 0;

	for (uint32_t k = 1; k < model->n_classes; k++)
		if (logit[k] > logit[best])
			best = k;
	return best;
}

/* ---- backward ---------------------------------------------------------- */

/* Cross entropy of one row and its gradient. */
static double softmax_loss(const float *logit, uint32_t n, int32_t label,
			   double n_train, float *gradient)
{
	double sum = 0, most = logit[0];

	for (uint32_t k = 1; k < n; k++)
		most = logit[k] > most ? logit[k] : most;
	for (uint32_t k = 0; k < n; k++)
		sum += exp(logit[k] - most);
	for (uint32_t k = 0; k < n; k++)
		gradient[k] = (float)((exp(logit[k] - most) / sum -
				       (k == (uint32_t)label)) / n_train);
	return log(sum) + most - logit[label];
}

struct loss pass_loss(struct pass *pass, const struct graph *graph,
		      const struct model *model)
{
	uint32_t width = model->class_width;
	struct loss loss = { 0, 0 };

	/* Rows of other nodes are always zero. */
	for (uint32_t i = 0; i < graph->n_own; i++) {
		if (graph->split[i] != SPLIT_TRAIN)
			continue;
		loss.sum += softmax_loss(pass->logits + (size_t)i * width,
					 model->n_classes, graph->label[i],
					 graph->n_split[SPLIT_TRAIN],
					 pass->d_logits + (size_t)i * width);
		loss.correct += pass_class(pass, model, i) ==
				(uint32_t)graph->label[i];
	}
	return loss;
}

/* Gradient of the second layer, and of the hidden units before relu: 0 for
 * units that are 0, by relu or by dropout. */
static void hidden_row(const float *restrict hidden,
		       float *restrict d_hidden,
		       const float *restrict d_votes, struct model *model,
		       float scale)
{
	const float *restrict weights = model->weights + model->n_first;
	float *restrict gradient = model->gradient + model->n_first;
	uint32_t n = model->class_width;

	for (uint32_t i = 0; i < model->hidden_width; i++) {
		v4 sum = { 0 };
		v4 unit = { hidden[i], hidden[i], hidden[i], hidden[i] };

		for (uint32_t k = 0; k < n; k += 4) {
			v4 d = *(const v4 *)(d_votes + k);

			*(v4 *)(gradient + i * n + k) += unit * d;
			sum += d * *(const v4 *)(weights + i * n + k);
		}
		d_hidden[i] = sum[0] + sum[1] + (sum[2] + sum[3]);
	}
	for (uint32_t i = 0; i < model->hidden_width; i++)
		d_hidden[i] = hidden[i] > 0 ? d_hidden[i] * scale : 0;
}

void pass_hidden_gradient(struct pass *pass, const struct graph *graph,
			  struct model *model, const struct dropout *dropout)
{
	uint32_t h = model->hidden_width, c = model->class_width;

	memset(model->gradient + model->n_first, 0,
	       (size_t)h * c * sizeof(*model->gradient));
	for (uint32_t i = 0; i < graph->n_own; i++) {
		struct sparse_list edges = edges_of(graph, i);

		/* The adjacency matrix is symmetric. */
		sparse_gather(&edges, pass->d_logits, c, pass->row);
		hidden_row(pass->hidden + (size_t)i * h,
			   pass->d_hidden + (size_t)i * h, pass->row, model,
			   dropout_scale(dropout));
	}
}

void pass_word_gradient(struct pass *pass, const struct graph *graph,
			struct model *model, const struct dropout *dropout)
{
	uint32_t width = model->hidden_width;

	memset(model->gradient, 0, model->n_first * sizeof(*model->gradient));
	for (uint32_t i = 0; i < graph->n_own; i++) {
		struct sparse_list edges = edges_of(graph, i);
		struct sparse_list words = words_of(pass, graph, i, dropout);

		sparse_gather(&edges, pass->d_hidden, width, pass->row);
		sparse_scatter(&words, pass->row, width, model->gradient);
	}
}
