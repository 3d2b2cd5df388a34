/* SPDX-License-Identifier: Apache-2.0 */
#include "group_view.h"

#include <string.h>

#include "message.h"
#include "read/profile.h"
#include "runs.h"

#define JOINED_MOST 1024u /* open at the same time */

const char *process_chosen;

static size_t count_processes(const struct group *group)
{
	size_t n = 0, k;

	for (size_t i = 0; i < group->n; i++) {
		for (k = 0; k < i; k++)
			if (group->runs[k].pid == group->runs[i].pid)
				break;
		n += k == i;
	}
	return n;
}

#define HOW_TO_CHOOSE \
	"'tare report --tree' lists them, --process or a process id chooses"

void group_view_tell_one(const tare_view *view, const struct group *group)
{
	const tare_run *run = tare_view_run(view);

	if (count_processes(group) > 1)
		message("this is '%s', pid %lld, one of %zu processes: "
			HOW_TO_CHOOSE, run->program, (long long)run->pid,
			count_processes(group));
}

void group_view_tell_first(tare_view *view, const char *what)
{
	const tare_run *run = tare_view_run(view);

	if (tr_views_n(view) > 1)
		message("%s of '%s', pid %lld, one of %zu processes: "
			HOW_TO_CHOOSE, what, run->program,
			(long long)run->pid, tr_views_processes(view));
}

void group_view_tell(const tare_view *view, const char *which)
{
	const tare_run *run = tare_view_run(view);
	struct group group = { .n = 0 };

	if (!group_meant(&group, run, which) && count_processes(&group) > 1)
		message("this is '%s', pid %lld, one of %zu processes: -g "
			"exports all, a process id chooses", run->program,
			(long long)run->pid, count_processes(&group));
	group_release(&group);
}

/* ---- several ----------------------------------------------------------- */

static int join(tare_view *view, const tare_run_entry *run)
{
	tare_view *other;

	if (strcmp(run->id, tare_view_run(view)->id) == 0)
		return 0;
	/* A damaged one is missing, as in a report of all. */
	if (run_open_listed(run, &other)) {
		message("cannot read '%s', a process of '%s': it is left out",
			run->id, run->program);
		return 0;
	}
	names_attach(other);
	return tr_views_join(view, other);
}

int group_view_join(tare_view *view, const struct group *group)
{
	size_t n = group->n < JOINED_MOST ? group->n : JOINED_MOST;
	int err = 0;

	if (n < group->n)
		message("only the newest %zu of %zu processes are shown", n,
			group->n);
	for (size_t i = 0; i < n && !err; i++)
		err = join(view, &group->runs[i]);
	return err;
}

/* ---- what is meant ----------------------------------------------------- */

/* Only those of --process remain; opens another view if it is none of them. */
static int choose(struct group *group, const char *which, tare_view **view)
{
	tare_view *other;
	int code;

	if (!group_keep(group, process_chosen)) {
		message("no process '%s' in '%s': 'tare report --tree' lists "
			"them", process_chosen, which);
		return CODE_IO;
	}
	for (size_t i = 0; i < group->n; i++)
		if (strcmp(group->runs[i].id, tare_view_run(*view)->id) == 0)
			return CODE_OK;
	/* The oldest: it is the first one that is named by --tree. */
	code = run_open(group->runs[group->n - 1].path, &other);
	if (code)
		return code;
	tare_view_close(*view);
	*view = other;
	return CODE_OK;
}

static int show_group(struct group *group, const char *which, bool joins,
		      tare_view *view)
{
	int err;

	if (!joins) {
		group_view_tell_one(view, group);
		return CODE_OK;
	}
	if (group->n > 1)
		tr_views_name(view, process_chosen ?
					    process_chosen :
					    group_title(group, which));
	err = group_view_join(view, group);
	return err ? message_error("open", which, err) : CODE_OK;
}

int group_view_open(const char *which, bool joins, tare_view **ret_view)
{
	struct group group = { .n = 0 };
	tare_view *view;
	int code = run_open(which, &view), err;

	if (code)
		return code;
	err = process_chosen ? group_of(&group, tare_view_run(view)) :
			       group_meant(&group, tare_view_run(view), which);
	if (err)
		code = runs_error("list", "runs", err);
	if (!code && process_chosen)
		code = choose(&group, which, &view);
	if (!code)
		code = show_group(&group, which, joins, view);
	group_release(&group);
	if (code)
		tare_view_close(view);
	else
		*ret_view = view;
	return code;
}
