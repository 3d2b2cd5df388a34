/* SPDX-License-Identifier: Apache-2.0 */
#include "starts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ledger/runs.h"
#include "notes.h"

/* A line; `at`: its number: the last program of a process names it. */
struct start {
	long long pid;
	size_t at;
	char kind;
	char name[TR_SILENT_NAME];
};

struct starts {
	struct start *row;
	size_t n, cap;
};

static void add_line(void *arg, const char *line, size_t len)
{
	struct starts *s = arg;
	struct start start = { .at = s->n, .kind = len ? line[0] : '\0' };
	const char *space = memchr(line, ' ', len);
	char *end;

	if (start.kind < TR_PROCESS_PROGRAM || start.kind > TR_PROCESS_FORK)
		return; /* a message */
	start.pid = strtoll(line + 1, &end, 10);
	if (!space || end != space || start.pid < 0 ||
	    !TR_ARRAY_ROOM(s->row, s->n, s->cap))
		return;
	(void)snprintf(start.name, sizeof(start.name), "%.*s",
		       (int)(len - (size_t)(space + 1 - line)), space + 1);
	s->row[s->n++] = start;
}

static int by_process(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	if (x->pid != y->pid)
		return TR_ORDER(x->pid, y->pid);
	return TR_ORDER(x->at, y->at);
}

static bool has_run(const struct group *group, long long pid)
{
	for (size_t i = 0; i < group->n; i++)
		if (group->runs[i].pid == pid)
			return true;
	return false;
}

static uint64_t count_measured(const struct group *group)
{
	uint64_t n = 0;

	for (size_t i = 0; i < group->n; i++) {
		size_t k = 0;

		while (group->runs[k].pid != group->runs[i].pid)
			k++;
		n += k == i;
	}
	return n;
}

/* Beyond the most, all are in the last row. */
static void add_silent(struct tr_silent *silent, const struct start *last)
{
	bool is_static = last->kind == TR_PROCESS_STATIC;
	size_t i = 0;

	silent->processes++;
	while (i < silent->n &&
	       (strcmp(silent->at[i].name, last->name) != 0 ||
		silent->at[i].is_static != is_static))
		i++;
	if (i == TR_SILENT_MOST) {
		silent->others++;
		return;
	}
	if (i == silent->n) {
		memcpy(silent->at[i].name, last->name, sizeof(last->name));
		silent->at[i].is_static = is_static;
		silent->n++;
	}
	silent->at[i].processes++;
}

static int most_first(const void *a, const void *b)
{
	const struct tr_silent_program *x = a, *y = b;
	int order = TR_ORDER(y->processes, x->processes);

	return order ? order : strcmp(x->name, y->name);
}

void starts_read(int notes, const struct group *group,
		 struct tr_silent *ret_silent)
{
	struct starts s = { .n = 0 };

	*ret_silent = (struct tr_silent){ .n = 0 };
	notes_each(notes, add_line, &s);
	if (s.n)
		qsort(s.row, s.n, sizeof(*s.row), by_process);
	for (size_t i = 0; i < s.n; i++) {
		const struct start *next = &s.row[i + 1];
		bool goes_on = i + 1 < s.n && next->pid == s.row[i].pid &&
			       next->pid;

		if (!goes_on && !has_run(group, s.row[i].pid))
			add_silent(ret_silent, &s.row[i]);
	}
	if (s.n)
		ret_silent->all = ret_silent->processes +
				  count_measured(group);
	qsort(ret_silent->at, ret_silent->n, sizeof(*ret_silent->at),
	      most_first);
	free(s.row);
}
