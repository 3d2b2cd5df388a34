/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines in the report's JSON document. */
#include "render/report.h"

#include <tare/read/pipeline.h>

static void put_latency(struct tr_json *j, const char *key,
			const tare_latency *latency)
{
	tr_json_object(j, key);
	tr_json_u64(j, "count", latency->n);
	if (latency->n) {
		tr_json_double(j, "mean_ns", latency->mean);
		tr_json_double(j, "p50_ns", latency->p50);
		tr_json_double(j, "p95_ns", latency->p95);
		tr_json_double(j, "p99_ns", latency->p99);
		tr_json_double(j, "max_ns", latency->max);
	}
	tr_json_end_object(j);
}

static void put_records(struct tr_json *j, const tare_stage_stats *s)
{
	tr_json_str(j, "name", s->name);
	tr_json_str(j, "file", s->file);
	tr_json_u64(j, "line", s->line);
	tr_json_bool(j, "pull", s->is_pull);
	tr_json_bool(j, "source", s->is_source);
	tr_json_bool(j, "estimate", s->is_estimate);
	tr_json_bool(j, "bottleneck", s->is_bottleneck);
	tr_json_u64(j, "threads", s->threads);
	tr_json_u64(j, "calls", s->calls);
	tr_json_u64(j, "failures", s->failures);
	tr_json_u64(j, "records_in", s->in);
	tr_json_u64(j, "records_out", s->out);
	tr_json_u64(j, "dropped", s->dropped);
	tr_json_double(j, "passed", s->passed);
}

static void put_stage(struct tr_json *j, const tare_stage_stats *s)
{
	tr_json_object(j, NULL);
	put_records(j, s);
	tr_json_double(j, "total_ns", s->total_ns);
	tr_json_double(j, "own_ns", s->own_ns);
	tr_json_double(j, "downstream_ns", s->downstream_ns);
	tr_json_double(j, "upstream_ns", s->upstream_ns);
	tr_json_double(j, "waiting_ns", s->waiting_ns);
	tr_json_double(j, "own_per_record_ns", s->own_per_record);
	tr_json_double(j, "throughput_rps", s->throughput_rps);
	tr_json_double(j, "busy", s->busy);
	tr_json_double(j, "share", s->share);
	tr_json_double(j, "gain", s->gain);
	tr_json_double(j, "gain_most", s->gain_most);
	put_latency(j, "latency", &s->latency);
	put_latency(j, "recent", &s->recent);
	put_latency(j, "downstream", &s->downstream);
	put_latency(j, "queue", &s->queue);
	tr_json_double(j, "depth_mean", s->depth_mean);
	tr_json_double(j, "depth_max", s->depth_max);
	tr_json_double(j, "depth_now", s->depth_now);
	tr_json_end_object(j);
}

static const char *name_of(const tare_pipeline *p, size_t index)
{
	return index < p->n_stages ? p->stages[index].name : "";
}

int tr_json_stages(struct tr_json *j, const struct tr_report *report)
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
		tr_json_str(j, "name", p->name);
		tr_json_u64(j, "records_in", p->in);
		tr_json_u64(j, "records_out", p->out);
		tr_json_u64(j, "failures", p->failures);
		tr_json_u64(j, "threads", p->threads);
		tr_json_double(j, "own_ns", p->own_ns);
		tr_json_double(j, "wall_ns", p->wall_ns);
		tr_json_double(j, "throughput_rps", p->throughput_rps);
		tr_json_double(j, "factor", p->factor);
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
