/* SPDX-License-Identifier: Apache-2.0 */
/* tare ls: the runs that can be read. */
#include "args.h"
#include "message.h"
#include "output.h"
#include "runs.h"

struct ls_options {
	bool json;
	bool ids;
	bool live;
};

static const struct option_spec options[] = {
	{ 'l', "live", OPTION_FLAG, offsetof(struct ls_options, live), NULL,
	  NULL, "list only live runs" },
	{ 0, "ids", OPTION_FLAG, offsetof(struct ls_options, ids), NULL, NULL,
	  "print only the ids, one per line" },
	OPTION_JSON(struct ls_options),
	OPTION_END
};

/* Moves the live ones to the front; returns how many there are. */
static size_t keep_live(tare_run_entry *runs, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (runs[i].state == TARE_RUN_LIVE)
			runs[kept++] = runs[i];
	return kept;
}

static void print_runs(const struct args *args, const struct ls_options *opts,
		       const tare_run_entry *runs, size_t n)
{
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_json json = { .buf = &buf };

	if (opts->json) {
		runs_json(&json, runs, n);
		output_json(&json, stdout);
	} else if (opts->ids) {
		for (size_t i = 0; i < n; i++)
			(void)printf("%s\n", runs[i].id);
	} else if (n) {
		runs_print(runs, n, stdout, terminal_width(stdout),
			   terminal_wants_color(stdout, args->color));
	} else {
		message("no %s; make one with 'tare run -- PROGRAM'",
			opts->live ? "live run" : "run");
	}
}

static int ls(struct args *args)
{
	struct ls_options opts = { 0 };
	tare_run_entry *runs;
	size_t n;
	int code, err;

	code = args_parse(args, &opts);
	if (code != ARGS_GO)
		return code;

	err = tare_runs_list(&runs, &n);
	if (err)
		return runs_error("list", "runs", err);

	if (opts.live)
		n = keep_live(runs, n);
	print_runs(args, &opts, runs, n);
	tare_runs_free(runs);
	return CODE_OK;
}

const struct command cmd_ls = {
	.name = "ls",
	.usage = "[--live] [--ids | --json]",
	.summary = "list all runs: live, finished and killed",
	.examples = "  tare ls                   all runs, newest first\n"
		    "  tare ls --live            live runs\n"
		    "  tare ls --json            as JSON, for a script\n",
	.options = options,
	.run = ls,
};
