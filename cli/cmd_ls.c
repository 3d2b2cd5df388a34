/* SPDX-License-Identifier: Apache-2.0 */
/* tare ls: the runs that can be read. */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "ledger/runs.h"
#include "message.h"
#include "output.h"
#include "runs.h"

#define SORTS "started size duration program state"

static struct {
	const char *sort;
	uint64_t limit;
	bool json;
	bool ids;
	bool names;
	bool live;
	bool size;
} opts = { .sort = "started" };

static const struct option_spec options[] = {
	OPTION_FLAG('l', "live", &opts.live, "list only live runs"),
	OPTION_FLAG(0, "size", &opts.size,
		    "show the bytes on disk, with files beside, and their "
		    "sum"),
	OPTION_WORD('s', "sort", &opts.sort, "KEY", SORTS,
		    "order by " SORTS),
	OPTION_COUNT('n', "limit", &opts.limit, "N",
		     "list only the first N runs"),
	OPTION_FLAG(0, "ids", &opts.ids, "print only the ids, one per line"),
	OPTION_FLAG(0, "names", &opts.names,
		    "print only the names of programs, one per line"),
	OPTION_JSON(&opts.json),
	OPTION_END
};

static bool is_wanted(const struct args *args, const tare_run_entry *run)
{
	if (opts.live && run->state != TARE_RUN_LIVE)
		return false;
	for (size_t i = 0; i < args->n_operands; i++)
		if (tr_glob_match(args->operands[i], run->program) ||
		    tr_glob_match(args->operands[i], run->id))
			return true;
	return !args->n_operands;
}

/* Moves those that are wanted to the front; returns how many there are. */
static size_t keep_wanted(const struct args *args, tare_run_entry *runs,
			  size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (is_wanted(args, &runs[i]))
			runs[kept++] = runs[i];
	return kept;
}

static int by_size(const tare_run_entry *a, const tare_run_entry *b)
{
	return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

static int by_duration(const tare_run_entry *a, const tare_run_entry *b)
{
	int64_t x = a->end_ns - a->start_ns, y = b->end_ns - b->start_ns;

	return (x < y) - (x > y);
}

static int by_program(const tare_run_entry *a, const tare_run_entry *b)
{
	return strcmp(a->program, b->program);
}

static int by_state(const tare_run_entry *a, const tare_run_entry *b)
{
	return (int)a->state - (int)b->state;
}

/* For the comparison function of qsort(), which has no argument for it. */
static int (*order)(const tare_run_entry *a, const tare_run_entry *b);

/* The newest first among equals. */
static int compare(const void *a, const void *b)
{
	const tare_run_entry *x = a, *y = b;
	int result = order(x, y);

	return result ? result :
			(x->start_ns < y->start_ns) -
				(x->start_ns > y->start_ns);
}

static void sort(tare_run_entry *runs, size_t n)
{
	static const struct {
		const char *name;
		int (*order)(const tare_run_entry *, const tare_run_entry *);
	} orders[] = {
		{ "size", by_size },
		{ "duration", by_duration },
		{ "program", by_program },
		{ "state", by_state },
	};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (n && strcmp(opts.sort, orders[i].name) == 0) {
			order = orders[i].order;
			qsort(runs, n, sizeof(*runs), compare);
		}
}

static bool is_named_before(const tare_run_entry *runs, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(runs[i].program, runs[at].program) == 0)
			return true;
	return false;
}

static void print_words(const tare_run_entry *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (opts.names && is_named_before(runs, i))
			continue;
		terminal_safe(stdout, opts.names ? runs[i].program :
						   runs[i].id);
		(void)putchar('\n');
	}
}

static void print_sum(const tare_run_entry *runs, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += runs[i].bytes;
	(void)printf("%zu run%s, %llu bytes (%s)\n", n, n == 1 ? "" : "s",
		     (unsigned long long)sum, tr_as_bytes((double)sum).text);
}

static void print_runs(const tare_run_entry *runs, size_t n)
{
	struct tr_json *json = output_json_begin();

	if (opts.json) {
		runs_json(json, runs, n);
		output_json(json, stdout);
	} else if (opts.ids || opts.names) {
		print_words(runs, n);
	} else if (n) {
		runs_print(runs, n, opts.size, stdout);
		if (opts.size)
			print_sum(runs, n);
	}
}

static int ls(struct args *args)
{
	tare_run_entry *runs;
	size_t n, n_wanted;
	int err = tare_runs_list(&runs, &n);

	if (err)
		return runs_error("list", "runs", err);
	n_wanted = keep_wanted(args, runs, n);
	for (size_t i = 0; i < n_wanted && opts.size; i++)
		runs[i].bytes = tr_runs_bytes(runs[i].path);
	sort(runs, n_wanted);
	if (opts.limit && n_wanted > opts.limit)
		n_wanted = (size_t)opts.limit;
	print_runs(runs, n_wanted);
	if (!n || (!n_wanted && !opts.json && !opts.ids && !opts.names))
		message("no %s; make one with 'tare run -- PROGRAM'",
			opts.live ? "live run" : "run");
	tare_runs_free(runs);
	return n ? CODE_OK : CODE_IO;
}

const struct command cmd_ls = {
	.name = "ls",
	.usage = "[GLOB...] [--live] [--size] [--sort KEY] [--ids | --json]",
	.summary = "list all runs: live, finished and killed",
	.examples = "  tare ls                   all runs, newest first\n"
		    "  tare ls --live            live runs\n"
		    "  tare ls prog --size       runs of a program and their "
		    "bytes on disk\n"
		    "  tare ls --json            as JSON, for a script\n",
	.notes = "GLOB selects by program or by id: 'pro*', '20261118*'\n",
	.options = options,
	.max_operands = OPERANDS_ANY,
	.run = ls,
};
