/* SPDX-License-Identifier: Apache-2.0 */
/* tare report: the statistics of a run, live or not. */
#include <string.h>

#include "args.h"
#include "group_report.h"
#include "group_view.h"
#include "message.h"
#include "read/view.h"
#include "render/output.h"
#include "runs.h"
#include "selection.h"

static struct {
	const char *sort;
	uint64_t top;
	bool raw;
	bool json;
	bool inlined;
	bool tree;
	const char *process;
} opts;

#define SORTS \
	"total cumtime cumulative own tottime time calls ncalls mean max p99 " \
	"failures name samples"

static const struct option_spec options[] = {
	OPTION_WORD('s', "sort", &opts.sort, "KEY", SORTS, "order by " SORTS),
	OPTION_COUNT('n', "top", &opts.top, "N",
		     "show the first N rows of each table"),
	SELECTION_OPTIONS,
	OPTION_FLAG(0, "inline", &opts.inlined,
		    "show inlined functions in rows of their own"),
	OPTION_FLAG(0, "raw", &opts.raw,
		    "do not subtract the overhead of measuring"),
	OPTION_FLAG(0, "tree", &opts.tree,
		    "list the processes of the same 'tare run'"),
	OPTION_TEXT(0, "process", &opts.process, "PID|PROGRAM",
		    "report only these of its processes"),
	OPTION_JSON(&opts.json),
	OPTION_END
};

/* ---- parts ------------------------------------------------------------- */

static uint32_t parts; /* that were asked for; 0: the answer */

/* 0: not the name of a part. */
static uint32_t part_of(const char *word)
{
	static const struct {
		const char *name;
		uint32_t parts;
	} known[] = {
		{ "functions", TARE_REPORT_PROFILE },
		{ "scopes", TARE_REPORT_TREE | TARE_REPORT_SCOPES },
		{ "values", TARE_REPORT_VALUES },
		{ "counters", TARE_REPORT_COUNTERS },
		{ "monitor", TARE_REPORT_MONITOR },
		{ "gpu", TARE_REPORT_GPU },
		{ "records", TARE_REPORT_RECORDS },
		{ "all", TARE_REPORT_ALL },
	};

	for (size_t i = 0; i < TR_N_OF(known); i++)
		if (strcmp(known[i].name, word) == 0)
			return known[i].parts;
	return 0;
}

/* Takes the names of parts out of the operands; what remains is a run. */
static int take_parts(struct args *args)
{
	size_t kept = 0;

	for (size_t i = 0; i < args->n_operands; i++) {
		uint32_t part = part_of(args->operands[i]);

		parts |= part;
		if (!part)
			args->operands[kept++] = args->operands[i];
	}
	if (kept > 1)
		return message_usage("unexpected argument '%s'",
				     args->operands[1]);
	args->n_operands = kept;
	if (parts)
		parts |= TARE_REPORT_HEAD;
	else if (!opts.json && !opts.sort && !opts.top && !opts.raw &&
		 !opts.inlined)
		names_of_runtime_alone();
	return CODE_OK;
}

/* Options that only whole tables obey. */
static bool is_about_tables(const tare_filter *filter)
{
	return opts.sort || opts.top || opts.raw || opts.inlined ||
	       filter->n_names || filter->n_sources || filter->types ||
	       filter->outcome || filter->last_values;
}

/* The samples of several processes have a window, too. */
static bool wants_tables(const tare_filter *filter, const struct group *group)
{
	return is_about_tables(filter) ||
	       (group->n < 2 && !tr_filter_is_timeless(filter));
}

/* The time to which a window relates: that of all processes. */
static void widen(tare_run *span, const struct group *group)
{
	for (size_t i = 0; i < group->n; i++) {
		if (group->runs[i].start_ns < span->start_ns)
			span->start_ns = group->runs[i].start_ns;
		if (group->runs[i].end_ns > span->end_ns)
			span->end_ns = group->runs[i].end_ns;
	}
}

/* The table of programs has these in full. */
static bool has_functions_alone(const tare_report_options *how)
{
	return how->parts == (TARE_REPORT_HEAD | TARE_REPORT_PROFILE) &&
	       !opts.json && !opts.sort && !opts.inlined;
}

#define FLAT_PARTS \
	(TARE_REPORT_SCOPES | TARE_REPORT_VALUES | TARE_REPORT_COUNTERS)
/* Those that are added up over processes. */
#define GROUP_PARTS (FLAT_PARTS | TARE_REPORT_PROFILE)

/* "all" has one bit for several tables. */
static uint32_t spread(uint32_t of)
{
	return of & TARE_REPORT_FLAT ?
		       (of & ~(uint32_t)TARE_REPORT_FLAT) | FLAT_PARTS |
			       TARE_REPORT_MONITOR | TARE_REPORT_RECORDS :
		       of;
}

/* What is not added up, of the view's process; 0: it has nothing of it. */
static uint32_t rest_of(const tare_report_options *how, tare_view *view)
{
	uint32_t rest = spread(how->parts) &
			~(uint32_t)(GROUP_PARTS | TARE_REPORT_TREE);
	const tare_stats *stats;
	size_t n;

	if (rest == TARE_REPORT_HEAD ||
	    (!group_has_more_than_series(view) &&
	     tare_view_stats(view, NULL, &stats, &n) == 0 && !n))
		return 0;
	return rest;
}

/* The sums of all processes, then what only one process has. */
static int report_parts(const struct tr_programs *programs,
			const tare_report_options *how, const char *title,
			tare_view *view)
{
	tare_report_options own = *how;
	uint32_t asked = spread(how->parts);
	int code;

	own.parts = asked & (GROUP_PARTS | TARE_REPORT_HEAD);
	code = group_report(programs, &own, title, false, view);
	own.parts = rest_of(how, view);
	if (code || !own.parts)
		return code;
	(void)putchar('\n');
	return report_write(view, &own, false, "report", title);
}

static int report_added(struct tr_programs *programs,
			const tare_report_options *how, const char *title,
			tare_view *view)
{
	bool is_probed = group_is_probed(programs, view);
	uint32_t flat = spread(how->parts) & FLAT_PARTS;
	int code = CODE_OK;

	if (!is_probed && !opts.json)
		group_drop_probes(programs);
	if (how->parts && !has_functions_alone(how) && !opts.json) {
		if (is_probed && flat)
			return report_parts(programs, how, title, view);
		return report_write(view, how, false, "report", title);
	}
	if (!opts.json && !how->parts && !group_has_all_of(programs, view))
		code = report_write(view, how, false, "report", title);
	return code ? code :
		      group_report(programs, how, title, opts.json, view);
}

/* Does the report have a part of one process alone? */
static bool is_of_one(const tare_report_options *how,
		      const struct tr_programs *programs, tare_view *view)
{
	return how->parts && !has_functions_alone(how) &&
	       (opts.json || !group_is_probed(programs, view) ||
		!(spread(how->parts) & FLAT_PARTS) || rest_of(how, view));
}

static int report_group(tare_view *view, const tare_report_options *how,
			const char *title, const struct group *group)
{
	struct tr_programs programs;
	int err = group_programs(group, how->filter, &programs), code;

	if (err) {
		code = message_error("report", title, err);
	} else {
		if (is_of_one(how, &programs, view))
			group_view_tell_one(view, group);
		code = report_added(&programs, how, title, view);
	}
	group_programs_release(&programs);
	return code;
}

static int report_view(tare_view *view, const char *which,
		       const struct group *group)
{
	tare_report_options how = report_options(stdout, parts);
	tare_run span = *tare_view_run(view);
	tare_filter filter;
	int code;

	widen(&span, group);
	code = selection_apply(&span, &filter);

	if (code)
		return code;
	if (!parts && !opts.json && wants_tables(&filter, group))
		how.parts = TARE_REPORT_ALL;
	how.filter = &filter;
	how.sort = opts.sort;
	how.top = (size_t)opts.top;
	how.raw = opts.raw;
	how.inlined = opts.inlined;
	if (group->n < 2)
		return report_write(view, &how, opts.json, "report", which);
	return report_group(view, &how, group_title(group, which), group);
}

/* ---- processes --------------------------------------------------------- */

/* Of one program: no process stands for the others. */
static int report_some(const struct group *group)
{
	tare_report_options how = report_options(stdout, parts);
	const tare_run_entry *first = &group->runs[group->n - 1];
	tare_run span = { .start_ns = first->start_ns,
			  .end_ns = first->end_ns };
	struct tr_programs programs;
	tare_filter filter;
	int code, err;

	widen(&span, group);
	code = selection_apply(&span, &filter);
	if (code)
		return code;
	if (parts && !(spread(parts) & GROUP_PARTS))
		return message_usage("'--process %s' means %zu processes, and "
				     "this part is of one: give its id",
				     opts.process, group->n);
	how.parts = spread(parts);
	how.filter = &filter;
	how.sort = opts.sort;
	how.top = (size_t)opts.top;
	how.raw = opts.raw;
	err = group_programs(group, &filter, &programs);
	code = err ? message_error("report", opts.process, err) :
		     group_report(&programs, &how, opts.process, opts.json,
				  NULL);
	group_programs_release(&programs);
	return code;
}

static int report_process(struct group *group, const char *which)
{
	const struct group alone = { .n = 0 };
	tare_view *view;
	size_t n = group_keep(group, opts.process);
	int code;

	if (!n) {
		message("no process '%s' in '%s': 'tare report --tree' lists "
			"them", opts.process, which);
		return CODE_IO;
	}
	if (n > 1)
		return report_some(group);
	code = run_open(group->runs[0].path, &view);
	if (code)
		return code;
	code = report_view(view, opts.process, &alone);
	tare_view_close(view);
	return code;
}

/*
 * "last" and a command are all that its `tare run` measured, a program is all
 * its processes there; other words are one process.
 */
static int report(tare_view *view, const char *which)
{
	struct group group = { .n = 0 };
	int err = 0, code;

	if (opts.tree || opts.process)
		err = group_of(&group, tare_view_run(view));
	else
		err = group_meant(&group, tare_view_run(view), which);
	if (err) {
		code = runs_error("list", "runs", err);
	} else if ((opts.tree || opts.process) && !group.n) {
		message("'%s' is not in the folder of runs", which);
		code = CODE_IO;
	} else if (opts.process) {
		code = report_process(&group, which);
	} else if (opts.tree) {
		code = group_report_tree(&group, opts.json);
	} else {
		code = report_view(view, which, &group);
	}
	group_release(&group);
	return code;
}

const struct command cmd_report = {
	.name = "report",
	.usage = "[PART...] [RUN] [options]",
	.summary = "show a run: what it took and where, or a part in full",
	.examples =
		"  tare report                        the newest run\n"
		"  tare report functions              all its functions\n"
		"  tare report --tree                 the processes of that "
		"'tare run'\n"
		"  tare report 12345 --last 5m        the last five minutes of "
		"a live run\n"
		"  tare report --sort p99 --top 10    the ten highest p99\n"
		"  tare report --name 'db.*' --json   some series, for a "
		"script\n"
		"  tare report --failed --last 5m     failures of the last "
		"five minutes\n",
	.notes = "PART is functions, scopes, values, counters, monitor, "
		 "gpu, records or all\n" NOTE_RUN,
	.options = options,
	.max_operands = 8,
	.check = take_parts,
	.show = report,
	.processes = PROCESSES_ITSELF,
};
