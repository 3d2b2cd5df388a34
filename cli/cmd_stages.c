/* SPDX-License-Identifier: Apache-2.0 */
/* tare stages: the pipelines of a run, and their bottlenecks. */
#include <stdlib.h>

#include <tare/read/pipeline.h>

#include "args.h"
#include "group_view.h"
#include "message.h"
#include "runs.h"

static struct {
	const char *factor;
	bool json;
} opts = { .factor = "2" };

static double factor;

static const struct option_spec options[] = {
	OPTION_TEXT('f', "factor", &opts.factor, "X",
		    "show the gain of a stage X times as fast (default: 2)"),
	OPTION_PROCESS,
	OPTION_JSON(&opts.json),
	OPTION_END
};

static int check(struct args *args)
{
	char *end;

	(void)args;
	factor = strtod(opts.factor, &end);
	if (*opts.factor && !*end && factor > 1 && factor <= 1e6)
		return CODE_OK;
	return message_usage("'%s' is no factor: a number above 1",
			     opts.factor);
}

static int stages(tare_view *view, const char *which)
{
	tare_report_options how = report_options(stdout,
						 TARE_REPORT_HEAD |
							 TARE_REPORT_STAGES |
							 TARE_REPORT_HEALTH);
	const tare_pipeline *pipelines;
	size_t n;
	int code, err;

	how.factor = factor;
	err = tare_view_pipelines(view, factor, &pipelines, &n);
	if (err)
		return message_error("show the stages of", which, err);
	code = report_write(view, &how, opts.json, "show the stages of",
			    which);
	if (code || n)
		return code;
	message("no stage was measured (TARE_STAGE marks one)");
	return CODE_IO;
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
	.notes = NOTE_RUN,
	.options = options,
	.max_operands = 1,
	.check = check,
	.show = stages,
};
