/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which: the run that a user's word means.
 *
 * "last" and the name of a program, or of the command that `tare run` started,
 * count calls of `tare run`, not processes:
 * all processes of one call are a group, so last~1 is the call before, and not
 * another process of the same call. A group is represented by the run that
 * `tare run` reported, or by its first process.
 */
#include "ledger/runs.h"

#include <string.h>

#include "base/text.h"

/* A word, and the N of "word~N". */
struct wanted {
	const char *word;
	size_t len;
	uint64_t back;
	bool has_back;
	bool is_last; /* "last": any program */
};

static struct wanted parse(const char *which)
{
	struct wanted wanted = { .word = which, .len = strlen(which) };
	const char *tilde = strrchr(which, '~');

	if (tilde && tr_parse_u64(tilde + 1, &wanted.back)) {
		wanted.len = (size_t)(tilde - which);
		wanted.has_back = true;
	}
	wanted.is_last = wanted.len == 4 && strncmp(which, "last", 4) == 0;
	return wanted;
}

static bool is_of_program(const tare_run_entry *run,
			  const struct wanted *wanted)
{
	return wanted->is_last ||
	       (strncmp(run->program, wanted->word, wanted->len) == 0 &&
		run->program[wanted->len] == '\0' && wanted->len) ||
	       tr_group_is_of(run->group, wanted->word, wanted->len);
}

static bool is_of_group(const tare_run_entry *run, const tare_run_entry *other)
{
	return run == other ||
	       (run->group[0] && strcmp(run->group, other->group) == 0);
}

/* The one of the group of runs[at] that stands for the group. */
static const tare_run_entry *main_of(const tare_run_entry *runs, size_t n,
				     size_t at, const struct wanted *wanted)
{
	const tare_run_entry *first = &runs[at];
	char id[sizeof(first->id)] = "";

	tr_runs_noted(&runs[at], id, sizeof(id));
	for (size_t i = at; i < n; i++) {
		if (!is_of_group(&runs[i], &runs[at]) ||
		    !is_of_program(&runs[i], wanted))
			continue;
		if (strcmp(runs[i].id, id) == 0)
			return &runs[i];
		first = &runs[i];
	}
	/* A process that replaced itself by exec has several: the newest. */
	for (size_t i = at; i < n; i++)
		if (runs[i].pid == first->pid &&
		    is_of_group(&runs[i], first) &&
		    is_of_program(&runs[i], wanted))
			return &runs[i];
	return first;
}

static bool is_newest_of_group(const tare_run_entry *runs, size_t at,
			       const struct wanted *wanted)
{
	for (size_t i = 0; i < at; i++)
		if (is_of_group(&runs[i], &runs[at]) &&
		    is_of_program(&runs[i], wanted))
			return false;
	return true;
}

/* NULL: there are at most wanted->back; *ret_n says how many, if not NULL. */
static const tare_run_entry *by_program(const tare_run_entry *runs, size_t n,
					const struct wanted *wanted,
					size_t *ret_n)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < n; i++) {
		if (!is_of_program(&runs[i], wanted) ||
		    !is_newest_of_group(runs, i, wanted))
			continue;
		if (!ret_n && seen == wanted->back)
			return main_of(runs, n, i, wanted);
		seen++;
	}
	if (ret_n)
		*ret_n = (size_t)seen;
	return NULL;
}

bool tr_runs_is_group(const char *which, const char *group)
{
	struct wanted wanted = parse(which);

	return wanted.is_last ||
	       tr_group_is_of(group, wanted.word, wanted.len);
}

bool tr_runs_is_program(const char *which, const char *program)
{
	struct wanted wanted = parse(which);

	return strlen(program) == wanted.len &&
	       strncmp(which, program, wanted.len) == 0;
}

size_t tr_runs_count(const tare_run_entry *runs, size_t n, const char *which)
{
	struct wanted wanted = parse(which);
	size_t count = 0;

	(void)by_program(runs, n, &wanted, &count);
	return count;
}

static bool has_pid(const tare_run_entry *run, const char *which)
{
	uint64_t pid;

	return tr_parse_u64(which, &pid) && pid <= INT64_MAX &&
	       run->pid == (int64_t)pid;
}

static bool begins_with(const tare_run_entry *run, const char *which)
{
	return strncmp(run->id, which, strlen(which)) == 0;
}

bool tr_runs_may_mean(const tare_run_entry *run, const char *which)
{
	struct wanted wanted = parse(which);

	return begins_with(run, which) || has_pid(run, which) ||
	       is_of_program(run, &wanted);
}

/* Exact: an id, or the id of a live process. */
static const tare_run_entry *find_exact(const tare_run_entry *runs, size_t n,
					const char *which)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(runs[i].id, which) == 0)
			return &runs[i];
	for (size_t i = 0; i < n; i++)
		if (runs[i].state == TARE_RUN_LIVE && has_pid(&runs[i], which))
			return &runs[i];
	return NULL;
}

/* Counts different runs in *ret_n; returns the first. */
static const tare_run_entry *find_some(const tare_run_entry *runs, size_t n,
				       const struct wanted *wanted,
				       size_t *ret_n)
{
	const tare_run_entry *named = by_program(runs, n, wanted, NULL);
	const tare_run_entry *found = named;
	bool has_process = false;
	size_t count = named != NULL;

	for (size_t i = 0; i < n; i++) {
		bool is_process = !has_process &&
				  has_pid(&runs[i], wanted->word);

		has_process |= is_process;
		if (&runs[i] == named ||
		    (!is_process && !begins_with(&runs[i], wanted->word)))
			continue;
		found = found ? found : &runs[i];
		count++;
	}
	*ret_n = count;
	return found;
}

int tr_runs_match(const tare_run_entry *runs, size_t n, const char *which,
		  const tare_run_entry **ret_run)
{
	struct wanted wanted = parse(which);
	const tare_run_entry *run = find_exact(runs, n, which);
	size_t count = run != NULL;

	if (!which[0])
		return TARE_ENOENT;
	if (!run && (wanted.is_last || wanted.has_back)) {
		run = by_program(runs, n, &wanted, NULL);
		count = run != NULL;
	} else if (!run) {
		run = find_some(runs, n, &wanted, &count);
	}
	if (!count)
		return TARE_ENOENT;
	if (count > 1)
		return TARE_EAMBIGUOUS;
	*ret_run = run;
	return 0;
}

bool tr_runs_is_main(const tare_run_entry *runs, size_t n,
		     const tare_run_entry *run)
{
	struct wanted any = { .is_last = true };

	for (size_t i = 0; i < n; i++)
		if (is_of_group(&runs[i], run))
			return main_of(runs, n, i, &any) == run;
	return true;
}
