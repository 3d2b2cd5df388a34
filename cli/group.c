/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tare/read/profile.h>

#include "base/platform.h"
#include "ledger/runs.h"

/* Only the newest runs are opened to find the busiest one. */
#define BUSY_MOST 64

void group_init(struct group *group, const char *name)
{
	int64_t now = tr_realtime_ns();

	*group = (struct group){ .runs = NULL };
	if (name) {
		(void)snprintf(group->name, sizeof(group->name), "%s", name);
		return;
	}
	(void)snprintf(group->name, sizeof(group->name), "%llx-%05llx-%lld",
		       (unsigned long long)now / 1000000000,
		       (unsigned long long)now % 1000000000 / 1000,
		       (long long)getpid());
}

static const tare_run_entry *longest(const tare_run_entry *runs, size_t n)
{
	const tare_run_entry *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (!best || runs[i].end_ns - runs[i].start_ns >
				     best->end_ns - best->start_ns)
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
