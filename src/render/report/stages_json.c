/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines in the report's JSON document. */
#include "render/report.h"

#include <tare/read/pipeline.h>

#define LATENCY(key, field) TR_FIELD(tare_latency, key, field)

static void put_latency(struct tr_json *j, const char *key,
			const tare_latency *latency)
{
	static const struct tr_field fields[] = {
		LATENCY("count", n), LATENCY("mean_ns", mean),
		LATENCY("p50_ns", p50), LATENCY("p95_ns", p95),
		LATENCY("p99_ns", p99), LATENCY("max_ns", max),
	};

	tr_json_struct(j, key, fields, latency->n ? TR_N_OF(fields) : 1,
		       latency);
}

#define STAGE(key, field) TR_FIELD(tare_stage_stats, key, field)
#define SAME(field) STAGE(#field, field)

static const struct tr_field stage_fields[] = {
	SAME(name), SAME(file), SAME(line), STAGE("pull", is_pull),
	STAGE("source", is_source), STAGE("estimate", is_estimate),
	STAGE("bottleneck", is_bottleneck), SAME(threads), SAME(calls),
	SAME(failures), STAGE("records_in", in), STAGE("records_out", out),
	SAME(dropped), SAME(passed), SAME(total_ns), SAME(own_ns),
	SAME(downstream_ns), SAME(upstream_ns), SAME(waiting_ns),
	STAGE("own_per_record_ns", own_per_record), SAME(throughput_rps),
	SAME(busy), SAME(share), SAME(gain), SAME(gain_most),
};

static const struct tr_field depth_fields[] = {
	SAME(depth_mean), SAME(depth_max), SAME(depth_now),
};

static void put_stage(struct tr_json *j, const tare_stage_stats *s)
{
	tr_json_object(j, NULL);
	tr_json_fields(j, TR_ALL(stage_fields), s);
	put_latency(j, "latency", &s->latency);
	put_latency(j, "recent", &s->recent);
	put_latency(j, "downstream", &s->downstream);
	put_latency(j, "queue", &s->queue);
	tr_json_fields(j, TR_ALL(depth_fields), s);
	tr_json_end_object(j);
}

#define PIPELINE(key, field) TR_FIELD(tare_pipeline, key, field)

static const struct tr_field pipeline_fields[] = {
	PIPELINE("name", name), PIPELINE("records_in", in),
	PIPELINE("records_out", out), PIPELINE("failures", failures),
	PIPELINE("threads", threads), PIPELINE("own_ns", own_ns),
	PIPELINE("wall_ns", wall_ns),
	PIPELINE("throughput_rps", throughput_rps),
	PIPELINE("factor", factor),
};

static const char *name_of(const tare_pipeline *p, size_t index)
{
	return index < p->n_stages ? p->stages[index].name : "";
}

int tr_json_stages(struct tr_json *j, struct tr_report *report)
{
	const tare_pipeline *p;
	size_t n;
	int err = tare_view_pipelines(report->view, report->options.factor,
				      &p, &n);

	if (err)
		return err;
	tr_json_array(j, "pipelines");
	for (; n-- > 0; p++) {
		tr_json_object(j, NULL);
		tr_json_fields(j, TR_ALL(pipeline_fields), p);
		tr_json_str(j, "bottleneck", name_of(p, p->bottleneck));
		tr_json_str(j, "next_bottleneck", name_of(p, p->next));
		tr_json_array(j, "stages");
		for (size_t i = 0; i < p->n_stages; i++)
			put_stage(j, &p->stages[i]);
		tr_json_end_array(j);
		tr_json_end_object(j);
	}
	tr_json_end_array(j);
	return 0;
}
