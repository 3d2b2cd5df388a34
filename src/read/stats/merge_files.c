/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many runs at once: thousands of ranks or executors.
 *
 * A view takes a hundred times the memory of what it adds to a merge, so that
 * views are opened one after another and closed at once. Threads take runs
 * in turn, each with a merge of its own, and these are joined: counts and
 * buckets add up to the same whatever the order. A tree of processes or hosts
 * is made of the same two steps, with a summary as what one hands to the next.
 *
 * Refused: one merge for all threads, with a lock. Adding is a third of the
 * time, and memory for a merge of a hundred series is 200 KiB.
 */
#include "read/stats/merge.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/runs.h"

#define THREADS_MOST 16u
#define RUNS_A_THREAD 64u /* fewer are not worth a thread */
#define SUMMARY_MOST (1l << 30)

struct merging {
	const char *const *paths;
	size_t n, next;
	const tare_filter *filter;
};

struct worker {
	struct merging *merging;
	tare_merge *merge;
	pthread_t thread;
	int err;
};

/* ---- one file ---------------------------------------------------------- */

/* NULL: not a summary, or unreadable. */
static FILE *open_summary(const char *path)
{
	char head[sizeof(TR_SUMMARY_HEAD)] = "";
	FILE *file = fopen(path, "rbe");

	if (!file)
		return NULL;
	if (fread(head, 1, sizeof(head) - 1, file) == sizeof(head) - 1 &&
	    strcmp(head, TR_SUMMARY_HEAD) == 0)
		return file;
	(void)fclose(file);
	return NULL;
}

static int read_text(FILE *file, char **ret_text, size_t *ret_len)
{
	long size;
	char *text;

	if (fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 ||
	    fseek(file, 0, SEEK_SET))
		return TARE_EIO;
	if (size > SUMMARY_MOST)
		return TARE_EFORMAT;
	text = malloc((size_t)size + 1);
	if (!text)
		return TARE_ENOMEM;
	*ret_len = fread(text, 1, (size_t)size, file);
	text[*ret_len] = '\0';
	*ret_text = text;
	return 0;
}

/* Half a summary must leave nothing, so it is read into a merge of its own. */
static int add_summary(tare_merge *merge, FILE *file)
{
	tare_merge *own = tr_merge_new();
	char *text = NULL;
	size_t len = 0;
	int err = own ? read_text(file, &text, &len) : TARE_ENOMEM;

	if (!err)
		err = tr_merge_read(own, text, len);
	if (!err)
		err = tr_merge_join(merge, own);
	free(text);
	tare_merge_close(own);
	return err;
}

static int add_run(tare_merge *merge, const char *path,
		   const tare_filter *filter)
{
	tare_view *view;
	int err = tare_view_open(path, &view);

	if (err)
		return err;
	err = tr_merge_add(merge, view, filter);
	tare_view_close(view);
	return err;
}

static int add_file(tare_merge *merge, const char *path,
		    const tare_filter *filter)
{
	FILE *summary = open_summary(path);
	int err = summary ? add_summary(merge, summary) :
			    add_run(merge, path, filter);

	if (summary)
		(void)fclose(summary);
	if (err && err != TARE_ENOMEM) {
		merge->unreadable++;
		return 0;
	}
	return err;
}

/* ---- threads ----------------------------------------------------------- */

static void *merge_some(void *arg)
{
	struct worker *worker = arg;
	struct merging *all = worker->merging;

	while (!worker->err) {
		/* Relaxed: each only needs a number of its own. */
		size_t i = __atomic_fetch_add(&all->next, 1, __ATOMIC_RELAXED);

		if (i >= all->n)
			break;
		worker->err = add_file(worker->merge, all->paths[i],
				       all->filter);
	}
	return NULL;
}

static unsigned wanted_threads(size_t n)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t most = n / RUNS_A_THREAD + 1;

	if (cpus > (long)THREADS_MOST)
		cpus = THREADS_MOST;
	if (cpus < 1)
		cpus = 1;
	return (unsigned)((size_t)cpus < most ? (size_t)cpus : most);
}

/* In pairs, then pairs of pairs: the first has all. */
static int join_all(struct worker *worker, unsigned n)
{
	int err = 0;

	for (unsigned step = 1; step < n; step *= 2)
		for (unsigned i = 0; i + step < n && !err; i += 2 * step)
			err = tr_merge_join(worker[i].merge,
					    worker[i + step].merge);
	return err;
}

/* Fills worker[0].merge. A thread that cannot be started is not missed. */
static int run_threads(struct worker *worker, unsigned n)
{
	unsigned started = 1;
	int err = 0;

	while (started < n && pthread_create(&worker[started].thread, NULL,
					     merge_some, &worker[started]) == 0)
		started++;
	(void)merge_some(&worker[0]);
	for (unsigned i = 1; i < started; i++)
		(void)pthread_join(worker[i].thread, NULL);
	for (unsigned i = 0; i < n && !err; i++)
		err = worker[i].err;
	return err ? err : join_all(worker, n);
}

static int merge_all(struct merging *all, tare_merge **ret_merge)
{
	struct worker worker[THREADS_MOST] = { { .merging = all } };
	unsigned n = wanted_threads(all->n);
	int err = 0;

	for (unsigned i = 0; i < n; i++) {
		worker[i] = (struct worker){ .merging = all,
					     .merge = tr_merge_new() };
		if (!worker[i].merge)
			err = TARE_ENOMEM;
	}
	if (!err)
		err = run_threads(worker, n);
	if (!err)
		err = tr_merge_finish(worker[0].merge, all->filter);
	for (unsigned i = err ? 0 : 1; i < n; i++)
		tare_merge_close(worker[i].merge);
	if (!err)
		*ret_merge = worker[0].merge;
	return err;
}

/* ---- public ------------------------------------------------------------ */

TARE_API int tare_merge_files(const char *const *paths, size_t n,
			      const tare_filter *filter,
			      tare_merge **ret_merge)
{
	tare_filter own;
	struct merging all = { .paths = paths, .n = n };

	if ((n && !paths) || !ret_merge || !tr_filter_take(&filter, &own))
		return TARE_EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!paths[i])
			return TARE_EINVAL;
	all.filter = filter;
	(void)tr_runs_config(); /* before threads want it */
	return merge_all(&all, ret_merge);
}

TARE_API uint64_t tare_merge_runs(const tare_merge *merge,
				  uint64_t *ret_unreadable)
{
	if (ret_unreadable)
		*ret_unreadable = merge ? merge->unreadable : 0;
	return merge ? merge->runs : 0;
}
