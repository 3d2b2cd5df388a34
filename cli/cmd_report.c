/* SPDX-License-Identifier: Apache-2.0 */
/* tare report: the statistics of a run, live or not. */
#include "args.h"
#include "message.h"
#include "runs.h"
#include "selection.h"

struct report_options {
	struct selection selection;
	const char *sort;
	uint64_t top;
	bool raw;
	bool json;
};

#define SORTS \
	"total cumtime cumulative own tottime time calls ncalls mean max p99 " \
	"failures name samples"

static const struct option_spec options[] = {
	{ 's', "sort", OPTION_TEXT, offsetof(struct report_options, sort),
	  "KEY", SORTS, "order by " SORTS },
	{ 'n', "top", OPTION_COUNT, offsetof(struct report_options, top), "N",
	  NULL, "show the first N rows of each table" },
	SELECTION_OPTIONS(struct report_options),
	{ 0, "raw", OPTION_FLAG, offsetof(struct report_options, raw), NULL,
	  NULL, "do not subtract the overhead of measuring" },
	OPTION_JSON(struct report_options),
	OPTION_END
};

static int write_report(const struct args *args,
			const struct report_options *opts, tare_view *view,
			const tare_filter *filter)
{
	tare_report_options how = {
		.struct_size = sizeof(how),
		.filter = filter,
		.sort = opts->sort,
		.top = (size_t)opts->top,
		.width = terminal_width(stdout),
		.color = terminal_wants_color(stdout, args->color),
		.raw = opts->raw,
	};

	if (opts->json)
		return run_json(view, &how, stdout);
	return tare_view_report(view, &how, stream_write, stdout);
}

static int report_run(const struct args *args,
		      const struct report_options *opts)
{
	const char *which = args_operand(args, 0, "last");
	tare_filter filter;
	tare_view *view;
	int code, err;

	code = run_open(which, &view);
	if (code)
		return code;

	code = selection_apply(&opts->selection, args->command,
			       tare_view_run(view), &filter);
	if (!code) {
		err = write_report(args, opts, view, &filter);
		/* A failed write is main's to tell: it knows of EPIPE. */
		if (err && !ferror(stdout))
			code = message_error("report", which, err);
	}
	tare_view_close(view);
	return code;
}

static int report(struct args *args)
{
	struct report_options opts = { 0 };
	int code = args_parse(args, &opts);

	if (code == ARGS_GO)
		code = report_run(args, &opts);
	selection_release(&opts.selection);
	return code;
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
	.notes = "RUN is a run id (or its beginning), a process id, a file, or "
		 "'last'\n",
	.options = options,
	.max_operands = 1,
	.run = report,
};
