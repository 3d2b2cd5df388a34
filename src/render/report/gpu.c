/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs in a report: why they had nothing to do, their kernels and streams, how
 * well their clock is known, and what was not recorded.
 */
#include "render/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "read/gpu.h"

#define KERNELS_SHOWN 15u
#define CAUSES_SHOWN 8u
#define KERNELS_FIXED 62u /* columns left of a kernel's name */
#define IDLE_FIXED 50u
#define NAME_LEAST 24u
#define SHARE_LEAST 0.005

static double share_of(double part, double of)
{
	return of > 0 ? part / of : (double)NAN;
}

/* ---- the sentence ------------------------------------------------------ */

static void label_text(const struct tr_gpu_idle *row, char *text, size_t size)
{
	if (!row->label[0])
		(void)snprintf(text, size, "%s", "");
	else if (row->is_scope)
		(void)snprintf(text, size, " (scope \"%s\")", row->label);
	else
		(void)snprintf(text, size, "%s%s",
			       row->is_sampled ? " in " :
			       row->cause == TR_GPU_IDLE_HOST ? " before " :
								" at ",
			       row->label);
}

/* "the GPU waited 83 % of the step for data loading (scope "load")" */
static void sentence(struct tr_report *r, const struct tr_gpu *gpu)
{
	const struct tr_gpu_idle *most = gpu->n_idle ? &gpu->idle[0] : NULL;
	char label[400];

	if (!(gpu->span_ns > 0))
		return;
	if (!most || gpu->idle_ns < SHARE_LEAST * gpu->span_ns) {
		tr_buf_addf(r->buf, "GPU   had work for %s of %s\n",
			    tr_as_share(share_of(gpu->busy_ns, gpu->span_ns))
				    .text,
			    tr_as_duration(gpu->span_ns).text);
		return;
	}
	label_text(most, label, sizeof(label));
	tr_buf_addf(r->buf, "GPU   waited %s of the %s, most of all for ",
		    tr_as_share(share_of(gpu->idle_ns, gpu->span_ns)).text,
		    gpu->steps ? "steps" : "time");
	tr_buf_addf(r->buf, "%s: %s", tr_gpu_idle_name(most->cause),
		    tr_as_share(share_of(most->ns, gpu->span_ns)).text);
	if (gpu->steps)
		tr_buf_addf(r->buf, ", %s of %s per step",
			    tr_as_duration(most->ns / (double)gpu->steps).text,
			    tr_as_duration(gpu->step_ns).text);
	if (label[0]) {
		tr_buf_adds(r->buf, "\n     ");
		tr_report_text(r, label, 70);
	}
	tr_buf_addc(r->buf, '\n');
}

static void refusal(struct tr_report *r, const struct tr_gpu *gpu)
{
	const char *why = tr_gpu_refusal(gpu->state);

	if (why)
		tr_buf_addf(r->buf, "GPU   kernels were not recorded%s: %s\n",
			    gpu->n_kernels ? " in full" : "", why);
	else if (!gpu->n_kernels)
		tr_buf_adds(r->buf, "GPU   no kernel was recorded\n");
}

int tr_report_gpu_sentence(struct tr_report *r)
{
	struct tr_gpu *gpu;
	int err = tr_gpu_take(r->view, &gpu);

	if (err || !gpu)
		return err;
	refusal(r, gpu);
	sentence(r, gpu);
	tr_gpu_free(gpu);
	return 0;
}

/* ---- tables ------------------------------------------------------------ */

static size_t shown_of(const struct tr_report *r, size_t n, size_t usual)
{
	size_t most = r->options.top ? r->options.top : usual;

	return n < most ? n : most;
}

static void idle_table(struct tr_report *r, const struct tr_gpu *gpu)
{
	static const struct tr_report_title titles[] = {
		{ "share", 7 }, { "time", 8 }, { "a step", 8 },
		{ " the GPU waited for", 19 }, { NULL, 0 },
	};
	size_t n = shown_of(r, gpu->n_idle, CAUSES_SHOWN);
	size_t width = tr_report_rest(r, IDLE_FIXED, NAME_LEAST);
	char label[400];

	if (!gpu->n_idle)
		return;
	tr_report_heading(r, "GPU idle time", "");
	tr_report_titles(r, NULL, 0, titles);
	for (size_t i = 0; i < n; i++) {
		const struct tr_gpu_idle *row = &gpu->idle[i];

		tr_report_share(r, share_of(row->ns, gpu->span_ns));
		tr_report_time(r, row->ns, 8);
		tr_report_time(r,
			       gpu->steps ? row->ns / (double)gpu->steps :
					    (double)NAN,
			       8);
		label_text(row, label, sizeof(label));
		tr_buf_addf(r->buf, "  %s", tr_gpu_idle_name(row->cause));
		tr_report_text(r, label, width);
		tr_buf_addc(r->buf, '\n');
	}
	if (n < gpu->n_idle)
		tr_buf_addf(r->buf, "... and %llu more (--top shows more)\n",
			    (unsigned long long)(gpu->n_idle - n));
}

static void kernel_table(struct tr_report *r, const struct tr_gpu *gpu)
{
	static const struct tr_report_title titles[] = {
		{ "share", 7 }, { "time", 8 }, { "count", 9 }, { "mean", 8 },
		{ "min", 8 },	{ "max", 8 },  { " kernel", 7 }, { NULL, 0 },
	};
	size_t n = shown_of(r, gpu->n_kernels, KERNELS_SHOWN);
	size_t width = tr_report_rest(r, KERNELS_FIXED, NAME_LEAST);

	if (!gpu->n_kernels)
		return;
	tr_report_heading(r, "GPU kernels", "");
	tr_report_titles(r, NULL, 0, titles);
	for (size_t i = 0; i < n; i++) {
		const struct tr_gpu_kernel *k = &gpu->kernel[i];

		tr_report_share(r, k->share);
		tr_report_time(r, k->total_ns, 8);
		tr_report_count(r, k->count, 9);
		tr_report_time(r, share_of(k->total_ns, (double)k->count), 8);
		tr_report_time(r, k->min_ns, 8);
		tr_report_time(r, k->max_ns, 8);
		tr_buf_adds(r->buf, "  ");
		tr_report_text(r, k->name, width);
		tr_buf_addc(r->buf, '\n');
	}
	if (n < gpu->n_kernels)
		tr_buf_addf(r->buf, "... and %llu more (--top shows more)\n",
			    (unsigned long long)(gpu->n_kernels - n));
}

static void lane_table(struct tr_report *r, const struct tr_gpu *gpu)
{
	static const struct tr_report_title titles[] = {
		{ "busy", 7 }, { "time", 8 }, { "count", 9 },
		{ " stream", 7 }, { NULL, 0 },
	};

	if (!gpu->n_lanes)
		return;
	tr_report_heading(r, "GPU streams", "");
	tr_report_titles(r, NULL, 0, titles);
	for (size_t i = 0; i < gpu->n_lanes; i++) {
		const struct tr_gpu_lane *lane = &gpu->lane[i];

		tr_report_share(r, lane->busy_share);
		tr_report_time(r, lane->busy_ns, 8);
		tr_report_count(r, lane->count, 9);
		tr_buf_addf(r->buf, "  GPU %u, stream %u\n", lane->device,
			    lane->stream);
	}
}

/* ---- how sure it is ---------------------------------------------------- */

static void clock_line(struct tr_report *r, const struct tr_gpu *gpu)
{
	const struct tr_gpu_clock *clock = &gpu->clock;

	if (!clock->anchors)
		return;
	tr_buf_addf(r->buf, "GPU times are on the program's clock to %s (",
		    tr_as_duration(tr_most(clock->bound_ns, clock->early_ns))
			    .text);
	tr_buf_addf(r->buf, "%s anchor%s, drift %s ppm)",
		    tr_as_count(clock->anchors).text,
		    clock->anchors == 1 ? "" : "s",
		    tr_as_fixed(clock->drift_ppm, 1).text);
	if (clock->jumps)
		tr_buf_addf(r->buf, "; the GPU's clock jumped (%s), %s "
				    "activities lie around that",
			    tr_as_count(clock->jumps).text,
			    tr_as_count(clock->uncertain).text);
	tr_buf_addc(r->buf, '\n');
}

static void loss(struct tr_report *r, const char **between, uint64_t n,
		 const char *what)
{
	if (!n)
		return;
	tr_buf_addf(r->buf, "%s%s %s", *between, tr_as_count(n).text, what);
	*between = ", ";
}

static void loss_line(struct tr_report *r, const struct tr_gpu *gpu)
{
	const struct tr_gpu_region *s = gpu->state;
	const char *between = "not in these figures: ";

	loss(r, &between, s->dropped, "dropped by CUPTI");
	loss(r, &between, s->unplaced, "without room in the ledger");
	loss(r, &between, s->unknown, "unfinished or unknown records");
	loss(r, &between, s->foreign, "buffers of another profiler");
	if (between[0] == ',')
		tr_buf_addc(r->buf, '\n');
	if (s->event_head > s->n_events)
		tr_buf_addf(r->buf, "idle time is that of the newest %s of %s "
				    "activities (gpu_events)\n",
			    tr_as_count(s->n_events).text,
			    tr_as_count(s->event_head).text);
}

int tr_report_gpu(struct tr_report *r)
{
	struct tr_gpu *gpu;
	int err = tr_gpu_take(r->view, &gpu);

	if (err || !gpu)
		return err;
	tr_buf_addc(r->buf, '\n');
	refusal(r, gpu);
	sentence(r, gpu);
	idle_table(r, gpu);
	kernel_table(r, gpu);
	lane_table(r, gpu);
	clock_line(r, gpu);
	loss_line(r, gpu);
	tr_gpu_free(gpu);
	return 0;
}

/* ---- JSON -------------------------------------------------------------- */

static void put_idle(struct tr_json *j, const struct tr_gpu *gpu)
{
	tr_json_object(j, "idle");
	tr_json_double(j, "span_ns", gpu->span_ns);
	tr_json_double(j, "busy_ns", gpu->busy_ns);
	tr_json_double(j, "idle_ns", gpu->idle_ns);
	tr_json_u64(j, "steps", gpu->steps);
	tr_json_double(j, "step_ns", gpu->step_ns);
	tr_json_object(j, "by_cause_ns");
	for (unsigned i = 0; i < TR_GPU_IDLE_CAUSES; i++)
		tr_json_double(j, tr_gpu_idle_name((enum tr_gpu_idle_cause)i),
			       gpu->by_cause[i]);
	tr_json_end_object(j);
	tr_json_array(j, "causes");
	for (size_t i = 0; i < gpu->n_idle; i++) {
		const struct tr_gpu_idle *row = &gpu->idle[i];

		tr_json_object(j, NULL);
		tr_json_str(j, "cause", tr_gpu_idle_name(row->cause));
		tr_json_str(j, row->is_scope ? "scope" : "place", row->label);
		tr_json_bool(j, "sampled", row->is_sampled);
		tr_json_double(j, "ns", row->ns);
		tr_json_double(j, "share", share_of(row->ns, gpu->span_ns));
		tr_json_u64(j, "pieces", row->pieces);
		tr_json_end_object(j);
	}
	tr_json_end_array(j);
	tr_json_end_object(j);
}

static void put_kernels(struct tr_json *j, const struct tr_report *r,
			const struct tr_gpu *gpu)
{
	static const char *const kinds[] = { "", "kernel", "copy", "set" };

	tr_json_array(j, "kernels");
	for (size_t i = 0; i < gpu->n_kernels; i++) {
		const struct tr_gpu_kernel *k = &gpu->kernel[i];

		if (r->options.top && i >= r->options.top)
			break;
		tr_json_object(j, NULL);
		tr_json_str(j, "name", k->name);
		tr_json_str(j, "kind", TR_NAME_OF(kinds, k->kind, ""));
		tr_json_u64(j, "count", k->count);
		tr_json_double(j, "total_ns", k->total_ns);
		tr_json_double(j, "mean_ns",
			       share_of(k->total_ns, (double)k->count));
		tr_json_double(j, "min_ns", k->min_ns);
		tr_json_double(j, "max_ns", k->max_ns);
		tr_json_double(j, "share", k->share);
		tr_json_u64(j, "bytes", k->bytes);
		tr_json_end_object(j);
	}
	tr_json_end_array(j);
	tr_json_array(j, "streams");
	for (size_t i = 0; i < gpu->n_lanes; i++) {
		tr_json_object(j, NULL);
		tr_json_u64(j, "device", gpu->lane[i].device);
		tr_json_u64(j, "context", gpu->lane[i].context);
		tr_json_u64(j, "stream", gpu->lane[i].stream);
		tr_json_u64(j, "count", gpu->lane[i].count);
		tr_json_double(j, "busy_ns", gpu->lane[i].busy_ns);
		tr_json_double(j, "busy_share", gpu->lane[i].busy_share);
		tr_json_end_object(j);
	}
	tr_json_end_array(j);
}

static void put_clock(struct tr_json *j, const struct tr_gpu *gpu)
{
	tr_json_object(j, "clock");
	tr_json_double(j, "error_ns", tr_most(gpu->clock.bound_ns,
					      gpu->clock.early_ns));
	tr_json_double(j, "bound_ns", gpu->clock.bound_ns);
	tr_json_double(j, "early_ns", gpu->clock.early_ns);
	tr_json_double(j, "drift_ppm", gpu->clock.drift_ppm);
	tr_json_u64(j, "anchors", gpu->clock.anchors);
	tr_json_u64(j, "jumps", gpu->clock.jumps);
	tr_json_u64(j, "uncertain", gpu->clock.uncertain);
	tr_json_end_object(j);
}

int tr_json_gpu(struct tr_json *j, struct tr_report *r)
{
	const struct tr_gpu_region *s;
	struct tr_gpu *gpu;
	int err = tr_gpu_take(r->view, &gpu);

	if (err || !gpu)
		return err;
	s = gpu->state;
	tr_json_object(j, "gpu_kernels");
	if (tr_gpu_refusal(s))
		tr_json_str(j, "not_recorded", tr_gpu_refusal(s));
	tr_json_u64(j, "cupti", s->cupti);
	tr_json_u64(j, "cuda_driver", s->driver);
	tr_json_u64(j, "recordings", s->recordings);
	tr_json_double(j, "recorded_ns", gpu->recorded_ns);
	tr_json_u64(j, "activities", s->activities);
	tr_json_double(j, "total_ns", gpu->total_ns);
	tr_json_u64(j, "calls", s->call_head);
	tr_json_u64(j, "dropped", s->dropped);
	tr_json_u64(j, "unplaced", s->unplaced);
	tr_json_u64(j, "unmatched", s->unmatched);
	tr_json_u64(j, "unknown", s->unknown);
	put_idle(j, gpu);
	put_kernels(j, r, gpu);
	put_clock(j, gpu);
	tr_json_end_object(j);
	tr_gpu_free(gpu);
	return 0;
}
