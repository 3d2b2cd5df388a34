/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of several processes, such as those of a build, each with its
 * functions: one table instead of a report for each process. See
 * read/profile/programs.c.
 */
#include "render/report.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/maths.h"
#include "read/profile.h"

#define SHARE_LEAST 0.01
#define PROGRAMS_SHOWN 10u
#define FUNCTIONS_SHOWN 22u /* of all programs */
#define FUNCTIONS_FULL 200u /* where functions are asked for */

struct table {
	struct tr_report *r;
	const struct tr_programs *p;
	double whole, samples;
	double least_share; /* rows with less are not shown */
	double least_ns; /* functions with less own time are not shown */
	size_t left;	 /* functions that may be shown */
};

/* ---- the first sentence ------------------------------------------------ */

static void cpu_part(struct tr_sentence *s, const struct tr_programs *p,
		     double wall_ns)
{
	double cpu_ns = p->time_ns + p->unmeasured_ns;
	char text[160];
	int n = snprintf(text, sizeof(text), "%s CPU",
			 tr_as_duration(cpu_ns).text);

	if (s->r->ending && s->r->ending->system_ns > 0.02 * cpu_ns)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      " (%s in the kernel)",
			      tr_as_duration(s->r->ending->system_ns).text);
	if (wall_ns > 0 && cpu_ns > 1.05 * wall_ns)
		(void)snprintf(text + n, sizeof(text) - (size_t)n,
			       " on %s processors",
			       tr_as_fixed(cpu_ns / wall_ns, 1).text);
	if (!p->is_wall)
		tr_report_part(s, text);
}

/*
 * A process is in the row of each program that it was, so that the rows add up
 * to processes and execs. "2 programs in 1 process" says as much.
 */
static void exec_part(struct tr_sentence *s, const struct tr_programs *p)
{
	uint64_t execs = p->runs - p->processes;
	char text[48];

	if (p->runs <= p->processes ||
	    (p->processes < p->n && p->runs == p->n))
		return;
	(void)snprintf(text, sizeof(text), "%llu exec%s",
		       (unsigned long long)execs, execs == 1 ? "" : "s");
	tr_report_part(s, text);
}

bool tr_silent_share(const struct tr_silent *silent, char *text, size_t size)
{
	uint64_t all = silent ? silent->all : 0;

	if (!all || !silent->processes || silent->processes > all)
		return false;
	(void)snprintf(text, size, "%llu of %llu processes %s measured",
		       (unsigned long long)(all - silent->processes),
		       (unsigned long long)all,
		       all - silent->processes == 1 ? "was" : "were");
	return true;
}

static int add_name(char *text, size_t size, uint64_t n, const char *name)
{
	return n == 1 ? snprintf(text, size, "%s", name) :
			snprintf(text, size, "%llu %s", (unsigned long long)n,
				 name);
}

void tr_silent_names(const struct tr_silent *silent, char *text, size_t size)
{
	uint64_t left = silent ? silent->processes : 0;
	size_t used = 0, i;

	text[0] = '\0';
	for (i = 0; left && i < silent->n && used + 48 < size; i++) {
		const struct tr_silent_program *one = &silent->at[i];

		used += (size_t)snprintf(text + used, size - used, "%s",
					 i ? ", " : "");
		used += (size_t)add_name(text + used, size - used,
					 one->processes, one->name);
		if (one->is_static)
			used += (size_t)snprintf(text + used, size - used,
						 " (static)");
		left -= one->processes < left ? one->processes : left;
	}
	if (left && used + 32 < size)
		(void)snprintf(text + used, size - used, "%s%llu others",
			       used ? ", " : "", (unsigned long long)left);
}

static void count_part(struct tr_sentence *s, const struct tr_programs *p)
{
	char text[96];

	if (!p->is_window &&
	    tr_silent_share(&p->silent, text, sizeof(text))) {
		tr_report_part(s, text);
		(void)snprintf(text, sizeof(text), "%zu programs", p->n);
		if (p->n > 1)
			tr_report_part(s, text);
		exec_part(s, p);
		return;
	}
	/* A process that replaces itself by exec is several programs. */
	if (p->processes < p->n)
		(void)snprintf(text, sizeof(text), "%zu programs in %llu "
			       "process%s", p->n,
			       (unsigned long long)p->processes,
			       p->processes == 1 ? "" : "es");
	else if (p->processes == 1)
		(void)snprintf(text, sizeof(text), "1 process");
	else
		(void)snprintf(text, sizeof(text), "%llu process%s of %zu "
			       "program%s", (unsigned long long)p->processes,
			       p->processes == 1 ? "" : "es", p->n,
			       p->n == 1 ? "" : "s");
	tr_report_part(s, text);
	exec_part(s, p);
}

static void sentence(struct tr_report *r, const struct tr_programs *p,
		     const char *command)
{
	double wall_ns = r->ending ? r->ending->wall_ns :
				     (double)p->end_ns - (double)p->start_ns;
	struct tr_sentence s = { .r = r };
	char text[96];

	tr_buf_adds(r->buf, "tare  ");
	tr_report_text(r, command, 64);
	tr_buf_addf(r->buf, "  %s wall", tr_as_duration(wall_ns).text);
	s.column = r->buf->failed ? 0 : tr_text_columns(r->buf->data);
	cpu_part(&s, p, wall_ns);
	count_part(&s, p);
	if (p->is_window)
		tr_report_part(&s, "only samples of the window");
	if (p->is_window && p->covered < 1) {
		(void)snprintf(text, sizeof(text), "which are kept for %s of "
			       "it (sample_events)",
			       tr_as_share(p->covered).text);
		tr_report_part(&s, text);
	}
	if (r->ending) {
		(void)snprintf(text, sizeof(text), "peak memory %s",
			       tr_as_bytes(r->ending->peak_bytes).text);
		tr_report_part(&s, text);
		tr_report_part(&s, r->ending->text);
	}
	tr_buf_addc(r->buf, '\n');
}

int tr_report_joined(struct tr_report *r)
{
	struct tr_programs programs;
	int err = tr_views_programs(r->view, &programs);

	if (!err)
		sentence(r, &programs, tr_views_title(r->view));
	tr_programs_release(&programs);
	return err;
}

int tr_json_joined(struct tr_json *j, tare_view *view)
{
	struct tr_programs programs;
	int err = tr_views_programs(view, &programs);

	if (!err)
		tr_json_programs(j, &programs);
	tr_programs_release(&programs);
	return err;
}

/* ---- rows -------------------------------------------------------------- */

static void function_row(struct table *t, const struct tr_program_function *f)
{
	double own = f->sum.weight_ns / t->whole;

	tr_report_share(t->r, own);
	tr_report_bar(t->r, own);
	tr_report_interval(t->r, own, t->samples);
	tr_report_time(t->r, f->sum.weight_ns, 8);
	tr_report_share(t->r, f->sum.all_weight_ns / t->whole);
	tr_report_count(t->r, f->processes, 9);
	tr_report_function(t->r, &f->sum, 2, 45 + tr_report_bar_width(t->r));
}

/* A row that is not of a function; `processes` 0: not known. */
static void sum_row(struct table *t, double ns, uint64_t processes,
		    const char *name, size_t indent)
{
	tr_report_share(t->r, ns / t->whole);
	tr_report_bar(t->r, ns / t->whole);
	tr_report_cell(t->r, "", 7);
	tr_report_time(t->r, ns, 8);
	tr_report_cell(t->r, "", 7);
	if (processes)
		tr_report_count(t->r, processes, 9);
	else
		tr_report_cell(t->r, "", 9);
	tr_buf_pad(t->r->buf, ' ', 2 + indent);
	tr_report_text(t->r, name,
		       tr_report_rest(t->r, 47 + tr_report_bar_width(t->r),
				      30));
	tr_buf_addc(t->r->buf, '\n');
}

static bool is_shown(const struct table *t, double ns)
{
	return ns > 0 && ns >= t->least_share * t->whole;
}

/* What the rows of a program leave: other functions, and no samples. */
static void rest_rows(struct table *t, const struct tr_program *program,
		      double rest_ns, size_t hidden)
{
	double silent_ns = program->time_ns - program->named_ns;
	char text[64];

	(void)snprintf(text, sizeof(text), "[%zu other function%s]", hidden,
		       hidden == 1 ? "" : "s");
	if (hidden && is_shown(t, rest_ns))
		sum_row(t, rest_ns, 0, text, 2);
	if (is_shown(t, silent_ns))
		sum_row(t, silent_ns, 0, "[no samples]", 2);
}

static void program_rows(struct table *t, const struct tr_program *program)
{
	const struct tr_program_function *f = &t->p->function[program->first];
	double rest_ns = 0;
	size_t hidden = 0;

	sum_row(t, program->time_ns, program->processes, program->name, 0);
	t->r->program = program->name;
	for (size_t i = 0; i < program->n_functions; i++) {
		if (f[i].sum.weight_ns >= t->least_ns &&
		    f[i].sum.weight_ns > 0 && t->left) {
			function_row(t, &f[i]);
			t->left--;
		} else if (f[i].sum.weight_ns > 0) {
			rest_ns += f[i].sum.weight_ns;
			hidden++;
		}
	}
	rest_rows(t, program, rest_ns, hidden);
}

static void other_programs(struct table *t, size_t from)
{
	uint64_t processes = 0;
	double ns = 0;
	char text[64];

	for (size_t i = from; i < t->p->n; i++) {
		ns += t->p->program[i].time_ns;
		processes += t->p->program[i].processes;
	}
	(void)snprintf(text, sizeof(text), "[%zu other program%s]",
		       t->p->n - from, t->p->n - from == 1 ? "" : "s");
	if (processes)
		sum_row(t, ns, processes, text, 0);
}

/* Processes without a run, and the time that no run has. */
static void silent_row(struct table *t)
{
	const struct tr_silent *silent = &t->p->silent;
	char names[200], text[240];

	if (t->p->is_window)
		silent = NULL;
	tr_silent_names(silent, names, sizeof(names));
	(void)snprintf(text, sizeof(text), "[not measured: %s]",
		       names[0] ? names : "too short for a sample, or static");
	if (names[0] || is_shown(t, t->p->unmeasured_ns))
		sum_row(t, t->p->unmeasured_ns, names[0] ? silent->processes :
							    0,
			text, 0);
}

static int largest_first(const void *a, const void *b)
{
	return TR_ORDER(*(const double *)b, *(const double *)a);
}

/* The own time of the functions of the shown programs. */
static int find_least(struct table *t, size_t programs)
{
	double *own = malloc((t->p->n_functions + 1) * sizeof(*own));
	size_t n = 0;

	if (!own)
		return TARE_ENOMEM;
	for (size_t i = 0; i < t->p->n_functions; i++)
		if (t->p->function[i].program < programs)
			own[n++] = t->p->function[i].sum.weight_ns;
	qsort(own, n, sizeof(*own), largest_first);
	t->least_ns = t->least_share * t->whole;
	if (n > t->left)
		t->least_ns = tr_most(t->least_ns, own[t->left - 1]);
	free(own);
	return 0;
}

static int table(struct table *t)
{
	const struct tr_report_title titles[] = {
		{ "own", 7 + tr_report_bar_width(t->r) },
		{ "95 %", 7 },
		{ "time", 8 },
		{ "total", 7 },
		{ "processes", 9 },
		{ " program, function", 18 },
		{ NULL, 0 },
	};
	size_t top = t->r->options.top, most = top ? top : PROGRAMS_SHOWN;
	size_t shown = t->p->n < most ? t->p->n : most;
	int err;

	t->left = top ? top : FUNCTIONS_SHOWN;
	t->least_share = SHARE_LEAST;
	if (t->r->options.parts & TARE_REPORT_PROFILE) {
		shown = t->p->n;
		t->left = top ? top : FUNCTIONS_FULL;
		t->least_share = 0;
	}
	err = find_least(t, shown);
	if (err)
		return err;
	tr_report_heading(t->r, "programs", "");
	tr_report_titles(t->r, NULL, 0, titles);
	for (size_t i = 0; i < shown; i++)
		program_rows(t, &t->p->program[i]);
	other_programs(t, shown);
	silent_row(t);
	return 0;
}

/* ---- the end ----------------------------------------------------------- */

static void foot(struct tr_report *r, const struct tr_programs *p)
{
	tr_buf_addf(r->buf, "\nmeasuring  %s; %s sample%s of %llu process%s",
		    tr_as_duration(p->measuring_ns).text,
		    tr_as_count(p->samples).text, p->samples == 1 ? "" : "s",
		    (unsigned long long)p->processes,
		    p->processes == 1 ? "" : "es");
	if (p->samples)
		tr_buf_addf(r->buf, ", %s of stacks complete",
			    tr_as_share(p->whole / (double)p->samples).text);
	if (p->skipped)
		tr_buf_addf(r->buf, "; %llu run%s left out: unreadable, or "
			    "too many", (unsigned long long)p->skipped,
			    p->skipped == 1 ? "" : "s");
	tr_buf_addc(r->buf, '\n');
	if (p->python_refused)
		tr_report_python(r, p->python, p->python_refused);
}

static double whole_of(const struct tr_programs *p)
{
	double whole = p->time_ns + p->unmeasured_ns;

	return whole > 0 ? whole : 1;
}

/* Of the driver and of what read its event log, together. */
static int spark(struct tr_report *r, const struct tr_programs *p)
{
	const tare_stats *rows = NULL;
	bool is_there;
	size_t n = 0;

	if (!p->probes || !r->is_answer)
		return 0;
	rows = tare_merge_stats(p->probes, &n);
	return tr_report_spark_rows(r, rows, n, &is_there);
}

int tr_report_programs(const struct tr_programs *programs,
		       const tare_report_options *options, const char *command,
		       const struct tr_ending *ending, tare_write_fn write,
		       void *arg)
{
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_report r = { .buf = &buf, .ending = ending };
	struct table t = { .r = &r, .p = programs, .whole = whole_of(programs),
			   .samples = tr_programs_effective(programs) };
	int err = tr_report_prepare(&r, options, false);
	bool has_table = r.is_answer || r.options.parts & TARE_REPORT_PROFILE;

	if (err)
		return err;
	sentence(&r, programs, command);
	err = spark(&r, programs);
	if (!err && has_table)
		err = table(&t);
	if (!err && programs->probes)
		err = tr_report_merged(&r, programs->probes);
	if (has_table)
		foot(&r, programs);
	if (!err && buf.failed)
		err = TARE_ENOMEM;
	if (!err && write(arg, buf.data, buf.len))
		err = TARE_EIO;
	tr_buf_release(&buf);
	return err;
}

/* ---- JSON -------------------------------------------------------------- */

static void put_function(struct tr_json *j, const struct tr_program_function *f,
			 double whole)
{
	tr_json_object(j, NULL);
	tr_json_str(j, "function", f->sum.function);
	tr_json_str(j, "module", f->sum.module);
	tr_json_u64(j, "processes", f->processes);
	tr_json_u64(j, "samples", f->sum.samples);
	tr_json_double(j, "own_ns", f->sum.weight_ns);
	tr_json_double(j, "own_share", f->sum.weight_ns / whole);
	tr_json_double(j, "total_ns", f->sum.all_weight_ns);
	tr_json_double(j, "total_share", f->sum.all_weight_ns / whole);
	tr_json_end_object(j);
}

/* Absent: not known. */
static void json_silent(struct tr_json *j, const struct tr_silent *silent)
{
	if (!silent->all)
		return;
	tr_json_u64(j, "processes_run", silent->all);
	tr_json_array(j, "unmeasured_programs");
	for (size_t i = 0; i < silent->n; i++) {
		tr_json_object(j, NULL);
		tr_json_str(j, "program", silent->at[i].name);
		tr_json_u64(j, "processes", silent->at[i].processes);
		tr_json_bool(j, "static", silent->at[i].is_static);
		tr_json_end_object(j);
	}
	tr_json_end_array(j);
}

void tr_json_programs(struct tr_json *j, const struct tr_programs *p)
{
	double whole = whole_of(p);
	const tare_stats *rows;
	size_t n;

	tr_json_array(j, "programs");
	for (size_t i = 0; i < p->n; i++) {
		const struct tr_program *one = &p->program[i];

		tr_json_object(j, NULL);
		tr_json_str(j, "program", one->name);
		tr_json_u64(j, "processes", one->processes);
		tr_json_u64(j, "samples", one->samples);
		tr_json_double(j, "time_ns", one->time_ns);
		tr_json_double(j, "share", one->time_ns / whole);
		tr_json_double(j, "no_samples_ns",
			       one->time_ns - one->named_ns);
		tr_json_array(j, "functions");
		for (size_t k = 0; k < one->n_functions; k++)
			put_function(j, &p->function[one->first + k], whole);
		tr_json_end_array(j);
		tr_json_end_object(j);
	}
	tr_json_end_array(j);
	tr_json_double(j, "unmeasured_ns", p->unmeasured_ns);
	json_silent(j, &p->silent);
	tr_json_u64(j, "unreadable_runs", p->skipped);
	if (!p->probes)
		return;
	tr_json_merged(j, p->probes);
	rows = tare_merge_stats(p->probes, &n);
	(void)tr_json_spark_rows(j, rows, n);
}
