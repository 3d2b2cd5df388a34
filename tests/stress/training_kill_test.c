/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training that is killed at a random instant: every epoch that was
 * finished is in its CSV file and in its ledger, the one that was being
 * written is there whole or not at all, and both say the same.
 */
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tare/read/run_file.h>
#include <tare/read/train.h>

#include "../check.h"

#define KILLS 300u

struct shared {
	uint64_t done; /* epochs that have ended */
	char path[512];
	char csv[512];
};

static struct shared *shared;
static const char *folder;

struct kill_mode {
	const char *rows; /* kept in the ledger */
};

static const struct kill_mode modes[] = { { "10000" }, { "40" } };

static void phases(tare_training *training)
{
	TARE_PHASE(training, "forward");
	TARE_PHASE(training, "communication");
}

static void body(void *arg)
{
	const struct kill_mode *mode = arg;
	const char *const options[] = { "training_epochs", mode->rows, NULL };
	char results[200];
	tare_training_options about = { .struct_size = sizeof(about),
					.config = "killed",
					.results = results,
					.events = results };
	tare_training *training;

	scratch_start(options);
	(void)snprintf(results, sizeof(results), "%s/results", folder);
	if (tare_training_open(&about, &training))
		_exit(97);
	strcpy(shared->path, tare_ledger_path());
	strcpy(shared->csv, tare_training_csv(training));
	for (uint64_t i = 1;; i++) {
		(void)tare_epoch_begin(training);
		phases(training);
		(void)tare_training_value(training, "loss", 1. / (double)i);
		if (tare_epoch_end(training, NULL))
			_exit(96);
		__atomic_store_n(&shared->done, i, __ATOMIC_RELEASE);
	}
}

/* ---- what is left ------------------------------------------------------ */

static bool is_whole(const tare_run_row *row, uint64_t epoch)
{
	return row->epoch == epoch && row->loss == 1. / (double)epoch &&
	       row->total_time >= row->forward_time + row->comm_time - 1e-12;
}

static bool check_rows(const char *what, const tare_run_row *rows, size_t n,
		       uint64_t last)
{
	for (size_t i = 0; i < n; i++)
		if (!is_whole(&rows[i], last - n + 1 + i)) {
			printf("# %s: row %zu of %zu is of epoch %llu\n",
			       what, i, n, (unsigned long long)rows[i].epoch);
			return CHECK(false);
		}
	return true;
}

/* As many as were done, or the one more that was under way. */
static bool is_done(uint64_t n)
{
	return n == shared->done || n == shared->done + 1;
}

static bool check_csv(void)
{
	tare_run_file *file;
	const tare_run_table *table;
	bool ok;

	if (!CHECK_INT(tare_run_file_open(shared->csv, &file, NULL), 0))
		return false;
	table = tare_run_file_table(file);
	ok = CHECK(is_done(table->n_rows)) &&
	     check_rows("csv", table->rows, table->n_rows, table->n_rows);
	tare_run_file_close(file);
	return ok;
}

static bool check_training(const struct scratch_reading *reading,
			   const struct kill_mode *mode)
{
	const tare_training_info *info;
	uint64_t most = strtoull(mode->rows, NULL, 10) + 42, least;
	bool ok = CHECK_INT(tare_view_trainings(reading->view, &info), 1);

	if (!ok)
		return false;
	least = info->n_epochs < most - 42 ? info->n_epochs : most - 42;
	/* Of a full ring the row that is being replaced is missing. */
	return CHECK(is_done(info->n_epochs)) &&
	       CHECK(info->n_rows <= most && info->n_rows + 1 >= least) &&
	       CHECK(!info->is_closed) &&
	       check_rows("ledger", info->rows, info->n_rows,
			  info->n_epochs);
}

static bool kill_one(const struct kill_mode *mode, uint64_t *random)
{
	struct scratch_reading reading;
	double until = scratch_seconds() + 20;
	pid_t pid;
	bool ok;

	memset(shared, 0, sizeof(*shared));
	pid = scratch_fork(body, (void *)(uintptr_t)mode);
	while (!READ(shared->done) && scratch_seconds() < until)
		(void)usleep(50);
	(void)usleep((useconds_t)(scratch_random(random) % 4000));
	(void)kill(pid, SIGKILL);
	(void)scratch_wait(pid, 10);
	if (!CHECK(shared->done > 0))
		return false;
	ok = check_csv();
	ok = scratch_read(shared->path, &reading) &&
	     check_training(&reading, mode) && ok;
	scratch_close(&reading);
	return ok;
}

TEST(a_killed_training_keeps_every_finished_epoch)
{
	unsigned kills = scratch_times(KILLS), bad = 0;
	uint64_t random = (uint64_t)getpid(), epochs = 0;

	folder = scratch_enter();
	shared = scratch_share(sizeof(*shared));
	for (unsigned i = 0; i < kills && bad < 20; i++) {
		bad += !kill_one(&modes[i % 2], &random);
		epochs += shared->done;
		scratch_empty();
	}
	printf("# %u kills after %llu epochs\n", kills,
	       (unsigned long long)epochs);
	CHECK_INT(bad, 0);
	scratch_unshare(shared, sizeof(*shared));
	scratch_leave();
}
