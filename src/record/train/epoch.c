/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epochs: the measurements of an epoch become a row, which goes to all
 * workers, to the files, to the ledger and to the log.
 */
#include "record/train/training.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include <tare/system.h>

#include "record/step.h"

/* Reading the peak takes as long as a small network's update. */
#define PEAK_INTERVAL_NS 50000000

TARE_API int tare_epoch_begin(tare_training *t)
{
	if (!t)
		return 0;
	if (!tr_training_is_mine(t))
		return TARE_EINVAL;
	t->given = 0;
	__atomic_store_n(&t->steps, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&t->samples, 0, __ATOMIC_RELAXED);
	return tr_phases_begin(t);
}

/* ---- values ------------------------------------------------------------ */

TARE_API int tare_training_value(tare_training *t, const char *name,
				 double number)
{
	uint32_t i;

	if (!t)
		return 0;
	if (!name || !name[0] || !t->epoch || !tr_training_is_mine(t))
		return TARE_EINVAL;
	i = tr_names_find(&t->values, name);
	if (i == UINT32_MAX && t->values.n == TR_NAMES)
		return TARE_EFULL;
	if (i == UINT32_MAX)
		i = tr_names_add(&t->values, name);
	t->value[i].value = number;
	t->given |= (uint64_t)1 << i;
	return 0;
}

static void show_value(const tare_training *t, tare_site **site,
		       const char *name, double value)
{
	if (!t->is_kept)
		return;
	if (!*site)
		*site = tare_site_get(TARE_KIND_GAUGE, TARE_TYPE_CUSTOM, name,
				      "", "training");
	tare_gauge_set(*site, value);
}

TARE_API void tare_training_samples(tare_training *t, uint64_t n)
{
	if (t)
		(void)__atomic_fetch_add(&t->samples, n, __ATOMIC_RELAXED);
}

TARE_API void tare_training_step(tare_training *t, uint64_t samples)
{
	if (!t || !tr_training_is_mine(t))
		return;
	(void)__atomic_fetch_add(&t->steps, 1, __ATOMIC_RELAXED);
	tare_training_samples(t, samples);
	if (t->is_kept)
		tare_step_done(samples);
}

/* ---- the row ----------------------------------------------------------- */

static double peak_mb(tare_training *t, int64_t now)
{
	tare_process process = { .struct_size = sizeof(process) };
	int saved = errno;

	if (t->peak_at_ns && now - t->peak_at_ns < PEAK_INTERVAL_NS)
		return t->peak_mb;
	t->peak_at_ns = now ? now : 1;
	t->peak_mb = tare_process_read(0, &process) == 0 ?
			     (double)process.peak_rss / 0x1p20 :
			     NAN;
	errno = saved;
	return t->peak_mb;
}

/* Fills in what the phases do not provide. */
static void complete_own(tare_training *t, tare_run_row *own, int64_t now)
{
	for (unsigned i = 0; i < TR_VALUE_COLUMNS; i++)
		*tr_row_at(own, TR_COLUMN_loss + i) =
			tr_training_has(t, i) ? t->value[i].value : NAN;
	own->peak_memory_mb = peak_mb(t, now);
}

/* The slowest worker's times, the largest memory: one all-reduce. */
static void fill_row_of_all(tare_training *t, tare_epoch *epoch)
{
	double most[TR_TRAINING_OWN + TR_TRAINING_PARTS];
	double *parts = most + TR_TRAINING_OWN;
	tare_run_row *row = &epoch->row;

	*row = epoch->own;
	if (t->workers == 1 || !t->max_allreduce)
		return;
	for (unsigned i = 0; i < TR_TRAINING_OWN; i++) {
		double own = tr_row_value(row, tr_worker_column(i));

		most[i] = isnan(own) ? -1 : own; /* memory may be unknown */
	}
	parts[0] = epoch->broadcast_time;
	parts[1] = epoch->gradient_aggregation_time;
	if (t->max_allreduce(t->data, most, sizeof(most) / sizeof(most[0]))) {
		if (!t->is_told_most)
			tr_host.log_asked(TARE_LEVEL_WARNING,
					"the workers' times could not be "
					"put together; rows are this "
					"worker's");
		t->is_told_most = true;
		return;
	}
	for (unsigned i = 0; i < TR_TRAINING_OWN; i++)
		*tr_row_at(row, tr_worker_column(i)) = most[i];
	if (row->peak_memory_mb < 0)
		row->peak_memory_mb = NAN;
	epoch->broadcast_time = parts[0];
	epoch->gradient_aggregation_time = parts[1];
}

/* ---- into the ledger --------------------------------------------------- */

static void put_phases(tare_training *t, const tare_epoch *epoch)
{
	struct tr_epoch_store_phases phases = {
		.struct_size = sizeof(phases),
		.n = t->n_sums,
		.name = (const char *)t->phases.text,
		.sums = t->sums,
	};

	t->part_total[0] += epoch->broadcast_time;
	t->part_total[1] += epoch->gradient_aggregation_time;
	phases.part[0] = t->part_total[0];
	phases.part[1] = t->part_total[1];
	phases.part[2] = epoch->broadcast_time;
	phases.part[3] = epoch->gradient_aggregation_time;
	tr_epoch_store_phases(t->store, &phases);
}

static void put_ledger(tare_training *t, const tare_epoch *epoch)
{
	struct tr_training_row kept = { .epoch = epoch->row.epoch };

	put_phases(t, epoch); /* before their row */
	for (unsigned i = 0; i < TR_TRAINING_COLUMNS; i++) {
		kept.run[i] = tr_bits_of(tr_row_value(&epoch->row, i));
		if (tr_training_has_column(t, &epoch->row, i))
			t->columns |= 1u << i;
	}
	for (unsigned i = 0; i < TR_TRAINING_OWN; i++)
		kept.own[i] = tr_bits_of(tr_row_value(&epoch->own,
						      tr_worker_column(i)));
	kept.total = tr_bits_of(t->total);
	kept.samples = t->all_samples;
	kept.steps = t->all_steps;
	kept.columns = t->columns;
	tr_epoch_store_add(t->store, &kept);
	for (uint32_t i = 0; i < t->values.n; i++)
		if (tr_training_has(t, i))
			show_value(t, &t->value[i].site, t->values.text[i],
				   t->value[i].value);
}

/* ---- the end ----------------------------------------------------------- */

static void show_epoch(const tare_epoch *epoch, tare_epoch *ret)
{
	uint32_t n;

	if (!ret)
		return;
	n = ret->struct_size;
	if (n < sizeof(uint32_t) || n > TR_READING_MOST)
		return;
	memcpy((char *)ret + sizeof(n), (const char *)epoch + sizeof(n),
	       (n < sizeof(*epoch) ? n : sizeof(*epoch)) - sizeof(n));
}

/* If no step was marked, the epoch is one step. */
static void end_steps(tare_training *t, tare_epoch *epoch)
{
	epoch->steps = __atomic_load_n(&t->steps, __ATOMIC_RELAXED);
	epoch->samples = __atomic_load_n(&t->samples, __ATOMIC_RELAXED);
	epoch->samples_per_s = epoch->samples && epoch->own.total_time > 0 ?
				       (double)epoch->samples /
					       epoch->own.total_time :
				       NAN;
	if (!epoch->steps) {
		epoch->steps = 1;
		if (t->is_kept)
			tr_step_epoch(epoch->samples);
	}
	t->all_steps += epoch->steps;
	t->all_samples += epoch->samples;
	if (epoch->samples)
		show_value(t, &t->samples_site, "samples_per_s",
			   epoch->samples_per_s);
}

TARE_API int tare_epoch_end(tare_training *t, tare_epoch *ret_epoch)
{
	tare_epoch epoch = { .phases = NULL };
	int64_t now;
	int err = 0;

	if (!t)
		return 0;
	if (!tr_training_is_mine(t) || !tr_phases_end(t, &epoch, &now))
		return TARE_EINVAL;
	complete_own(t, &epoch.own, now);
	fill_row_of_all(t, &epoch);
	(void)pthread_mutex_lock(&t->files);
	if (!t->is_over) {
		end_steps(t, &epoch);
		t->total += epoch.row.total_time;
		err = tr_training_outputs_row(t, &epoch, now);
		put_ledger(t, &epoch);
		tr_training_line(t, &epoch.row, now);
	}
	(void)pthread_mutex_unlock(&t->files);
	show_epoch(&epoch, ret_epoch);
	return err;
}
