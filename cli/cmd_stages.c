/* SPDX-License-Identifier: Apache-2.0 */
/* tare stages: the pipelines of a run, and what holds them up. */
#include <stdlib.h>

#include <tare/read/pipeline.h>

#include "args.h"
#include "message.h"
#include "runs.h"

struct stages_options {
	const char *factor;
	bool json;
};

static const struct option_spec options[] = {
	{ 'f', "factor", OPTION_TEXT, offsetof(struct stages_options, factor),
	  "X", NULL, "show the gain of a stage X times as fast (default: 2)" },
	OPTION_JSON(struct stages_options),
	OPTION_END
};

/* A number above 1; 0: it is none. */
static double factor_of(const char *text)
{
	char *end;
	double factor = strtod(text, &end);

	return *text && !*end && factor > 1 && factor <= 1e6 ? factor : 0;
}

static int show(const struct args *args, const struct stages_options *opts,
		tare_view *view, double factor)
{
	tare_report_options how = {
		.struct_size = sizeof(how),
		.parts = TARE_REPORT_HEAD | TARE_REPORT_STAGES |
			 TARE_REPORT_HEALTH,
		.width = terminal_width(stdout),
		.color = terminal_wants_color(stdout, args->color),
		.factor = factor,
	};
	const tare_pipeline *pipelines;
	size_t n;
	int err;

	if (opts->json)
		return run_json(view, &how, stdout);
	err = tare_view_pipelines(view, factor, &pipelines, &n);
	if (!err)
		err = tare_view_report(view, &how, stream_write, stdout);
	if (!err && !n)
		message("no stage was measured (TARE_STAGE marks one)");
	return err;
}

static int stages(struct args *args)
{
	struct stages_options opts = { .factor = "2" };
	const char *which;
	tare_view *view;
	double factor;
	int code, err;

	code = args_parse(args, &opts);
	if (code != ARGS_GO)
		return code;
	factor = factor_of(opts.factor);
	if (factor == 0)
		return message_usage(args->command,
				     "'%s' is no factor: a number above 1",
				     opts.factor);
	which = args_operand(args, 0, "last");
	code = run_open(which, &view);
	if (code)
		return code;
	err = show(args, &opts, view, factor);
	if (err && !ferror(stdout))
		code = message_error("show the stages of", which, err);
	tare_view_close(view);
	return code;
}

const struct command cmd_stages = {
	.name = "stages",
	.usage = "[RUN] [--factor X] [--json]",
	.summary = "show the pipelines of a run and the bottleneck of each",
	.examples = "  tare stages               the newest run\n"
		    "  tare stages 12345         a live run, by process id\n"
		    "  tare stages -f 10         the gain of stages ten times "
		    "as fast\n"
		    "  tare stages --json        as JSON, for a script\n",
	.notes = "RUN is a run id (or its beginning), a process id, a file, or "
		 "'last'\n",
	.options = options,
	.max_operands = 1,
	.run = stages,
};
