/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <errno.h>
#include <string.h>

#include <tare/error.h>
#include <tare/event_file.h>

#define N_PAIRS 12

/* The settings of the run, as pairs of texts. */
struct about {
	char text[N_PAIRS][64];
	const char *pairs[2 * N_PAIRS];
	size_t n;
};

static void add(struct about *about, const char *key, double value)
{
	char *text = about->text[about->n];

	(void)snprintf(text, sizeof(about->text[0]), "%.15g", value);
	about->pairs[2 * about->n] = key;
	about->pairs[2 * about->n + 1] = text;
	about->n++;
}

static void add_count(struct about *about, const char *key, uint64_t value)
{
	add(about, key, 0);
	(void)snprintf(about->text[about->n - 1], sizeof(about->text[0]),
		       "%llu", (unsigned long long)value);
}

static void describe(struct about *about, const struct trainer *trainer,
		     uint64_t seed)
{
	const struct options *options = trainer->options;
	const struct graph *graph = trainer->graph;

	about->n = 0;
	add_count(about, "processes", trainer->team->me.of);
	add_count(about, "seed", seed);
	add_count(about, "epochs", options->n_epochs);
	add_count(about, "nodes", graph->n_nodes);
	add_count(about, "edges", graph->n_edges);
	add_count(about, "words", graph->n_words);
	add_count(about, "classes", graph->n_classes);
	add_count(about, "hidden", options->n_hidden);
	add(about, "dropout", options->dropout);
	add(about, "learning_rate", options->rate);
	add(about, "weight_decay", options->decay);
	about->pairs[2 * about->n] = "data";
	about->pairs[2 * about->n + 1] = options->data ? options->data :
							 "generated";
	about->n++;
}

/* The library reports write errors, but not an invalid name. */
static tare_training *begin(const struct trainer *trainer,
			    const struct about *about)
{
	const struct options *options = trainer->options;
	char name[64];
	tare_training_options run = {
		.struct_size = sizeof(run),
		.config = options->name ? options->name : name,
		.results = options->results,
		.events = options->events,
		.pairs = about->pairs,
		.n_pairs = about->n,
		.epochs = options->n_epochs,
	};
	tare_training *training;
	int err;

	team_name(trainer->team, name, sizeof(name));
	team_describe(trainer->team, &run);
	err = tare_training_open(&run, &training);
	if (err && trainer->team->me.index == 0)
		fprintf(stderr, "%s: cannot measure '%s': %s; training goes "
			"on\n", team_program, run.config, tare_strerror(err));
	return training;
}

void record_open(struct record *record, struct trainer *trainer,
		 uint64_t seed)
{
	const struct options *options = trainer->options;
	struct about about;

	record->losses = NULL;
	describe(&about, trainer, seed);
	trainer->training = begin(trainer, &about);
	if (!options->losses || trainer->team->me.index != 0)
		return;
	record->losses = fopen(options->losses,
			       seed == options->seed ? "we" : "ae");
	if (!record->losses)
		fprintf(stderr, "%s: cannot write to '%s': %s; training goes "
			"on\n", team_program, options->losses,
			strerror(errno));
}

void record_epoch(struct record *record, const struct epoch *epoch)
{
	if (record->losses)
		fprintf(record->losses, "%.9g\n", epoch->loss);
}

void record_close(struct record *record, struct trainer *trainer,
		  const struct epoch *last)
{
	const struct model *model = &trainer->model;
	tare_event_file *events = tare_training_events(trainer->training);

	if (events)
		(void)tare_event_file_values(events, "weights/first",
					     last->number, model->weights,
					     model->n_first);
	(void)tare_training_close(trainer->training);
	trainer->training = NULL;
	if (record->losses)
		(void)fclose(record->losses);
}
