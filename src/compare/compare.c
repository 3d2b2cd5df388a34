/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The comparison as a whole: one step after the other, and its outputs.
 */
#include "compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "chart/chart.h"

#define COLUMN(name, field) { name, offsetof(tare_compared_config, field) }

const struct tr_compared_column tr_compared_columns[] = {
	COLUMN("total_time", time[TARE_TIME_TOTAL]),
	COLUMN("epoch_time", time[TARE_TIME_EPOCH]),
	COLUMN("forward_time", time[TARE_TIME_FORWARD]),
	COLUMN("backward_time", time[TARE_TIME_BACKWARD]),
	COLUMN("comm_time", time[TARE_TIME_COMM]),
	COLUMN("update_time", time[TARE_TIME_UPDATE]),
	COLUMN("other_time", time[TARE_TIME_OTHER]),
	COLUMN("speedup", speedup),
	COLUMN("efficiency", efficiency),
	COLUMN("serial_fraction", serial),
	COLUMN("comm_share", comm_share),
	COLUMN("speedup_total", speedup_of[TARE_TIME_TOTAL]),
	COLUMN("speedup_epoch", speedup_of[TARE_TIME_EPOCH]),
	COLUMN("speedup_forward", speedup_of[TARE_TIME_FORWARD]),
	COLUMN("speedup_backward", speedup_of[TARE_TIME_BACKWARD]),
	COLUMN("speedup_comm", speedup_of[TARE_TIME_COMM]),
	COLUMN("speedup_update", speedup_of[TARE_TIME_UPDATE]),
	COLUMN("time_to_loss", to_loss),
	COLUMN("time_to_f1", to_f1),
	COLUMN("peak_memory_mb", peak_memory_mb),
	COLUMN("worker_memory_mb", worker_memory_mb),
	COLUMN("loss", loss),
	COLUMN("train_acc", train_acc),
	COLUMN("val_f1", val_f1),
	COLUMN("test_f1", test_f1),
};
const size_t tr_n_compared_columns =
	sizeof(tr_compared_columns) / sizeof(tr_compared_columns[0]);

const tare_estimate *tr_compared_at(const tare_compared_config *config,
				    const struct tr_compared_column *column)
{
	return (const void *)((const char *)config + column->offset);
}

void tr_compared_reset(tare_comparison *c)
{
	for (size_t i = 0; i < c->result.n_configs; i++) {
		free((void *)(uintptr_t)c->config[i].name);
		free((void *)(uintptr_t)c->config[i].family);
	}
	for (size_t i = 0; i < c->n_notes; i++)
		free(c->note[i]);
	free(c->config);
	free(c->fit);
	free(c->note);
	free(c->summary);
	free(c->title);
	c->result = (tare_compared){ .n_configs = 0 };
	c->config = NULL;
	c->fit = NULL;
	c->note = NULL;
	c->n_notes = 0;
	c->summary = c->title = NULL;
	c->is_compared = false;
}

static int take_options(tare_comparison *c,
			const tare_compare_options *options)
{
	c->options = (tare_compare_options){ .by = 0 };
	if (options)
		c->options = *options;
	c->options.title = NULL;
	if (!options || !options->title)
		return 0;
	c->title = strdup(options->title);
	return c->title ? 0 : TARE_ENOMEM;
}

static int compare_all(tare_comparison *c)
{
	int err;

	tr_compared_leave_launchers(c);
	for (size_t i = 0; i < c->n_runs; i++)
		tr_compared_figures(&c->run[i], &c->options);
	err = tr_compared_group(c);
	if (!err)
		err = tr_compared_speedups(c);
	if (!err)
		err = tr_compared_fits(c);
	if (!err)
		err = tr_compared_notes(c);
	if (!err)
		err = tr_compared_summary(c);
	return err;
}

TARE_API int tare_compare(tare_comparison *comparison,
			  const tare_compare_options *options,
			  const tare_compared **ret_compared)
{
	int err;

	if (!comparison || !ret_compared ||
	    (options && (options->struct_size != sizeof(*options) ||
			 options->by > TARE_COMPARE_BY_PHASE)))
		return TARE_EINVAL;
	if (!comparison->n_runs)
		return TARE_ENOENT;
	tr_compared_reset(comparison);
	err = take_options(comparison, options);
	if (!err)
		err = compare_all(comparison);
	/* It belongs to who called. */
	comparison->options.baseline = NULL;
	if (err) {
		tr_compared_reset(comparison);
		return err;
	}
	comparison->is_compared = true;
	*ret_compared = &comparison->result;
	return 0;
}

TARE_API int tare_comparison_write(tare_comparison *comparison,
				   uint32_t format, tare_write_fn write,
				   void *arg)
{
	struct tr_sink sink;
	int err;

	if (!comparison || !comparison->is_compared || !write ||
	    format < TARE_COMPARED_CSV || format > TARE_COMPARED_HTML)
		return TARE_EINVAL;
	err = tr_sink_init(&sink, write, arg);
	if (err)
		return err;
	switch (format) {
	case TARE_COMPARED_CSV:
		tr_compared_csv(comparison, &sink);
		break;
	case TARE_COMPARED_JSON:
		tr_compared_json(comparison, &sink);
		break;
	default:
		tr_compared_page(comparison, &sink);
	}
	return tr_sink_finish(&sink);
}
