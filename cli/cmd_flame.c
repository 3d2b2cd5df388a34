/* SPDX-License-Identifier: Apache-2.0 */
/* tare flame: where the time goes, as a picture for a browser. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tare/read/export.h>

#include "args.h"
#include "message.h"
#include "output.h"
#include "runs.h"

struct flame_options {
	const char *output;
	const char *from;
	const char *diff;
	const char *title;
	const char *colors;
	const char *least;
	uint64_t width;
	bool icicle;
	bool reverse;
};

#define FROMS "samples calls alloc"
#define COLORS "module warm"

static const struct option_spec options[] = {
	{ 'o', "output", OPTION_TEXT, offsetof(struct flame_options, output),
	  "FILE", NULL, "write to FILE instead of standard output" },
	{ 0, "from", OPTION_TEXT, offsetof(struct flame_options, from), "WHAT",
	  FROMS, "draw what: " FROMS
	  " (default: samples, else calls)" },
	{ 0, "diff", OPTION_TEXT, offsetof(struct flame_options, diff), "RUN",
	  NULL, "compare with RUN: red is more than in RUN, blue less" },
	{ 0, "icicle", OPTION_FLAG, offsetof(struct flame_options, icicle),
	  NULL, NULL, "draw callers above callees" },
	{ 0, "reverse", OPTION_FLAG, offsetof(struct flame_options, reverse),
	  NULL, NULL, "start at the callees, stack their callers" },
	{ 0, "title", OPTION_TEXT, offsetof(struct flame_options, title),
	  "TEXT", NULL, "title (default: the program's name)" },
	{ 0, "colors", OPTION_TEXT, offsetof(struct flame_options, colors),
	  "BY", COLORS, "colours: one per module (the default), or warm" },
	{ 0, "width", OPTION_COUNT, offsetof(struct flame_options, width),
	  "N", NULL, "width in pixels if the browser does not give one" },
	{ 0, "min", OPTION_TEXT, offsetof(struct flame_options, least),
	  "PERCENT", NULL, "leave out boxes below PERCENT (default: by size)" },
	OPTION_END
};

/* ---- what -------------------------------------------------------------- */

static enum tare_frames_from from_of(const struct flame_options *opts,
				     tare_view *view)
{
	if (!opts->from && tare_view_sampling(view)->samples)
		return TARE_FRAMES_SAMPLES;
	if (opts->from && strcmp(opts->from, "alloc") == 0)
		return TARE_FRAMES_ALLOC;
	return opts->from && strcmp(opts->from, "samples") == 0 ?
		       TARE_FRAMES_SAMPLES :
		       TARE_FRAMES_CALLS;
}

static int read_percent(const struct args *args, const char *text,
			double *ret_share)
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
		return message_usage(args->command,
				     "--min wants a percentage below 100, "
				     "not '%s'", text);
	*ret_share = value / 100;
	return CODE_OK;
}

static int choose(const struct args *args, const struct flame_options *opts,
		  tare_view *view, tare_flame_options *how)
{
	*how = (tare_flame_options){
		.struct_size = sizeof(*how),
		.from = from_of(opts, view),
		.title = opts->title,
		.width = opts->width < 20000 ? (unsigned)opts->width : 20000,
		.is_icicle = opts->icicle,
		.is_reverse = opts->reverse,
		.is_warm = opts->colors && strcmp(opts->colors, "warm") == 0,
	};
	return read_percent(args, opts->least, &how->least);
}

/* ---- where to ---------------------------------------------------------- */

static int explain(const char *which, int err, unsigned from)
{
	static const char *const missing[] = { "stack was sampled",
					       "scope was measured",
					       "allocation was noted" };

	if (err != TARE_ENOENT)
		return message_error("draw", which, err);
	message("nothing to draw: no %s in '%s'", missing[from], which);
	return CODE_IO;
}

static int to_stdout(tare_view *view, const tare_flame_options *how,
		     const char *which)
{
	int err = tare_export_flame(view, how, stream_write, stdout);

	/* A failed write is main's to tell: it knows of EPIPE. */
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

static int draw(const struct args *args, const struct flame_options *opts,
		tare_view *view, const char *which)
{
	tare_flame_options how;
	int code = choose(args, opts, view, &how);

	if (!code && opts->diff)
		code = run_open(opts->diff, &how.before);
	if (!code)
		code = opts->output && strcmp(opts->output, "-") != 0 ?
			       to_file(view, &how, which, opts->output) :
			       to_stdout(view, &how, which);
	if (opts->diff)
		tare_view_close(how.before);
	return code;
}

static int flame(struct args *args)
{
	struct flame_options opts = { 0 };
	const char *which;
	tare_view *view;
	int code = args_parse(args, &opts);

	if (code != ARGS_GO)
		return code;
	which = args_operand(args, 0, "last");
	code = run_open(which, &view);
	if (code)
		return code;
	code = draw(args, &opts, view, which);
	tare_view_close(view);
	return code;
}

const struct command cmd_flame = {
	.name = "flame",
	.usage = "[RUN] [-o FILE.svg] [options]",
	.summary = "draw a flame graph of a run, for a browser",
	.examples =
		"  tare flame -o f.svg                 the newest run\n"
		"  tare flame --diff 20261115 -o d.svg what has changed since "
		"that run\n"
		"  tare flame --icicle --reverse       from the leaves down to "
		"their callers\n",
	.notes = "click a box to zoom in, Ctrl-F to search, Escape to go "
		 "back\n"
		 "RUN is a run id (or its beginning), a process id, a file, or "
		 "'last'\n",
	.options = options,
	.max_operands = 1,
	.run = flame,
};
