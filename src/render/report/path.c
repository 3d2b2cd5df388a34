/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hottest paths: the callers of the program's own functions that take most
 * of the time, as a tree with few rows.
 *
 * The rows are those with the largest totals: a caller's total is at least that
 * of what it calls, so they form a tree. A function that does nothing but call
 * one other function of the program is passed over: programs have long chains
 * of them.
 */
#include "render/report.h"

#include <stdlib.h>

#include "read/profile.h"

#define PATHS_SHOWN 14u
#define SHARE_LEAST 0.01
#define PASS_SHARE 0.99 /* of a function's time is in one that it calls */
#define PAID_SHARE 0.5 /* of it is that function's own */
#define INDENT_MOST 40u

struct paths {
	struct tr_report *r;
	const tare_frame *frame;
	size_t n;
	double whole;
	size_t n_largest;
	uint8_t *is_passed, *is_shown;
	uint16_t *depth; /* shown callers */
};

/*
 * Frames come depth first: the first child has the most weight. If that is
 * runtime code which takes the time itself, the function pays for it, and is
 * what a reader can change.
 */
static bool is_passed_over(const struct paths *p, size_t i)
{
	const tare_frame *f = &p->frame[i], *child = f + 1;

	return f->depth > 1 && i + 1 < p->n && child->parent == i &&
	       child->all_weight >= PASS_SHARE * f->all_weight &&
	       !(child->is_runtime && !f->is_runtime &&
		 child->weight >= PAID_SHARE * child->all_weight);
}

struct sized {
	double weight;
	uint32_t frame;
};

static int largest_first(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;
	int order = TR_ORDER(y->weight, x->weight);

	return order ? order : TR_ORDER(x->frame, y->frame);
}

static bool choose(struct paths *p)
{
	struct sized *at = calloc(p->n + 1, sizeof(*at));
	size_t n = 0;

	p->is_passed = calloc(p->n + 1, 1);
	p->is_shown = calloc(p->n + 1, 1);
	p->depth = calloc(p->n + 1, sizeof(*p->depth));
	if (!at || !p->is_passed || !p->is_shown || !p->depth) {
		free(at);
		return false;
	}
	for (size_t i = 1; i < p->n; i++) {
		p->is_passed[i] = is_passed_over(p, i);
		if (!p->is_passed[i] &&
		    p->frame[i].all_weight >= SHARE_LEAST * p->whole)
			at[n++] = (struct sized){ p->frame[i].all_weight,
						  (uint32_t)i };
	}
	qsort(at, n, sizeof(*at), largest_first);
	for (size_t i = 0; i < n && i < PATHS_SHOWN; i++)
		p->is_shown[at[i].frame] = 1;
	p->n_largest = n;
	free(at);
	return true;
}

static void path_row(struct paths *p, size_t i, bool is_after_passed)
{
	const tare_frame *f = &p->frame[i];
	tare_function function = { .function = f->function, .file = f->file,
				   .line = f->first_line, .module = f->module };
	size_t indent = 2u * p->depth[i];
	double share = f->all_weight / p->whole;

	indent = indent < INDENT_MOST ? indent : INDENT_MOST;
	tr_report_share(p->r, share);
	tr_report_bar(p->r, share);
	tr_report_time(p->r, f->all_weight, 8);
	tr_report_share(p->r, f->weight / p->whole);
	if (is_after_passed) {
		tr_buf_pad(p->r->buf, ' ', 2 + indent);
		tr_buf_adds(p->r->buf, "..");
		indent = 0;
	}
	tr_report_function(p->r, &function, is_after_passed ? 0 : indent,
			   27 + tr_report_bar_width(p->r) +
				   (is_after_passed ? 2u * p->depth[i] + 4u :
						      0u));
}

static void path_rows(struct paths *p)
{
	for (size_t i = 1; i < p->n; i++) {
		uint32_t above = p->frame[i].parent;
		bool is_after = above && p->is_passed[above];

		p->depth[i] = above ? (uint16_t)(p->depth[above] +
						 p->is_shown[above]) :
				      0;
		if (p->is_shown[i])
			path_row(p, i, is_after);
	}
	if (p->n_largest > PATHS_SHOWN)
		tr_buf_addf(p->r->buf, "         ... and %llu more above 1 %%: "
			    "tare tree\n", (unsigned long long)
			    (p->n_largest - PATHS_SHOWN));
}

static int show_paths(struct paths *p)
{
	const struct tr_report_title titles[] = {
		{ "total", 7 + tr_report_bar_width(p->r) },
		{ "time", 8 },
		{ "own", 7 },
		{ " path", 5 },
		{ NULL, 0 },
	};
	int err = 0;

	if (choose(p)) {
		tr_report_heading(p->r, "hottest paths", "");
		tr_report_titles(p->r, NULL, 0, titles);
		path_rows(p);
	} else {
		err = TARE_ENOMEM;
	}
	free(p->is_passed);
	free(p->is_shown);
	free(p->depth);
	return err;
}

int tr_report_path(struct tr_report *r)
{
	struct tr_frames frames = { .folds_inlined = true,
				    .folds_runtime = true };
	struct paths p = { .r = r };
	int err = tr_frames_add(&frames, r->view, TARE_FRAMES_SAMPLES, 0);

	if (!err) {
		tr_frames_finish(&frames);
		err = tr_frames_show(&frames, r->view);
	}
	if (!err && frames.n_nodes > 1) {
		p.frame = r->view->profile.frames;
		p.n = frames.n_nodes;
		p.whole = p.frame[0].all_weight > 0 ? p.frame[0].all_weight :
						      1;
		err = show_paths(&p);
	}
	tr_frames_release(&frames);
	return err;
}
