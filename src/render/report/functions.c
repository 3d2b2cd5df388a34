/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions: those in sampled stacks, and their times.
 */
#include "render/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "read/profile.h"

#define ROWS_SHOWN 30u	   /* default */
#define FUNCTION_MOST 100u /* columns */
#define FUNCTION_LEAST 44u /* even if a row is then longer than the line */

/* ---- order ------------------------------------------------------------- */

static int by_total(const void *a, const void *b)
{
	const tare_function *x = *(const tare_function *const *)a;
	const tare_function *y = *(const tare_function *const *)b;

	if (x->all_weight_ns != y->all_weight_ns)
		return x->all_weight_ns > y->all_weight_ns ? -1 : 1;
	return x < y ? -1 : x > y; /* stable: most own time first */
}

static int by_samples(const void *a, const void *b)
{
	const tare_function *x = *(const tare_function *const *)a;
	const tare_function *y = *(const tare_function *const *)b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int by_name(const void *a, const void *b)
{
	const tare_function *x = *(const tare_function *const *)a;
	const tare_function *y = *(const tare_function *const *)b;
	int order = strcmp(x->function, y->function);

	return order ? order : x < y ? -1 : x > y;
}

static bool is_asked_order(const struct tr_report *r, const char *order)
{
	return r->asked_sort && strcmp(r->asked_sort, order) == 0;
}

/* By the requested order if it applies, else most own time first. Gives. */
static const tare_function **sorted(const struct tr_report *r, size_t *ret_n)
{
	const tare_function *all, **rows;
	size_t n;

	if (r->options.inlined ? tare_view_functions(r->view, &all, &n) :
				 tr_functions_folded(r->view, &all, &n))
		return NULL;
	rows = calloc(n + 1, sizeof(*rows));
	for (size_t i = 0; rows && i < n; i++)
		rows[i] = &all[i];
	if (rows && is_asked_order(r, "total"))
		qsort(rows, n, sizeof(*rows), by_total);
	else if (rows && is_asked_order(r, "samples"))
		qsort(rows, n, sizeof(*rows), by_samples);
	else if (rows && is_asked_order(r, "name"))
		qsort(rows, n, sizeof(*rows), by_name);
	*ret_n = n;
	return rows;
}

static double own_of(const tare_function *const *rows, size_t n)
{
	double own = 0;

	for (size_t i = 0; i < n; i++)
		own += rows[i]->weight_ns;
	return own;
}

/* All samples: some stacks are cut short before their first function. */
static double whole_of(const struct tr_report *r,
		       const tare_function *const *rows, size_t n)
{
	return tr_most(own_of(rows, n),
		       tare_view_sampling(r->view)->weight_ns);
}

/* ---- text -------------------------------------------------------------- */

/*
 * Writes a name in up to `width` columns and returns the number used. A long
 * name is shortened; its offset in a module stays complete.
 */
static size_t name_text(struct tr_report *r, const char *name, size_t width)
{
	char brief[TR_BRIEF_BYTES];
	const char *offset;
	size_t used = tr_text_columns(name);

	if (used > width) {
		name = tr_name_brief(name, brief);
		used = tr_text_columns(name);
	}
	offset = used > width ? strstr(name, "+0x") : NULL;
	if (offset && strlen(offset) < width) {
		tr_report_text(r, name, width - strlen(offset));
		tr_report_text(r, offset, width);
	} else {
		tr_report_text(r, name, width);
	}
	return used < width ? used : width;
}

/* "git+0x2ab160" contains the module, and "git" is the module. */
static bool has_module(const char *name, const char *module)
{
	size_t n = strlen(module);

	return strncmp(name, module, n) == 0 &&
	       (!name[n] || strncmp(name + n, "+0x", 3) == 0);
}

static void place_text(struct tr_report *r, const tare_function *f,
		       size_t width)
{
	size_t gap;

	tr_buf_adds(r->buf, "  ");
	gap = width - name_text(r, f->function, width) + 2;
	if (f->file[0]) {
		tr_buf_pad(r->buf, ' ', gap - 2);
		tr_report_place(r, f->file, f->line);
		gap = 2;
	}
	if (f->module[0] && !has_module(f->function, f->module)) {
		tr_buf_pad(r->buf, ' ', gap);
		tr_report_text(r, f->module, 40);
	}
	if (f->is_inlined)
		tr_buf_adds(r->buf, "  (inlined)");
	tr_buf_addc(r->buf, '\n');
}

/* Columns of the longest name, limited to leave room for the rest. */
static size_t name_width(const struct tr_report *r,
			 const tare_function *const *rows, size_t n)
{
	size_t most = tr_report_rest(r, 70, FUNCTION_LEAST), width = 8;

	if (most > FUNCTION_MOST)
		most = FUNCTION_MOST;
	for (size_t i = 0; i < n; i++) {
		size_t c = tr_text_columns(rows[i]->function);

		width = c > width ? c : width;
	}
	return width < most ? width : most;
}

static void function_rows(struct tr_report *r,
			  const tare_function *const *rows, size_t n,
			  double whole)
{
	double samples = tr_samples_effective(r->view);
	size_t width = name_width(r, rows, n);

	for (size_t i = 0; i < n; i++) {
		double share = rows[i]->weight_ns / whole;

		tr_report_share(r, share);
		tr_report_interval(r, share, samples);
		tr_report_time(r, rows[i]->weight_ns, 8);
		tr_report_share(r, rows[i]->all_weight_ns / whole);
		tr_report_time(r, rows[i]->all_weight_ns, 8);
		tr_report_count(r, rows[i]->samples, 8);
		place_text(r, rows[i], width);
	}
}

/*
 * Without --top and by own time, only functions that have own time: callers
 * alone are in the tree.
 */
static size_t rows_shown(const struct tr_report *r,
			 const tare_function *const *rows, size_t n)
{
	size_t most = r->options.top ? r->options.top : ROWS_SHOWN;
	size_t shown = n < most ? n : most;

	if (r->options.top || is_asked_order(r, "total") ||
	    is_asked_order(r, "name"))
		return shown;
	while (shown > 0 && !(rows[shown - 1]->weight_ns > 0))
		shown--;
	return shown;
}

static void rest_line(struct tr_report *r, const tare_function *const *rest,
		      size_t n, double whole)
{
	double own = own_of(rest, n);

	tr_buf_addf(r->buf, "... and %llu more", (unsigned long long)n);
	if (own > 0) {
		tr_buf_adds(r->buf, " with");
		tr_report_share(r, own / whole);
		tr_buf_adds(r->buf, " of the own time");
	} else {
		tr_buf_adds(r->buf, " that only called others");
	}
	tr_buf_adds(r->buf, " (--top shows more, 'tare tree' who calls "
			    "whom)\n");
}

/* Code that runs there exists: its own time is not that of a damaged stack. */
void tr_report_unknown(struct tr_report *r, const char *function, double own)
{
	if (own >= 0.01 && strcmp(function, TR_UNKNOWN_NAME) == 0)
		tr_buf_adds(r->buf, TR_UNKNOWN_NAME " is code in no file, such "
			    "as JIT code: a perf map (/tmp/perf-PID.map) or a "
			    "jitdump gives it names\n");
}

static void function_table(struct tr_report *r,
			   const tare_function *const *rows, size_t n)
{
	static const struct tr_report_title titles[] = {
		{ "own", 7 },	{ "95 %", 7 },	  { "time", 8 },
		{ "total", 7 }, { "time", 8 },	  { "samples", 8 },
		{ " function", 9 }, { NULL, 0 },
	};
	static const char *const known[] = { "own", "total", "samples",
					     "name", NULL };
	size_t shown = rows_shown(r, rows, n);
	double whole = whole_of(r, rows, n);
	struct tr_report bar_less; /* rows of this table have none */

	tr_report_heading(r, "functions", "");
	tr_report_order_note(r, known, "sampled functions");
	tr_report_titles(r, NULL, 0, titles);
	function_rows(r, rows, shown, whole > 0 ? whole : 1);
	if (shown < n)
		rest_line(r, rows + shown, n - shown, whole > 0 ? whole : 1);
	bar_less = *r;
	bar_less.options.color = false;
	tr_report_unsampled_rows(&bar_less, 23);
	for (size_t i = 0; i < shown && whole > 0; i++)
		tr_report_unknown(r, rows[i]->function,
				  rows[i]->weight_ns / whole);
}

int tr_report_profile(struct tr_report *r)
{
	const tare_sampling *s = tare_view_sampling(r->view);
	const tare_function **rows;
	size_t n;

	if (!s->was_on)
		return 0;
	rows = sorted(r, &n);
	if (!rows)
		return TARE_ENOMEM;
	tr_report_sampling(r);
	if (n)
		function_table(r, rows, n);
	free(rows);
	return 0;
}

/* ---- JSON -------------------------------------------------------------- */

#define FUNCTION(key, field) TR_FIELD(tare_function, key, field)

static const struct tr_field function_names[] = {
	FUNCTION("function", function), FUNCTION("module", module),
	FUNCTION("file", file), FUNCTION("line", line),
	FUNCTION("first_line", first_line), FUNCTION("inlined", is_inlined),
};

static void put_function(struct tr_json *j, const tare_function *f,
			 double whole, double samples)
{
	double own = whole > 0 ? f->weight_ns / whole : 0;
	struct tr_interval bounds = tr_share_interval(own, samples);

	tr_json_object(j, NULL);
	tr_json_fields(j, TR_ALL(function_names), f);
	tr_json_double(j, "own_share", own);
	tr_json_double(j, "own_error", tr_share_error(own, samples));
	tr_json_double(j, "own_low", bounds.low);
	tr_json_double(j, "own_high", bounds.high);
	tr_json_double(j, "own_ns", f->weight_ns);
	tr_json_double(j, "total_share",
		       whole > 0 ? f->all_weight_ns / whole : 0);
	tr_json_double(j, "total_ns", f->all_weight_ns);
	tr_json_u64(j, "samples", f->samples);
	tr_json_u64(j, "total_samples", f->all_samples);
	tr_json_end_object(j);
}

static int put_functions(struct tr_json *j, const struct tr_report *r,
			 const char *key, bool is_inlined)
{
	struct tr_report how = *r;
	const tare_function **rows;
	double whole;
	size_t n;

	how.options.inlined = is_inlined;
	rows = sorted(&how, &n);
	if (!rows)
		return TARE_ENOMEM;
	whole = whole_of(r, rows, n);
	tr_json_array(j, key);
	for (size_t i = 0; i < n; i++)
		if (!r->options.top || i < r->options.top)
			put_function(j, rows[i], whole,
				     tr_samples_effective(r->view));
	tr_json_end_array(j);
	free(rows);
	return 0;
}

int tr_json_profile(struct tr_json *j, struct tr_report *r)
{
	int err;

	if (!tare_view_sampling(r->view)->was_on)
		return 0;
	tr_json_object(j, "samples");
	tr_json_sampling(j, r->view);
	err = put_functions(j, r, "functions", true);
	if (!err)
		err = put_functions(j, r, "folded", false);
	if (!err)
		err = tr_json_paid(j, r);
	tr_json_end_object(j);
	return err;
}
