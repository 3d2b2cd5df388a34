/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <errno.h>
#include <string.h>

#include <tare/error.h>

#define N_PAIRS 12

/* What the run is, as pairs of texts. */
struct about {
	char text[N_PAIRS][64];
	const char *pairs[2 * N_PAIRS];
	size_t n;
};

static void complain(struct record *record, const char *what,
		     const char *path, const char *why)
{
	if (!record->has_complained)
		fprintf(stderr, "%s: cannot write %s '%s': %s; training goes "
			"on\n", team_program, what, path, why);
	record->has_complained = true;
}

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

static void open_csv(struct record *record, const struct options *options,
		     const char *name, const struct about *about)
{
	int err;

	if (!options->results || !options->results[0])
		return;
	err = tare_run_csv_open(options->results, name, about->pairs,
				about->n, &record->csv);
	if (err)
		complain(record, "into", options->results,
			 tare_strerror(err));
}

static void open_events(struct record *record, const struct options *options,
			const char *name, const struct about *about)
{
	char folder[1024], text[2048] = "";
	size_t at = 0;
	int err;

	if (!options->events || !options->events[0])
		return;
	(void)snprintf(folder, sizeof(folder), "%.900s/%.60s_seed_%s",
		       options->events, name, about->pairs[3]);
	err = tare_event_file_open(folder, &record->events);
	for (size_t i = 0; i < about->n && at < sizeof(text); i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "%s`%s`: %.200s", i ? "  \n" : "",
				       about->pairs[2 * i],
				       about->pairs[2 * i + 1]);
	if (!err)
		err = tare_event_file_text(record->events, "configuration", 0,
					   text);
	if (err)
		complain(record, "into", folder, tare_strerror(err));
}

void record_open(struct record *record, const struct trainer *trainer,
		 uint64_t seed)
{
	const struct options *options = trainer->options;
	char name[64];
	struct about about;

	memset(record, 0, sizeof(*record));
	if (trainer->team->me.index != 0)
		return;
	team_name(trainer->team, name, sizeof(name));
	describe(&about, trainer, seed);
	open_csv(record, options, options->name ? options->name : name,
		 &about);
	open_events(record, options, options->name ? options->name : name,
		    &about);
	if (!options->losses)
		return;
	record->losses = fopen(options->losses,
			       seed == options->seed ? "we" : "ae");
	if (!record->losses)
		complain(record, "to", options->losses, strerror(errno));
}

static tare_run_row row_of(const struct epoch *epoch)
{
	return (tare_run_row){
		.epoch = epoch->number,
		.total_time = epoch->total,
		.forward_time = epoch->seconds[PHASE_FORWARD],
		.backward_time = epoch->seconds[PHASE_BACKWARD],
		.comm_time = epoch->seconds[PHASE_COMMUNICATION],
		.update_time = epoch->seconds[PHASE_UPDATE],
		.loss = epoch->loss,
		.train_acc = epoch->train_acc,
		.val_f1 = epoch->val_f1,
		.test_f1 = epoch->test_f1,
		.peak_memory_mb = epoch->peak_mb,
	};
}

static int add_scalars(tare_event_file *events, const tare_run_row *row)
{
#define TAG(name) #name,
#define VALUE(name) row->name,
	static const char *const tags[] = { TARE_RUN_COLUMNS(TAG) };
	double values[] = { TARE_RUN_COLUMNS(VALUE) };
#undef TAG
#undef VALUE
	int err = tare_event_file_scalars(events, (int64_t)row->epoch, tags,
					  values,
					  sizeof(tags) / sizeof(tags[0]));

	return err ? err : tare_event_file_flush(events);
}

void record_epoch(struct record *record, const struct epoch *epoch)
{
	tare_run_row row = row_of(epoch);
	int err;

	if (record->csv && (err = tare_run_csv_add(record->csv, &row)))
		complain(record, "to", tare_run_csv_path(record->csv),
			 tare_strerror(err));
	if (record->events && (err = add_scalars(record->events, &row)))
		complain(record, "to", tare_event_file_path(record->events),
			 tare_strerror(err));
	if (record->losses)
		fprintf(record->losses, "%.9g\n", epoch->loss);
}

void record_close(struct record *record, const struct trainer *trainer,
		  const struct epoch *last)
{
	const struct model *model = &trainer->model;

	if (record->events)
		(void)tare_event_file_values(record->events, "weights/first",
					     last->number, model->weights,
					     model->n_first);
	if (tare_event_file_close(record->events) ||
	    tare_run_csv_close(record->csv))
		complain(record, "all of", "the run", "input or output error");
	if (record->losses)
		(void)fclose(record->losses);
	memset(record, 0, sizeof(*record));
}
