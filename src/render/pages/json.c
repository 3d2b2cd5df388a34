/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as one JSON document; docs/formats/compare.md has its fields. */

#include "render/pages.h"
static void put_estimate(struct tr_json *json, const char *key,
			 const tare_estimate *estimate)
{
	tr_json_object(json, key);
	tr_json_double(json, "mean", estimate->mean);
	tr_json_double(json, "low", estimate->low);
	tr_json_double(json, "high", estimate->high);
	tr_json_u64(json, "n", estimate->n);
	tr_json_end_object(json);
}

static void put_config(struct tr_json *json,
		       const tare_compared_config *config)
{
	tr_json_object(json, NULL);
	tr_json_str(json, "name", config->name);
	tr_json_str(json, "family", config->family);
	tr_json_u64(json, "workers", config->workers);
	tr_json_u64(json, "runs", config->n_runs);
	tr_json_u64(json, "epochs_least", config->epochs_least);
	tr_json_u64(json, "epochs_most", config->epochs_most);
	tr_json_bool(json, "is_baseline", config->is_baseline);
	tr_json_bool(json, "is_cut", config->is_cut);
	for (size_t i = 0; i < tr_n_compared_columns; i++)
		put_estimate(json, tr_compared_columns[i].name,
			     tr_compared_at(config, &tr_compared_columns[i]));
	tr_json_end_object(json);
}

static void put_fit(struct tr_json *json, const tare_compared_fit *fit)
{
	tr_json_object(json, NULL);
	tr_json_str(json, "family", fit->family);
	tr_json_u64(json, "points", fit->n_points);
	tr_json_double(json, "serial_fraction", fit->serial);
	tr_json_double(json, "standard_error", fit->error);
	tr_json_double(json, "rms_residual", fit->residual);
	tr_json_double(json, "max_speedup", fit->most);
	tr_json_end_object(json);
}

static void put_run(struct tr_json *json, const tare_comparison *c,
		    const struct tr_compared_run *run)
{
	tr_json_object(json, NULL);
	tr_json_str(json, "config", c->config[run->group].name);
	tr_json_str(json, "origin", run->origin);
	tr_json_u64(json, "workers", run->workers);
	tr_json_u64(json, "epochs", run->n_epochs);
	tr_json_bool(json, "is_cut", run->is_cut);
	tr_json_double(json, "total_time", run->figure[TARE_TIME_TOTAL]);
	tr_json_double(json, "comm_share",
		       run->figure[TR_FIGURE_COMM_SHARE]);
	tr_json_double(json, "time_to_loss", run->figure[TR_FIGURE_TO_LOSS]);
	tr_json_double(json, "time_to_f1", run->figure[TR_FIGURE_TO_F1]);
	tr_json_double(json, "peak_memory_mb", run->figure[TR_FIGURE_MEMORY]);
	tr_json_double(json, "worker_memory_mb",
		       run->figure[TR_FIGURE_WORKER_MEMORY]);
	tr_json_double(json, "loss", run->figure[TR_FIGURE_LOSS]);
	tr_json_double(json, "test_f1", run->figure[TR_FIGURE_TEST_F1]);
	tr_json_end_object(json);
}

static void put_head(struct tr_json *json, const tare_comparison *c)
{
	static const char *const by[] = { "", "total", "epoch", "phase" };

	tr_json_str(json, "format", "tare-compare");
	tr_json_u64(json, "version", 1);
	tr_json_str(json, "summary", c->summary);
	tr_json_str(json, "by", by[c->result.by]);
	tr_json_str(json, "baseline", c->config[c->result.baseline].name);
	tr_json_bool(json, "has_common", c->result.has_common);
	tr_json_double(json, "target_loss", c->options.target_loss != 0 ?
						    c->options.target_loss :
						    (double)__builtin_nan(""));
	tr_json_double(json, "target_f1", c->options.target_f1 != 0 ?
						  c->options.target_f1 :
						  (double)__builtin_nan(""));
	tr_json_array(json, "notes");
	for (size_t i = 0; i < c->result.n_notes; i++)
		tr_json_str(json, NULL, c->note[i]);
	tr_json_end_array(json);
}

/* In pieces: a comparison may have thousands of runs. */
static void hand_over(struct tr_sink *sink, struct tr_buf *buf)
{
	if (buf->failed)
		sink->err = TARE_ENOMEM;
	tr_sink_add(sink, buf->data, buf->len);
	buf->len = 0;
}

void tr_compared_json(const tare_comparison *c, struct tr_sink *sink)
{
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_json json;

	tr_json_begin(&json, &buf);
	tr_json_object(&json, NULL);
	put_head(&json, c);
	tr_json_array(&json, "configs");
	for (size_t i = 0; i < c->result.n_configs; i++) {
		put_config(&json, &c->config[i]);
		hand_over(sink, &buf);
	}
	tr_json_end_array(&json);
	tr_json_array(&json, "fits");
	for (size_t i = 0; i < c->result.n_fits; i++)
		put_fit(&json, &c->fit[i]);
	tr_json_end_array(&json);
	tr_json_array(&json, "runs");
	for (size_t i = 0; i < c->n_runs; i++) {
		put_run(&json, c, &c->run[i]);
		hand_over(sink, &buf);
	}
	tr_json_end_array(&json);
	tr_json_end_object(&json);
	tr_buf_addc(&buf, '\n');
	hand_over(sink, &buf);
	tr_buf_release(&buf);
}
