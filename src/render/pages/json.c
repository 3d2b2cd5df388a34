/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as one JSON document; docs/formats/compare.md has its fields. */

#include "render/pages.h"

#include <math.h>

#define ESTIMATE(field) TR_FIELD(tare_estimate, #field, field)

static const struct tr_field estimate_fields[] = {
	ESTIMATE(mean), ESTIMATE(low), ESTIMATE(high), ESTIMATE(n),
};

#define CONFIG(field) TR_FIELD(tare_compared_config, #field, field)

static const struct tr_field config_fields[] = {
	CONFIG(name), CONFIG(family), CONFIG(workers),
	TR_FIELD(tare_compared_config, "runs", n_runs), CONFIG(epochs_least),
	CONFIG(epochs_most), CONFIG(is_baseline), CONFIG(is_cut),
};

static void put_config(struct tr_json *json,
		       const tare_compared_config *config)
{
	tr_json_object(json, NULL);
	tr_json_fields(json, TR_ALL(config_fields), config);
	for (size_t i = 0; i < tr_n_compared_columns; i++)
		tr_json_struct(json, tr_compared_columns[i].name,
			       TR_ALL(estimate_fields),
			       tr_compared_at(config,
					      &tr_compared_columns[i]));
	tr_json_end_object(json);
}

#define FIT(key, field) TR_FIELD(tare_compared_fit, key, field)

static const struct tr_field fit_fields[] = {
	FIT("family", family), FIT("points", n_points),
	FIT("serial_fraction", serial), FIT("standard_error", error),
	FIT("rms_residual", residual), FIT("max_speedup", most),
};

#define RUN(key, field) TR_FIELD(struct tr_compared_run, key, field)
#define FIGURE(key, index) RUN(key, figure[index])

static const struct tr_field run_fields[] = {
	RUN("workers", workers), RUN("epochs", n_epochs),
	RUN("is_cut", is_cut), FIGURE("total_time", TARE_TIME_TOTAL),
	FIGURE("comm_share", TR_FIGURE_COMM_SHARE),
	FIGURE("time_to_loss", TR_FIGURE_TO_LOSS),
	FIGURE("time_to_f1", TR_FIGURE_TO_F1),
	FIGURE("peak_memory_mb", TR_FIGURE_MEMORY),
	FIGURE("worker_memory_mb", TR_FIGURE_WORKER_MEMORY),
	FIGURE("loss", TR_FIGURE_LOSS),
	FIGURE("test_f1", TR_FIGURE_TEST_F1),
};

static void put_run(struct tr_json *json, const tare_comparison *c,
		    const struct tr_compared_run *run)
{
	tr_json_object(json, NULL);
	tr_json_str(json, "config", c->config[run->group].name);
	tr_json_str(json, "origin", run->origin);
	tr_json_fields(json, TR_ALL(run_fields), run);
	tr_json_end_object(json);
}

/* 0: no target. */
static void put_target(struct tr_json *json, const char *key, double target)
{
	tr_json_double(json, key, target != 0 ? target : (double)NAN);
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
	put_target(json, "target_loss", c->options.target_loss);
	put_target(json, "target_f1", c->options.target_f1);
	tr_json_array(json, "notes");
	for (size_t i = 0; i < c->result.n_notes; i++)
		tr_json_str(json, NULL, c->note[i]);
	tr_json_end_array(json);
}

/* Written in pieces: a comparison may have thousands of runs. */
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
		tr_sink_take(sink, &buf);
	}
	tr_json_end_array(&json);
	tr_json_array(&json, "fits");
	for (size_t i = 0; i < c->result.n_fits; i++)
		tr_json_struct(&json, NULL, TR_ALL(fit_fields), &c->fit[i]);
	tr_json_end_array(&json);
	tr_json_array(&json, "runs");
	for (size_t i = 0; i < c->n_runs; i++) {
		put_run(&json, c, &c->run[i]);
		tr_sink_take(sink, &buf);
	}
	tr_json_end_array(&json);
	tr_json_end_object(&json);
	tr_buf_addc(&buf, '\n');
	tr_sink_take(sink, &buf);
	tr_buf_release(&buf);
}
