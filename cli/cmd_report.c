/* SPDX-License-Identifier: Apache-2.0 */
/* tare report: the statistics of a run, live or not. */
#include <string.h>

#include "args.h"
#include "group_report.h"
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
	return CODE_OK;
}

/* Options that only whole tables obey. */
static bool is_about_tables(const tare_filter *filter)
{
	return opts.sort || opts.top || opts.raw || opts.inlined ||
	       filter->n_names || filter->n_sources || filter->types ||
	       filter->outcome || !tr_filter_is_timeless(filter);
}

static int report_view(tare_view *view, const char *which,
		       const struct group *group)
{
	tare_report_options how = report_options(stdout, parts);
	tare_filter filter;
	int code = selection_apply(tare_view_run(view), &filter);

	if (code)
		return code;
	if (!parts && !opts.json && is_about_tables(&filter))
		how.parts = TARE_REPORT_ALL;
	how.filter = &filter;
	how.sort = opts.sort;
	how.top = (size_t)opts.top;
	how.raw = opts.raw;
	how.inlined = opts.inlined;
	if (how.parts || group->n < 2)
		return report_write(view, &how, opts.json, "report", which);
	if (!opts.json && !group_has_all_of(view))
		code = report_write(view, &how, false, "report", which);
	return code ? code :
		      group_report(group, &how, which, opts.json, view);
}

/* ---- processes --------------------------------------------------------- */

static int report_process(struct group *group, const char *which)
{
	const struct group alone = { .n = 0 };
	tare_report_options how = report_options(stdout, 0);
	tare_view *view;
	size_t n = group_keep(group, opts.process);
	int code;

	if (!n) {
		message("no process '%s' in '%s': 'tare report --tree' lists "
			"them", opts.process, which);
		return CODE_IO;
	}
	if (n > 1)
		return group_report(group, &how, opts.process, opts.json,
				    NULL);
	code = run_open(group->runs[0].path, &view);
	if (code)
		return code;
	code = report_view(view, opts.process, &alone);
	tare_view_close(view);
	return code;
}

/* "last" is all that a `tare run` measured; other words are one process. */
static int report(tare_view *view, const char *which)
{
	struct group group = { .n = 0 };
	int err = 0, code;

	if (opts.tree || opts.process || strncmp(which, "last", 4) == 0)
		err = group_of(&group, tare_view_run(view));
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
		 "records or all\n" NOTE_RUN,
	.options = options,
	.max_operands = 8,
	.check = take_parts,
	.show = report,
};
