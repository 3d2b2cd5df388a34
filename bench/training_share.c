/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One trainer runs the same epochs in many rounds. Every second epoch is
 * measured with everything on, the others not at all, in the same memory, since
 * memory layout makes a larger difference. The minimum time of each epoch
 * counts, with and without: other guests of the machine only add time.
 *
 * Rare work is not in these minima, and is added: the peak of memory, read
 * every 50 ms, and the check for leaks, which limits itself to one part in
 * 4,000.
 */
#include "training.h"

#include <math.h>
#include <stdlib.h>

#include <tare/system.h>
#include <tare/tare.h>

#include <gcn/record.h>
#include <gcn/train.h>
#include "bench.h"

#define EPOCHS 200u
#define PEAK_NS 50e6
#define LOOK_SHARE (1. / 4000)

static double best_ns[2][EPOCHS]; /* without, with measuring */

static struct options options = {
	.shape = { .n_nodes = 2708, .n_words = 1433, .n_classes = 7,
		   .seed = 1 },
	.n_seeds = 1, .n_hidden = 16, .n_epochs = EPOCHS, .seed = 1,
	.dropout = 0.5, .rate = 0.01, .decay = 5e-4, .no_evaluation = true,
};

static void epoch(struct trainer *trainer, tare_training *training,
		  uint32_t number)
{
	double *best = &best_ns[training != NULL][number - 1];
	uint64_t start;
	double ns;

	trainer->training = training;
	start = bench_ns();
	(void)train_epoch(trainer, options.seed, number, false);
	ns = (double)(bench_ns() - start);
	if (ns < *best)
		*best = ns;
}

static void play(struct trainer *trainer, unsigned round)
{
	struct record record;
	tare_training *training;

	record_open(&record, trainer, options.seed);
	training = trainer->training;
	train_begin(trainer, options.seed);
	for (uint32_t i = 1; i <= EPOCHS; i++)
		epoch(trainer, (i + round) % 2 ? training : NULL, i);
	(void)tare_training_close(training);
	trainer->training = NULL;
}

static double mean(const double *values)
{
	double sum = 0;

	for (unsigned i = 0; i < EPOCHS; i++)
		sum += values[i];
	return sum / EPOCHS;
}

static double peak_reading_ns(void)
{
	tare_process process = { .struct_size = sizeof(process) };
	double best = INFINITY;

	for (int i = 0; i < 200; i++) {
		uint64_t start = bench_ns();
		double ns;

		(void)!tare_process_read(0, &process);
		ns = (double)(bench_ns() - start);
		best = ns < best ? ns : best;
	}
	return best;
}

static void report(void)
{
	double without = mean(best_ns[0]), added = mean(best_ns[1]) - without;
	double rare = peak_reading_ns() / PEAK_NS + LOOK_SHARE;

	bench_report("gcn_epoch", without / 1e3, "us", NAN, NULL);
	bench_report("gcn_added", added / 1e3, "us", NAN, NULL);
	bench_report("share", 100 * (added / without + rare), "%", NAN, NULL);
}

void bench_training_share(void)
{
	unsigned rounds = bench_is_quick() ? 6 : 60;
	struct trainer trainer = { .options = NULL };
	struct graph graph = { .n_nodes = 0 };
	struct fault fault;
	struct team team;

	for (unsigned i = 0; i < EPOCHS; i++)
		best_ns[0][i] = best_ns[1][i] = INFINITY;
	team_open(&team, NULL, NULL);
	options.data = getenv("TARE_CORA");
	options.results = options.events = bench_dir();
	if ((options.data ?
		     graph_read(options.data, team.me, &graph, &fault) :
		     graph_make(&options.shape, team.me, &graph, &fault)) ||
	    train_init(&trainer, &options, &team, &graph, &fault))
		bench_fail("share", fault.text);
	bench_pin(0);
	for (unsigned i = 0; i < rounds; i++)
		play(&trainer, i);
	report();
	train_release(&trainer);
	graph_release(&graph);
}
