/* SPDX-License-Identifier: Apache-2.0 */
#include "train.h"

#include <math.h>
#include <string.h>

#include <tare/system.h>
#include <tare/tare.h>

#define PEAK_INTERVAL_NS 50000000

int train_init(struct trainer *trainer, const struct options *options,
	       struct team *team, const struct graph *graph,
	       struct fault *fault)
{
	memset(trainer, 0, sizeof(*trainer));
	trainer->options = options;
	trainer->team = team;
	trainer->graph = graph;
	if (model_init(&trainer->model, graph, options->n_hidden) ||
	    pass_init(&trainer->pass, graph, &trainer->model) ||
	    adam_init(&trainer->adam, trainer->model.n_weights, options->rate,
		      options->decay) ||
	    tare_classify_new(graph->n_classes, &trainer->val) ||
	    tare_classify_new(graph->n_classes, &trainer->test))
		return fault_set(fault, "out of memory");
	return 0;
}

void train_release(struct trainer *trainer)
{
	model_release(&trainer->model);
	pass_release(&trainer->pass);
	adam_release(&trainer->adam);
	tare_classify_free(trainer->val);
	tare_classify_free(trainer->test);
	memset(trainer, 0, sizeof(*trainer));
}

/* ---- communication ------------------------------------------------------ */

static bool is_alone(const struct trainer *trainer)
{
	return trainer->team->me.of == 1;
}

static void exchange(struct trainer *trainer, float *rows, uint32_t width)
{
	enum phase phase;

	if (is_alone(trainer))
		return;
	phase = stopwatch_turn(&trainer->watch, PHASE_COMMUNICATION);
	{
		TARE_SCOPE("communication");
		team_exchange(trainer->team, rows, width);
	}
	(void)stopwatch_turn(&trainer->watch, phase);
}

static void sum_gradients(struct trainer *trainer)
{
	if (is_alone(trainer))
		return;
	(void)stopwatch_turn(&trainer->watch, PHASE_COMMUNICATION);
	TARE_SCOPE("communication");
	team_sum(trainer->team, trainer->model.gradient,
		 trainer->model.n_weights);
}

void train_begin(struct trainer *trainer, uint64_t seed)
{
	struct model *model = &trainer->model;

	memset(&trainer->watch, 0, sizeof(trainer->watch));
	trainer->watch.since_ns = stopwatch_now();
	adam_reset(&trainer->adam);
	if (trainer->team->me.index == 0)
		model_draw(model, seed);
	if (!is_alone(trainer)) {
		TARE_SCOPE("communication");
		team_broadcast(trainer->team, model->weights,
			       model->n_weights);
	}
}

/* ---- an epoch ----------------------------------------------------------- */

static void go_forward(struct trainer *trainer, const struct dropout *dropout)
{
	const struct graph *graph = trainer->graph;
	struct model *model = &trainer->model;
	struct pass *pass = &trainer->pass;

	pass_sums(pass, graph, model, dropout);
	exchange(trainer, pass->sums, model->hidden_width);
	pass_votes(pass, graph, model, dropout);
	exchange(trainer, pass->votes, model->class_width);
	pass_logits(pass, graph, model);
}

static struct loss forward(struct trainer *trainer,
			   const struct dropout *dropout)
{
	TARE_SCOPE("forward");

	(void)stopwatch_turn(&trainer->watch, PHASE_FORWARD);
	go_forward(trainer, dropout);
	return pass_loss(&trainer->pass, trainer->graph, &trainer->model);
}

static void backward(struct trainer *trainer, const struct dropout *dropout)
{
	struct model *model = &trainer->model;
	struct pass *pass = &trainer->pass;

	TARE_SCOPE("backward");
	(void)stopwatch_turn(&trainer->watch, PHASE_BACKWARD);
	exchange(trainer, pass->d_logits, model->class_width);
	pass_hidden_gradient(pass, trainer->graph, model, dropout);
	exchange(trainer, pass->d_hidden, model->hidden_width);
	pass_word_gradient(pass, trainer->graph, model, dropout);
}

/* Returns the part of the loss that decay is. */
static double update(struct trainer *trainer)
{
	struct model *model = &trainer->model;

	TARE_SCOPE("update");
	(void)stopwatch_turn(&trainer->watch, PHASE_UPDATE);
	return adam_step(&trainer->adam, model->weights, model->gradient,
			 model->n_first);
}

/* ---- evaluation --------------------------------------------------------- */

static void count_classes(struct trainer *trainer)
{
	const struct graph *graph = trainer->graph;

	tare_classify_clear(trainer->val);
	tare_classify_clear(trainer->test);
	for (uint32_t i = 0; i < graph->n_own; i++) {
		int32_t predicted;

		if (graph->split[i] != SPLIT_VAL &&
		    graph->split[i] != SPLIT_TEST)
			continue;
		predicted = (int32_t)pass_class(&trainer->pass,
						&trainer->model, i);
		(void)tare_classify_add(graph->split[i] == SPLIT_VAL ?
						trainer->val : trainer->test,
					&graph->label[i], &predicted, 1);
	}
}

static tare_scores scores_of(struct trainer *trainer, tare_classify *classify)
{
	tare_scores scores;
	uint32_t n = 0;
	uint64_t *matrix = tare_classify_matrix(classify, &n);

	team_sum_counts(trainer->team, matrix, (size_t)n * n);
	(void)tare_classify_scores(classify, 0, &scores);
	return scores;
}

/* Not a part of training: the watch is off. */
static void evaluate(struct trainer *trainer, struct epoch *epoch)
{
	TARE_SCOPE("evaluation");
	struct stopwatch watch = trainer->watch;
	tare_scores test;

	go_forward(trainer, NULL);
	count_classes(trainer);
	epoch->val_f1 = scores_of(trainer, trainer->val).macro.f1;
	test = scores_of(trainer, trainer->test);
	epoch->test_f1 = test.macro.f1;
	epoch->test_acc = test.accuracy;
	trainer->watch = watch;
}

/* Reading takes longer than a small graph's update: not at every epoch. */
static double peak_memory_mb(struct trainer *trainer)
{
	tare_process process = { .struct_size = sizeof(process) };
	int64_t now = stopwatch_now();

	if (trainer->peak_mb > 0 &&
	    now - trainer->peak_at_ns < PEAK_INTERVAL_NS)
		return trainer->peak_mb;
	trainer->peak_at_ns = now;
	if (tare_process_read(0, &process) != 0)
		return NAN;
	trainer->peak_mb = (double)process.peak_rss / 0x1p20;
	return trainer->peak_mb;
}

/* What each has measured, of the whole team. */
static void merge(struct trainer *trainer, struct epoch *epoch,
		  const struct loss *loss)
{
	double sums[2] = { loss->sum, loss->correct };
	double most[N_PHASES + 2];
	int64_t total_ns = 0;
	double n_train = trainer->graph->n_split[SPLIT_TRAIN];

	team_sum_doubles(trainer->team, sums, 2);
	epoch->loss += sums[0] / n_train;
	epoch->train_acc = sums[1] / n_train;

	for (int i = PHASE_FORWARD; i < N_PHASES; i++) {
		most[i] = (double)trainer->watch.ns[i] / 1e9;
		total_ns += trainer->watch.ns[i];
	}
	most[PHASE_NONE] = 0;
	most[N_PHASES] = (double)total_ns / 1e9;
	most[N_PHASES + 1] = peak_memory_mb(trainer);
	team_most(trainer->team, most, N_PHASES + 2);
	memcpy(epoch->seconds, most, sizeof(epoch->seconds));
	epoch->total = most[N_PHASES];
	epoch->peak_mb = most[N_PHASES + 1];
}

struct epoch train_epoch(struct trainer *trainer, uint64_t seed,
			 uint32_t number, bool is_evaluated)
{
	struct dropout dropout = { trainer->options->dropout, seed, number };
	struct epoch epoch = { .number = number, .val_f1 = NAN,
			       .test_f1 = NAN, .test_acc = NAN };
	struct loss loss;

	memset(trainer->watch.ns, 0, sizeof(trainer->watch.ns));
	{
		TARE_SCOPE("epoch");
		loss = forward(trainer, &dropout);
		backward(trainer, &dropout);
		sum_gradients(trainer);
		epoch.loss = update(trainer);
		(void)stopwatch_turn(&trainer->watch, PHASE_NONE);
	}
	TARE_STEP_ITEMS(trainer->graph->n_own);
	merge(trainer, &epoch, &loss);
	if (is_evaluated)
		evaluate(trainer, &epoch);
	return epoch;
}
