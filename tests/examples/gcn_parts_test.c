/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of examples/gcn: sparse products against plain loops, gradients
 * against differences of the loss, shares of a graph against the whole.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "adam.h"
#include "graph.h"
#include "model.h"
#include "random.h"
#include "sparse.h"

static struct graph made(uint32_t n, uint32_t index, uint32_t of)
{
	struct graph_shape shape = { .n_nodes = n, .n_words = 60,
				     .n_classes = 5, .seed = 3 };
	struct graph graph = { .n_nodes = 0 };
	struct fault fault = { "" };

	if (!CHECK_INT(graph_make(&shape, (struct share){ index, of }, &graph,
				  &fault), 0))
		CHECK_STR(fault.text, "");
	return graph;
}

/* ---- sparse ------------------------------------------------------------ */

static void check_gather(uint32_t width)
{
	static const uint32_t at[] = { 3, 0, 3, 7, 5 };
	static const float weight[] = { 0.5f, -1, 2, 0.25f, 3 };
	struct sparse_list list = { at, weight, 5, 0 };
	struct sparse_list even = { at, NULL, 5, 0.5f };
	float *rows = sparse_rows(8, width), *out = sparse_rows(1, width);

	for (uint32_t i = 0; i < 8 * width; i++)
		rows[i] = (float)(i % 13);
	sparse_gather(&list, rows, width, out);
	for (uint32_t k = 0; k < width; k++) {
		float sum = 0;

		for (int i = 0; i < 5; i++)
			sum += weight[i] * rows[at[i] * width + k];
		CHECK_NEAR(out[k], sum, 1e-4);
	}
	sparse_gather(&even, rows, width, out);
	for (uint32_t k = 0; k < width; k++) {
		float sum = 0;

		for (int i = 0; i < 5; i++)
			sum += 0.5f * rows[at[i] * width + k];
		CHECK_NEAR(out[k], sum, 1e-4);
	}
	free(rows);
	free(out);
}

TEST(rows_are_gathered_at_all_widths)
{
	for (uint32_t n = 1; n <= 50; n += 7)
		check_gather(sparse_width(n));
	CHECK_INT(sparse_width(1), 8);
	CHECK_INT(sparse_width(16), 16);
	CHECK_INT(sparse_width(17), 24);
}

TEST(rows_are_scattered)
{
	static const uint32_t at[] = { 1, 3 };
	struct sparse_list list = { at, NULL, 2, 2 };
	float *rows = sparse_rows(4, 24), *in = sparse_rows(1, 24);

	for (int k = 0; k < 24; k++)
		in[k] = (float)k;
	sparse_scatter(&list, in, 24, rows);
	sparse_scatter(&list, in, 24, rows);
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 24; k++)
			CHECK_NEAR(rows[i * 24 + k], i % 2 ? 4 * k : 0, 0);
	free(rows);
	free(in);
}

TEST(dense_products_are_those_of_plain_loops)
{
	for (uint32_t n = 1; n <= 9; n++) {
		float *in = sparse_rows(n, 24), *by = sparse_rows(24, 16);
		float *out = sparse_rows(n, 16);

		for (uint32_t i = 0; i < n * 24; i++)
			in[i] = (float)(i % 11);
		for (uint32_t i = 0; i < 24 * 16; i++)
			by[i] = (float)(i % 7) - 3;
		sparse_multiply(in, n, 24, by, 16, out);
		for (uint32_t i = 0; i < n * 16; i++) {
			float sum = 0;

			for (uint32_t k = 0; k < 24; k++)
				sum += in[i / 16 * 24 + k] *
				       by[k * 16 + i % 16];
			CHECK_NEAR(out[i], sum, 0);
		}
		free(in);
		free(by);
		free(out);
	}
}

/* ---- graphs ------------------------------------------------------------ */

TEST(the_adjacency_is_symmetric_and_normalised)
{
	struct graph g = made(200, 0, 1);
	uint64_t n_edges = g.edge_at[g.n_own];
	double *dense = calloc(200 * 200, sizeof(*dense));

	CHECK_INT(n_edges, 2 * g.n_edges + 200);
	for (uint32_t i = 0; i < 200; i++)
		for (uint64_t k = g.edge_at[i]; k < g.edge_at[i + 1]; k++)
			dense[i * 200 + g.edge_to[k]] = g.edge_weight[k];
	for (uint32_t i = 0; i < 200; i++) {
		double degree = (double)(g.edge_at[i + 1] - g.edge_at[i]);

		CHECK_NEAR(dense[i * 200 + i], 1 / degree, 1e-6);
		for (uint32_t k = 0; k < 200; k++)
			if (dense[i * 200 + k] != dense[k * 200 + i])
				CHECK_NEAR(dense[i * 200 + k],
					   dense[k * 200 + i], 0);
	}
	free(dense);
	graph_release(&g);
}

/* Row by row, with columns as global numbers. */
static void check_share(const struct graph *all, const struct graph *part)
{
	for (uint32_t i = 0; i < part->n_own; i++) {
		uint32_t row = part->first + i;
		uint64_t a = all->edge_at[row], b = part->edge_at[i];

		CHECK_INT(part->label[i], all->label[row]);
		CHECK_INT(part->split[i], all->split[row]);
		CHECK_INT(part->word_at[i + 1] - part->word_at[i],
			  all->word_at[row + 1] - all->word_at[row]);
		CHECK_INT(part->edge_at[i + 1] - b, all->edge_at[row + 1] - a);
		for (; b < part->edge_at[i + 1]; a++, b++) {
			uint32_t to = part->edge_to[b];

			to = to < part->n_own ? part->first + to :
						part->halo[to - part->n_own];
			CHECK_INT(to, all->edge_to[a]);
			CHECK_NEAR(part->edge_weight[b], all->edge_weight[a],
				   0);
		}
	}
}

/* 12 a node, 1 an end of an edge; a node is an edge of its own as well. */
static uint64_t work_of(const struct graph *graph)
{
	return 11ull * graph->n_own + graph->edge_at[graph->n_own];
}

static uint64_t most_work(const struct graph *graph)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < graph->n_own; i++) {
		uint64_t ends = graph->edge_at[i + 1] - graph->edge_at[i];

		most = ends > most ? ends : most;
	}
	return 11 + most;
}

TEST(shares_together_are_the_graph)
{
	struct graph all = made(150, 0, 1);

	CHECK_INT(all.n_halo, 0);
	for (uint32_t of = 2; of <= 7; of += 5) {
		uint32_t next = 0;

		for (uint32_t i = 0; i < of; i++) {
			struct graph part = made(150, i, of);

			CHECK_INT(part.first, next);
			CHECK(part.n_own >= 1);
			CHECK(work_of(&part) <=
			      work_of(&all) / of + most_work(&all));
			CHECK_INT(part.n_edges, all.n_edges);
			CHECK_INT(part.n_split[SPLIT_TRAIN],
				  all.n_split[SPLIT_TRAIN]);
			check_share(&all, &part);
			next += part.n_own;
			graph_release(&part);
		}
		CHECK_INT(next, 150);
	}
	graph_release(&all);
}

TEST(more_processes_than_nodes_are_refused)
{
	struct graph_shape shape = { .n_nodes = 10, .n_words = 10,
				     .n_classes = 2, .seed = 3 };
	struct graph graph;
	struct fault fault = { "" };

	CHECK_INT(graph_make(&shape, (struct share){ 0, 11 }, &graph, &fault),
		  -1);
	CHECK_STR(fault.text, "10 nodes are too few for 11 processes");
}

/* ---- the model --------------------------------------------------------- */

struct bed {
	struct graph graph;
	struct model model;
	struct pass pass;
};

static void bed_make(struct bed *bed, uint32_t n_hidden)
{
	bed->graph = made(60, 0, 1);
	CHECK_INT(model_init(&bed->model, &bed->graph, n_hidden), 0);
	CHECK_INT(pass_init(&bed->pass, &bed->graph, &bed->model), 0);
	model_draw(&bed->model, 5);
}

static void bed_drop(struct bed *bed)
{
	pass_release(&bed->pass);
	model_release(&bed->model);
	graph_release(&bed->graph);
}

static double loss_of(struct bed *bed, const struct dropout *dropout)
{
	pass_sums(&bed->pass, &bed->graph, &bed->model, dropout);
	pass_votes(&bed->pass, &bed->graph, &bed->model, dropout);
	pass_logits(&bed->pass, &bed->graph, &bed->model);
	return pass_loss(&bed->pass, &bed->graph, &bed->model).sum /
	       bed->graph.n_split[SPLIT_TRAIN];
}

static void check_gradient(struct bed *bed, const struct dropout *dropout)
{
	struct model *model = &bed->model;
	unsigned moved = 0;

	(void)loss_of(bed, dropout);
	pass_hidden_gradient(&bed->pass, &bed->graph, model, dropout);
	pass_word_gradient(&bed->pass, &bed->graph, model, dropout);
	for (size_t i = 0; i < model->n_weights; i += 3) {
		float before = model->weights[i], step = 1e-2f;
		double more, less;

		if (before == 0)
			continue; /* padding */
		model->weights[i] = before + step;
		more = loss_of(bed, dropout);
		model->weights[i] = before - step;
		less = loss_of(bed, dropout);
		model->weights[i] = before;
		CHECK_NEAR(model->gradient[i], (more - less) / (2 * step),
			   2e-4);
		moved += fabs(more - less) > 1e-5;
	}
	CHECK(moved > 50);
}

TEST(gradients_are_slopes_of_the_loss)
{
	struct dropout dropout = { 0.5, 11, 2 };
	struct bed bed;

	bed_make(&bed, 6);
	check_gradient(&bed, NULL);
	check_gradient(&bed, &dropout);
	bed_drop(&bed);
	bed_make(&bed, 20);
	check_gradient(&bed, &dropout);
	bed_drop(&bed);
}

TEST(padding_stays_zero)
{
	struct dropout dropout = { 0.5, 11, 2 };
	struct adam adam;
	struct bed bed;
	struct model *model = &bed.model;

	bed_make(&bed, 6);
	CHECK_INT(adam_init(&adam, model->n_weights, 0.01, 5e-4), 0);
	for (int i = 0; i < 5; i++) {
		(void)loss_of(&bed, &dropout);
		pass_hidden_gradient(&bed.pass, &bed.graph, model, &dropout);
		pass_word_gradient(&bed.pass, &bed.graph, model, &dropout);
		(void)adam_step(&adam, model->weights, model->gradient,
				model->n_first);
	}
	for (size_t i = 0; i < model->n_first; i++)
		if (i % 8 >= 6)
			CHECK_NEAR(model->weights[i], 0, 0);
	adam_release(&adam);
	bed_drop(&bed);
}

TEST(dropout_leaves_its_share_and_changes_with_the_epoch)
{
	struct dropout dropout = { 0.3, 11, 1 };
	struct bed bed;
	uint64_t n_words, kept[2];
	double plain, dropped;

	bed_make(&bed, 16);
	n_words = bed.graph.word_at[bed.graph.n_own];
	plain = loss_of(&bed, NULL);
	for (int i = 0; i < 2; i++) {
		dropout.epoch = (uint32_t)i;
		dropped = loss_of(&bed, &dropout);
		kept[i] = bed.pass.kept_at[bed.graph.n_own];
		CHECK_NEAR((double)kept[i] / (double)n_words, 0.7, 0.06);
		CHECK(dropped != plain);
		CHECK_NEAR(loss_of(&bed, &dropout), dropped, 0);
	}
	CHECK(kept[0] != kept[1]);
	bed_drop(&bed);
}

TEST(adam_moves_as_its_paper_says)
{
	struct adam adam;
	float *w = sparse_rows(8, 1), *g = sparse_rows(8, 1);
	double m = 0, v = 0, weight = 0.5;

	CHECK_INT(adam_init(&adam, 8, 0.01, 0.1), 0);
	w[0] = 0.5f;
	for (int step = 1; step <= 20; step++) {
		double grad;

		g[0] = (float)sin(step);
		grad = g[0] + 0.1 * weight;
		CHECK_NEAR(adam_step(&adam, w, g, 8), 0.05 * weight * weight,
			   1e-6);
		m = 0.9 * m + 0.1 * grad;
		v = 0.999 * v + 0.001 * grad * grad;
		weight -= 0.01 * m / (1 - pow(0.9, step)) /
			  (sqrt(v / (1 - pow(0.999, step))) + 1e-8);
		CHECK_NEAR(w[0], weight, 1e-6);
	}
	adam_release(&adam);
	free(w);
	free(g);
}
