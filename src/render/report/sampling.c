/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling: how stacks were sampled, and how far to trust what they say.
 *
 * A share of n samples is a guess with a standard error of
 * sqrt(share (1 - share) / n): it is told where n is small.
 */
#include "render/report.h"

#include "base/maths.h"

double tr_share_error(double share, uint64_t samples)
{
	share = tr_least(tr_most(share, 0), 1);
	return samples ? tr_maths_sqrt(share * (1 - share) / (double)samples) :
			 0;
}

static void add_fixed(struct tr_report *r, double value, const char *unit)
{
	char text[40];

	(void)tr_fixed_text(text, sizeof(text), value, 1);
	tr_buf_addf(r->buf, "%s %s", text, unit);
}

static void sampling_line(struct tr_report *r, const tare_sampling *s)
{
	char count[32], got[32], cpu[32];

	(void)tr_count_text(count, sizeof(count), s->samples);
	(void)tr_duration_text(cpu, sizeof(cpu), s->cpu_ns);
	tr_buf_addf(r->buf, "\nsampling  %s, asked ", s->method);
	if (!s->samples) {
		add_fixed(r, s->asked_hz, "Hz, no sample in ");
		tr_buf_addf(r->buf, "%s CPU\n", cpu);
		return;
	}
	add_fixed(r, s->asked_hz, "Hz, got ");
	add_fixed(r, s->got_hz, "Hz, ");
	tr_buf_addf(r->buf, "%s sample%s of %llu thread%s, ", count,
		    s->samples == 1 ? "" : "s", (unsigned long long)s->threads,
		    s->threads == 1 ? "" : "s");
	add_fixed(r, s->whole_share * 100, "% of stacks complete, ");
	(void)tr_duration_text(got, sizeof(got), s->weight_ns);
	if (s->is_wall)
		tr_buf_addf(r->buf, "%s of threads' time, %s CPU", got, cpu);
	else
		tr_buf_addf(r->buf, "%s of %s CPU", got, cpu);
	(void)tr_duration_text(got, sizeof(got), s->cost_ns);
	if (s->cost_ns > 0)
		tr_buf_addf(r->buf, "; sampling took %s", got);
	tr_buf_addc(r->buf, '\n');
}

static void warnings(struct tr_report *r, const tare_sampling *s)
{
	char text[40];

	if (s->samples && s->samples < TR_SAMPLES_FEW) {
		(void)tr_fixed_text(text, sizeof(text),
				    tr_share_error(.5, s->samples) * 100, 1);
		tr_buf_addf(r->buf, "few samples: a share of 50 %% is "
			    "uncertain by \xc2\xb1 %s points (standard "
			    "error)\n", text);
	}
	if (s->samples && s->whole_share < .995) {
		(void)tr_fixed_text(text, sizeof(text),
				    (1 - s->whole_share) * 100, 1);
		tr_buf_addf(r->buf, "%s %% of stacks are incomplete: the "
			    "functions that called those are unknown, and "
			    "their totals are too low\n", text);
	}
	(void)tr_count_text(text, sizeof(text), s->lost);
	if (s->lost)
		tr_buf_addf(r->buf, "%s samples had no room in the table of "
			    "stacks (max_stacks)\n", text);
	(void)tr_count_text(text, sizeof(text), s->unfollowed);
	if (s->unfollowed)
		tr_buf_addf(r->buf, "%s threads could not be sampled\n", text);
}

void tr_report_sampling(struct tr_report *r)
{
	const tare_sampling *s = tare_view_sampling(r->view);

	sampling_line(r, s);
	warnings(r, s);
}

void tr_json_sampling(struct tr_json *j, const tare_sampling *s)
{
	tr_json_str(j, "method", s->method);
	tr_json_bool(j, "wall", s->is_wall);
	tr_json_double(j, "asked_hz", s->asked_hz);
	tr_json_double(j, "got_hz", s->got_hz);
	tr_json_u64(j, "samples", s->samples);
	tr_json_double(j, "weight_ns", s->weight_ns);
	tr_json_double(j, "cpu_ns", s->cpu_ns);
	tr_json_double(j, "whole_share", s->whole_share);
	tr_json_u64(j, "lost", s->lost);
	tr_json_u64(j, "threads", s->threads);
	tr_json_u64(j, "unfollowed", s->unfollowed);
	tr_json_double(j, "cost_ns", s->cost_ns);
}
