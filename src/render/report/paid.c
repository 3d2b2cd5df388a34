/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a program, each with the runtime code it calls: what a
 * reader can change. See read/profile/folded.c.
 */
#include "render/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/profile.h"

#define SHARE_LEAST 0.01
#define ROWS_SHOWN 16u	/* of functions and of what they call */
#define ROWS_LEAST 6u	/* where other tables fill the answer */
#define CALLED_SHOWN 3u /* of one function */
#define BAR_COLUMNS 10u
#define BAR_WIDTH_LEAST 100u /* of a terminal */
#define PLACE_GAP 2u

/* ---- cells ------------------------------------------------------------- */

size_t tr_report_bar_width(const struct tr_report *r)
{
	return r->options.color && r->options.width >= BAR_WIDTH_LEAST ?
		       BAR_COLUMNS + 1 :
		       0;
}

/* In eighths of a column. */
void tr_report_bar(struct tr_report *r, double share)
{
	static const char *const part[] = { "", "\u258f", "\u258e", "\u258d",
					    "\u258c", "\u258b", "\u258a",
					    "\u2589" };
	unsigned eighths, n;

	if (!tr_report_bar_width(r))
		return;
	share = tr_least(tr_most(share, 0), 1);
	eighths = (unsigned)(share * BAR_COLUMNS * 8 + .5);
	n = eighths / 8 + (eighths % 8 > 0);
	tr_buf_addc(r->buf, ' ');
	for (unsigned i = 0; i < eighths / 8; i++)
		tr_buf_adds(r->buf, "\u2588");
	tr_buf_adds(r->buf, part[eighths % 8]);
	tr_buf_pad(r->buf, ' ', BAR_COLUMNS - n);
}

/* The module is known from the head of the report if it is the program. */
static bool is_program(const struct tr_report *r, const char *module)
{
	const char *program = r->program ? r->program :
					   tare_view_run(r->view)->program;

	return strcmp(program, module) == 0;
}

static void add_if_fits(struct tr_report *r, const char *text, size_t *left)
{
	size_t n = tr_text_columns(text) + PLACE_GAP;

	if (!text[0] || n > *left)
		return;
	tr_buf_pad(r->buf, ' ', PLACE_GAP);
	tr_buf_add_printable(r->buf, text, n - PLACE_GAP);
	*left -= n;
}

void tr_report_function(struct tr_report *r, const tare_function *f,
			size_t indent, size_t used)
{
	size_t width = r->options.width, left, n;
	const char *slash = strrchr(f->file, '/'), *name = f->function;
	char brief[TR_BRIEF_BYTES], place[TR_BRIEF_BYTES];

	left = width > used + indent + 24 ? width - used - indent - 2 : 22;
	if (tr_text_columns(name) > left / 3 * 2)
		name = tr_name_brief(name, brief);
	n = tr_text_columns(name);
	tr_buf_pad(r->buf, ' ', 2 + indent);
	tr_report_text(r, name, left);
	left -= n < left ? n : left;
	place[0] = '\0';
	if (f->file[0] && f->line)
		(void)snprintf(place, sizeof(place), "%.200s:%u",
			       slash ? slash + 1 : f->file, f->line);
	add_if_fits(r, place, &left);
	if (!is_program(r, f->module) && !strstr(name, f->module))
		add_if_fits(r, f->module, &left);
	tr_buf_addc(r->buf, '\n');
}

/* ---- text -------------------------------------------------------------- */

struct paid_rows {
	struct tr_report *r;
	double whole, samples;
	size_t shown, called, most;
};

static void paid_row(struct paid_rows *t, const struct tr_paid *row)
{
	const tare_function *f = &row->function;
	struct tr_report *r = t->r;
	double own = f->weight_ns / t->whole;

	tr_report_share(r, own);
	tr_report_bar(r, own);
	tr_report_interval(r, own, t->samples);
	tr_report_time(r, f->weight_ns, 8);
	if (row->is_called)
		tr_report_cell(r, "", 7);
	else
		tr_report_share(r, f->all_weight_ns / t->whole);
	tr_report_function(r, f, row->is_called ? 2 : 0,
			   35 + tr_report_bar_width(r));
}

static bool is_shown(struct paid_rows *t, const struct tr_paid *row)
{
	if (!row->is_called)
		t->called = 0;
	if (row->function.weight_ns < SHARE_LEAST * t->whole ||
	    t->shown >= t->most)
		return false;
	return !row->is_called || t->called++ < CALLED_SHOWN;
}

static void paid_table(struct paid_rows *t, const struct tr_paid *rows,
		       size_t n)
{
	const struct tr_report_title titles[] = {
		{ "own", 7 + tr_report_bar_width(t->r) },
		{ "95 %", 7 },
		{ "time", 8 },
		{ "total", 7 },
		{ " function", 9 },
		{ NULL, 0 },
	};
	size_t hidden = 0;
	double rest = 0;

	tr_report_heading(t->r, "functions", "");
	tr_report_titles(t->r, NULL, 0, titles);
	for (size_t i = 0; i < n; i++) {
		if (is_shown(t, &rows[i])) {
			paid_row(t, &rows[i]);
			t->shown++;
		} else if (!rows[i].is_called) {
			hidden++;
			rest += rows[i].function.weight_ns;
		}
	}
	if (hidden) {
		tr_report_share(t->r, rest / t->whole);
		tr_buf_addf(t->r->buf, "  of %llu more function%s\n",
			    (unsigned long long)hidden, hidden == 1 ? "" : "s");
	}
}

int tr_report_paid(struct tr_report *r)
{
	struct paid_rows t = { .r = r };
	struct tr_frames frames = { 0 };
	struct tr_paid *rows = NULL;
	size_t n = 0;
	int err = tr_functions_paid(r->view, &frames, &rows, &n);

	if (!err && n) {
		/* As in the paths: also stacks without a function. */
		t.whole = frames.node[0].all[0].ns;
		t.whole = t.whole > 0 ? t.whole : 1;
		t.samples = tr_samples_effective(r->view);
		t.most = r->options.top ? r->options.top :
			 tr_report_room(r, ROWS_LEAST, ROWS_SHOWN);
		paid_table(&t, rows, n);
		tr_report_unsampled_rows(r, 7);
		for (size_t i = 0; i < n; i++)
			tr_report_unknown(r, rows[i].function.function,
					  rows[i].function.weight_ns /
						  t.whole);
	}
	free(rows);
	tr_frames_release(&frames);
	return err;
}

/* ---- JSON -------------------------------------------------------------- */

#define PAID(key, field) TR_FIELD(struct tr_paid, key, field)

static const struct tr_field paid_fields[] = {
	PAID("function", function.function), PAID("module", function.module),
	PAID("file", function.file), PAID("first_line", function.first_line),
	PAID("called", is_called), PAID("own_ns", function.weight_ns),
	PAID("total_ns", function.all_weight_ns),
	PAID("samples", function.samples),
};

int tr_json_paid(struct tr_json *j, struct tr_report *r)
{
	struct tr_frames frames = { 0 };
	struct tr_paid *rows = NULL;
	size_t n = 0;
	int err = tr_functions_paid(r->view, &frames, &rows, &n);

	if (!err) {
		tr_json_array(j, "paid");
		for (size_t i = 0; i < n; i++)
			tr_json_struct(j, NULL, TR_ALL(paid_fields), &rows[i]);
		tr_json_end_array(j);
	}
	free(rows);
	tr_frames_release(&frames);
	return err;
}
