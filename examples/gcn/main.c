/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GCN: trains a two-layer graph convolutional network, in one process
 * (gcn_sequential) or several (gcn_mpi), and measures it with tare.
 *
 *	tare run -- ./gcn_sequential --data DIR --seeds 10
 *	mpirun -n 4 ./gcn_mpi --data DIR
 *
 * graph.h is the data, model.h the network, train.h an epoch, team.h the
 * communication, record.h the stored results.
 */
#include <math.h>
#include <stdio.h>

#include "record.h"
#include "train.h"

/* Mean and spread of the results of all seeds. */
struct tally {
	double sum, squares;
	uint32_t n;
};

static void tally_add(struct tally *tally, double value)
{
	tally->sum += value;
	tally->squares += value * value;
	tally->n++;
}

static double tally_sd(const struct tally *tally)
{
	double mean = tally->sum / tally->n;
	double rest = tally->squares - tally->n * mean * mean;

	return tally->n > 1 && rest > 0 ? sqrt(rest / (tally->n - 1)) : 0;
}

/* The size of a rank's share, and the bytes that it has sent. */
static void print_rank(const struct trainer *trainer)
{
	const struct graph *graph = trainer->graph;
	const struct team *team = trainer->team;
	uint64_t n_edges = graph->edge_at[graph->n_own] - graph->n_own;
	char line[300];

	(void)snprintf(line, sizeof(line),
		       "rank %u of %u: nodes %u to %u, %u of them; halo %u, "
		       "edges %llu; sent %llu bytes of rows, %llu of "
		       "gradients, %llu of weights", team->me.index,
		       team->me.of, graph->first,
		       graph->first + graph->n_own - 1, graph->n_own,
		       graph->n_halo, (unsigned long long)n_edges,
		       (unsigned long long)team->halo_bytes,
		       (unsigned long long)team->reduce_bytes,
		       (unsigned long long)team->weight_bytes);
	team_print(trainer->team, line);
}

static void print_seed(const struct trainer *trainer, uint64_t seed,
		       const struct epoch *last, double total)
{
	if (trainer->options->is_quiet || trainer->team->me.index != 0)
		return;
	printf("seed %llu: loss %.4f, training accuracy %.4f, macro F1 "
	       "validation %.4f test %.4f, test accuracy %.4f; %.3f s, %.0f us "
	       "an epoch\n", (unsigned long long)seed, last->loss,
	       last->train_acc, last->val_f1, last->test_f1, last->test_acc,
	       total, 1e6 * total / last->number);
}

/* Returns the accuracy after the last epoch. */
static double train_seed(struct trainer *trainer, uint64_t seed)
{
	const struct options *options = trainer->options;
	struct record record;
	struct epoch epoch = { .number = 0 };
	double total = 0;

	record_open(&record, trainer, seed);
	train_begin(trainer, seed);
	while (epoch.number < options->n_epochs) {
		uint32_t next = epoch.number + 1;

		epoch = train_epoch(trainer, seed, next,
				    !options->no_evaluation ||
					    next == options->n_epochs);
		record_epoch(&record, &epoch);
		total += epoch.total;
	}
	record_close(&record, trainer, &epoch);
	print_seed(trainer, seed, &epoch, total);
	return epoch.test_acc;
}

static void train_all(struct trainer *trainer)
{
	const struct options *options = trainer->options;
	struct tally tally = { 0, 0, 0 };

	for (uint32_t i = 0; i < options->n_seeds; i++)
		tally_add(&tally, train_seed(trainer, options->seed + i));
	if (!options->is_quiet && trainer->team->me.of > 1)
		print_rank(trainer);
	if (trainer->team->me.index == 0)
		printf("test accuracy mean %.4f sd %.4f over %u seeds\n",
		       tally.sum / tally.n, tally_sd(&tally), tally.n);
}

/* Loads the share of a graph, ready for training. */
static int load(const struct options *options, struct team *team,
		struct graph *graph, struct trainer *trainer,
		struct fault *fault)
{
	if (options->data ?
		    graph_read(options->data, team->me, graph, fault) :
		    graph_make(&options->shape, team->me, graph, fault))
		return -1;
	return train_init(trainer, options, team, graph, fault);
}

static int run(const struct options *options, struct team *team)
{
	struct graph graph = { .n_nodes = 0 };
	struct trainer trainer = { .options = NULL };
	struct fault fault;
	int err = load(options, team, &graph, &trainer, &fault);
	bool agrees = team_agrees(team, err ? fault.text : NULL);

	/* Linking communicates, so all ranks must have loaded their share. */
	if (agrees) {
		err = team_link(team, &graph, &fault);
		agrees = team_agrees(team, err ? fault.text : NULL);
	}
	if (agrees && graph.n_self && team->me.index == 0)
		fprintf(stderr, "%s: %llu edges from a node to itself are not "
			"used: every node has one\n", team_program,
			(unsigned long long)graph.n_self);
	if (agrees)
		train_all(&trainer);
	train_release(&trainer);
	graph_release(&graph);
	return agrees ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct options options;
	struct fault fault;
	struct team team;
	int status;

	team_open(&team, &argc, &argv);
	status = options_parse(argc, argv, &options, &fault) ? 2 : 0;
	if (status && team.me.index == 0)
		fprintf(stderr, "%s: %s\n\n%s", team_program, fault.text,
			options_help);
	if (!status && options.is_help && team.me.index == 0)
		printf("usage: %s [options]\n%s", team_program, options_help);
	if (!status && !options.is_help)
		status = run(&options, &team);
	if (fflush(stdout) != 0 && !status)
		status = 1;
	team_close(&team);
	return status;
}
