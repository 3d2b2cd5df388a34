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
	bool all;
} opts = { .sort = "started" };

static const struct option_spec options[] = {
	OPTION_FLAG('a', "all", &opts.all,
		    "list every process of a 'tare run' of several"),
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

/* Is the command that started it meant? */
static bool is_command(const struct args *args, const tare_run_entry *run)
{
	char command[TR_GROUP_BYTES];

	tr_group_command(run->group, command);
	for (size_t i = 0; command[0] && i < args->n_operands; i++)
		if (tr_glob_match(args->operands[i], command))
			return true;
	return !args->n_operands;
}

static bool is_wanted(const struct args *args, const tare_run_entry *run)
{
	if (opts.live && run->state != TARE_RUN_LIVE)
		return false;
	for (size_t i = 0; i < args->n_operands; i++)
		if (tr_glob_match(args->operands[i], run->program) ||
		    tr_glob_match(args->operands[i], run->id))
			return true;
	return is_command(args, run);
}

/* All runs, and the lines that are printed. */
struct listed {
	tare_run_entry *runs;
	size_t n;
	tare_run_entry *rows;
	uint32_t *processes; /* by row */
	size_t n_rows;
};

/* ---- a tare run of several processes is one line ------------------------ */

static bool is_folded(const struct args *args, const tare_run_entry *run)
{
	return !opts.all && !opts.json && !opts.ids && !opts.names &&
	       run->group[0] && is_command(args, run);
}

/* Of the processes, the one that stands for them gives the id. */
static void fold(tare_run_entry *row, const tare_run_entry *run, bool is_main)
{
	tare_run_entry sum = is_main ? *run : *row;

	sum.start_ns = row->start_ns < run->start_ns ? row->start_ns :
						       run->start_ns;
	sum.end_ns = row->end_ns > run->end_ns ? row->end_ns : run->end_ns;
	sum.bytes = row->bytes + run->bytes;
	if (!sum.has_trainings && (row->has_trainings || run->has_trainings)) {
		sum.has_trainings = true;
		memcpy(sum.path, row->has_trainings ? row->path : run->path,
		       sizeof(sum.path));
	}
	if (row->state == TARE_RUN_LIVE || run->state == TARE_RUN_LIVE)
		sum.state = TARE_RUN_LIVE;
	*row = sum;
}

static tare_run_entry *row_of(tare_run_entry *rows, size_t n,
			      const tare_run_entry *run)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].group, run->group) == 0)
			return &rows[i];
	return NULL;
}

/* One row for each run that is wanted, or for its group. */
static void make_rows(const struct args *args, struct listed *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const tare_run_entry *run = &l->runs[i];
		tare_run_entry *row = NULL;

		if (!is_wanted(args, run))
			continue;
		if (is_folded(args, run))
			row = row_of(l->rows, l->n_rows, run);
		if (row)
			fold(row, run, tr_runs_is_main(l->runs, l->n, run));
		else
			l->rows[l->n_rows++] = *run;
	}
}

/* A process that replaced itself by exec has several runs. */
static bool is_seen(const struct listed *l, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (l->runs[i].pid == l->runs[at].pid &&
		    strcmp(l->runs[i].group, l->runs[at].group) == 0)
			return true;
	return false;
}

static uint32_t count_processes(const struct args *args,
				const struct listed *l,
				const tare_run_entry *row)
{
	uint32_t n = 0;

	for (size_t i = 0; is_folded(args, row) && i < l->n; i++)
		n += strcmp(l->runs[i].group, row->group) == 0 &&
		     is_wanted(args, &l->runs[i]) && !is_seen(l, i);
	return n ? n : 1;
}

/* Several are called by the command that started them, if it is known. */
static void name_rows(const struct args *args, struct listed *l)
{
	char command[TR_GROUP_BYTES];

	for (size_t i = 0; i < l->n_rows; i++) {
		l->processes[i] = count_processes(args, l, &l->rows[i]);
		tr_group_command(l->rows[i].group, command);
		if (l->processes[i] > 1 && command[0])
			memcpy(l->rows[i].program, command, sizeof(command));
	}
}

static int by_size(const tare_run_entry *a, const tare_run_entry *b)
{
	return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

/* Unsigned: a damaged ledger may hold any times. */
static int64_t duration_of(const tare_run_entry *run)
{
	return (int64_t)((uint64_t)run->end_ns - (uint64_t)run->start_ns);
}

static int by_duration(const tare_run_entry *a, const tare_run_entry *b)
{
	int64_t x = duration_of(a), y = duration_of(b);

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

static bool is_named(const tare_run_entry *runs, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(runs[i].program, name) == 0)
			return true;
	return false;
}

static bool is_command_before(const tare_run_entry *runs, size_t at)
{
	char command[TR_GROUP_BYTES];

	tr_group_command(runs[at].group, command);
	for (size_t i = 0; i < at; i++)
		if (tr_group_is_of(runs[i].group, command, strlen(command)))
			return true;
	return false;
}

static void print_word(const char *word)
{
	terminal_safe(stdout, word);
	(void)putchar('\n');
}

static void print_ids(const tare_run_entry *runs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		print_word(runs[i].id);
}

/* Programs, and commands under whose name no program has a run. */
static void print_names(const tare_run_entry *runs, size_t n)
{
	char command[TR_GROUP_BYTES];

	for (size_t i = 0; i < n; i++) {
		if (!is_named(runs, i, runs[i].program))
			print_word(runs[i].program);
		tr_group_command(runs[i].group, command);
		if (command[0] && !is_named(runs, n, command) &&
		    !is_command_before(runs, i))
			print_word(command);
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

static void print_rows(const struct listed *l)
{
	struct tr_json *json = output_json_begin();

	if (opts.json) {
		runs_json(json, l->rows, l->n_rows);
		output_json(json, stdout);
	} else if (opts.ids) {
		print_ids(l->rows, l->n_rows);
	} else if (opts.names) {
		print_names(l->rows, l->n_rows);
	} else if (l->n_rows) {
		runs_print(l->rows, l->n_rows, l->processes, opts.size,
			   stdout);
		if (opts.size)
			print_sum(l->rows, l->n_rows);
	}
}

static int list(const struct args *args, struct listed *l)
{
	l->rows = calloc(l->n + 1, sizeof(*l->rows));
	l->processes = calloc(l->n + 1, sizeof(*l->processes));
	if (!l->rows || !l->processes)
		return message_error("list", "runs", TARE_ENOMEM);
	for (size_t i = 0; i < l->n && opts.size; i++)
		l->runs[i].bytes = tr_runs_bytes(l->runs[i].path);
	make_rows(args, l);
	sort(l->rows, l->n_rows);
	if (opts.limit && l->n_rows > opts.limit)
		l->n_rows = (size_t)opts.limit;
	name_rows(args, l);
	print_rows(l);
	if (l->n && !l->n_rows && args->n_operands)
		message("none of %zu runs has that name", l->n);
	else if (!l->n ||
		 (!l->n_rows && !opts.json && !opts.ids && !opts.names))
		message("no %s; make one with 'tare run -- PROGRAM'",
			opts.live ? "live run" : "run");
	return l->n ? CODE_OK : CODE_IO;
}

static int ls(struct args *args)
{
	struct listed listed = { .n = 0 };
	int err = tare_runs_list(&listed.runs, &listed.n), code;

	if (err)
		return runs_error("list", "runs", err);
	code = list(args, &listed);
	tare_runs_free(listed.runs);
	free(listed.rows);
	free(listed.processes);
	return code;
}

const struct command cmd_ls = {
	.name = "ls",
	.usage = "[GLOB...] [--all] [--live] [--size] [--sort KEY] "
		 "[--ids | --json]",
	.summary = "list all runs: live, finished and killed",
	.examples = "  tare ls                   all runs, newest first\n"
		    "  tare ls --all             every process of each\n"
		    "  tare ls --live            live runs\n"
		    "  tare ls prog --size       runs of a program and their "
		    "bytes on disk\n"
		    "  tare ls --json            as JSON, for a script\n",
	.notes = "GLOB selects by program, by the command that 'tare run' "
		 "started, or by id:\n'pro*', '20261118*'\n",
	.options = options,
	.max_operands = OPERANDS_ANY,
	.run = ls,
};
