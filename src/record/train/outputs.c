/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outputs: the files of a training. Worker 0 writes the run's CSV file and the
 * files for TensorBoard; with several workers each has a CSV file of its own
 * rows.
 *
 * A row is in its file when the epoch's end returns. Events are written once a
 * second: a killed run lacks its last second there.
 */
#include "record/train/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "record/train/event_file.h"
#include "record/train/run_csv.h"

#define EVENTS_NS 1000000000
#define KEEP_PATH 900u
#define KEEP_TRIES 100000u

/* Once per training. */
static void warn(tare_training *t, const char *what, const char *path, int err)
{
	char text[512];

	if (t->has_complained)
		return;
	t->has_complained = true;
	(void)snprintf(text, sizeof(text), "cannot %s '%.300s': %s; training "
		       "goes on", what, path, tare_strerror(err));
	tr_host.log_asked(TARE_LEVEL_WARNING, text);
}

/* ---- opening ----------------------------------------------------------- */

/* The caller's folder, or the option's. */
static void find_folder(tare_training *t, const char *given,
			const char *option, char *folder)
{
	folder[0] = '\0';
	if (!given)
		(void)tr_host.option(option, folder, KEEP_PATH);
	else if (strlen(given) < KEEP_PATH)
		strcpy(folder, given);
	else
		warn(t, "write into", given, TARE_EINVAL);
}

static bool has_key(const tare_training_options *o, const char *key)
{
	for (size_t i = 0; i < o->n_pairs; i++)
		if (strcmp(o->pairs[2 * i], key) == 0)
			return true;
	return false;
}

/* The caller's pairs, and the number of workers. Gives (free). */
static const char **join_pairs(const tare_training *t,
			       const tare_training_options *o, char number[24],
			       size_t *ret_n)
{
	size_t n = 0;
	const char **pairs = calloc(2 * (o->n_pairs + 1), sizeof(*pairs));

	*ret_n = 0;
	if (!pairs)
		return NULL;
	if (!has_key(o, "workers")) {
		(void)tr_u64_text(number, t->workers);
		pairs[n++] = "workers";
		pairs[n++] = number;
	}
	for (size_t i = 0; i < 2 * o->n_pairs; i++)
		pairs[n++] = o->pairs[i];
	*ret_n = n / 2;
	return pairs;
}

static void open_csv(tare_training *t, const char *results,
		     const char *const *pairs, size_t n_pairs)
{
	struct tr_run_csv_name name = { results, t->config, t->config, 1, 0 };
	int err;

	if (!results[0] || t->worker)
		return;
	err = tr_run_csv_open(&name, pairs, n_pairs, &t->csv);
	if (err)
		warn(t, "write into", results, err);
}

/*
 * All workers use worker 0's numbers: files of one run have the same number,
 * also those of the previous run.
 */
struct numbers {
	unsigned file, moved;
};

static unsigned whole(double number, unsigned preset)
{
	return number >= 1 && number < 1e6 ? (unsigned)number : preset;
}

static struct numbers agree_numbers(tare_training *t)
{
	double numbers[2] = { tr_run_csv_number(t->csv),
			      tr_run_csv_moved(t->csv) };

	if (t->workers > 1 && t->max_allreduce &&
	    t->max_allreduce(t->data, numbers, 2))
		numbers[0] = numbers[1] = 0;
	return (struct numbers){ whole(numbers[0], 1), whole(numbers[1], 0) };
}

static void open_own_csv(tare_training *t, const char *results,
			 const char *const *pairs, size_t n_pairs,
			 struct numbers n)
{
	char folder[KEEP_PATH + 256], stem[32];
	struct tr_run_csv_name name = { folder, stem, t->config, n.file,
					n.moved };
	int err;

	if (!results[0] || t->workers == 1)
		return;
	(void)snprintf(folder, sizeof(folder), "%s/%s_workers", results,
		       t->config);
	(void)snprintf(stem, sizeof(stem), "worker_%u", t->worker);
	err = tr_run_csv_open(&name, pairs, n_pairs, &t->own_csv);
	if (err)
		warn(t, "write into", folder, err);
}

/* TensorBoard shows a folder as a run: use none that exists. */
static int new_folder(const tare_training *t, const char *events,
		      unsigned number, char *folder, size_t size)
{
	int err = tr_dir_make_shared(events);
	bool is_new = false;

	for (unsigned i = number; !err && i < KEEP_TRIES; i++) {
		int n = i > 1 ? snprintf(folder, size, "%s/%s_%u", events,
					 t->config, i) :
				snprintf(folder, size, "%s/%s", events,
					 t->config);

		if (n < 0 || (size_t)n >= size)
			return TARE_EINVAL;
		err = tr_dir_new(folder, &is_new);
		if (err || is_new)
			return err;
	}
	return err ? err : TARE_EFULL;
}

/* The configuration as a list, which TensorBoard shows. */
static int put_text(tare_training *t, const char *const *pairs, size_t n)
{
	struct tr_buf text = TR_BUF_INIT;
	int err;

	for (size_t i = 0; i < n; i++)
		tr_buf_addf(&text, "%s`%s`: %s", i ? "  \n" : "",
			    pairs[2 * i],
			    pairs[2 * i + 1] ? pairs[2 * i + 1] : "");
	err = text.failed ? TARE_ENOMEM :
			    tare_event_file_text(t->events, "configuration",
						 0, text.data ? text.data :
								"");
	if (!err)
		err = tare_event_file_flush(t->events);
	tr_buf_release(&text);
	return err;
}

static void open_events(tare_training *t, const char *events, char *folder,
			size_t size, unsigned number)
{
	int err;

	if (!events[0] || t->worker)
		return;
	err = new_folder(t, events, number, folder, size);
	if (!err)
		err = tare_event_file_open(folder, &t->events);
	if (err) {
		warn(t, "write into", events, err);
		folder[0] = '\0';
	}
}

static void open_store(tare_training *t, const char *const *pairs,
		       size_t n_pairs, const char *events)
{
	char rows[24] = "";
	uint64_t most = 10000;
	struct tr_epoch_store_head head = {
		.struct_size = sizeof(head),
		.worker = t->worker,
		.workers = t->workers,
		.n_pairs = (uint32_t)n_pairs,
		.epochs = t->epochs,
		.config = t->config,
		.csv = tare_run_csv_path(t->csv ? t->csv : t->own_csv),
		.events = events,
		.pairs = pairs,
	};

	if (!t->is_kept)
		return;
	if (tr_host.option("training_epochs", rows, sizeof(rows)) > 0)
		(void)tr_parse_u64(rows, &most);
	head.most_rows = most;
	t->store = tr_epoch_store_open(&head);
}

void tr_training_outputs_open(tare_training *t, const tare_training_options *o)
{
	char results[KEEP_PATH], events[KEEP_PATH], number[24];
	char folder[KEEP_PATH + 256] = "";
	struct numbers file;
	size_t n;
	int err;
	const char **pairs = join_pairs(t, o, number, &n);

	find_folder(t, o->results, "training_results", results);
	find_folder(t, o->events, "training_events", events);
	open_csv(t, results, pairs, n);
	file = agree_numbers(t);
	open_own_csv(t, results, pairs, n, file);
	open_events(t, events, folder, sizeof(folder), file.file);
	err = t->events ? put_text(t, pairs, n) : 0;
	if (err)
		warn(t, "write into", folder, err);
	open_store(t, pairs, n, folder);
	free(pairs);
}

/* ---- an epoch ---------------------------------------------------------- */

static void add_scalar(struct tr_scalars *s, const char *tag, double value)
{
	s->tag[s->n] = tag;
	s->len[s->n] = (uint8_t)strlen(tag);
	s->value[s->n++] = value;
}

static void add_columns(struct tr_scalars *s, const tare_training *t,
			const tare_run_row *row)
{
	for (unsigned i = 0; i < TR_TRAINING_COLUMNS; i++)
		if (tr_training_has_column(t, row, i))
			add_scalar(s, tr_column_name(i), tr_row_value(row, i));
}

static void add_values(struct tr_scalars *s, const tare_training *t)
{
	for (uint32_t i = TR_VALUE_COLUMNS; i < t->values.n; i++)
		if (tr_training_has(t, i))
			add_scalar(s, t->values.text[i], t->value[i].value);
}

/* The time of day is that of the last flush plus the time since then. */
static int put_events(tare_training *t, const tare_epoch *epoch,
		      int64_t now_ns)
{
	bool is_due = !t->wall_ns ||
		      now_ns - t->flushed_at_ns >= EVENTS_NS;
	struct tr_scalars s;
	int err;

	if (is_due) {
		t->flushed_at_ns = now_ns;
		t->wall_ns = tr_realtime_ns() - now_ns;
	}
	s.n = 0;
	add_columns(&s, t, &epoch->row);
	if (!isnan(epoch->samples_per_s))
		add_scalar(&s, "samples_per_s", epoch->samples_per_s);
	add_values(&s, t);
	err = tr_event_file_scalars(t->events, (int64_t)epoch->row.epoch,
				    t->wall_ns + now_ns, &s);
	return err || !is_due ? err : tare_event_file_flush(t->events);
}

static int put_row(tare_training *t, tare_run_csv *csv,
		   const tare_run_row *row, int64_t now_ns)
{
	int err = csv ? tr_run_csv_add(csv, row, now_ns) : 0;

	if (err)
		warn(t, "write", tare_run_csv_path(csv), err);
	return err;
}

int tr_training_outputs_row(tare_training *t, const tare_epoch *epoch,
			    int64_t now_ns)
{
	int err = put_row(t, t->csv, &epoch->row, now_ns);
	int own_err = put_row(t, t->own_csv, &epoch->own, now_ns);
	int events_err = t->events ? put_events(t, epoch, now_ns) : 0;

	if (events_err)
		warn(t, "write", tare_event_file_path(t->events),
				 events_err);
	return err ? err : own_err ? own_err : events_err;
}

/* ---- the end ----------------------------------------------------------- */

static int close_file(tare_training *t, const char *path, tare_run_csv *csv,
		      tare_event_file *events)
{
	char kept[1024]; /* the path is freed with the file */
	int err;

	(void)snprintf(kept, sizeof(kept), "%s", path);
	err = events ? tare_event_file_close(events) : tare_run_csv_close(csv);
	if (err)
		warn(t, "write all of", kept, err);
	return err;
}

int tr_training_outputs_close(tare_training *t)
{
	int err = close_file(t, tare_run_csv_path(t->csv), t->csv, NULL);
	int own_err = close_file(t, tare_run_csv_path(t->own_csv), t->own_csv,
				 NULL);
	int events_err = close_file(t, tare_event_file_path(t->events), NULL,
				    t->events);

	t->csv = t->own_csv = NULL;
	t->events = NULL;
	return err ? err : own_err ? own_err : events_err;
}
