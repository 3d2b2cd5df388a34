/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training runs in a report: progress, duration by phase, and last scores.
 */
#include <tare/read/train.h>

#include "render/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TRAINING_NAME 24u

static const tare_run_row *last_row(const tare_training_info *info)
{
	static const tare_run_row none = { .loss = NAN, .test_f1 = NAN };

	return info->n_rows ? &info->rows[info->n_rows - 1] : &none;
}

/* Seconds of the stored rows, by phase. */
static tare_run_row sum_rows(const tare_training_info *info)
{
	tare_run_row sum = { .epoch = info->n_rows };

	for (size_t i = 0; i < info->n_rows; i++) {
		sum.total_time += info->rows[i].total_time;
		sum.forward_time += info->rows[i].forward_time;
		sum.backward_time += info->rows[i].backward_time;
		sum.comm_time += info->rows[i].comm_time;
		sum.update_time += info->rows[i].update_time;
	}
	return sum;
}

/* ---- text -------------------------------------------------------------- */

static void training_epochs(struct tr_report *r,
			    const tare_training_info *info)
{
	char text[64];

	if (info->epochs)
		(void)snprintf(text, sizeof(text), "%llu of %llu",
			       (unsigned long long)info->n_epochs,
			       (unsigned long long)info->epochs);
	else
		(void)snprintf(text, sizeof(text), "%llu",
			       (unsigned long long)info->n_epochs);
	tr_report_cell(r, text, 14);
}

static void training_number(struct tr_report *r, double value)
{
	char text[64] = "-";

	if (isfinite(value) && fabs(value) < 1e6)
		(void)tr_fixed_text(text, sizeof(text), value, 4);
	else if (!isnan(value))
		(void)tr_double_text(text, value);
	tr_report_cell(r, text, 9);
}

static void training_share(struct tr_report *r, double part, double whole)
{
	bool is_known = whole > 0 && part >= 0;

	tr_report_cell(r, tr_as_share(is_known ? part / whole :
						 (double)NAN).text, 8);
}

static void training_line(struct tr_report *r, const tare_training_info *info)
{
	tare_run_row sum = sum_rows(info);
	const tare_run_row *last = last_row(info);

	tr_report_name(r, info->config, TRAINING_NAME);
	training_epochs(r, info);
	tr_report_time(r, info->total_training_time * 1e9, 9);
	tr_report_time(r, sum.epoch ? sum.total_time * 1e9 /
					      (double)sum.epoch : 0, 9);
	training_share(r, sum.forward_time, sum.total_time);
	training_share(r, sum.backward_time, sum.total_time);
	training_share(r, sum.comm_time, sum.total_time);
	training_share(r, sum.update_time, sum.total_time);
	training_number(r, last->loss);
	training_number(r, last->test_f1);
	tr_buf_addc(r->buf, '\n');
}

#define TRAINING_LINES 10u

int tr_report_trainings(struct tr_report *r)
{
	static const struct tr_report_title titles[] = {
		{ "epochs", 14 }, { "time", 9 },
		{ "an epoch", 9 }, { "forward", 8 }, { "backward", 8 },
		{ "comm", 8 }, { "update", 8 }, { "loss", 9 },
		{ "test F1", 9 }, { NULL, 0 }
	};
	const tare_training_info *info;
	size_t n = tare_view_trainings(r->view, &info);
	size_t first = n > TRAINING_LINES ? n - TRAINING_LINES : 0;

	if (!n)
		return 0;
	tr_report_heading(r, "training", "");
	tr_report_dim(r, true);
	tr_report_name(r, "config", TRAINING_NAME);
	tr_report_titles(r, NULL, 0, titles);
	for (size_t i = first; i < n; i++)
		training_line(r, &info[i]);
	if (first)
		tr_buf_addf(r->buf, "and %llu before these\n",
			    (unsigned long long)first);
	return 0;
}

/* ---- JSON -------------------------------------------------------------- */

#define CELL(column) TR_FIELD(tare_run_row, #column, column),

static const struct tr_field row_fields[] = {
	CELL(epoch) TARE_RUN_COLUMNS(CELL)
};

static void put_last(struct tr_json *j, const tare_training_info *info)
{
	tr_json_object(j, "last");
	tr_json_fields(j, TR_ALL(row_fields), last_row(info));
	tr_json_double(j, "broadcast_time", info->last_broadcast_time);
	tr_json_double(j, "gradient_aggregation_time",
		       info->last_gradient_aggregation_time);
	tr_json_end_object(j);
}

#define PART(field) TR_FIELD(tare_training_part, #field, field)

static const struct tr_field part_fields[] = {
	PART(name), PART(seconds), PART(last_seconds), PART(calls),
};

static void put_parts(struct tr_json *j, const tare_training_info *info)
{
	tr_json_array(j, "phases");
	for (size_t i = 0; i < info->n_parts; i++)
		tr_json_struct(j, NULL, TR_ALL(part_fields), &info->parts[i]);
	tr_json_end_array(j);
}

static void put_pairs(struct tr_json *j, const tare_training_info *info)
{
	tr_json_array(j, "configuration");
	for (size_t i = 0; i < info->n_pairs; i++) {
		tr_json_object(j, NULL);
		tr_json_str(j, "name", info->pairs[2 * i]);
		tr_json_str(j, "value", info->pairs[2 * i + 1]);
		tr_json_end_object(j);
	}
	tr_json_end_array(j);
}

#define TRAINING(key, field) TR_FIELD(tare_training_info, key, field)
#define SAME(field) TRAINING(#field, field)

static const struct tr_field training_fields[] = {
	SAME(config), SAME(worker), SAME(workers),
	TRAINING("epochs_planned", epochs), TRAINING("epochs", n_epochs),
	SAME(total_training_time), SAME(peak_memory_mb), SAME(samples),
	SAME(csv), SAME(events), SAME(start_ns), SAME(end_ns),
	TRAINING("closed", is_closed),
};

int tr_json_trainings(struct tr_json *j, struct tr_report *r)
{
	const tare_training_info *info;
	size_t n = tare_view_trainings(r->view, &info);

	if (!n)
		return 0;
	tr_json_array(j, "trainings");
	for (size_t i = 0; i < n; i++, info++) {
		tr_json_object(j, NULL);
		tr_json_fields(j, TR_ALL(training_fields), info);
		if (info->n_rows)
			put_last(j, info);
		tr_json_double(j, "broadcast_time", info->broadcast_time);
		tr_json_double(j, "gradient_aggregation_time",
			       info->gradient_aggregation_time);
		put_parts(j, info);
		put_pairs(j, info);
		tr_json_end_object(j);
	}
	tr_json_end_array(j);
	return 0;
}
