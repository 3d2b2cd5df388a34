/* SPDX-License-Identifier: Apache-2.0 */
#include "train.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include <tare/tare.h>

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

/* ---- communication ----------------------------------------------------- */

static bool is_alone(const struct trainer *trainer)
{
	return trainer->team->me.of == 1;
}

static void exchange(struct trainer *trainer, float *rows, uint32_t width)
{
	if (is_alone(trainer))
		return;
	TARE_PHASE(trainer->training, "communication");
	team_exchange(trainer->team, rows, width);
}

static void sum_gradients(struct trainer *trainer)
{
	if (is_alone(trainer))
		return;
	TARE_PHASE(trainer->training, "communication");
	team_sum(trainer->team, trainer->model.gradient,
		 trainer->model.n_weights);
}

void train_begin(struct trainer *trainer, uint64_t seed)
{
	struct model *model = &trainer->model;

	adam_reset(&trainer->adam);
	if (trainer->team->me.index == 0)
		model_draw(model, seed);
	if (!is_alone(trainer)) {
		TARE_PHASE(trainer->training, "communication");
		team_broadcast(trainer->team, model->weights,
			       model->n_weights);
	}
}

/* ---- an epoch ---------------------------------------------------------- */

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
	TARE_PHASE(trainer->training, "forward");

	go_forward(trainer, dropout);
	return pass_loss(&trainer->pass, trainer->graph, &trainer->model);
}

static void backward(struct trainer *trainer, const struct dropout *dropout)
{
	struct model *model = &trainer->model;
	struct pass *pass = &trainer->pass;

	TARE_PHASE(trainer->training, "backward");
	exchange(trainer, pass->d_logits, model->class_width);
	pass_hidden_gradient(pass, trainer->graph, model, dropout);
	exchange(trainer, pass->d_hidden, model->hidden_width);
	pass_word_gradient(pass, trainer->graph, model, dropout);
}

/* Returns the part of the loss that comes from decay. */
static double update(struct trainer *trainer)
{
	struct model *model = &trainer->model;

	TARE_PHASE(trainer->training, "update");
	return adam_step(&trainer->adam, model->weights, model->gradient,
			 model->n_first);
}

/* ---- evaluation -------------------------------------------------------- */

static void count_classes(struct trainer *trainer)
{
	const struct graph *graph = trainer->graph;

	tare_classify_clear(trainer->val);
	tare_classify_clear(trainer->test);
	for (uint32_t i = 0; i < graph->n_own; i++) {
		int32_t predicted;
		int err;

		if (graph->split[i] != SPLIT_VAL &&
		    graph->split[i] != SPLIT_TEST)
			continue;
		predicted = (int32_t)pass_class(&trainer->pass,
						&trainer->model, i);
		err = tare_classify_add(graph->split[i] == SPLIT_VAL ?
						trainer->val : trainer->test,
					&graph->label[i], &predicted, 1);
		assert(!err); /* labels were checked when read */
		(void)err;
	}
}

static tare_scores scores_of(struct trainer *trainer, tare_classify *classify)
{
	tare_scores scores;
	uint32_t n = 0;
	uint64_t *matrix = tare_classify_matrix(classify, &n);

	team_sum_counts(trainer->team, matrix, (size_t)n * n);
	if (tare_classify_scores(classify, 0, &scores))
		return (tare_scores){ .macro.f1 = NAN, .accuracy = NAN };
	return scores;
}

/* Not part of training. */
static void evaluate(struct trainer *trainer, struct epoch *epoch)
{
	TARE_PAUSE(trainer->training, "evaluation");
	tare_scores test;

	go_forward(trainer, NULL);
	count_classes(trainer);
	epoch->val_f1 = scores_of(trainer, trainer->val).macro.f1;
	test = scores_of(trainer, trainer->test);
	epoch->test_f1 = test.macro.f1;
	epoch->test_acc = test.accuracy;
}

/* Loss and accuracy of the whole team; training does not need them. */
static void add_up(struct trainer *trainer, struct epoch *epoch,
		   const struct loss *loss)
{
	double sums[2] = { loss->sum, loss->correct };
	double n_train = trainer->graph->n_split[SPLIT_TRAIN];

	TARE_PAUSE(trainer->training, "scores");
	team_sum_doubles(trainer->team, sums, 2);
	epoch->loss += sums[0] / n_train;
	epoch->train_acc = sums[1] / n_train;
}

/* A score that was not evaluated is not recorded. */
static void give(struct trainer *trainer, const char *name, double value)
{
	if (!isnan(value))
		(void)tare_training_value(trainer->training, name, value);
}

static void end_epoch(struct trainer *trainer, struct epoch *epoch)
{
	tare_epoch measured = { .struct_size = sizeof(measured) };

	(void)tare_training_value(trainer->training, "loss", epoch->loss);
	give(trainer, "train_acc", epoch->train_acc);
	give(trainer, "val_f1", epoch->val_f1);
	give(trainer, "test_f1", epoch->test_f1);
	give(trainer, "test_acc", epoch->test_acc);
	tare_training_samples(trainer->training, trainer->graph->n_own);
	(void)tare_epoch_end(trainer->training, &measured);
	epoch->total = measured.row.total_time;
}

struct epoch train_epoch(struct trainer *trainer, uint64_t seed,
			 uint32_t number, bool is_evaluated)
{
	struct dropout dropout = { trainer->options->dropout, seed, number };
	struct epoch epoch = { .number = number, .val_f1 = NAN,
			       .test_f1 = NAN, .test_acc = NAN };
	struct loss loss;

	(void)tare_epoch_begin(trainer->training);
	loss = forward(trainer, &dropout);
	backward(trainer, &dropout);
	sum_gradients(trainer);
	epoch.loss = update(trainer);
	add_up(trainer, &epoch, &loss);
	if (is_evaluated)
		evaluate(trainer, &epoch);
	end_epoch(trainer, &epoch);
	return epoch;
}
