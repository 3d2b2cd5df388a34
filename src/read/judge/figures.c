/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of one run: times, memory, time to a target, values at the end. */

#include <math.h>

#include "base/maths.h"
#include "read/judge.h"

static bool is_time(double seconds)
{
	return tr_is_number(seconds) && seconds >= 0;
}

TARE_API double tare_speedup(double sequential_time, double parallel_time)
{
	return is_time(sequential_time) && is_time(parallel_time) &&
			       sequential_time > 0 && parallel_time > 0 ?
		       sequential_time / parallel_time :
		       (double)NAN;
}

TARE_API double tare_communication_cost(double comm_time, double total_time)
{
	return is_time(comm_time) && is_time(total_time) && total_time > 0 ?
		       comm_time / total_time * 100 :
		       (double)NAN;
}

/* Mean over the rows that have a value; NAN if none has. */
static double mean_of(const struct tr_compared_run *run,
		      enum tr_run_column column)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; tr_run_has(run, column) && i < run->n_rows; i++) {
		double value = tr_row_value(&run->rows[i], column);

		if (tr_is_number(value)) {
			sum += value;
			n++;
		}
	}
	return n ? sum / (double)n : (double)NAN;
}

/* The last known value: not every epoch is evaluated. */
static double last_of(const struct tr_compared_run *run,
		      enum tr_run_column column)
{
	for (size_t i = run->n_rows; tr_run_has(run, column) && i-- > 0;) {
		double value = tr_row_value(&run->rows[i], column);

		if (value == value)
			return value;
	}
	return NAN;
}

static double largest_of(const struct tr_compared_run *run,
			 enum tr_run_column column)
{
	double most = NAN;

	for (size_t i = 0; tr_run_has(run, column) && i < run->n_rows; i++) {
		double value = tr_row_value(&run->rows[i], column);

		if (tr_is_number(value) && !(most >= value))
			most = value;
	}
	return most;
}

/*
 * Seconds of training until the column first reaches the target, interpolated
 * linearly between two epochs. Epochs without a value are skipped. NAN: never.
 */
static double time_to(const struct tr_compared_run *run,
		      enum tr_run_column column, double target, double sign)
{
	double time = run->before_rows, before = NAN, before_time = 0;
	bool is_partial = run->n_epochs > run->n_rows;

	for (size_t i = 0; tr_run_has(run, column) && i < run->n_rows; i++) {
		double value = tr_row_value(&run->rows[i], column);

		time += run->rows[i].total_time;
		if (!tr_is_number(value))
			continue;
		if (sign * value >= sign * target) {
			/* It may have been reached before the stored epochs. */
			if (!tr_is_number(before) && is_partial)
				return NAN;
			if (!tr_is_number(before) || before == value)
				return time;
			return before_time + (time - before_time) *
						     (target - before) /
						     (value - before);
		}
		before = value;
		before_time = time;
	}
	return NAN;
}

static void fill_times(struct tr_compared_run *run)
{
	static const enum tr_run_column phase[] = {
		TR_COLUMN_forward_time, TR_COLUMN_backward_time,
		TR_COLUMN_comm_time, TR_COLUMN_update_time
	};
	double epoch = mean_of(run, TR_COLUMN_total_time), known = 0;
	bool is_any = false;

	run->figure[TARE_TIME_TOTAL] = run->total_time;
	run->figure[TARE_TIME_EPOCH] = epoch;
	for (unsigned i = 0; i < 4; i++) {
		double seconds = mean_of(run, phase[i]);

		run->figure[TARE_TIME_FORWARD + i] = seconds;
		known += tr_is_number(seconds) ? seconds : 0;
		is_any |= tr_is_number(seconds);
	}
	/*
	 * Each phase is that of the slowest worker, so their sum may exceed the
	 * whole. A billionth of it is a rounding error.
	 */
	run->figure[TARE_TIME_OTHER] =
		!is_any			       ? (double)NAN :
		epoch - known > 1e-9 * epoch ? epoch - known :
					       0;
	run->figure[TR_FIGURE_COMM_SHARE] =
		epoch > 0 ? tare_communication_cost(
				    run->figure[TARE_TIME_COMM], epoch) / 100 :
		run->n_rows ? (double)NAN :
			      run->comm_share;
}

void tr_compared_figures(struct tr_compared_run *run,
			 const tare_compare_options *options)
{
	double *figure = run->figure;
	enum tr_run_column f1 = tr_run_has(run, TR_COLUMN_val_f1) ?
					TR_COLUMN_val_f1 :
					TR_COLUMN_test_f1;

	fill_times(run);
	figure[TR_FIGURE_TO_LOSS] = NAN;
	if (options->target_loss != 0)
		figure[TR_FIGURE_TO_LOSS] = time_to(
			run, TR_COLUMN_loss, options->target_loss, -1);
	figure[TR_FIGURE_TO_F1] = NAN;
	if (options->target_f1 != 0)
		figure[TR_FIGURE_TO_F1] = time_to(run, f1, options->target_f1,
						  1);
	figure[TR_FIGURE_MEMORY] = largest_of(run, TR_COLUMN_peak_memory_mb);
	if (!run->n_rows && run->peak_memory_mb > 0)
		figure[TR_FIGURE_MEMORY] = run->peak_memory_mb;
	figure[TR_FIGURE_WORKER_MEMORY] = run->worker_memory_mb;
	/* A loss that is NAN is a result, and is not skipped. */
	figure[TR_FIGURE_LOSS] =
		run->n_rows && tr_run_has(run, TR_COLUMN_loss) ?
			run->rows[run->n_rows - 1].loss :
			(double)NAN;
	figure[TR_FIGURE_TRAIN_ACC] = last_of(run, TR_COLUMN_train_acc);
	figure[TR_FIGURE_VAL_F1] = last_of(run, TR_COLUMN_val_f1);
	figure[TR_FIGURE_TEST_F1] = last_of(run, TR_COLUMN_test_f1);
}
