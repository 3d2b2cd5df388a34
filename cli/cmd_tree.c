/* SPDX-License-Identifier: Apache-2.0 */
/* tare tree: the call trees of a run: from probes and from samples. */
#include <stdlib.h>
#include <string.h>

#include <tare/read/profile.h>

#include "args.h"
#include "group_view.h"
#include "message.h"
#include "read/profile.h"
#include "render/report.h"
#include "runs.h"

static struct {
	const char *min;
	const char *focus;
	uint64_t depth;
	double min_share;
	bool raw;
	bool json;
} opts;

static const struct option_spec options[] = {
	OPTION_TEXT(0, "min", &opts.min, "SHARE",
		    "leave out what takes less than SHARE, such as 1%"),
	OPTION_COUNT(0, "depth", &opts.depth, "N", "show N levels"),
	OPTION_TEXT(0, "focus", &opts.focus, "NAME",
		    "show only functions and scopes of that name and what "
		    "they call; a glob"),
	OPTION_FLAG(0, "raw", &opts.raw,
		    "do not subtract the overhead of measuring"),
	OPTION_PROCESS,
	OPTION_JSON(&opts.json),
	OPTION_END
};

/* "1%", "1 %" or "1": a hundredth. */
static int check(struct args *args)
{
	char *end = NULL;
	double percent = opts.min ? strtod(opts.min, &end) : 0;

	(void)args;
	if (opts.min && end != opts.min) {
		end += strspn(end, " ");
		end += *end == '%';
	}
	if (opts.min && (end == opts.min || *end || !(percent >= 0) ||
			 percent > 100))
		return message_usage("wrong value '%s' for '--min': not a "
				     "share such as 1%%",
				     opts.min);
	opts.min_share = percent / 100;
	if (opts.depth > UINT32_MAX)
		opts.depth = UINT32_MAX;
	return CODE_OK;
}

static bool has_focus(tare_view *view)
{
	const tare_frame *frames;
	const tare_node *nodes;
	size_t n;

	if (tare_view_tree(view, &nodes, &n) == 0)
		for (size_t i = 0; i < n; i++)
			if (tr_trim_is_focus(opts.focus, nodes[i].name))
				return true;
	if (tr_views_sampling(view).samples &&
	    tare_view_frames(view, TARE_FRAMES_SAMPLES, &frames, &n) == 0)
		for (size_t i = 1; i < n; i++)
			if (tr_trim_is_focus(opts.focus, frames[i].function))
				return true;
	return false;
}

static bool has_scopes(tare_view *view)
{
	const tare_node *nodes;
	size_t n;

	return tare_view_tree(view, &nodes, &n) == 0 && n;
}

static bool has_tree(tare_view *view)
{
	return tr_views_sampling(view).samples || has_scopes(view);
}

static int tree(tare_view *view, const char *which)
{
	tare_report_options how = report_options(stdout,
						 TARE_REPORT_HEAD |
							 TARE_REPORT_TREE |
							 TARE_REPORT_FRAMES);
	int code;

	if (opts.focus && !has_focus(view)) {
		message("'%s' has no function or scope '%s'", which,
			opts.focus);
		return CODE_IO;
	}
	if (has_scopes(view))
		group_view_tell_first(view, "scopes");
	how.raw = opts.raw;
	how.min_share = opts.min_share;
	how.max_depth = (uint32_t)opts.depth;
	how.focus = opts.focus;
	code = report_write(view, &how, opts.json, "show the tree of", which);
	if (code || has_tree(view))
		return code;
	message("no scope was measured in '%s', and no stack was sampled",
		which);
	return CODE_IO;
}

const struct command cmd_tree = {
	.name = "tree",
	.usage = "[RUN] [--min SHARE] [--depth N] [--focus NAME] [--raw] "
		 "[--json]",
	.summary = "show the call tree of a run: calls, total and own time",
	.examples = "  tare tree                 the newest run\n"
		    "  tare tree prog            the newest run of a program\n"
		    "  tare tree --min 1% --depth 5\n"
		    "  tare tree --focus 'l*'    what is below these, and its "
		    "share\n"
		    "  tare tree --json          as JSON, for a script\n",
	.notes = NOTE_RUN,
	.options = options,
	.max_operands = 1,
	.check = check,
	.show = tree,
	.processes = PROCESSES_JOINED,
};
