/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summary: one to two kilobytes that stay of a run: what it was, its wall time,
 * CPU time and memory, and the functions, scopes and counters with most in
 * them.
 */
#include "history_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <tare/read/alloc.h>
#include <tare/read/profile.h>

#include "base/config.h"
#include "base/text.h"
#include "ending.h"
#include "group_report.h"
#include "ledger/runs.h"
#include "read/view.h"

#define FUNCTIONS 8u
#define SCOPES 6u
#define COUNTERS 4u
#define NAME_BYTES 96u
#define ARGUMENTS_BYTES 400u

const char *summary_text(struct summary *summary, const char *text, size_t len)
{
	char *copy = summary->n_texts < SUMMARY_TEXTS ? strndup(text, len) :
							NULL;

	if (!copy)
		return "";
	summary->text[summary->n_texts++] = copy;
	return copy;
}

void summary_release(struct summary *summary)
{
	for (size_t i = 0; i < summary->n_texts; i++)
		free(summary->text[i]);
	summary->n_texts = 0;
}

/* ---- figures ----------------------------------------------------------- */

static void add_figure(struct summary *summary, const char *kind,
		       const char *name, double value, const char *unit)
{
	struct store_run *run = &summary->run;
	char text[NAME_BYTES + 16];
	size_t n;

	if (run->n_figures >= SUMMARY_FIGURES || !isfinite(value))
		return;
	(void)snprintf(text, sizeof(text), "%s%s%s", kind, *name ? " " : "",
		       name);
	n = tr_utf8_clip(text, strlen(text), NAME_BYTES);
	summary->figure[run->n_figures++] = (struct store_figure){
		.name = summary_text(summary, text, n),
		.value = value,
		.unit = summary_text(summary, unit, strlen(unit)),
	};
	run->figures = summary->figure;
}

static void add_functions(struct summary *summary, tare_view *view)
{
	const tare_function *functions;
	size_t n;

	if (tare_view_functions(view, &functions, &n))
		return;
	for (size_t i = 0; i < n && i < FUNCTIONS; i++)
		if (functions[i].weight_ns > 0)
			add_figure(summary, "function", functions[i].function,
				   functions[i].weight_ns, "ns");
}

/* Rows are in the order of their total. */
static void add_series(struct summary *summary, const tare_stats *stats,
		       size_t n)
{
	size_t scopes = 0, counters = 0;

	for (size_t i = 0; i < n; i++) {
		const tare_stats *s = &stats[i];

		if (s->kind == TARE_KIND_SCOPE && s->count &&
		    scopes++ < SCOPES) {
			add_figure(summary, "scope", s->name, s->net_total,
				   "ns");
			add_figure(summary, "calls", s->name, (double)s->count,
				   "1");
		} else if (s->kind == TARE_KIND_COUNTER &&
			   counters++ < COUNTERS) {
			add_figure(summary, "counter", s->name, s->total,
				   s->unit);
		}
	}
}

static void add_heap(struct summary *summary, tare_view *view)
{
	const tare_heap *heap = tare_view_heap(view);

	if (!heap || !heap->was_on)
		return;
	add_figure(summary, "allocations", "", (double)heap->allocs, "1");
	add_figure(summary, "heap peak", "", (double)heap->peak_bytes, "B");
}

/* ---- what it was ------------------------------------------------------- */

void summary_command(struct summary *summary, char *const *words, size_t n)
{
	const char *slash = strrchr(words[0], '/');
	const char *name = slash ? slash + 1 : words[0];
	struct tr_buf buf = TR_BUF_INIT;

	summary->run.program = summary_text(summary, name, strlen(name));
	summary->run.arguments = NULL;
	if (tr_runs_config()->history == TR_HISTORY_NO_ARGUMENTS)
		return;
	for (size_t i = 1; i < n; i++) {
		if (i > 1)
			tr_buf_addc(&buf, ' ');
		tr_buf_adds(&buf, words[i]);
	}
	summary->run.arguments =
		summary_text(summary, buf.data ? buf.data : "",
			     tr_utf8_clip(buf.data ? buf.data : "", buf.len,
					  ARGUMENTS_BYTES));
	tr_buf_release(&buf);
}

/* As the ledger has it: words with spaces between them. */
static void take_command(struct summary *summary, const tare_run *run)
{
	const char *rest = strchr(run->command, ' ');
	char *words[] = { (char *)(uintptr_t)run->program,
			  (char *)(uintptr_t)(rest ? rest + 1 : "") };

	summary_command(summary, words, rest ? 2 : 1);
}

static void take_tree(struct summary *summary, const tare_run *run)
{
	struct work_tree tree;

	summary->run.project = run->folder;
	/* That of the run's time; the folder's present one is another. */
	summary->run.revision = run->git;
	if (work_tree_find(run->folder, &tree))
		summary->run.project =
			summary_text(summary, tree.root, strlen(tree.root));
}

static const char *build_id_of(tare_view *view)
{
	const tare_module *modules;
	size_t n;

	if (tare_view_modules(view, &modules, &n))
		return "";
	for (size_t i = 0; i < n; i++)
		if (strcmp(modules[i].name, tare_view_run(view)->program) == 0)
			return modules[i].build_id;
	return "";
}

void summary_of_view(struct summary *summary, tare_view *view, bool with_names)
{
	const tare_run *run = tare_view_run(view);
	const tare_sampling *sampling = tare_view_sampling(view);
	const tare_stats *stats;
	size_t n;

	summary->run = (struct store_run){
		.key = run->group[0] ? run->group : run->id,
		.source = "run",
		.machine = run->host,
		.cpu = run->cpu,
		.build_id = build_id_of(view),
		.state = tr_run_state_name(run->state),
		.version = run->version,
		.started_ns = run->start_ns,
		.exit_status = STORE_UNKNOWN,
		.dirty = STORE_UNKNOWN,
		.processes = 1,
		.wall_ns = (double)(int64_t)((uint64_t)run->end_ns -
					     (uint64_t)run->start_ns),
		.cpu_ns = sampling->was_on && sampling->cpu_ns > 0 ?
				  sampling->cpu_ns :
				  (double)NAN,
		.peak_bytes = run->rss_peak ? (double)run->rss_peak :
					      (double)NAN,
	};
	take_command(summary, run);
	take_tree(summary, run);
	if (with_names)
		add_functions(summary, view);
	if (tare_view_stats(view, NULL, &stats, &n) == 0)
		add_series(summary, stats, n);
	add_heap(summary, view);
}

void summary_of_programs(struct summary *summary,
			 const struct tr_programs *programs)
{
	size_t kept = 0;

	/* Functions of the one process are in those of all. */
	for (size_t i = 0; i < summary->run.n_figures; i++)
		if (strncmp(summary->figure[i].name, "function ", 9) != 0)
			summary->figure[kept++] = summary->figure[i];
	summary->run.n_figures = kept;
	summary->run.processes = (uint32_t)programs->processes;
	for (size_t i = 0; i < programs->n_functions && i < FUNCTIONS; i++) {
		const tare_function *f = &programs->function[i].sum;

		if (f->weight_ns > 0)
			add_figure(summary, "function", f->function,
				   f->weight_ns, "ns");
	}
}

/* ---- of ledgers -------------------------------------------------------- */

/* Of all processes: a group's first start and last end. */
static void span_group(struct summary *summary, const struct group *group)
{
	int64_t from = group->runs[0].start_ns, to = group->runs[0].end_ns;

	for (size_t i = 1; i < group->n; i++) {
		if (group->runs[i].start_ns < from)
			from = group->runs[i].start_ns;
		if (group->runs[i].end_ns > to)
			to = group->runs[i].end_ns;
	}
	summary->run.started_ns = from;
	summary->run.processes = (uint32_t)group->n;
	if (to >= from)
		summary->run.wall_ns = (double)(to - from);
}

static void take_ending(struct summary *summary, const char *path)
{
	struct ending ending;

	if (!ending_read(path, &ending))
		return;
	summary->run.exit_status = WIFSIGNALED(ending.status) ?
					   128 + WTERMSIG(ending.status) :
					   WEXITSTATUS(ending.status);
	if (ending.cpu_ns > 0)
		summary->run.cpu_ns = (double)ending.cpu_ns;
	if (ending.peak_bytes > 0)
		summary->run.peak_bytes = (double)ending.peak_bytes;
}

/* The oldest is the one that started the others, if one did. */
static const tare_run_entry *main_of(const struct group *group)
{
	const tare_run_entry *best = &group->runs[0];

	for (size_t i = 1; i < group->n; i++)
		if (group->runs[i].start_ns < best->start_ns)
			best = &group->runs[i];
	return best;
}

/* The view's texts end with it. */
static void own_texts(struct summary *summary)
{
	struct store_run *run = &summary->run;
	const char **text[] = { &run->key,	&run->machine,	&run->cpu,
				&run->build_id, &run->version, &run->revision,
				&run->project };

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		*text[i] = summary_text(summary, *text[i], strlen(*text[i]));
}

bool summary_of_group(struct summary *summary, const struct group *group)
{
	const tare_run_entry *main_run = main_of(group);
	tare_view *view;

	if (tare_view_open(main_run->path, &view))
		return false;
	summary_of_view(summary, view, false);
	own_texts(summary);
	tare_view_close(view);
	span_group(summary, group);
	for (size_t i = 0; i < group->n; i++)
		take_ending(summary, group->runs[i].path);
	return true;
}
