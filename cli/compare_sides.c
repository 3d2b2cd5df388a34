/* SPDX-License-Identifier: Apache-2.0 */
#include "compare_sides.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tare/read/export.h>

#include "difference.h"
#include "message.h"
#include "output.h"
#include "read/profile.h"
#include "runs.h"
#include "side.h"
#include "table.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

struct row {
	enum side_figure figure;
	double old, now; /* medians */
	struct tr_verdict verdict;
};

struct sides {
	struct side old, now;
	struct row row[SIDE_FIGURES];
	size_t n_rows;
	struct tr_verdict verdict; /* by time */
	bool other_machine;	   /* times are not compared */
	bool other_program;	   /* nothing in common */
	bool other_options;
	struct difference difference;
};

/* ---- figures ----------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return TR_ORDER(*x, *y);
}

static double median_of(double *x, size_t n)
{
	if (!n)
		return NAN;
	qsort(x, n, sizeof(*x), ascending);
	return (x[(n - 1) / 2] + x[n / 2]) / 2;
}

static void add_row(struct sides *s, enum side_figure figure, double alarm)
{
	double *old = calloc(s->old.n_runs + 1, sizeof(*old));
	double *now = calloc(s->now.n_runs + 1, sizeof(*now));
	struct tr_judge_rule rule = { .alarm = alarm };
	struct row *row = &s->row[s->n_rows];
	size_t n, m;

	if (old && now) {
		n = side_values(&s->old, figure, old);
		m = side_values(&s->now, figure, now);
		*row = (struct row){ .figure = figure };
		row->verdict = tr_judge_sets(old, n, now, m, &rule);
		row->old = median_of(old, n);
		row->now = median_of(now, m);
		if (n && m && (row->old > 0 || row->now > 0))
			s->n_rows++;
	}
	free(old);
	free(now);
}

static const tare_run *first_run(const struct side *side)
{
	return tare_view_run(side->views[0]);
}

/* Times of different machines are not compared: nothing relates them. */
static bool is_other_machine(const struct sides *s)
{
	const tare_run *old = first_run(&s->old);

	for (unsigned i = 0; i < 2; i++) {
		const struct side *side = i ? &s->now : &s->old;

		for (size_t k = 0; k < side->n_views; k++) {
			const tare_run *run = tare_view_run(side->views[k]);

			if (strcmp(run->host, old->host) != 0 ||
			    strcmp(run->cpu, old->cpu) != 0)
				return true;
		}
	}
	return false;
}

/* The folder of ledgers is no option of measuring. */
static const char *skip_folder(const char *config)
{
	return strncmp(config, "dir=", 4) == 0 ?
		       config + strcspn(config, "\n") :
		       config;
}

static bool has_same_options(const char *a, const char *b)
{
	/* Lines, in the order of the table; the folder is the first. */
	a = skip_folder(a);
	b = skip_folder(b);
	return strcmp(a + (*a == '\n'), b + (*b == '\n')) == 0;
}

static void judge(struct sides *s)
{
	s->other_machine = is_other_machine(s);
	s->other_program = strcmp(side_program(&s->old),
				  side_program(&s->now)) != 0;
	s->other_options = !has_same_options(first_run(&s->old)->config,
					     first_run(&s->now)->config);
	add_row(s, SIDE_TIME, TR_JUDGE_ALARM);
	if (s->n_rows)
		s->verdict = s->row[0].verdict;
	if (s->other_machine) {
		s->verdict.answer = TR_ANSWER_UNSURE;
		s->verdict.needed = 0;
	}
	for (unsigned i = SIDE_WALL; i < SIDE_FIGURES; i++)
		add_row(s, (enum side_figure)i,
			TR_JUDGE_ALARM / (SIDE_FIGURES - 1));
}

/* ---- texts ------------------------------------------------------------- */

static const char *figure_text(enum side_figure figure)
{
	static const char *const texts[SIDE_FIGURES] = {
		"time", "wall time", "CPU time", "waiting", "peak memory",
		"allocations"
	};

	return texts[figure];
}

static struct tr_text value_text(enum side_figure figure, double value)
{
	return figure <= SIDE_WAITING ? tr_as_duration(value) :
	       figure == SIDE_MEMORY  ? tr_as_bytes(value) :
					tr_as_number(value);
}

static void add_verdict(const struct sides *s, struct tr_buf *buf)
{
	const struct tr_verdict *v = &s->verdict;

	if (s->other_machine) {
		tr_buf_adds(buf, "cannot tell: the runs are of different "
				 "machines");
		return;
	}
	tr_buf_adds(buf, tr_answer_text(v->answer));
	if (v->answer >= TR_ANSWER_FASTER)
		tr_buf_addf(buf, " by %s",
			    tr_as_share(fabs(v->change)).text);
	if (v->answer == TR_ANSWER_EQUAL)
		tr_buf_addf(buf, ": any difference is below %s",
			    tr_as_share(tr_verdict_within(v)).text);
	else if (!isnan(v->low))
		tr_buf_addf(buf, ": the change is %s to %s",
			    tr_as_change(v->low).text,
			    tr_as_change(v->high).text);
	else
		tr_buf_addf(buf, ": %zu and %zu runs; %s",
			    s->old.n_runs, s->now.n_runs,
			    isnan(v->change) ? "their times are not known" :
					       "one run shows no noise");
	if (v->needed)
		tr_buf_addf(buf, "; about %llu runs of each would tell",
			    (unsigned long long)v->needed);
}

/* What makes the answer less certain, one line each. */
static void add_notes(const struct sides *s, const char *before,
		      struct tr_buf *buf)
{
	size_t failed[2] = { 0, 0 };

	for (unsigned i = 0; i < 2; i++) {
		const struct side *side = i ? &s->now : &s->old;

		for (size_t k = 0; k < side->n_runs; k++)
			failed[i] += side->runs[k].failed;
		if (failed[i])
			tr_buf_addf(buf, "%s%zu of %zu %s runs failed or were "
				    "killed: their times are left out\n",
				    before, failed[i], side->n_runs,
				    i ? "new" : "old");
	}
	if (s->other_program)
		tr_buf_addf(buf, "%sthe runs are of different programs: '%s' "
			    "and '%s'\n", before, side_program(&s->old),
			    side_program(&s->now));
	if (s->other_options)
		tr_buf_addf(buf, "%sthe runs were measured with different "
			    "options: measuring itself may differ\n", before);
	if (s->verdict.answer >= TR_ANSWER_FASTER)
		tr_buf_addf(buf, "%sthe runs were not made in turn, so the "
			    "machine may have changed: tare bench makes them "
			    "so\n", before);
}

/* ---- text -------------------------------------------------------------- */

static void print_buf(struct tr_buf *buf)
{
	if (buf->len && !buf->failed)
		terminal_safe(stdout, buf->data);
	tr_buf_release(buf);
}

static void print_lines(struct tr_buf *buf)
{
	char *line = buf->failed ? NULL : buf->data, *end;

	for (; line && buf->len && *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			break;
		*end = '\0';
		terminal_safe(stdout, line);
		(void)putchar('\n');
	}
	tr_buf_release(buf);
}

static void print_rows(const struct sides *s)
{
	static const struct column columns[] = {
		COLUMN_WIDE("FIGURE"),	   COLUMN_NUMBER("OLD", 0),
		COLUMN_NUMBER("NEW", 0),   COLUMN_NUMBER("CHANGE", 0),
		COLUMN_NUMBER("FROM", 1),  COLUMN_NUMBER("TO", 1),
	};
	struct table table;

	table_init(&table, columns, N_OF(columns));
	for (size_t i = 0; i < s->n_rows; i++) {
		const struct row *row = &s->row[i];

		table_add(&table, figure_text(row->figure));
		table_add(&table, value_text(row->figure, row->old).text);
		table_add(&table, value_text(row->figure, row->now).text);
		table_add(&table, tr_as_change(row->verdict.change).text);
		table_add(&table, tr_as_change(row->verdict.low).text);
		table_add(&table, tr_as_change(row->verdict.high).text);
	}
	table_end(&table, stdout);
}

static void print(const struct sides *s)
{
	struct tr_buf buf = TR_BUF_INIT;

	tr_buf_addf(&buf, "'%s' (%zu run%s) against '%s' (%zu run%s): ",
		    s->now.word, s->now.n_runs, s->now.n_runs == 1 ? "" : "s",
		    s->old.word, s->old.n_runs,
		    s->old.n_runs == 1 ? "" : "s");
	add_verdict(s, &buf);
	print_buf(&buf);
	(void)putchar('\n');
	add_notes(s, "note: ", &buf);
	print_lines(&buf);
	(void)putchar('\n');
	print_rows(s);
	difference_print(&s->difference);
	if (difference_is_empty(&s->difference))
		(void)puts("\nneither samples nor allocations of both sides: "
			   "what explains the difference is not known");
}

/* ---- JSON, Markdown ---------------------------------------------------- */

static void write_json(const struct sides *s)
{
	static const char *const names[SIDE_FIGURES] = {
		"time_ns", "wall_ns", "cpu_ns", "waiting_ns",
		"peak_memory_bytes", "allocations"
	};
	struct tr_json *json = output_json_begin();
	struct tr_buf buf = TR_BUF_INIT;

	tr_json_object(json, NULL);
	tr_json_str(json, "old", s->old.word);
	tr_json_str(json, "new", s->now.word);
	tr_json_u64(json, "old_runs", s->old.n_runs);
	tr_json_u64(json, "new_runs", s->now.n_runs);
	tr_json_str(json, "answer", tr_answer_text(s->verdict.answer));
	add_verdict(s, &buf);
	tr_json_str(json, "text", buf.failed ? "" : buf.data);
	tr_buf_release(&buf);
	tr_json_u64(json, "needed", s->verdict.needed);
	tr_json_bool(json, "same_machine", !s->other_machine);
	tr_json_bool(json, "same_program", !s->other_program);
	tr_json_array(json, "figures");
	for (size_t i = 0; i < s->n_rows; i++) {
		const struct row *row = &s->row[i];

		tr_json_object(json, NULL);
		tr_json_str(json, "figure", names[row->figure]);
		tr_json_double(json, "old", row->old);
		tr_json_double(json, "new", row->now);
		tr_json_double(json, "change", row->verdict.change);
		tr_json_double(json, "low", row->verdict.low);
		tr_json_double(json, "high", row->verdict.high);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
	difference_json(&s->difference, json);
	tr_json_end_object(json);
	output_json(json, stdout);
}

static void write_markdown(const struct sides *s, FILE *stream)
{
	struct tr_buf buf = TR_BUF_INIT;

	markdown_code(stream, s->now.word);
	(void)fputs(" against ", stream);
	markdown_code(stream, s->old.word);
	add_verdict(s, &buf);
	(void)fprintf(stream, ": **%s**\n\n", buf.failed ? "" : buf.data);
	tr_buf_release(&buf);
	(void)fputs("| figure | old | new | change |\n|---|--:|--:|--:|\n",
		    stream);
	for (size_t i = 0; i < s->n_rows; i++)
		(void)fprintf(stream, "| %s | %s | %s | %s |\n",
			      figure_text(s->row[i].figure),
			      value_text(s->row[i].figure,
					 s->row[i].old).text,
			      value_text(s->row[i].figure,
					 s->row[i].now).text,
			      tr_as_change(s->row[i].verdict.change).text);
	difference_markdown(&s->difference, stream);
	tr_buf_adds(&buf, "\n");
	add_notes(s, "- ", &buf);
	if (buf.data && !buf.failed)
		(void)fputs(buf.data, stream);
	tr_buf_release(&buf);
}

/* ---- page -------------------------------------------------------------- */

static void html_text(FILE *stream, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			(void)fputs("&lt;", stream);
			break;
		case '>':
			(void)fputs("&gt;", stream);
			break;
		case '&':
			(void)fputs("&amp;", stream);
			break;
		case '"':
			(void)fputs("&quot;", stream);
			break;
		default:
			(void)fputc((unsigned char)*text < ' ' ? ' ' : *text,
				    stream);
		}
	}
}

static void html_explanation(const struct tr_explanation *e, const char *title,
			     FILE *stream)
{
	(void)fprintf(stream, "<h2>%s</h2><table><tr><th>change<th>old<th>new"
		      "<th>function</tr>\n", title);
	for (size_t i = 0; i < e->n; i++) {
		const struct tr_explained *row = &e->row[i];

		(void)fprintf(stream, "<tr class=%s><td>%s%s<td>%s<td>%s<td>",
			      row->change > 0 ? "more" : "less",
			      row->change > 0 ? "+" : "-",
			      tr_as_duration(fabs(row->change)).text,
			      tr_as_duration(row->old).text,
			      tr_as_duration(row->now).text);
		html_text(stream, row->name);
		if (row->callee[0]) {
			(void)fputs(", in ", stream);
			html_text(stream, row->callee);
		}
		(void)fputs("</tr>\n", stream);
	}
	(void)fprintf(stream, "<tr><td>%s%s<td><td><td>%zu other functions"
		      "</tr></table>\n", e->rest < 0 ? "-" : "+",
		      tr_as_duration(fabs(e->rest)).text, e->n_rest);
}

static const char page_head[] =
	"<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>tare "
	"compare</title><style>body{font:14px sans-serif;margin:2em;max-width:"
	"1300px}table{border-collapse:collapse}td,th{padding:2px 10px;"
	"text-align:right}td:last-child,th:last-child,td:first-child{text-"
	"align:left}.more td:first-child{color:#b00}.less td:first-child{"
	"color:#070}</style>\n";

/* The run of median time: its busiest process stands for the side. */
static tare_view *typical_view(const struct side *side)
{
	double median, best = INFINITY, most = -1;
	double *room = calloc(side->n_runs + 1, sizeof(*room));
	const struct side_run *run = &side->runs[0];
	tare_view *view = side->views[0];

	if (!room)
		return view;
	median = median_of(room, side_values(side, SIDE_TIME, room));
	free(room);
	for (size_t i = 0; i < side->n_runs; i++) {
		double far = fabs(side->runs[i].figure[SIDE_TIME] - median);

		if (!side->runs[i].failed && far < best) {
			best = far;
			run = &side->runs[i];
		}
	}
	for (size_t i = run->first; i < run->first + run->n; i++) {
		double ns = tare_view_sampling(side->views[i])->weight_ns;

		if (ns > most) {
			most = ns;
			view = side->views[i];
		}
	}
	return view;
}

static int write_flame(const struct sides *s, FILE *stream)
{
	tare_flame_options how = { .struct_size = sizeof(how),
				   .from = TARE_FRAMES_SAMPLES };
	tare_view *now = typical_view(&s->now);

	how.before = typical_view(&s->old);
	if (!tare_view_sampling(now)->samples ||
	    !tare_view_sampling(how.before)->samples)
		return 0;
	(void)fputs("<h2>Flame graph: red takes longer than in the old run, "
		    "blue shorter</h2>\n", stream);
	return tare_export_flame(now, &how, stream_write, stream);
}

static int write_page(const struct sides *s, FILE *stream)
{
	struct tr_buf buf = TR_BUF_INIT;
	int err;

	(void)fputs(page_head, stream);
	(void)fputs("<h1>", stream);
	html_text(stream, s->now.word);
	(void)fputs(" against ", stream);
	html_text(stream, s->old.word);
	(void)fputs("</h1><p>", stream);
	add_verdict(s, &buf);
	html_text(stream, buf.failed ? "" : buf.data);
	tr_buf_release(&buf);
	(void)fputs("<pre>", stream);
	add_notes(s, "", &buf);
	for (char *at = buf.data; at && buf.len && *at; at++)
		html_text(stream, *at == '\n' ? " " : (char[]){ *at, 0 });
	tr_buf_release(&buf);
	(void)fputs("</pre><table><tr><th>figure<th>old<th>new<th>change</tr>"
		    "\n", stream);
	for (size_t i = 0; i < s->n_rows; i++)
		(void)fprintf(stream, "<tr><td>%s<td>%s<td>%s<td>%s</tr>\n",
			      figure_text(s->row[i].figure),
			      value_text(s->row[i].figure,
					 s->row[i].old).text,
			      value_text(s->row[i].figure,
					 s->row[i].now).text,
			      tr_as_change(s->row[i].verdict.change).text);
	(void)fputs("</table>\n", stream);
	if (s->difference.has_functions)
		html_explanation(&s->difference.functions,
				 "CPU time a run, by samples", stream);
	if (s->difference.has_waits)
		html_explanation(&s->difference.waits,
				 "Time of all threads a run, by samples",
				 stream);
	err = write_flame(s, stream);
	(void)fputs("</html>\n", stream);
	return err;
}

/* ---- all --------------------------------------------------------------- */

static int write_to(const struct sides *s, const char *path, bool is_page)
{
	struct output output;
	int err = 0;

	if (strcmp(path, "-") == 0) {
		if (is_page)
			err = write_page(s, stdout);
		else
			write_markdown(s, stdout);
		return err ? message_error("write", "page", err) : CODE_OK;
	}
	err = output_open(&output, path);
	if (!err) {
		if (is_page)
			err = write_page(s, output.stream);
		else
			write_markdown(s, output.stream);
		err = output_close(&output, err);
	}
	return err ? message_error("write", path, err) : CODE_OK;
}

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

static int show(const struct sides *s, const struct compare_output *output)
{
	int code = CODE_OK, other;

	if (output->json)
		write_json(s);
	else if (!is_stdout(output->html) && !is_stdout(output->markdown))
		print(s);
	if (output->html)
		code = write_to(s, output->html, true);
	if (output->markdown) {
		other = write_to(s, output->markdown, false);
		code = code ? code : other;
	}
	return code;
}

static int explain(struct sides *s)
{
	const struct tr_side old = { s->old.views, s->old.n_views, 0 };
	const struct tr_side now = { s->now.views, s->now.n_views, 0 };
	int err = difference_find(&s->difference, &old, &now);

	return err ? message_error("compare", s->now.word, err) : CODE_OK;
}

bool compare_sides(const char *old, const char *now,
		   const struct compare_output *output, int *ret_code)
{
	struct sides s = { .n_rows = 0 };
	bool is_taken;

	is_taken = side_open(&s.now, now, NULL) == 0 &&
		   side_open(&s.old, old, side_program(&s.now)) == 0 &&
		   !side_is_training(&s.now) && !side_is_training(&s.old);
	if (is_taken) {
		judge(&s);
		*ret_code = explain(&s);
		if (!*ret_code)
			*ret_code = show(&s, output);
	}
	difference_release(&s.difference);
	side_release(&s.old);
	side_release(&s.now);
	return is_taken;
}
