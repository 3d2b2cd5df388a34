/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls: the table of functions hooked by -finstrument-functions.
 */
#include "render/report.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MOST 40u /* default */
#define COUNTS_MOST 15u /* of the short report */
#define NAME_MOST 80u /* columns */

/* ---- order ------------------------------------------------------------- */

static double per_call(const tare_call *c, double ns)
{
	return c->calls ? ns / (double)c->calls : 0;
}

static double call_key(const tare_call *c, const char *sort)
{
	if (strcmp(sort, "own") == 0)
		return c->net_own_ns;
	if (strcmp(sort, "calls") == 0)
		return (double)c->calls;
	if (strcmp(sort, "mean") == 0)
		return per_call(c, c->net_total_ns);
	return c->net_total_ns;
}

struct keyed_call {
	const tare_call *call;
	double key;
};

static int largest_call_first(const void *a, const void *b)
{
	const struct keyed_call *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	if (x->call->calls != y->call->calls)
		return x->call->calls < y->call->calls ? 1 : -1;
	return strcmp(x->call->function, y->call->function);
}

static int by_call_name(const void *a, const void *b)
{
	const struct keyed_call *x = a, *y = b;

	return strcmp(x->call->function, y->call->function);
}

/* In the requested order; by total time if there is none. Gives. */
static struct keyed_call *sorted_calls(const struct tr_report *r,
				       size_t *ret_n)
{
	const char *sort = r->options.sort;
	const tare_call *calls;
	struct keyed_call *rows;
	size_t n;

	if (tare_view_calls(r->view, &calls, &n))
		return NULL;
	rows = calloc(n + 1, sizeof(*rows));
	for (size_t i = 0; rows && i < n; i++)
		rows[i] = (struct keyed_call){ &calls[i],
					       call_key(&calls[i], sort) };
	if (rows)
		qsort(rows, n, sizeof(*rows),
		      strcmp(sort, "name") == 0 ? by_call_name :
						  largest_call_first);
	*ret_n = n;
	return rows;
}

/* ---- text -------------------------------------------------------------- */

static void place_of_call(struct tr_report *r, const tare_call *c)
{
	char brief[TR_BRIEF_BYTES];
	const char *name = c->function;

	if (tr_text_columns(name) > NAME_MOST)
		name = tr_name_brief(name, brief);
	tr_buf_adds(r->buf, "  ");
	tr_report_text(r, name, NAME_MOST);
	tr_report_place(r, c->file, c->line);
	tr_buf_addc(r->buf, '\n');
}

static void times_of_call(struct tr_report *r, const tare_call *c)
{
	bool raw = r->options.raw;
	double total = raw ? c->total_ns : c->net_total_ns;
	double own = raw ? c->own_ns : c->net_own_ns;

	if (!c->timed && !(total > 0)) {
		for (int i = 0; i < 4; i++)
			tr_report_cell(r, "-", 9);
		tr_report_cell(r, "-", 7);
		return;
	}
	tr_report_time(r, total, 9);
	tr_report_time(r, per_call(c, total), 9);
	tr_report_time(r, own, 9);
	tr_report_time(r, per_call(c, own), 9);
	tr_report_share(r, c->own_share);
}

static const char *mark_of_call(const tare_call *c)
{
	if (c->below_resolution)
		return " ~";
	return c->is_estimate || c->own_is_estimate ? " *" : "  ";
}

static void call_notes(struct tr_report *r, const struct keyed_call *rows,
		       size_t n)
{
	bool estimated = false, marked = false;

	for (size_t i = 0; i < n; i++) {
		marked |= rows[i].call->below_resolution;
		estimated |= rows[i].call->is_estimate;
	}
	if (estimated)
		tr_buf_adds(r->buf, "* counts are exact, times are those of "
				    "some calls, for all; own time above these "
				    "is what\n  they leave (--calls=timed "
				    "times all)\n");
	if (marked)
		tr_buf_adds(r->buf, tare_view_sampling(r->view)->samples ?
				    "~ too short for the clock: believe the "
				    "samples\n" :
				    "~ too short for the clock: sample the "
				    "program without --calls to see its "
				    "time\n");
}

int tr_report_calls(struct tr_report *r, bool *ret_any)
{
	static const struct tr_report_title title[] = {
		{ "calls", 13 }, { "total", 9 }, { "each", 9 },
		{ "own", 9 },	 { "each", 9 },	 { "own", 7 },
		{ "  function", 12 }, { NULL, 0 },
	};
	static const char *const known[] = { "total", "own", "calls", "mean",
					     "name", NULL };
	size_t n = 0, most = r->options.top ? r->options.top : ROWS_MOST;
	struct keyed_call *rows = sorted_calls(r, &n);

	if (!rows)
		return TARE_ENOMEM;
	*ret_any = n > 0;
	if (n) {
		tr_report_heading(r, "functions by their hooks", "");
		tr_report_no_window(r);
		tr_report_order_note(r, known, "functions of hooks");
		tr_report_titles(r, NULL, 0, title);
	}
	for (size_t i = 0; i < n && i < most; i++) {
		tr_report_count(r, rows[i].call->calls, 13);
		times_of_call(r, rows[i].call);
		tr_buf_adds(r->buf, mark_of_call(rows[i].call));
		place_of_call(r, rows[i].call);
	}
	if (n > most)
		tr_buf_addf(r->buf, "... and %llu more (--top %llu shows "
			    "them)\n", (unsigned long long)(n - most),
			    (unsigned long long)n);
	call_notes(r, rows, n);
	free(rows);
	return 0;
}

/* ---- counts alone ------------------------------------------------------ */

bool tr_calls_are_counts(tare_view *view)
{
	const tare_call *calls;
	size_t n;

	if (tare_view_calls(view, &calls, &n) || !n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (calls[i].timed || calls[i].total_ns > 0)
			return false;
	return true;
}

static void count_rows(struct tr_report *r, const struct keyed_call *rows,
		       size_t n)
{
	size_t most = r->options.top ? r->options.top : COUNTS_MOST;
	double all = 0;

	for (size_t i = 0; i < n; i++)
		all += (double)rows[i].call->calls;
	for (size_t i = 0; i < n && i < most; i++) {
		tr_report_count(r, rows[i].call->calls, 13);
		tr_report_share(r, (double)rows[i].call->calls /
					   (all > 0 ? all : 1));
		place_of_call(r, rows[i].call);
	}
	if (n > most)
		tr_buf_addf(r->buf, "... and %llu more ('tare report scopes' "
			    "shows them)\n", (unsigned long long)(n - most));
}

int tr_report_counts(struct tr_report *r)
{
	static const struct tr_report_title title[] = {
		{ "calls", 13 }, { "share", 7 }, { "  function", 10 },
		{ NULL, 0 },
	};
	struct tr_report by_calls = *r;
	struct keyed_call *rows;
	size_t n = 0;

	by_calls.options.sort = "calls";
	rows = sorted_calls(&by_calls, &n);
	if (!rows)
		return TARE_ENOMEM;
	tr_report_heading(r, "most called functions", "");
	tr_report_titles(r, NULL, 0, title);
	count_rows(r, rows, n);
	free(rows);
	return 0;
}

/* ---- JSON -------------------------------------------------------------- */

#define CALL(field) TR_FIELD(tare_call, #field, field)

static const struct tr_field call_fields[] = {
	CALL(function), CALL(file), CALL(line), CALL(address), CALL(calls),
	CALL(timed), CALL(open), CALL(total_ns), CALL(own_ns),
	CALL(net_total_ns), CALL(net_own_ns), CALL(share), CALL(own_share),
	TR_FIELD(tare_call, "estimate", is_estimate), CALL(below_resolution),
	TR_FIELD(tare_call, "own_estimate", own_is_estimate),
};

int tr_json_calls(struct tr_json *j, struct tr_report *r)
{
	size_t n = 0;
	struct keyed_call *rows = sorted_calls(r, &n);

	if (!rows)
		return TARE_ENOMEM;
	tr_json_array(j, "calls");
	for (size_t i = 0; i < n && (!r->options.top || i < r->options.top);
	     i++)
		tr_json_struct(j, NULL, TR_ALL(call_fields), rows[i].call);
	tr_json_end_array(j);
	free(rows);
	return 0;
}
