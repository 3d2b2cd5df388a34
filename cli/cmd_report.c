/* SPDX-License-Identifier: Apache-2.0 */
/* tare report: the statistics of a run, live or not. */
#include "args.h"
#include "runs.h"
#include "selection.h"

static struct {
	const char *sort;
	uint64_t top;
	bool raw;
	bool json;
} opts;

#define SORTS \
	"total cumtime cumulative own tottime time calls ncalls mean max p99 " \
	"failures name samples"

static const struct option_spec options[] = {
	OPTION_WORD('s', "sort", &opts.sort, "KEY", SORTS, "order by " SORTS),
	OPTION_COUNT('n', "top", &opts.top, "N",
		     "show the first N rows of each table"),
	SELECTION_OPTIONS,
	OPTION_FLAG(0, "raw", &opts.raw,
		    "do not subtract the overhead of measuring"),
	OPTION_JSON(&opts.json),
	OPTION_END
};

static int report(tare_view *view, const char *which)
{
	tare_report_options how = report_options(stdout, 0);
	tare_filter filter;
	int code = selection_apply(tare_view_run(view), &filter);

	if (code)
		return code;
	how.filter = &filter;
	how.sort = opts.sort;
	how.top = (size_t)opts.top;
	how.raw = opts.raw;
	return report_write(view, &how, opts.json, "report", which);
}

const struct command cmd_report = {
	.name = "report",
	.usage = "[RUN] [options]",
	.summary = "show a run: call tree, statistics, overhead, losses",
	.examples =
		"  tare report                        the newest run\n"
		"  tare report 12345 --last 5m        the last five minutes of "
		"a live run\n"
		"  tare report --sort p99 --top 10    the ten highest p99\n"
		"  tare report --name 'db.*' --json   some series, for a "
		"script\n"
		"  tare report --failed --last 5m     failures of the last "
		"five minutes\n",
	.notes = NOTE_RUN,
	.options = options,
	.max_operands = 1,
	.show = report,
};
