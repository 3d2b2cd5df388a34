/* SPDX-License-Identifier: Apache-2.0 */
/* tare ls: the runs that can be read. */
#include "args.h"
#include "message.h"
#include "output.h"
#include "runs.h"

static struct {
	bool json;
	bool ids;
	bool live;
} opts;

static const struct option_spec options[] = {
	OPTION_FLAG('l', "live", &opts.live, "list only live runs"),
	OPTION_FLAG(0, "ids", &opts.ids, "print only the ids, one per line"),
	OPTION_JSON(&opts.json),
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

static void print_runs(const tare_run_entry *runs, size_t n)
{
	struct tr_json *json = output_json_begin();

	if (opts.json) {
		runs_json(json, runs, n);
		output_json(json, stdout);
	} else if (opts.ids) {
		for (size_t i = 0; i < n; i++)
			(void)printf("%s\n", runs[i].id);
	} else if (n) {
		runs_print(runs, n, stdout);
	} else {
		message("no %s; make one with 'tare run -- PROGRAM'",
			opts.live ? "live run" : "run");
	}
}

static int ls(struct args *args)
{
	tare_run_entry *runs;
	size_t n;
	int err = tare_runs_list(&runs, &n);

	(void)args;
	if (err)
		return runs_error("list", "runs", err);
	if (opts.live)
		n = keep_live(runs, n);
	print_runs(runs, n);
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
