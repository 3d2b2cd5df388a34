/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report's part about pipelines: what the stages took, how long calls
 * were, and in words what holds the pipeline up.
 */
#include "render/report.h"

#include <math.h>
#include <string.h>

#include <tare/read/pipeline.h>

#define FLOW_FIXED 82u	  /* columns right of the name */
#define LATENCY_FIXED 82u
#define NAME_LEAST 17u
#define GAIN_MANY 10. /* from 1000 % on: told as a factor */

/* ---- cells ------------------------------------------------------------- */

static void cell_time(struct tr_report *r, double ns, size_t width)
{
	char text[32] = "-";

	if (isfinite(ns))
		(void)tr_duration_text(text, sizeof(text), ns);
	tr_report_cell(r, text, width);
}

/* Nothing for 0: most stages have nothing behind them, or before. */
static void cell_part(struct tr_report *r, double ns, size_t width)
{
	cell_time(r, ns > 0 ? ns : (double)NAN, width);
}

static void cell_count(struct tr_report *r, uint64_t n, size_t width)
{
	char text[32];

	(void)tr_count_text(text, sizeof(text), n);
	tr_report_cell(r, text, width);
}

static void cell_share(struct tr_report *r, double share, size_t width)
{
	tr_report_cell(r, tr_as_share(share).text, width);
}

static void cell_number(struct tr_report *r, double value, size_t width)
{
	char text[48] = "-";

	if (isfinite(value))
		(void)tr_fixed_text(text, sizeof(text), value,
				    value < 100 ? 1 : 0);
	tr_report_cell(r, text, width);
}

static size_t name_width(const struct tr_report *r, unsigned fixed)
{
	return r->options.width > fixed + NAME_LEAST ?
		       r->options.width - fixed :
		       NAME_LEAST;
}

static void head(struct tr_report *r, const char *const *titles,
		 const uint8_t *widths, size_t name)
{
	tr_report_dim(r, true);
	tr_report_name(r, titles[0], name);
	for (size_t i = 1; titles[i]; i++)
		tr_report_cell(r, titles[i], widths[i]);
	tr_report_dim(r, false);
	tr_buf_addc(r->buf, '\n');
}

/* ---- what they took ---------------------------------------------------- */

static const char *const flow_titles[] = { "stage",  "in",     "out",
					   "passed", "own",    "a record",
					   "before", "behind", "share",
					   "busy",   NULL };
static const uint8_t flow_widths[] = { 0, 10, 10, 7, 8, 8, 8, 8, 7, 7 };

static void flow_row(struct tr_report *r, const tare_stage_stats *s,
		     size_t width)
{
	const uint8_t *w = flow_widths;

	tr_report_name(r, s->name, width);
	if (s->is_source)
		tr_report_cell(r, "-", w[1]);
	else
		cell_count(r, s->in, w[1]);
	cell_count(r, s->out, w[2]);
	cell_share(r, s->passed, w[3]);
	cell_time(r, s->own_ns, w[4]);
	cell_time(r, s->own_per_record, w[5]);
	cell_part(r, s->upstream_ns, w[6]);
	cell_part(r, s->downstream_ns, w[7]);
	cell_share(r, s->share, w[8]);
	cell_share(r, s->busy, w[9]);
	if (s->is_estimate)
		tr_buf_adds(r->buf, " *");
	if (s->failures)
		tr_buf_addf(r->buf, "  %llu failed",
			    (unsigned long long)s->failures);
	tr_buf_addc(r->buf, '\n');
}

/* ---- how long ---------------------------------------------------------- */

static const char *const latency_titles[] = {
	"stage", "calls", "mean",    "p50",   "p99",  "max", "last 100",
	"p99",	 "queued", "waiting", NULL
};
static const uint8_t latency_widths[] = { 0, 10, 8, 8, 8, 8, 8, 8, 8, 7 };

static void latency_row(struct tr_report *r, const tare_stage_stats *s,
			size_t width)
{
	const uint8_t *w = latency_widths;

	tr_report_name(r, s->name, width);
	cell_count(r, s->calls, w[1]);
	cell_time(r, s->latency.mean, w[2]);
	cell_time(r, s->latency.p50, w[3]);
	cell_time(r, s->latency.p99, w[4]);
	cell_time(r, s->latency.max, w[5]);
	cell_time(r, s->recent.mean, w[6]);
	cell_time(r, s->recent.p99, w[7]);
	cell_time(r, s->queue.n ? s->queue.mean : (double)NAN, w[8]);
	cell_number(r, s->depth_mean, w[9]);
	tr_buf_addc(r->buf, '\n');
}

/* ---- in words ---------------------------------------------------------- */

static void totals(struct tr_report *r, const tare_pipeline *p)
{
	char text[48];

	(void)tr_count_text(text, sizeof(text), p->in);
	tr_buf_addf(r->buf, "in all     %s in", text);
	(void)tr_count_text(text, sizeof(text), p->out);
	tr_buf_addf(r->buf, ", %s out", text);
	(void)tr_duration_text(text, sizeof(text), p->own_ns);
	tr_buf_addf(r->buf, ", %s of work", text);
	(void)tr_duration_text(text, sizeof(text), p->wall_ns);
	tr_buf_addf(r->buf, " in %s by %u thread%s", text, p->threads,
		    p->threads == 1 ? "" : "s");
	(void)tr_count_text(text, sizeof(text),
			    p->throughput_rps < 1e18 ?
				    (uint64_t)p->throughput_rps :
				    0);
	tr_buf_addf(r->buf, ", %s records/s\n", text);
}

/*
 * "73.9 % more records/s (42.5 % less time)", or "186 x the records/s" where
 * percents are hard to read.
 */
static void gain_text(struct tr_report *r, double gain)
{
	char more[48], less[48];

	if (!isfinite(gain)) {
		tr_buf_adds(r->buf, "no limit");
		return;
	}
	(void)tr_share_text(less, sizeof(less), 1 - 1 / (1 + gain));
	if (gain >= GAIN_MANY) {
		(void)tr_fixed_text(more, sizeof(more), 1 + gain,
				    1 + gain < 99.95 ? 1 : 0);
		tr_buf_addf(r->buf, "%s x the records/s", more);
	} else {
		(void)tr_share_text(more, sizeof(more), gain);
		tr_buf_addf(r->buf, "%s more records/s", more);
	}
	tr_buf_addf(r->buf, " (%s less time)", less);
}

static void queue_text(struct tr_report *r, const tare_stage_stats *s)
{
	char depth[48], wait[48];

	if (!s->queue.n)
		return;
	(void)tr_fixed_text(depth, sizeof(depth), s->depth_mean, 1);
	(void)tr_duration_text(wait, sizeof(wait), s->queue.mean);
	tr_buf_addf(r->buf, "\n           on average %s records wait in "
		    "front of it, %s each", depth, wait);
}

static void bottleneck(struct tr_report *r, const tare_pipeline *p)
{
	const tare_stage_stats *s = &p->stages[p->bottleneck];
	char text[48];

	tr_buf_adds(r->buf, "bottleneck ");
	tr_report_text(r, s->name, 64);
	(void)tr_share_text(text, sizeof(text),
			 p->threads > 1 ? s->busy : s->share);
	tr_buf_addf(r->buf, ": %s", text);
	tr_buf_adds(r->buf, p->threads > 1 ? " busy" : " of the work");
	(void)tr_double_text(text, p->factor);
	tr_buf_addf(r->buf, "; %s times as fast it gives ", text);
	gain_text(r, s->gain);
	tr_buf_adds(r->buf, "\n           at most ");
	gain_text(r, s->gain_most);
	if (p->next < p->n_stages) {
		tr_buf_adds(r->buf, "; then it is ");
		tr_report_text(r, p->stages[p->next].name, 64);
	}
	queue_text(r, s);
	tr_buf_addc(r->buf, '\n');
}

/* ---- all --------------------------------------------------------------- */

static void pipeline(struct tr_report *r, const tare_pipeline *p)
{
	size_t width = name_width(r, FLOW_FIXED);

	head(r, flow_titles, flow_widths, width);
	for (size_t i = 0; i < p->n_stages; i++)
		flow_row(r, &p->stages[i], width);
	tr_buf_addc(r->buf, '\n');
	width = name_width(r, LATENCY_FIXED);
	head(r, latency_titles, latency_widths, width);
	for (size_t i = 0; i < p->n_stages; i++)
		latency_row(r, &p->stages[i], width);
	tr_buf_addc(r->buf, '\n');
	totals(r, p);
	if (p->bottleneck < p->n_stages)
		bottleneck(r, p);
}

/* Stages are known over all time and together: not for a selection. */
static bool is_selection(const tare_filter *filter)
{
	return filter && (filter->n_names || filter->n_sources ||
			  filter->types || filter->outcome ||
			  !tr_filter_is_timeless(filter));
}

int tr_report_stages(struct tr_report *r)
{
	const tare_pipeline *pipelines;
	size_t n;
	int err;

	if (is_selection(r->options.filter))
		return 0;
	err = tare_view_pipelines(r->view, r->options.factor, &pipelines, &n);
	for (size_t i = 0; !err && i < n; i++) {
		tr_report_heading(r, "pipeline", pipelines[i].name);
		pipeline(r, &pipelines[i]);
	}
	return err;
}
