/* SPDX-License-Identifier: Apache-2.0 */
/* tare tree: the call trees of a run: of its probes, and of its samples. */
#include "args.h"
#include "message.h"
#include "runs.h"

struct tree_options {
	bool raw;
	bool json;
};

static const struct option_spec options[] = {
	{ 0, "raw", OPTION_FLAG, offsetof(struct tree_options, raw), NULL,
	  NULL, "do not subtract the overhead of measuring" },
	OPTION_JSON(struct tree_options),
	OPTION_END
};

static int tree(struct args *args)
{
	struct tree_options opts = { 0 };
	tare_report_options how = { .struct_size = sizeof(how) };
	const char *which;
	tare_view *view;
	int code, err;

	code = args_parse(args, &opts);
	if (code != ARGS_GO)
		return code;

	which = args_operand(args, 0, "last");
	code = run_open(which, &view);
	if (code)
		return code;

	how.parts = TARE_REPORT_HEAD | TARE_REPORT_TREE | TARE_REPORT_FRAMES;
	how.width = terminal_width(stdout);
	how.color = terminal_wants_color(stdout, args->color);
	how.raw = opts.raw;
	err = opts.json ? run_json(view, &how, stdout)
			: tare_view_report(view, &how, stream_write, stdout);
	if (err && !ferror(stdout))
		code = message_error("show the tree of", which, err);
	tare_view_close(view);
	return code;
}

const struct command cmd_tree = {
	.name = "tree",
	.usage = "[RUN] [--raw] [--json]",
	.summary = "show the call tree of a run: calls, total and own time",
	.examples = "  tare tree                 the newest run\n"
		    "  tare tree 12345           a live run, by process id\n"
		    "  tare tree --json          as JSON, for a script\n",
	.notes = "RUN is a run id (or its beginning), a process id, a file, or "
		 "'last'\n",
	.options = options,
	.max_operands = 1,
	.run = tree,
};
