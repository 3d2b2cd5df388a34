/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling: how stacks were sampled, and how reliable the shares are. See
 * read/profile/uncertainty.c.
 */
#include "render/report.h"

#include <stdio.h>

#include "read/profile.h"

void tr_report_interval(struct tr_report *r, double share, double samples)
{
	struct tr_interval bounds = tr_share_interval(share, samples);
	char text[96];

	(void)snprintf(text, sizeof(text), "%s-%s",
		       tr_as_fixed(bounds.low * 100, 0).text,
		       tr_as_fixed(bounds.high * 100, 0).text);
	tr_report_cell(r, text, 7);
}

static void sampling_line(struct tr_report *r, const tare_sampling *s)
{
	struct tr_text cpu = tr_as_duration(s->cpu_ns);
	struct tr_text got = tr_as_duration(s->weight_ns);

	tr_buf_addf(r->buf, "\nsampling  %s, asked %s Hz, ", s->method,
		    tr_as_fixed(s->asked_hz, 1).text);
	if (!s->samples) {
		tr_buf_addf(r->buf, "no sample in %s CPU\n", cpu.text);
		return;
	}
	tr_buf_addf(r->buf, "got %s Hz, %s sample%s of %llu thread%s, %s %% "
		    "of stacks complete, ", tr_as_fixed(s->got_hz, 1).text,
		    tr_as_count(s->samples).text, s->samples == 1 ? "" : "s",
		    (unsigned long long)s->threads, s->threads == 1 ? "" : "s",
		    tr_as_fixed(s->whole_share * 100, 1).text);
	if (s->is_wall)
		tr_buf_addf(r->buf, "%s of threads' time, %s CPU", got.text,
			    cpu.text);
	else
		tr_buf_addf(r->buf, "%s of %s CPU", got.text, cpu.text);
	if (s->cost_ns > 0)
		tr_buf_addf(r->buf, "; sampling took %s",
			    tr_as_duration(s->cost_ns).text);
	tr_buf_addc(r->buf, '\n');
}

void tr_report_python(struct tr_report *r, const char *version,
		      const char *refused)
{
	if (*version && *refused)
		tr_buf_addf(r->buf, "Python %s: its functions are not shown, "
			    "%s\n", version, refused);
}

void tr_report_doubts(struct tr_report *r)
{
	const tare_sampling *s = tare_view_sampling(r->view);
	double n = tr_samples_effective(r->view);

	if (s->samples && n < TR_SAMPLES_FEW) {
		tr_buf_adds(r->buf, "few samples: ");
		if (n < 0.9 * (double)s->samples)
			tr_buf_addf(r->buf, "they are as reliable as %s of "
				    "equal weight, ", tr_as_fixed(n, 0).text);
		tr_buf_addf(r->buf, "a share of 50 %% is uncertain by "
			    "\xc2\xb1 %s points\n",
			    tr_as_fixed(196 * tr_share_error(.5, n), 0).text);
	}
	if (s->samples && s->whole_share < .995)
		tr_buf_addf(r->buf, "%s %% of stacks are incomplete: the "
			    "functions that called those are unknown, and "
			    "their totals are too low\n",
			    tr_as_fixed((1 - s->whole_share) * 100, 1).text);
	if (s->lost)
		tr_buf_addf(r->buf, "%s samples had no room in the table of "
			    "stacks (max_stacks)\n", tr_as_count(s->lost).text);
	if (s->unfollowed)
		tr_buf_addf(r->buf, "%s threads could not be sampled\n",
			    tr_as_count(s->unfollowed).text);
}

void tr_report_no_window(struct tr_report *r)
{
	const tare_filter *filter = r->options.filter;

	if (filter && (filter->from_ns || filter->to_ns))
		tr_buf_adds(r->buf, "of the whole run, not of the window\n");
	if (tr_report_selects(r))
		tr_buf_adds(r->buf, "of all names: the options select series "
			    "alone\n");
}

/* What of the selected time the samples stand for. */
static void window_line(struct tr_report *r)
{
	double covered = tr_profile_covered(r->view);

	if (!tr_profile_has_window(r->view))
		return;
	tr_buf_adds(r->buf, "only samples of the window");
	if (covered < 1)
		tr_buf_addf(r->buf, ", which are kept for %s of it "
			    "(sample_events)", tr_as_share(covered).text);
	tr_buf_addc(r->buf, '\n');
}

/* ---- CPU time without samples ------------------------------------------ */

/* Less is the time from a last sample to the end of its thread. */
#define UNSAMPLED_LEAST_NS 3e6
#define UNSAMPLED_LEAST 0.05 /* of the CPU time */
#define SHORT_LEAST 0.02 /* the same: nothing else stands for these */

struct tr_unsampled tr_report_unsampled(const struct tr_report *r)
{
	const tare_sampling *s = tare_view_sampling(r->view);
	const struct tr_ending *ending = r->ending;
	struct tr_unsampled u = { 0 };
	double all_ns = s->cpu_ns;

	if (!s->was_on || s->is_wall || tr_profile_has_window(r->view))
		return u;
	if (ending && !tare_view_run(r->view)->cleared_ns)
		all_ns = tr_most(ending->user_ns + ending->system_ns, all_ns);
	u.short_ns = s->short_ns;
	u.own_ns = tr_most(s->cpu_ns - s->weight_ns - s->short_ns, 0);
	u.others_ns = all_ns - s->cpu_ns;
	if (u.short_ns < UNSAMPLED_LEAST_NS ||
	    u.short_ns < SHORT_LEAST * all_ns)
		u.short_ns = 0;
	if (u.own_ns < UNSAMPLED_LEAST_NS ||
	    u.own_ns < UNSAMPLED_LEAST * all_ns)
		u.own_ns = 0;
	if (u.others_ns < UNSAMPLED_LEAST_NS ||
	    u.others_ns < UNSAMPLED_LEAST * all_ns)
		u.others_ns = 0;
	return u;
}

static void unsampled_row(struct tr_report *r, double ns, size_t after,
			  const char *what)
{
	if (!(ns > 0))
		return;
	tr_report_cell(r, "", 14 + tr_report_bar_width(r));
	tr_report_time(r, ns, 8);
	tr_report_cell(r, "", after);
	tr_buf_adds(r->buf, what);
}

void tr_report_unsampled_rows(struct tr_report *r, size_t after)
{
	const struct tr_unsampled u = tr_report_unsampled(r);

	unsampled_row(r, u.short_ns, after, "  [not measured: threads that "
		      "ended before a sample]\n");
	unsampled_row(r, u.own_ns, after, "  [not measured: before the library "
		      "started, after last samples]\n");
	unsampled_row(r, u.others_ns, after, "  [not measured: its end, "
		      "children without a run]\n");
	if (u.own_ns + u.others_ns + u.short_ns > 0 &&
	    tare_view_sampling(r->view)->samples)
		tr_buf_addf(r->buf, "shares are of the other %s of CPU time\n",
			    tr_as_duration(tare_view_sampling(r->view)
						   ->weight_ns).text);
}

void tr_report_sampling(struct tr_report *r)
{
	const tare_sampling *s = tare_view_sampling(r->view);

	sampling_line(r, s);
	window_line(r);
	tr_report_python(r, s->python, s->python_refused);
	tr_report_doubts(r);
}

#define SAMPLING(field) TR_FIELD(tare_sampling, #field, field)

void tr_json_sampling(struct tr_json *j, tare_view *view)
{
	static const struct tr_field fields[] = {
		SAMPLING(method), TR_FIELD(tare_sampling, "wall", is_wall),
		SAMPLING(asked_hz), SAMPLING(got_hz), SAMPLING(samples),
		SAMPLING(weight_ns), SAMPLING(cpu_ns), SAMPLING(whole_share),
		SAMPLING(lost), SAMPLING(threads), SAMPLING(unfollowed),
		SAMPLING(cost_ns), SAMPLING(short_ns),
	};
	const tare_sampling *s = tare_view_sampling(view);

	tr_json_fields(j, TR_ALL(fields), s);
	if (s->python[0]) {
		tr_json_str(j, "python", s->python);
		tr_json_str(j, "python_refused", s->python_refused);
		tr_json_u64(j, "python_samples", s->python_samples);
		tr_json_u64(j, "python_unread", s->python_unread);
	}
	tr_json_double(j, "effective_samples", tr_samples_effective(view));
	tr_json_double(j, "window_share", tr_profile_covered(view));
}
