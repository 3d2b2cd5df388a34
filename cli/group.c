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

int group_find(struct group *group, pid_t main_pid, bool with_busiest)
{
	size_t n = 0;
	int err;

	/* Ledgers of killed programs are listed only after a sweep. */
	(void)tr_runs_sweep(INT32_MAX, &group->deleted);
	err = tare_runs_list(&group->runs, &n);
	if (err)
		return err;

	for (size_t i = 0; i < n; i++)
		if (strcmp(group->runs[i].group, group->name) == 0)
			group->runs[group->n++] = group->runs[i];
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
