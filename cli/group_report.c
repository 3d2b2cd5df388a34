/* SPDX-License-Identifier: Apache-2.0 */
#include "group_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <tare/read/alloc.h>
#include <tare/read/pipeline.h>
#include <tare/read/train.h>

#include "base/maths.h"
#include "ending.h"
#include "message.h"
#include "output.h"
#include "read/stats.h"
#include "render/report.h"
#include "runs.h"
#include "table.h"

#define RUNS_MOST 100000u /* beyond it runs are counted only */
#define DEPTH_SHOWN 12u

static bool is_in(const tare_filter *window, const tare_run_entry *run)
{
	return run->end_ns >= window->from_ns &&
	       (!window->to_ns || run->start_ns < window->to_ns);
}

static bool has_time(const tare_filter *filter)
{
	return filter && (filter->from_ns || filter->to_ns);
}

/* Has a probe of the program measured something? */
static bool has_probed(tare_view *view)
{
	const tare_stats *stats;
	size_t n;

	if (tare_view_stats(view, NULL, &stats, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (stats[i].count && !tare_stats_is_monitor(&stats[i]))
			return true;
	return false;
}

static int add_probes(struct tr_programs *programs, tare_view *view,
		      const tare_filter *filter)
{
	if (!has_probed(view))
		return 0;
	programs->probed++;
	return tr_merge_add(programs->probes, view, filter);
}

/* Of a damaged or missing ledger only that it is so. */
static int add(struct tr_programs *programs, const tare_run_entry *run,
	       const tare_filter *filter)
{
	const tare_filter *window = has_time(filter) ? filter : NULL;
	tare_view *view;
	int err = run_open_listed(run, &view);

	if (!err) {
		names_attach(view);
		if (window)
			tr_profile_window(view, window->from_ns,
					  window->to_ns);
		if (window && is_in(window, run))
			programs->covered = tr_least(programs->covered,
						     tr_profile_covered(view));
		err = !window || is_in(window, run) ?
			      tr_programs_add(programs, view) :
			      0;
		if (!err && (!window || is_in(window, run)))
			err = add_probes(programs, view, filter);
		tare_view_close(view);
	}
	if (err && err != TARE_ENOMEM)
		programs->skipped++;
	return err == TARE_ENOMEM ? err : 0;
}

/* The part of their time that is selected. */
static void clip(struct tr_programs *programs, const tare_filter *window)
{
	if (programs->start_ns < window->from_ns)
		programs->start_ns = window->from_ns;
	if (window->to_ns && programs->end_ns > window->to_ns)
		programs->end_ns = window->to_ns;
}

/*
 * The CPU time of processes without a run, as `tare run` left it. Not known if
 * runs were deleted or added since: their time would be part of it.
 */
static double unmeasured_ns(const struct group *group, double time_ns)
{
	struct ending ending;

	for (size_t i = 0; i < group->n && !group->is_part; i++)
		if (ending_read(group->runs[i].path, &ending) &&
		    ending.runs == (int64_t)group->n)
			return tr_most((double)ending.cpu_ns - time_ns, 0);
	return 0;
}

int group_programs(const struct group *group, const tare_filter *filter,
		   struct tr_programs *programs)
{
	size_t n = group->n < RUNS_MOST ? group->n : RUNS_MOST;
	int err;

	*programs = (struct tr_programs){ .skipped = group->n - n,
					  .covered = 1,
					  .probes = tr_merge_new() };
	err = programs->probes ? 0 : TARE_ENOMEM;
	for (size_t i = n; i-- > 0 && !err;) /* the oldest first */
		err = add(programs, &group->runs[i], filter);
	programs->is_window = has_time(filter);
	if (has_time(filter))
		clip(programs, filter);
	if (!err)
		err = tr_merge_finish(programs->probes, filter);
	if (!err)
		err = tr_programs_finish(programs);
	if (!err && !has_time(filter) && !programs->is_wall)
		programs->unmeasured_ns = unmeasured_ns(group,
							programs->time_ns);
	return err;
}

void group_programs_release(struct tr_programs *programs)
{
	tare_merge_close(programs->probes);
	tr_programs_release(programs);
}

bool group_is_probed(const struct tr_programs *programs, tare_view *view)
{
	return programs->probed > (view && has_probed(view));
}

void group_drop_probes(struct tr_programs *programs)
{
	tare_merge_close(programs->probes);
	programs->probes = NULL;
}

bool group_has_more_than_series(tare_view *view)
{
	const tare_pipeline *lines;
	const tare_training_info *trainings;
	const tare_call *calls;
	size_t n = 0;

	return tare_view_heap(view)->was_on ||
	       tare_view_trainings(view, &trainings) ||
	       tare_view_pipelines(view, 2, &lines, &n) || n ||
	       tare_view_calls(view, &calls, &n) || n;
}

bool group_has_all_of(const struct tr_programs *programs, tare_view *view)
{
	return (!tare_view_health(view)->events ||
		group_is_probed(programs, view)) &&
	       !group_has_more_than_series(view);
}

/* ---- programs ---------------------------------------------------------- */

/* A tare_write_fn; lack of memory is detected at the end. */
static int buf_write(void *arg, const char *text, size_t len)
{
	tr_buf_add(arg, text, len);
	return 0;
}

/* The object of the view's report, with the programs before all else. */
static int write_json(const struct tr_programs *programs, tare_view *view,
		      const tare_report_options *how)
{
	struct tr_json *json = output_json_begin();
	struct tr_buf report = TR_BUF_INIT;
	int err = 0;

	if (view) {
		view->is_in_programs = programs->probes != NULL;
		err = tare_view_json(view, how, buf_write, &report);
	}
	tr_json_object(json, NULL);
	tr_json_programs(json, programs);
	if (!err && report.failed)
		err = TARE_ENOMEM;
	if (!err && report.len > 3) {
		tr_buf_addc(json->buf, ',');
		tr_buf_add(json->buf, report.data + 1, report.len - 3);
	}
	tr_json_end_object(json);
	tr_buf_release(&report);
	if (!err)
		output_json(json, stdout);
	return err;
}

int group_report(const struct tr_programs *programs,
		 const tare_report_options *how, const char *name,
		 bool as_json, tare_view *view)
{
	int err = as_json ? write_json(programs, view, how) :
			    tr_report_programs(programs, how, name, NULL,
					       stream_write, stdout);

	if (!err && !as_json)
		(void)fputs(GROUP_MORE, stdout);
	/* main() reports failed writes: it handles EPIPE. */
	return err && !ferror(stdout) ? message_error("report", name, err) :
					CODE_OK;
}

/* ---- processes --------------------------------------------------------- */

/* A process of the group, or one above it that left no run. */
struct process {
	const tare_run_entry *run; /* NULL: none */
	int64_t pid, parent;	   /* parent 0: unknown */
	char program[32];	   /* without a run: as the kernel calls it */
	char ancestors[320];	   /* "PID:NAME PID:NAME", the parent first */
	double wall_ns, cpu_ns;
	uint64_t samples;
	bool is_readable;
	bool has_ended; /* and how is known */
	int status;	/* as of wait() */
};

/* As `tare run` saw it, or as the process said itself. */
static void read_ending(struct process *p, tare_view *view)
{
	struct ending ending;
	uint32_t own = view ? tr_view_header(view)->exit_status : 0;

	if (ending_read_own(p->run->path, p->run->pid, &ending)) {
		p->has_ended = true;
		p->status = ending.status;
	} else if (own && own <= 256 && p->run->state != TARE_RUN_KILLED) {
		p->has_ended = true;
		p->status = (int)(own - 1) << 8;
	}
}

static struct process process_of(const tare_run_entry *run)
{
	struct process p = { .run = run,
			     .pid = run->pid,
			     .wall_ns = (double)run->end_ns -
					(double)run->start_ns };
	tare_view *view;

	if (run_open_listed(run, &view)) {
		read_ending(&p, NULL);
		return p;
	}
	p.is_readable = true;
	read_ending(&p, view);
	(void)snprintf(p.ancestors, sizeof(p.ancestors), "%s",
		       tr_view_meta(view, "ancestors"));
	p.parent = tare_view_run(view)->parent;
	p.cpu_ns = tare_view_sampling(view)->cpu_ns;
	p.samples = tare_view_sampling(view)->samples;
	tare_view_close(view);
	return p;
}

/* "0", "signal 11 (Segmentation fault)"; "": not known. */
static void ending_text(const struct process *p, char *text, size_t size)
{
	int status = p->status;

	text[0] = '\0';
	if (p->has_ended && WIFEXITED(status))
		(void)snprintf(text, size, "%d", WEXITSTATUS(status));
	else if (p->has_ended && WIFSIGNALED(status))
		(void)snprintf(text, size, "signal %d (%s)", WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
}

/* Indented below its parent, as far as a terminal has room. */
static void add_process(struct table *table, const struct process *p,
			uint32_t depth)
{
	int indent = (int)(depth < DEPTH_SHOWN ? depth : DEPTH_SHOWN) * 2;
	char ending[96];

	table_addf(table, "%lld", (long long)p->pid);
	if (p->parent)
		table_addf(table, "%lld", (long long)p->parent);
	else
		table_add(table, "");
	table_addf(table, "%*s%s", indent, "",
		   p->run ? p->run->program : p->program);
	if (!p->run) {
		for (unsigned i = 0; i < 3; i++)
			table_add(table, "");
		table_add(table, "no samples");
		table_add(table, "");
		table_add(table, "");
		return;
	}
	table_add(table, tr_as_duration(p->wall_ns).text);
	table_add(table, p->is_readable ? tr_as_duration(p->cpu_ns).text :
					  "damaged");
	table_addf(table, "%llu", (unsigned long long)p->samples);
	table_add_tinted(table, tr_run_state_name(p->run->state),
			 run_state_tint(p->run->state));
	ending_text(p, ending, sizeof(ending));
	table_add_tinted(table, ending, p->status ? TINT_RED : TINT_NONE);
	table_add(table, p->run->id);
}

static void put_process(struct tr_json *json, const struct process *p,
			uint32_t depth)
{
	tr_json_object(json, NULL);
	tr_json_i64(json, "pid", p->pid);
	tr_json_i64(json, "parent", p->parent);
	tr_json_u64(json, "depth", depth);
	tr_json_str(json, "program", p->run ? p->run->program : p->program);
	if (!p->run) {
		tr_json_str(json, "state", "no samples");
		tr_json_end_object(json);
		return;
	}
	tr_json_double(json, "wall_ns", p->wall_ns);
	tr_json_double(json, "cpu_ns", p->cpu_ns);
	tr_json_u64(json, "samples", p->samples);
	tr_json_str(json, "state", tr_run_state_name(p->run->state));
	if (p->has_ended && WIFEXITED(p->status))
		tr_json_i64(json, "exit_status", WEXITSTATUS(p->status));
	else if (p->has_ended && WIFSIGNALED(p->status))
		tr_json_i64(json, "signal", WTERMSIG(p->status));
	tr_json_str(json, "id", p->run->id);
	tr_json_end_object(json);
}

/* All processes, as a tree. */
struct tree {
	struct process *process;
	struct tr_relative *relative;
	uint32_t *order; /* indexes */
	uint32_t n;
};

static void tree_release(struct tree *tree)
{
	free(tree->process);
	free(tree->relative);
	free(tree->order);
}

static void add_relative(struct tree *tree, const struct process *p,
			 int64_t start_ns)
{
	tree->process[tree->n] = *p;
	tree->relative[tree->n++] = (struct tr_relative){
		.pid = p->pid, .parent = p->parent, .start_ns = start_ns
	};
}

static bool is_in_tree(const struct tree *tree, int64_t pid)
{
	for (uint32_t i = 0; i < tree->n; i++)
		if (tree->process[i].pid == pid)
			return true;
	return false;
}

/* "PID:NAME" into `ret`; what follows, or NULL at the end. */
static const char *read_ancestor(const char *text, struct process *ret)
{
	size_t n = strcspn(text, " ");
	const char *name = memchr(text, ':', n);
	char *end;
	long long pid = strtoll(text, &end, 10);

	if (!name || end != name || pid <= 0 || pid > INT32_MAX)
		return NULL;
	*ret = (struct process){ .pid = pid };
	n -= (size_t)(name + 1 - text);
	(void)snprintf(ret->program, sizeof(ret->program), "%.*s", (int)n,
		       name + 1);
	name += 1 + n;
	return name + (*name == ' ');
}

/* Those between the process and the next one above it that has a run. */
static void add_ancestors(struct tree *tree, uint32_t most,
			  const struct process *of, int64_t start_ns)
{
	const char *rest = of->ancestors;
	struct process above, next;

	for (rest = *rest ? read_ancestor(rest, &above) : NULL; rest;
	     above = next) {
		rest = *rest ? read_ancestor(rest, &next) : NULL;
		above.parent = rest ? next.pid : 0;
		if (is_in_tree(tree, above.pid) || tree->n >= most)
			return;
		add_relative(tree, &above, --start_ns);
	}
}

static int tree_fill(struct tree *tree, const struct group *group)
{
	size_t most = group->n * 3 + 16;

	tree->process = calloc(most, sizeof(*tree->process));
	tree->relative = calloc(most, sizeof(*tree->relative));
	tree->order = calloc(most, sizeof(*tree->order));
	if (!tree->process || !tree->relative || !tree->order)
		return TARE_ENOMEM;
	for (size_t i = 0; i < group->n; i++) {
		const tare_run_entry *run = &group->runs[i];
		struct process p = process_of(run);

		add_relative(tree, &p, run->start_ns);
	}
	/* The oldest first: what stands above a process began before it. */
	for (size_t i = group->n; i-- > 0;)
		add_ancestors(tree, (uint32_t)most, &tree->process[i],
			      tree->relative[i].start_ns);
	return tr_family_order(tree->relative, tree->n, tree->order);
}

static void tree_json(const struct tree *tree)
{
	struct tr_json *json = output_json_begin();

	tr_json_array(json, NULL);
	for (uint32_t i = 0; i < tree->n; i++)
		put_process(json, &tree->process[tree->order[i]],
			    tree->relative[tree->order[i]].depth);
	tr_json_end_array(json);
	output_json(json, stdout);
}

static void tree_table(const struct tree *tree)
{
	static const struct column columns[] = {
		COLUMN_NUMBER("PID", 0),     COLUMN_NUMBER("PARENT", 3),
		COLUMN_WIDE("PROGRAM"),	     COLUMN_NUMBER("WALL", 0),
		COLUMN_NUMBER("CPU", 0),     COLUMN_NUMBER("SAMPLES", 1),
		COLUMN_TEXT("STATE", 0),     COLUMN_TEXT("EXIT", 0),
		COLUMN_TEXT("ID", 2),
	};
	struct table table;

	table_init(&table, columns, TR_N_OF(columns));
	for (uint32_t i = 0; i < tree->n; i++)
		add_process(&table, &tree->process[tree->order[i]],
			    tree->relative[tree->order[i]].depth);
	table_end(&table, stdout);
}

int group_report_tree(const struct group *group, bool as_json)
{
	struct tree tree = { .n = 0 };
	int err = tree_fill(&tree, group);

	if (err)
		(void)message_error("report", "the processes", err);
	else if (as_json)
		tree_json(&tree);
	else
		tree_table(&tree);
	tree_release(&tree);
	return err ? CODE_IO : CODE_OK;
}
