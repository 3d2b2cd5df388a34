/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree of a report: scopes, and functions if they were hooked.
 */
#include "render/report.h"

#define TREE_FIXED 55u /* columns right of the name */
#define FOCUS_WIDTH 8u /* the share of what is in focus */

/*
 * A program has more paths of functions than a reader can use. A report with
 * other tables shows the important ones; `tare tree` shows all.
 */
#define FUNCTIONS_SHOWN 60u
#define FUNCTION_SHARE 1e-3
#define ANSWER_ROWS 20u	    /* of the short report */
#define ANSWER_SHARE 0.01
#define DEPTH_MOST 512u /* recursion is detected up to here */

struct tree_rows {
	struct tr_report *r;
	size_t width;
	bool is_all, is_timed; /* all paths; some functions have a time */
	size_t functions, hidden, left_out, shown;
	bool marked, estimated, is_sparse;
	struct tr_trim trim;
	uint64_t above[DEPTH_MOST]; /* addresses on the path */
};

void tr_trim_nodes(struct tr_trim *trim, const tare_report_options *how,
		   const tare_node *nodes, size_t n)
{
	tr_trim_begin(trim, how);
	for (size_t i = 0; i < n; i++) {
		struct tr_trim_row row = tr_trim_node(how, &nodes[i]);

		tr_trim_weigh(trim, &row);
	}
	tr_trim_weighed(trim);
}

struct tr_trim_row tr_trim_node(const tare_report_options *how,
				const tare_node *node)
{
	return (struct tr_trim_row){ node->name, node->depth,
				     how->raw ? node->total_ns :
						node->net_total_ns };
}

static void add_name(const struct tree_rows *t, const tare_node *node,
		     size_t depth)
{
	size_t used = depth * 2, len = tr_text_columns(node->name);

	if (used > t->width / 2)
		used = t->width / 2;
	tr_buf_pad(t->r->buf, ' ', used);
	if (len > t->width - used)
		len = t->width - used;
	tr_report_text(t->r, node->name, t->width - used);
	tr_buf_pad(t->r->buf, ' ', t->width - used - len);
}

static void add_times(struct tr_report *r, const tare_node *node)
{
	bool raw = r->options.raw;

	if (node->is_function && !node->timed && !(node->total_ns > 0)) {
		tr_report_cell(r, "-", 10);
		tr_report_cell(r, "-", 10);
		tr_report_cell(r, "-", 7);
		return;
	}
	tr_report_time(r, raw ? node->total_ns : node->net_total_ns, 10);
	tr_report_time(r, raw ? node->own_ns : node->net_own_ns, 10);
	tr_report_share(r, node->share);
}

static void add_count(struct tr_report *r, uint64_t n, const char *what)
{
	if (n)
		tr_buf_addf(r->buf, "  %llu %s", (unsigned long long)n, what);
}

static void add_row(struct tree_rows *t, const tare_node *node, size_t depth)
{
	struct tr_report *r = t->r;
	/* For functions ~ replaces *: most are short, few are timed. */
	bool is_marked = node->below_resolution &&
			 (node->is_function || !node->is_estimate);

	add_name(t, node, depth);
	tr_report_estimate(r, node->calls, node->calls_high > node->calls_low,
			   13);
	add_times(r, node);
	if (t->trim.focus)
		tr_report_share(r, tr_trim_node(&r->options, node).weight /
					   t->trim.base);
	if (is_marked)
		tr_buf_adds(r->buf, "  ~");
	else if (node->is_estimate || node->own_is_estimate)
		tr_buf_adds(r->buf, "  *");
	add_count(r, node->open, "open");
	add_count(r, node->failures, "failed");
	add_count(r, node->repaired, "untimed");
	tr_buf_addc(r->buf, '\n');
	t->marked |= is_marked;
	t->estimated |= node->is_estimate;
	t->is_sparse |= node->is_estimate && node->is_function;
}

/* A function that calls itself is shown for two levels. */
static bool is_recursion(struct tree_rows *t, const tare_node *node)
{
	uint32_t depth = node->depth;

	if (depth >= DEPTH_MOST)
		return node->is_function;
	t->above[depth] = node->address;
	return node->is_function && depth >= 2 &&
	       t->above[depth - 1] == node->address &&
	       t->above[depth - 2] == node->address;
}

static bool is_hidden(struct tree_rows *t, const tare_node *node)
{
	if (is_recursion(t, node) && !t->is_all)
		return true;
	if (t->r->is_answer &&
	    (t->shown >= ANSWER_ROWS ||
	     (node->share < ANSWER_SHARE && !node->failures && !node->open &&
	      node->depth > 0)))
		return true;
	if (t->is_all || !node->is_function)
		return false;
	return t->functions >= FUNCTIONS_SHOWN ||
	       (t->is_timed && node->share < FUNCTION_SHARE);
}

static void notes(const struct tree_rows *t)
{
	struct tr_buf *buf = t->r->buf;

	if (t->hidden)
		tr_buf_addf(buf, "... and %llu more path%s%s ('tare tree' "
			    "shows all)\n", (unsigned long long)t->hidden,
			    t->hidden == 1 ? "" : "s",
			    t->r->is_answer ? "" : " of functions");
	if (t->left_out)
		tr_buf_addf(buf, "... and %llu more paths: too deep, or too "
			    "small a share\n",
			    (unsigned long long)t->left_out);
	if (t->estimated)
		tr_buf_adds(buf, tare_view_health(t->r->view)->missed ?
				 "* an estimate, to keep measuring cheap: "
				 "calls were counted and timed for a part of "
				 "the time only\n" :
				 "* an estimate, to keep measuring cheap: all "
				 "calls were counted, some were timed\n");
	if (t->is_sparse)
		tr_buf_adds(buf, "  own time above these is what they leave "
				 "(--calls=timed times all)\n");
	if (t->marked)
		tr_buf_adds(buf, "~ too short for the clock: counts are "
				 "exact, times are not\n");
}

static void titles(const struct tree_rows *t, bool has_functions)
{
	static const struct tr_report_title right[] = {
		{ "calls", 13 }, { "total", 10 }, { "own", 10 },
		{ "share", 7 },	 { "focus", 7 },  { NULL, 0 },
	};
	static const struct tr_report_title usual[] = {
		{ "calls", 13 }, { "total", 10 }, { "own", 10 },
		{ "share", 7 },	 { NULL, 0 },
	};
	const char *focus = t->trim.focus;

	tr_report_heading(t->r, focus ? "call tree below" : "call tree",
			  focus ? focus : "");
	tr_report_no_window(t->r);
	tr_report_dim(t->r, true);
	tr_report_name(t->r, has_functions ? "scope, function" : "scope",
		       t->width);
	tr_report_dim(t->r, false);
	tr_report_titles(t->r, NULL, 0, focus ? right : usual);
}

static void add_node(struct tree_rows *t, const tare_node *node)
{
	struct tr_trim_row row = tr_trim_node(&t->r->options, node);
	uint32_t depth = 0;
	enum tr_trim_result result = tr_trim_row(&t->trim, &row, &depth);

	if (result == TR_TRIM_OUTSIDE)
		return;
	if (result == TR_TRIM_LEFT_OUT) {
		t->left_out++;
	} else if (is_hidden(t, node)) {
		t->hidden++;
	} else {
		t->functions += node->is_function;
		t->shown++;
		add_row(t, node, depth);
	}
}

int tr_report_tree(struct tr_report *r)
{
	struct tree_rows t = {
		.r = r,
		.width = r->options.width - TREE_FIXED -
			 (r->options.focus ? FOCUS_WIDTH : 0),
		.is_all = !(r->options.parts & TARE_REPORT_FLAT) &&
			  !r->is_answer,
	};
	bool has_functions = false;
	const tare_node *nodes;
	size_t n;
	int err = tare_view_tree(r->view, &nodes, &n);

	if (err || !n)
		return err;
	for (size_t i = 0; i < n; i++) {
		has_functions |= nodes[i].is_function;
		t.is_timed |= nodes[i].is_function && nodes[i].timed;
	}
	tr_trim_nodes(&t.trim, &r->options, nodes, n);
	if (t.trim.is_empty)
		return 0;
	titles(&t, has_functions);
	for (size_t i = 0; i < n; i++)
		add_node(&t, &nodes[i]);
	notes(&t);
	return 0;
}
