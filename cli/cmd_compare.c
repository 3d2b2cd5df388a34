/* SPDX-License-Identifier: Apache-2.0 */
/* tare compare: two sides of runs, or training runs side by side. */
#include <stdlib.h>
#include <string.h>

#include <tare/read/compare.h>

#include "args.h"
#include "compare.h"
#include "compare_sides.h"
#include "message.h"
#include "output.h"
#include "runs.h"

static struct {
	const char *by;
	const char *baseline;
	const char *target_loss;
	const char *target_f1;
	const char *title;
	const char *html;
	const char *markdown;
	bool csv;
	bool json;
} opts;

#define BY "total epoch phase"

static const struct option_spec options[] = {
	OPTION_TEXT(0, "html", &opts.html, "FILE",
		    "write a page with plots; - is standard output"),
	OPTION_TEXT(0, "markdown", &opts.markdown, "FILE",
		    "of two sides: write tables for a pull request"),
	OPTION_FLAG(0, "csv", &opts.csv,
		    "write CSV, one row per configuration"),
	OPTION_JSON(&opts.json),
	OPTION_TEXT(0, "baseline", &opts.baseline, "NAME",
		    "configuration that speedups are against; else "
		    "'sequential', else the one with fewest workers"),
	OPTION_WORD(0, "by", &opts.by, "WHAT", BY,
		    "speedup of " BY "; else total, or epoch where numbers "
		    "of epochs differ"),
	OPTION_TEXT(0, "target-loss", &opts.target_loss, "X",
		    "time until the loss is X"),
	OPTION_TEXT(0, "target-f1", &opts.target_f1, "X",
		    "time until the F1 of validation (else of test) is X"),
	OPTION_TEXT(0, "title", &opts.title, "TEXT", "title of the page"),
	OPTION_END
};

/* ---- options ----------------------------------------------------------- */

static int parse_target(const char *name, const char *text,
			double *ret_target)
{
	char *end;

	if (!text)
		return CODE_OK;
	*ret_target = strtod(text, &end);
	if (!*text || *end || !(*ret_target > -1e300 && *ret_target < 1e300) ||
	    *ret_target == 0)
		return message_usage("%s wants a number other than 0, not "
				     "'%s'", name, text);
	return CODE_OK;
}

static uint32_t by_text(const char *text)
{
	if (!text)
		return TARE_COMPARE_BY_ANY;
	return text[0] == 't' ? TARE_COMPARE_BY_TOTAL :
	       text[0] == 'e' ? TARE_COMPARE_BY_EPOCH :
				TARE_COMPARE_BY_PHASE;
}

static int parse(const struct args *args, tare_compare_options *how)
{
	int code;

	*how = (tare_compare_options){ .struct_size = sizeof(*how),
				       .by = by_text(opts.by),
				       .baseline = opts.baseline,
				       .title = opts.title };
	if (args->n_operands == 0)
		return message_usage("nothing to compare: name files, folders "
				     "or runs");
	if (opts.csv && opts.json)
		return message_usage("--csv and --json at once");
	code = parse_target("--target-loss", opts.target_loss,
			    &how->target_loss);
	return code ? code : parse_target("--target-f1", opts.target_f1,
					  &how->target_f1);
}

/* ---- outputs ----------------------------------------------------------- */

static int write_stdout(tare_comparison *c, uint32_t format)
{
	int err = tare_comparison_write(c, format, stream_write, stdout);

	/* main() reports failed writes: it handles EPIPE. */
	return err && !ferror(stdout) ?
		       message_error("write", "the comparison", err) :
		       CODE_OK;
}

static int write_page(tare_comparison *c, const char *path)
{
	struct output output;
	int err;

	if (strcmp(path, "-") == 0)
		return write_stdout(c, TARE_COMPARED_HTML);
	err = output_open(&output, path);
	if (!err)
		err = output_close(&output,
				   tare_comparison_write(c, TARE_COMPARED_HTML,
							 stream_write,
							 output.stream));
	return err ? message_error("write", path, err) : CODE_OK;
}

static int show(tare_comparison *c, const tare_compared *result)
{
	int code = CODE_OK;

	if (opts.html)
		code = write_page(c, opts.html);
	if (opts.csv || opts.json) {
		int other = write_stdout(c, opts.csv ? TARE_COMPARED_CSV :
							TARE_COMPARED_JSON);

		code = code ? code : other;
	} else if (!opts.html || strcmp(opts.html, "-") != 0) {
		compare_print(result, opts.target_loss || opts.target_f1);
	}
	if (result->n_configs > 1 && !result->has_common) {
		message("the runs have nothing in common: there is no time "
			"to compare them by");
		code = code ? code : CODE_FOUND;
	}
	return code;
}

/* ---- command ----------------------------------------------------------- */

static int no_baseline(tare_comparison *c, tare_compare_options *how)
{
	const char *wanted = how->baseline;
	const tare_compared *result;

	message("no configuration is called '%s'", wanted);
	how->baseline = NULL;
	if (tare_compare(c, how, &result) == 0)
		for (size_t i = 0; i < result->n_configs; i++) {
			(void)fputs("  ", stderr);
			terminal_safe(stderr, result->configs[i].name);
			(void)fputc('\n', stderr);
		}
	return CODE_USAGE;
}

static int judge(const struct args *args, tare_comparison *c,
		 tare_compare_options *how)
{
	const tare_compared *result;
	int err = tare_compare(c, how, &result);

	if (err == TARE_ENOENT && how->baseline)
		return no_baseline(c, how);
	if (err)
		return message_error("compare", args->operands[0], err);
	return show(c, result);
}

/* Two words without options for trainings may be two sides. */
static bool take_sides(const struct args *args, int *ret_code)
{
	const struct compare_output output = { opts.html, opts.markdown,
					       opts.json };

	return args->n_operands == 2 && !opts.by && !opts.baseline &&
	       !opts.csv && !opts.target_loss && !opts.target_f1 &&
	       !opts.title &&
	       compare_sides(args->operands[0], args->operands[1], &output,
			     ret_code);
}

static int compare(struct args *args)
{
	tare_compare_options how;
	tare_comparison *c;
	int code = parse(args, &how), unread = CODE_OK;
	size_t n = 0;

	if (code || take_sides(args, &code))
		return code;
	if (opts.markdown)
		return message_usage("--markdown needs two sides of runs that "
				     "are no trainings: OLD NEW");
	if (tare_comparison_new(&c))
		return message_error("compare", args->operands[0],
				     TARE_ENOMEM);
	for (size_t i = 0; i < args->n_operands; i++) {
		int other = compare_take(c, args->operands[i], &n);

		unread = unread ? unread : other;
	}
	if (n)
		code = judge(args, c, &how);
	else if (!unread)
		message("nothing to compare: there is no run");
	tare_comparison_free(c);
	/* Readable runs are compared; unreadable ones set the exit code. */
	return code ? code : unread ? unread : n ? CODE_OK : CODE_IO;
}

const struct command cmd_compare = {
	.name = "compare",
	.usage = "OLD NEW [options], or FILE|FOLDER|RUN... [options]",
	.summary = "compare two runs or sets of runs, or training runs",
	.examples =
		"  tare compare last~1 last              what changed, and "
		"where\n"
		"  tare compare HEAD~1 HEAD              runs recorded under "
		"revisions\n"
		"  tare compare './before/*.tare' ./after/ --markdown pr.md\n"
		"  tare compare results/*.csv            a table\n"
		"  tare compare results/ --html r.html   all runs of a folder, "
		"as a page\n"
		"  tare compare results/ --by phase      speedup of each "
		"phase\n"
		"  tare compare results/ --target-f1 0.8  time until F1 is "
		"0.8\n",
	.notes = "OLD and NEW are runs, folders or patterns of ledgers, or git "
		 "revisions\nruns of one configuration are repeats: means "
		 "with 95 % intervals\n" NOTE_RUN,
	.options = options,
	.max_operands = OPERANDS_ANY,
	.run = compare,
};
