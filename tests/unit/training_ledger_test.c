/* SPDX-License-Identifier: Apache-2.0 */
#include "../training_scene.h"
#include "read/view.h"

#include <math.h>

/* ---- the ledger -------------------------------------------------------- */

static bool same_rows(const tare_training_info *info,
		      const tare_run_table *table)
{
	size_t first = table->n_rows - info->n_rows;

	if (info->n_rows > table->n_rows)
		return false;
	for (size_t i = 0; i < info->n_rows; i++) {
		const tare_run_row *a = &info->rows[i];
		const tare_run_row *b = &table->rows[first + i];

#define SAME(name) \
	if (a->name != b->name && !(isnan(a->name) && isnan(b->name))) \
		return false;
		TARE_RUN_COLUMNS(SAME)
#undef SAME
		if (a->epoch != b->epoch)
			return false;
	}
	return true;
}

static void ledger(void)
{
	const char *const pairs[] = { "seed", "7", "note", "" };
	tare_training_options options = options_of("ledger");
	tare_training *training, *other;
	const tare_training_info *info;
	const tare_stats *rows, *row;
	tare_view *view;
	size_t n;

	scene_clock();
	scene_start(NULL);
	options.pairs = pairs;
	options.n_pairs = 2;
	options.epochs = 50;
	training = open_one(&options);
	epochs_of(training, 20);
	options.config = "other";
	options.n_pairs = 0;
	other = open_one(&options);
	(void)tare_epoch_begin(other);
	epochs_of(training, 10); /* both at once */
	CHECK_INT(tare_epoch_end(other, NULL), 0);
	CHECK_INT(tare_training_close(other), 0);

	view = scene_view();
	CHECK_INT(tare_view_trainings(view, &info), 2);
	CHECK_STR(info[0].config, "ledger");
	CHECK_STR(info[1].config, "other");
	CHECK_INT(info[0].n_epochs, 30);
	CHECK_INT(info[0].epochs, 50);
	CHECK_INT(info[0].n_rows, 30);
	CHECK_INT(info[0].samples, 300);
	CHECK_INT(info[0].workers, 1);
	CHECK_INT(info[0].n_pairs, 3);
	CHECK_STR(info[0].pairs[0], "workers");
	CHECK_STR(info[0].pairs[2], "seed");
	CHECK_STR(info[0].pairs[3], "7");
	CHECK_STR(info[0].pairs[5], "");
	CHECK_STR(info[0].csv, tare_training_csv(training));
	CHECK_STR(info[0].events, "");
	CHECK(!info[0].is_closed && info[1].is_closed);
	CHECK(same_rows(&info[0], rows_in("ledger_metrics.csv")));
	CHECK(same_rows(&info[1], rows_in("other_metrics.csv")));
	CHECK_NEAR(info[0].total_training_time,
		   rows_in("ledger_metrics.csv")->total_training_time, 1e-12);
	/* total, forward, backward, comm, update, loss, memory */
	CHECK_INT(info[0].columns, 0x23f);
	CHECK(info[0].start_ns > 0 && info[0].end_ns > info[0].start_ns);
	CHECK(memcmp(info[0].rows, info[0].own,
		     30 * sizeof(tare_run_row)) == 0);

	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "epoch");
	CHECK(row && row->count == 31 && strcmp(row->source, "training") == 0);
	row = scene_row(rows, n, "forward");
	CHECK(row && row->count == 30);
	row = scene_row(rows, n, "loss");
	CHECK(row && row->last == 0.1);
	row = scene_row(rows, n, "rate");
	CHECK(row && row->count == 30);
	row = scene_row(rows, n, "steps");
	CHECK(row && row->total == 31);
	tare_view_close(view);
	CHECK_INT(tare_training_close(training), 0);
}

TEST(a_ledger_has_what_the_file_has)
{
	scene_play(ledger);
}

static const tare_training_part *part_of(const tare_training_info *info,
					 const char *name)
{
	static const tare_training_part none;

	for (size_t i = 0; i < info->n_parts; i++)
		if (strcmp(info->parts[i].name, name) == 0)
			return &info->parts[i];
	return &none;
}

static void ledger_parts(void)
{
	tare_training_options options = options_of("parts");
	tare_training *training;
	const tare_training_info *info;
	tare_view *view;

	scene_clock();
	scene_start(NULL);
	training = open_one(&options);
	for (int i = 1; i <= 3; i++) {
		(void)tare_epoch_begin(training);
		{
			TARE_PHASE(training, "communication");
			scene_pass_ns(1 * MS);
			phase(training, "broadcast", i);
		}
		phase(training, "gradient_aggregation", 2);
		CHECK_INT(tare_epoch_end(training, NULL), 0);
	}
	view = scene_view();
	CHECK_INT(tare_view_trainings(view, &info), 1);
	CHECK_NEAR(info->rows[2].comm_time, 0.006, 1e-15);
	CHECK_NEAR(info->broadcast_time, 0.006, 1e-15);
	CHECK_NEAR(info->gradient_aggregation_time, 0.006, 1e-15);
	CHECK_NEAR(part_of(info, "communication")->seconds, 0.003, 1e-15);
	CHECK_NEAR(part_of(info, "broadcast")->seconds, 0.006, 1e-15);
	CHECK_NEAR(part_of(info, "broadcast")->last_seconds, 0.003, 1e-15);
	CHECK_INT(part_of(info, "broadcast")->calls, 3);
	CHECK_NEAR(part_of(info, "gradient_aggregation")->last_seconds, 0.002,
		   1e-15);
	tare_view_close(view);
	CHECK_INT(tare_training_close(training), 0);
}

TEST(a_ledger_has_every_phase_by_itself)
{
	scene_play(ledger_parts);
}

static void newest(void)
{
	static const char *const start[] = { "training_epochs", "60", NULL };
	tare_training_options options = options_of("newest");
	tare_training *training;
	const tare_training_info *info;
	const tare_run_table *table;
	tare_view *view;

	scene_clock();
	scene_start(start);
	training = open_one(&options);
	epochs_of(training, 500);
	view = scene_view();
	CHECK_INT(tare_view_trainings(view, &info), 1);
	CHECK_INT(info->n_epochs, 500);
	CHECK(info->n_rows >= 60 && info->n_rows < 90);
	CHECK_INT(info->rows[info->n_rows - 1].epoch, 500);
	table = rows_in("newest_metrics.csv");
	CHECK(same_rows(info, table));
	CHECK_NEAR(info->total_training_time, table->total_training_time,
		   1e-9);
	tare_view_close(view);
	CHECK_INT(tare_training_close(training), 0);
}

TEST(a_ledger_keeps_the_newest_epochs)
{
	scene_play(newest);
}

static void little(void)
{
	static const char *const start[] = { "ledger_limit", "1M", NULL };
	tare_training_options options = options_of("little");
	tare_training *training;
	const tare_training_info *info;
	tare_view *view;
	size_t n;

	scene_start(start);
	options.results = "";
	for (int i = 0; i < 3000; i++) {
		training = open_one(&options);
		epochs_of(training, i ? 1 : 2000);
		CHECK_INT(tare_training_close(training), 0);
	}
	view = scene_view();
	n = tare_view_trainings(view, &info);
	CHECK(n > 1 && n < 3000);
	CHECK_INT(info->n_epochs, 2000);
	CHECK(info->n_rows > 20 && info->n_rows < 2000);
	/* Others have their place. */
	CHECK(tare_view_run(view)->ledger_bytes < (1u << 20));
	CHECK_INT(tare_view_health(view)->lost, 0);
	tare_view_close(view);
}

TEST(trainings_take_a_part_of_a_small_ledger)
{
	scene_play(little);
}

static void later(void)
{
	tare_training_options options = options_of("later");
	tare_training *training = open_one(&options);
	const tare_training_info *info = NULL;
	tare_view *view;

	epochs_of(training, 3);
	scene_start(NULL);
	epochs_of(training, 2);
	view = scene_view();
	CHECK_INT(tare_view_trainings(view, &info), 1);
	CHECK(info && info->n_epochs == 5 && info->n_rows == 2);
	CHECK(info && info->rows[0].epoch == 4);
	tare_view_close(view);
	CHECK_INT(tare_training_close(training), 0);
}

TEST(measuring_may_begin_after_the_training)
{
	scene_play(later);
}
