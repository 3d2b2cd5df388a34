/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare rm: deletes runs that are over.
 *
 * The run of the first process of a `tare run` stands for the runs of the
 * processes that this one started: they go together, as for keep_runs. A live
 * run is never removed.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "base/platform.h"
#include "base/text.h"
#include "ledger/runs.h"
#include "message.h"
#include "runs.h"

static struct {
	uint64_t older_ns;
	const char *keep_text;
	uint64_t keep;
	bool all;
	bool yes;
} opts;

static const struct option_spec options[] = {
	OPTION_DURATION(0, "older", &opts.older_ns, "TIME",
			"remove the runs that ended more than TIME ago: 7d"),
	OPTION_TEXT(0, "keep", &opts.keep_text, "N",
		    "remove all but the newest N runs"),
	OPTION_FLAG(0, "all", &opts.all, "remove all runs that are not live"),
	OPTION_FLAG('y', "yes", &opts.yes,
		    "do not ask; without a terminal, no question is asked"),
	OPTION_END
};

/* All runs, and which of them are to be removed. */
struct choice {
	tare_run_entry *runs;
	bool *is_chosen;
	size_t n;
	size_t n_chosen;
};

static bool is_together(const tare_run_entry *a, const tare_run_entry *b)
{
	return a == b || (a->group[0] && strcmp(a->group, b->group) == 0);
}

static void choose(struct choice *choice, size_t i)
{
	choice->n_chosen += !choice->is_chosen[i];
	choice->is_chosen[i] = true;
}

/* ---- by name ------------------------------------------------------------ */

static int refuse_live(const tare_run_entry *run)
{
	message("cannot remove '%s': it is live", run->id);
	return CODE_IO;
}

/* A run that is named: with those of its processes that are over. */
static int choose_run(struct choice *choice, const tare_run_entry *run)
{
	bool is_main = tr_runs_is_main(choice->runs, choice->n, run);

	if (run->state == TARE_RUN_LIVE)
		return refuse_live(run);
	for (size_t i = 0; i < choice->n; i++)
		if (choice->runs[i].state != TARE_RUN_LIVE &&
		    (&choice->runs[i] == run ||
		     (is_main && is_together(&choice->runs[i], run))))
			choose(choice, i);
	return CODE_OK;
}

/* The list gets a row for a file elsewhere; one of the list has its own. */
static int choose_path(struct choice *choice, const char *path)
{
	char full[PATH_MAX];
	tare_run_entry *row = &choice->runs[choice->n];
	int err;

	if (!realpath(path, full))
		return message_error("remove", path, errno);
	for (size_t i = 0; i < choice->n; i++)
		if (strcmp(choice->runs[i].path, full) == 0)
			return choose_run(choice, &choice->runs[i]);
	err = tr_runs_entry(full, row);
	if (err)
		return message_error("remove", path,
				     err == TARE_EINVAL ? TARE_EFORMAT : err);
	if (row->state == TARE_RUN_LIVE)
		return refuse_live(row);
	choose(choice, choice->n++);
	return CODE_OK;
}

static int choose_named(struct choice *choice, const char *which)
{
	const tare_run_entry *run;
	int err;

	if (strchr(which, '/'))
		return choose_path(choice, which);
	err = tr_runs_match(choice->runs, choice->n, which, &run);
	return err ? run_refused(which, err) : choose_run(choice, run);
}

/* ---- by age and number -------------------------------------------------- */

static bool is_old(const struct choice *choice, const tare_run_entry *run)
{
	int64_t since = tr_realtime_ns() - (int64_t)opts.older_ns;

	for (size_t i = 0; i < choice->n; i++)
		if (is_together(&choice->runs[i], run) &&
		    (choice->runs[i].end_ns >= since ||
		     choice->runs[i].state == TARE_RUN_LIVE))
			return false;
	return true;
}

/* How many runs are newer, the processes of a group being one. */
static uint64_t newer_than(const struct choice *choice, size_t at)
{
	uint64_t n = 0;

	for (size_t i = 0; i < at; i++) {
		bool is_new = true;

		if (is_together(&choice->runs[i], &choice->runs[at]))
			return newer_than(choice, i);
		for (size_t k = 0; k < i && is_new; k++)
			is_new = !is_together(&choice->runs[k],
					      &choice->runs[i]);
		n += is_new;
	}
	return n;
}

static void choose_many(struct choice *choice)
{
	for (size_t i = 0; i < choice->n; i++)
		if (choice->runs[i].state != TARE_RUN_LIVE &&
		    (!opts.older_ns || is_old(choice, &choice->runs[i])) &&
		    (!opts.keep_text || newer_than(choice, i) >= opts.keep))
			choose(choice, i);
}

/* ---- removing ------------------------------------------------------------ */

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static uint64_t chosen_bytes(const struct choice *choice)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < choice->n; i++)
		if (choice->is_chosen[i])
			bytes += tr_runs_bytes(choice->runs[i].path);
	return bytes;
}

static bool is_agreed(const struct choice *choice)
{
	char answer[16] = "";

	if (opts.yes || !isatty(STDIN_FILENO))
		return true;
	for (size_t i = 0; i < choice->n; i++)
		if (choice->is_chosen[i])
			message("%s  %s", choice->runs[i].id,
				choice->runs[i].program);
	(void)fprintf(stderr, "remove %zu run%s, %s? [y/N] ",
		      choice->n_chosen, plural(choice->n_chosen),
		      tr_as_bytes((double)chosen_bytes(choice)).text);
	return fgets(answer, sizeof(answer), stdin) &&
	       (answer[0] == 'y' || answer[0] == 'Y');
}

static int remove_run(const tare_run_entry *run, uint64_t *sum, size_t *n)
{
	uint64_t bytes = tr_runs_bytes(run->path);
	int err = tr_runs_remove(run->path);

	if (err == TARE_EBUSY)
		return refuse_live(run);
	if (err)
		return message_error("remove", run->path, err);
	(void)fputs("removed ", stdout);
	terminal_safe(stdout, run->id);
	(void)fputs("  ", stdout);
	terminal_safe(stdout, run->program);
	(void)printf("  %s\n", tr_as_bytes((double)bytes).text);
	*sum += bytes;
	++*n;
	return CODE_OK;
}

static int remove_chosen(const struct choice *choice)
{
	int code = CODE_OK, other;
	uint64_t bytes = 0;
	size_t n = 0;

	for (size_t i = 0; i < choice->n; i++) {
		if (!choice->is_chosen[i])
			continue;
		other = remove_run(&choice->runs[i], &bytes, &n);
		code = code ? code : other;
	}
	(void)printf("%zu run%s removed, %llu bytes\n", n, plural(n),
		     (unsigned long long)bytes);
	return code;
}

/* ---- the command --------------------------------------------------------- */

static int check(struct args *args)
{
	bool is_many = opts.all || opts.older_ns || opts.keep_text;

	if (opts.keep_text && !tr_parse_u64(opts.keep_text, &opts.keep))
		return message_usage("wrong value '%s' for '--keep': not a "
				     "whole number",
				     opts.keep_text);
	if (is_many && args->n_operands)
		return message_usage("'%s' and '--%s' exclude each other",
				     args->operands[0],
				     opts.all	     ? "all" :
				     opts.keep_text ? "keep" :
						      "older");
	if (opts.all && (opts.older_ns || opts.keep_text))
		return message_usage("'--all' excludes '--older' and "
				     "'--keep'");
	if (!is_many && !args->n_operands)
		return message_usage("no run to remove: name one, or give "
				     "'--older', '--keep' or '--all'");
	return CODE_OK;
}

static int make_choice(const struct args *args, struct choice *choice)
{
	size_t room = args->n_operands + 1;
	tare_run_entry *runs;
	int err = tare_runs_list(&choice->runs, &choice->n);

	if (err)
		return runs_error("list", "runs", err);
	runs = realloc(choice->runs, (choice->n + room) * sizeof(*runs));
	choice->runs = runs ? runs : choice->runs;
	choice->is_chosen = calloc(choice->n + room, 1);
	if (!runs || !choice->is_chosen)
		return message_error("list", "runs", TARE_ENOMEM);
	return CODE_OK;
}

static int rm_chosen(const struct args *args, struct choice *choice)
{
	int code = CODE_OK, other;

	for (size_t i = 0; i < args->n_operands; i++) {
		other = choose_named(choice, args->operands[i]);
		code = code ? code : other;
	}
	if (!args->n_operands)
		choose_many(choice);
	if (!choice->n_chosen) {
		if (!code)
			message("no run to remove");
		return code || choice->n ? code : CODE_IO;
	}
	if (!is_agreed(choice)) {
		message("no run was removed");
		return CODE_FOUND;
	}
	other = remove_chosen(choice);
	return code ? code : other;
}

static int rm(struct args *args)
{
	struct choice choice = { .n = 0 };
	int code = make_choice(args, &choice);

	if (!code)
		code = rm_chosen(args, &choice);
	free(choice.is_chosen);
	tare_runs_free(choice.runs);
	return code;
}

const struct command cmd_rm = {
	.name = "rm",
	.usage = "RUN... | --older TIME | --keep N | --all",
	.summary = "remove runs that are over",
	.examples = "  tare rm last              the newest run\n"
		    "  tare rm prog~1 prog~2     two older runs of a program\n"
		    "  tare rm --older 7d        runs that ended a week ago\n"
		    "  tare rm --keep 10 --yes   all but the newest ten, "
		    "without a question\n",
	.notes = NOTE_RUN "the runs of processes that RUN started are removed "
			  "with it; live runs are kept\n",
	.options = options,
	.max_operands = OPERANDS_ANY,
	.check = check,
	.run = rm,
};
