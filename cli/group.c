/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include <stdio.h>
#include <string.h>

#include <tare/read/profile.h>

#include "ledger/runs.h"

/* Only the newest runs are opened to find the busiest one. */
#define BUSY_MOST 64

void group_init(struct group *group, const char *name)
{
	*group = (struct group){ .runs = NULL };
	(void)snprintf(group->name, sizeof(group->name), "%s", name);
	tr_group_command(group->name, group->command);
}

/* Unsigned: a damaged ledger may hold any times. */
static int64_t duration_of(const tare_run_entry *run)
{
	return (int64_t)((uint64_t)run->end_ns - (uint64_t)run->start_ns);
}

static const tare_run_entry *longest(const tare_run_entry *runs, size_t n)
{
	const tare_run_entry *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (!best || duration_of(&runs[i]) > duration_of(best))
			best = &runs[i];
	return best;
}

static void find_busiest(struct group *group)
{
	for (size_t i = 0; i < group->n && i < BUSY_MOST; i++) {
		tare_view *view;
		double ns;

		if (tare_view_open(group->runs[i].path, &view))
			continue;
		ns = tare_view_sampling(view)->weight_ns;
		if (ns > group->most_ns) {
			group->most_ns = ns;
			group->busiest = &group->runs[i];
		}
		tare_view_close(view);
	}
}

/* Without a name, the run with this id alone. */
static int list(struct group *group, const char *id)
{
	size_t n = 0;
	int err = tare_runs_list(&group->runs, &n);

	for (size_t i = 0; !err && i < n; i++)
		if (group->name[0] ?
			    strcmp(group->runs[i].group, group->name) == 0 :
			    strcmp(group->runs[i].id, id) == 0)
			group->runs[group->n++] = group->runs[i];
	return err;
}

int group_of(struct group *group, const tare_run *run)
{
	group_init(group, run->group);
	return list(group, run->id);
}

int group_meant(struct group *group, const tare_run *run, const char *which)
{
	bool is_all = tr_runs_is_group(which, run->group);
	int err;

	group_init(group, "");
	if (!is_all && !tr_runs_is_program(which, run->program))
		return 0;
	err = group_of(group, run);
	if (!err && !is_all)
		(void)group_keep(group, run->program);
	return err;
}

const char *group_title(const struct group *group, const char *which)
{
	return group->command[0] && tr_runs_is_group(which, group->name) ?
		       group->command :
		       which;
}

size_t group_keep(struct group *group, const char *word)
{
	size_t n = 0;
	char pid[32];

	for (size_t i = 0; i < group->n; i++) {
		(void)snprintf(pid, sizeof(pid), "%lld",
			       (long long)group->runs[i].pid);
		if (strcmp(pid, word) == 0 ||
		    strcmp(group->runs[i].program, word) == 0)
			group->runs[n++] = group->runs[i];
	}
	group->is_part |= n < group->n;
	group->n = n;
	return n;
}

int group_find(struct group *group, pid_t main_pid, bool with_busiest)
{
	int err;

	/* Ledgers of killed programs are listed only after a sweep. */
	(void)tr_runs_sweep(INT32_MAX, &group->deleted);
	err = list(group, "");
	if (err)
		return err;
	/* The newest run of the process: it may replace itself by exec. */
	for (size_t i = 0; i < group->n && !group->main; i++)
		if (group->runs[i].pid == main_pid)
			group->main = &group->runs[i];
	if (group->n > 1 && with_busiest)
		find_busiest(group);
	if (!group->main)
		group->main = group->busiest ? group->busiest :
					       longest(group->runs, group->n);
	return 0;
}

void group_release(struct group *group)
{
	tare_runs_free(group->runs);
	group->runs = NULL;
	group->n = 0;
	group->main = NULL;
	group->busiest = NULL;
}
