/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampled stacks as a tree: callers, callees and their shares.
 *
 * A program has thousands of such paths, and the share of a few samples is
 * unreliable: paths below half a percent are counted, not shown.
 */
#include "render/report.h"

#include <string.h>

#include "read/profile.h"

#define SHARE_LEAST 0.005
#define NAME_LEAST 24u /* columns for a name at any depth */
#define FRAME_FIXED 37u /* columns left of the name */
#define FOCUS_WIDTH 8u /* the share of what is in focus */

struct frame_rows {
	struct tr_report *r;
	const tare_frame *frame;
	struct tr_trim trim;
	size_t hidden;
};

static struct tr_trim_row row_of(const tare_frame *f)
{
	return (struct tr_trim_row){ f->function, f->depth - 1,
				     f->all_weight };
}

static void trim_begin(struct tr_trim *trim, const tare_report_options *how,
		       const tare_frame *frame, size_t n)
{
	tr_trim_begin(trim, how);
	for (size_t i = 1; i < n; i++) {
		struct tr_trim_row row = row_of(&frame[i]);

		tr_trim_weigh(trim, &row);
	}
	tr_trim_weighed(trim);
	if (frame[0].all_weight > 0)
		trim->whole = frame[0].all_weight;
	if (!trim->focus)
		trim->base = trim->whole;
}

static bool is_same_function(const tare_frame *a, const tare_frame *b)
{
	return strcmp(a->function, b->function) == 0 &&
	       strcmp(a->module, b->module) == 0;
}

/* A function that calls itself is shown for two levels. */
static bool is_repeated(const struct frame_rows *t, const tare_frame *f)
{
	const tare_frame *above;

	if (f->depth < 3)
		return false;
	above = &t->frame[f->parent];
	return is_same_function(f, above) &&
	       is_same_function(f, &t->frame[above->parent]);
}

static void add_frame_name(struct tr_report *r, const tare_frame *f,
			   size_t indent)
{
	size_t fixed = FRAME_FIXED + (r->options.focus ? FOCUS_WIDTH : 0);
	size_t width = tr_report_rest(r, fixed, NAME_LEAST);
	const char *name = f->function;
	char brief[TR_BRIEF_BYTES];

	if (indent > width - NAME_LEAST)
		indent = width - NAME_LEAST;
	tr_buf_pad(r->buf, ' ', 2 + indent);
	if (tr_text_columns(name) > width - indent)
		name = tr_name_brief(name, brief);
	tr_report_text(r, name, width - indent);
	tr_report_place(r, f->file, f->first_line);
}

static void add_frame(struct frame_rows *t, const tare_frame *f)
{
	struct tr_report *r = t->r;
	struct tr_trim_row row = row_of(f);
	uint32_t depth = 0;
	enum tr_trim_result result = tr_trim_row(&t->trim, &row, &depth);

	if (result != TR_TRIM_SHOWN || is_repeated(t, f)) {
		t->hidden += result != TR_TRIM_OUTSIDE;
		return;
	}
	if (t->trim.focus)
		tr_report_share(r, f->all_weight / t->trim.base);
	tr_report_share(r, f->all_weight / t->trim.whole);
	tr_report_time(r, f->all_weight, 8);
	tr_report_share(r, f->weight / t->trim.whole);
	tr_report_count(r, f->all_samples, 8);
	add_frame_name(r, f, depth);
	tr_buf_addc(r->buf, '\n');
}

static void frames_titles(struct tr_report *r)
{
	static const struct tr_report_title titles[] = {
		{ "focus", 7 },	  { "total", 7 },     { "time", 8 },
		{ "own", 7 },	  { "samples", 8 },   { " function", 9 },
		{ NULL, 0 },
	};

	const char *focus = r->options.focus;

	tr_report_heading(r, focus ? "sampled call tree below" :
				     "sampled call tree",
			  focus ? focus : "");
	tr_report_titles(r, NULL, 0, titles + !r->options.focus);
}

int tr_report_frames(struct tr_report *r)
{
	tare_report_options how = r->options;
	struct frame_rows t = { .r = r };
	size_t n;
	int err;

	if (!tr_views_sampling(r->view).samples)
		return 0;
	err = tare_view_frames(r->view, TARE_FRAMES_SAMPLES, &t.frame, &n);
	if (err)
		return err;
	how.min_share = how.min_share > 0 ? how.min_share : SHARE_LEAST;
	trim_begin(&t.trim, &how, t.frame, n);
	if (t.trim.is_empty)
		return 0;
	frames_titles(r);
	for (size_t i = 1; i < n; i++)
		add_frame(&t, &t.frame[i]);
	if (t.hidden)
		tr_buf_addf(r->buf, "... and %llu more paths: recursion, "
			    "%sless than %.3g %% ('tare flame' shows all)\n",
			    (unsigned long long)t.hidden,
			    how.max_depth ? "deeper, or " : "or ",
			    how.min_share * 100);
	return 0;
}

/* ---- JSON -------------------------------------------------------------- */

#define FRAME(key, field) TR_FIELD(tare_frame, key, field)

static const struct tr_field frame_fields[] = {
	FRAME("function", function), FRAME("module", module),
	FRAME("file", file), FRAME("first_line", first_line),
	FRAME("inlined", is_inlined), FRAME("own_ns", weight),
	FRAME("total_ns", all_weight), FRAME("samples", samples),
	FRAME("total_samples", all_samples),
};

int tr_json_frames(struct tr_json *j, struct tr_report *r)
{
	const tare_frame *frames;
	struct tr_trim trim;
	uint32_t depth;
	size_t n;
	int err;

	if (!tr_views_sampling(r->view).samples)
		return 0;
	err = tare_view_frames(r->view, TARE_FRAMES_SAMPLES, &frames, &n);
	if (err)
		return err;
	trim_begin(&trim, &r->options, frames, n);
	tr_json_array(j, "frames");
	for (size_t i = 1; i < n; i++) {
		struct tr_trim_row row = row_of(&frames[i]);

		if (tr_trim_row(&trim, &row, &depth) != TR_TRIM_SHOWN)
			continue;
		tr_json_object(j, NULL);
		tr_json_u64(j, "depth", depth);
		if (trim.focus)
			tr_json_double(j, "focus_share",
				       row.weight / trim.base);
		tr_json_fields(j, TR_ALL(frame_fields), &frames[i]);
		tr_json_end_object(j);
	}
	tr_json_end_array(j);
	return 0;
}
