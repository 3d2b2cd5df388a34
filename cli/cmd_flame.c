/* SPDX-License-Identifier: Apache-2.0 */
/* tare flame: where the time goes, as a picture for a browser. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tare/read/export.h>

#include "args.h"
#include "group_view.h"
#include "base/text.h"
#include "message.h"
#include "output.h"
#include "read/profile.h"
#include "runs.h"

static struct {
	const char *output;
	const char *from;
	const char *diff;
	bool shares;
	const char *title;
	const char *colors;
	const char *least;
	uint64_t width;
	bool icicle;
	bool reverse;
} opts;

#define FROMS "samples calls alloc kernels"
#define COLORS "module warm"

static const struct option_spec options[] = {
	OPTION_TEXT('o', "output", &opts.output, "FILE",
		    "write to FILE instead of standard output"),
	OPTION_WORD(0, "from", &opts.from, "WHAT", FROMS,
		    "draw what: " FROMS " (default: samples, else calls)"),
	OPTION_TEXT(0, "diff", &opts.diff, "RUN",
		    "compare with RUN: red takes longer than in RUN, blue "
		    "shorter"),
	OPTION_FLAG(0, "shares", &opts.shares,
		    "with --diff: compare shares of the runs, not times"),
	OPTION_FLAG(0, "icicle", &opts.icicle, "draw callers above callees"),
	OPTION_FLAG(0, "reverse", &opts.reverse,
		    "start at the callees, stack their callers"),
	OPTION_TEXT(0, "title", &opts.title, "TEXT",
		    "title (default: the program's name)"),
	OPTION_WORD(0, "colors", &opts.colors, "BY", COLORS,
		    "colours: one per module (the default), or warm"),
	OPTION_COUNT(0, "width", &opts.width, "N",
		     "width in pixels if the browser does not give one"),
	OPTION_TEXT(0, "min", &opts.least, "PERCENT",
		    "leave out boxes below PERCENT (default: by size)"),
	OPTION_PROCESS,
	OPTION_END
};

/* ---- content ----------------------------------------------------------- */

static enum tare_frames_from from_of(tare_view *view)
{
	if (!opts.from && tr_views_sampling(view).samples)
		return TARE_FRAMES_SAMPLES;
	if (opts.from && strcmp(opts.from, "alloc") == 0)
		return TARE_FRAMES_ALLOC;
	if (opts.from && strcmp(opts.from, "kernels") == 0)
		return TARE_FRAMES_GPU;
	return opts.from && strcmp(opts.from, "samples") == 0 ?
		       TARE_FRAMES_SAMPLES :
		       TARE_FRAMES_CALLS;
}

static int read_percent(const char *text, double *ret_share)
{
	char *end;
	double value;

	if (!text)
		return CODE_OK;
	errno = 0;
	value = strtod(text, &end);
	if (*end == '%')
		end++;
	if (end == text || *end || errno || !(value >= 0) || value >= 100)
		return message_usage("--min wants a percentage below 100, "
				     "not '%s'", text);
	*ret_share = value / 100;
	return CODE_OK;
}

static int choose(tare_view *view, tare_flame_options *how)
{
	*how = (tare_flame_options){
		.struct_size = sizeof(*how),
		.from = from_of(view),
		.title = opts.title,
		.width = opts.width < 20000 ? (unsigned)opts.width : 20000,
		.is_icicle = opts.icicle,
		.is_reverse = opts.reverse,
		.is_warm = opts.colors && strcmp(opts.colors, "warm") == 0,
		.is_by_share = opts.shares,
	};
	return read_percent(opts.least, &how->least);
}

/* ---- destination ------------------------------------------------------- */

static int explain(const char *which, int err, unsigned from)
{
	static const char *const missing[] = { "stack was sampled",
					       "scope was measured",
					       "allocation was noted",
					       "GPU kernel was recorded" };

	if (err != TARE_ENOENT)
		return message_error("draw", which, err);
	message("nothing to draw: no %s in '%s'", missing[from], which);
	return CODE_IO;
}

static int to_stdout(tare_view *view, const tare_flame_options *how,
		     const char *which)
{
	int err = tare_export_flame(view, how, stream_write, stdout);

	/* main() reports failed writes: it handles EPIPE. */
	if (err && !ferror(stdout))
		return explain(which, err, how->from);
	return CODE_OK;
}

static int to_file(tare_view *view, const tare_flame_options *how,
		   const char *which, const char *path)
{
	struct output output;
	int err = output_open(&output, path);

	if (err)
		return message_error("write", path, err);
	err = tare_export_flame(view, how, stream_write, output.stream);
	if (err && !ferror(output.stream)) {
		(void)output_close(&output, err);
		return explain(which, err, how->from);
	}
	err = output_close(&output, err);
	return err ? message_error("write", path, err) : CODE_OK;
}

/* As the run itself: of a program both times, of a process id the word is. */
static int open_before(tare_view **ret_view)
{
	uint64_t pid;

	if (process_chosen && tr_parse_u64(process_chosen, &pid))
		process_chosen = NULL;
	return group_view_open(opts.diff, true, ret_view);
}

static int flame(tare_view *view, const char *which)
{
	tare_flame_options how;
	int code = choose(view, &how);

	if (!code && opts.shares && !opts.diff)
		code = message_usage("'--shares' needs '--diff'");
	if (!code && opts.diff)
		code = open_before(&how.before);
	if (!code)
		code = opts.output && strcmp(opts.output, "-") != 0 ?
			       to_file(view, &how, which, opts.output) :
			       to_stdout(view, &how, which);
	if (opts.diff)
		tare_view_close(how.before);
	return code;
}

const struct command cmd_flame = {
	.name = "flame",
	.usage = "[RUN] [-o FILE.svg] [options]",
	.summary = "draw a flame graph of a run, for a browser",
	.examples =
		"  tare flame -o f.svg                 the newest run\n"
		"  tare flame --diff last~1 -o d.svg   what has changed since "
		"that run\n"
		"  tare flame --icicle --reverse       from the leaves down to "
		"their callers\n",
	.notes = "click a box to zoom in, Ctrl-F to search, Escape to go "
		 "back\n" NOTE_RUN,
	.options = options,
	.max_operands = 1,
	.show = flame,
	.processes = PROCESSES_JOINED,
};
