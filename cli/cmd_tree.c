/* SPDX-License-Identifier: Apache-2.0 */
/* tare tree: the call trees of a run: from probes and from samples. */
#include "args.h"
#include "runs.h"

static struct {
	bool raw;
	bool json;
} opts;

static const struct option_spec options[] = {
	OPTION_FLAG(0, "raw", &opts.raw,
		    "do not subtract the overhead of measuring"),
	OPTION_JSON(&opts.json),
	OPTION_END
};

static int tree(tare_view *view, const char *which)
{
	tare_report_options how = report_options(stdout,
						 TARE_REPORT_HEAD |
							 TARE_REPORT_TREE |
							 TARE_REPORT_FRAMES);

	how.raw = opts.raw;
	return report_write(view, &how, opts.json, "show the tree of", which);
}

const struct command cmd_tree = {
	.name = "tree",
	.usage = "[RUN] [--raw] [--json]",
	.summary = "show the call tree of a run: calls, total and own time",
	.examples = "  tare tree                 the newest run\n"
		    "  tare tree 12345           a live run, by process id\n"
		    "  tare tree --json          as JSON, for a script\n",
	.notes = NOTE_RUN,
	.options = options,
	.max_operands = 1,
	.show = tree,
};
