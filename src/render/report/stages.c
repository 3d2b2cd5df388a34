/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipelines in a report: time of the stages, durations of calls, and the
 * bottleneck in words.
 */
#include "render/report.h"

#include <math.h>

#include <tare/read/pipeline.h>

#define STAGES_FIXED 82u /* columns right of the name */
#define NAME_LEAST 17u
#define GAIN_MANY 10. /* from 1000 % on, printed as a factor */

/* ---- cells ------------------------------------------------------------- */

static void cell_time(struct tr_report *r, double ns)
{
	tr_report_time(r, isfinite(ns) ? ns : (double)NAN, 8);
}

/* Empty for 0: most stages have no time upstream or downstream. */
static void cell_part(struct tr_report *r, double ns)
{
	cell_time(r, ns > 0 ? ns : (double)NAN);
}

/* ---- times ------------------------------------------------------------- */

static const struct tr_report_title flow_titles[] = {
	{ "in", 10 },	 { "out", 10 },	  { "passed", 7 }, { "own", 8 },
	{ "a record", 8 }, { "before", 8 }, { "behind", 8 }, { "share", 7 },
	{ "busy", 7 },	 { NULL, 0 },
};

static void flow_row(struct tr_report *r, const tare_stage_stats *s,
		     size_t width)
{
	tr_report_name(r, s->name, width);
	if (s->is_source)
		tr_report_cell(r, "-", 10);
	else
		tr_report_count(r, s->in, 10);
	tr_report_count(r, s->out, 10);
	tr_report_share(r, s->passed);
	cell_time(r, s->own_ns);
	cell_time(r, s->own_per_record);
	cell_part(r, s->upstream_ns);
	cell_part(r, s->downstream_ns);
	tr_report_share(r, s->share);
	tr_report_share(r, s->busy);
	if (s->is_estimate)
		tr_buf_adds(r->buf, " *");
	if (s->failures)
		tr_buf_addf(r->buf, "  %llu failed",
			    (unsigned long long)s->failures);
	tr_buf_addc(r->buf, '\n');
}

/* ---- durations --------------------------------------------------------- */

static const struct tr_report_title latency_titles[] = {
	{ "calls", 10 }, { "mean", 8 },	    { "p50", 8 }, { "p99", 8 },
	{ "max", 8 },	 { "last 100", 8 }, { "p99", 8 }, { "queued", 8 },
	{ "waiting", 7 }, { NULL, 0 },
};

static void latency_row(struct tr_report *r, const tare_stage_stats *s,
			size_t width)
{
	double depth = s->depth_mean;

	tr_report_name(r, s->name, width);
	tr_report_count(r, s->calls, 10);
	cell_time(r, s->latency.mean);
	cell_time(r, s->latency.p50);
	cell_time(r, s->latency.p99);
	cell_time(r, s->latency.max);
	cell_time(r, s->recent.mean);
	cell_time(r, s->recent.p99);
	cell_time(r, s->queue.n ? s->queue.mean : (double)NAN);
	tr_report_cell(r, isfinite(depth) ?
				  tr_as_fixed(depth, depth < 100 ? 1 : 0).text :
				  "-", 7);
	tr_buf_addc(r->buf, '\n');
}

/* ---- in words ---------------------------------------------------------- */

static void totals(struct tr_report *r, const tare_pipeline *p)
{
	tr_buf_addf(r->buf, "in all     %s in, %s out, %s of work in %s by %u "
		    "thread%s, %s records/s\n", tr_as_count(p->in).text,
		    tr_as_count(p->out).text, tr_as_duration(p->own_ns).text,
		    tr_as_duration(p->wall_ns).text, p->threads,
		    p->threads == 1 ? "" : "s",
		    tr_as_count(tr_report_whole(p->throughput_rps)).text);
}

/*
 * "73.9 % more records/s (42.5 % less time)", or "186 x the records/s" where
 * percentages are hard to read.
 */
static void gain_text(struct tr_report *r, double gain)
{
	double times = 1 + gain;

	if (!isfinite(gain)) {
		tr_buf_adds(r->buf, "no limit");
		return;
	}
	if (gain >= GAIN_MANY)
		tr_buf_addf(r->buf, "%s x the records/s",
			    tr_as_fixed(times, times < 99.95 ? 1 : 0).text);
	else
		tr_buf_addf(r->buf, "%s more records/s",
			    tr_as_share(gain).text);
	tr_buf_addf(r->buf, " (%s less time)", tr_as_share(1 - 1 / times).text);
}

static void bottleneck(struct tr_report *r, const tare_pipeline *p)
{
	const tare_stage_stats *s = &p->stages[p->bottleneck];
	char factor[48];

	tr_buf_adds(r->buf, "bottleneck ");
	tr_report_text(r, s->name, 64);
	(void)tr_double_text(factor, p->factor);
	tr_buf_addf(r->buf, ": %s%s; %s times as fast it gives ",
		    tr_as_share(p->threads > 1 ? s->busy : s->share).text,
		    p->threads > 1 ? " busy" : " of the work", factor);
	gain_text(r, s->gain);
	tr_buf_adds(r->buf, "\n           at most ");
	gain_text(r, s->gain_most);
	if (p->next < p->n_stages) {
		tr_buf_adds(r->buf, "; then it is ");
		tr_report_text(r, p->stages[p->next].name, 64);
	}
	if (s->queue.n)
		tr_buf_addf(r->buf, "\n           on average %s records wait "
			    "in front of it, %s each",
			    tr_as_fixed(s->depth_mean, 1).text,
			    tr_as_duration(s->queue.mean).text);
	tr_buf_addc(r->buf, '\n');
}

/* ---- all --------------------------------------------------------------- */

static void pipeline(struct tr_report *r, const tare_pipeline *p)
{
	size_t width = tr_report_rest(r, STAGES_FIXED, NAME_LEAST);

	tr_report_titles(r, "stage", width, flow_titles);
	for (size_t i = 0; i < p->n_stages; i++)
		flow_row(r, &p->stages[i], width);
	tr_buf_addc(r->buf, '\n');
	tr_report_titles(r, "stage", width, latency_titles);
	for (size_t i = 0; i < p->n_stages; i++)
		latency_row(r, &p->stages[i], width);
	tr_buf_addc(r->buf, '\n');
	totals(r, p);
	if (p->bottleneck < p->n_stages)
		bottleneck(r, p);
}

/* Stages cover all time and all series: left out for a selection. */
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
