/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tare/read/train.h>

#include "job.h"
#include "message.h"
#include "runs.h"

/* ---- files ------------------------------------------------------------- */

static int tell(const char *path, int err, const tare_run_problem *problem)
{
	if (err != TARE_EFORMAT)
		return message_error("read", path, err);
	if (problem->line && problem->column)
		message("cannot read '%s': line %llu, column %llu: %s", path,
			(unsigned long long)problem->line,
			(unsigned long long)problem->column, problem->text);
	else if (problem->line)
		message("cannot read '%s': line %llu: %s", path,
			(unsigned long long)problem->line, problem->text);
	else
		message("cannot read '%s': %s", path, problem->text);
	return CODE_IO;
}

static int take_file(tare_comparison *c, const char *path, size_t *n)
{
	tare_run_problem problem = { .line = 0 };
	int err = tare_comparison_add_file(c, path, &problem);

	if (err)
		return tell(path, err, &problem);
	++*n;
	return CODE_OK;
}

/* ---- folders ----------------------------------------------------------- */

/* NAME_metrics.csv, NAME_metrics_2.csv; NAME may contain "_metrics". */
static bool is_run_file(const char *name)
{
	const char *mark = NULL, *rest = name;

	while ((rest = strstr(rest, "_metrics")) != NULL)
		mark = rest++;
	if (!mark || mark == name)
		return false;
	rest = mark + strlen("_metrics");
	if (*rest == '_')
		rest += 1 + strspn(rest + 1, "0123456789");
	return strcmp(rest, ".csv") == 0;
}

static int is_wanted(const struct dirent *entry)
{
	return is_run_file(entry->d_name);
}

/* Sorts runs of a configuration by age: the newest has no number. */
static int by_age(const struct dirent **a, const struct dirent **b)
{
	static const char mark[] = "_metrics";
	const char *x = (*a)->d_name, *y = (*b)->d_name;
	size_t n = 0, len = sizeof(mark) - 1;

	while (x[n] && x[n] == y[n])
		n++;
	if (n > len && memcmp(x + n - len, mark, len) == 0) {
		if (x[n] == '.' && y[n] == '_')
			return 1;
		if (x[n] == '_' && y[n] == '.')
			return -1;
	}
	return versionsort(a, b); /* "_2" before "_10" */
}

static int take_folder(tare_comparison *c, const char *folder, size_t *n)
{
	struct dirent **entries;
	int code = CODE_OK, count;

	count = scandir(folder, &entries, is_wanted, by_age);
	if (count < 0)
		return message_error("read", folder, errno);
	if (count == 0) {
		message("no *_metrics.csv in '%s'", folder);
		code = CODE_IO;
	}
	for (int i = 0; i < count; i++) {
		char path[4608];
		int other;

		(void)snprintf(path, sizeof(path), "%.4096s%s%s", folder,
			       folder[strlen(folder) - 1] == '/' ? "" : "/",
			       entries[i]->d_name);
		other = take_file(c, path, n);
		code = code ? code : other;
		free(entries[i]);
	}
	free(entries);
	return code;
}

/* ---- runs -------------------------------------------------------------- */

static bool has_training(tare_view *view)
{
	const tare_training_info *infos;

	return tare_view_trainings(view, &infos) > 0;
}

/* Trainings if there are any, else a job of several ranks, else each run. */
static int take_views(tare_comparison *c, const struct job *job)
{
	bool is_training = false;
	int err = TARE_ENOENT;

	for (size_t i = 0; i < job->n; i++)
		is_training |= has_training(job->views[i]);
	if (!is_training)
		err = tare_comparison_add_job(c, job->views, job->n);
	if (err != TARE_ENOENT)
		return err;
	err = 0;
	for (size_t i = 0; i < job->n && !err; i++)
		if (!is_training || has_training(job->views[i]))
			err = tare_comparison_add_view(c, job->views[i]);
	return err;
}

/* All runs of a group, which one `tare run` started. */
static int take_group(tare_comparison *c, const char *group)
{
	struct job job = { .n = 0 };
	int err = job_add_group(&job, group);

	if (!err)
		err = job.n ? take_views(c, &job) : TARE_ENOENT;
	job_release(&job);
	return err;
}

/* A rank means its job; a training is the same in all its ledgers. */
static int take_run(tare_comparison *c, tare_view *view)
{
	const char *group = tare_view_run(view)->group;
	tare_communication comm;
	int err = TARE_ENOENT;

	if (!has_training(view) && group[0] &&
	    tare_view_communication(view, &comm) == 0 && comm.ranks > 1)
		err = take_group(c, group);
	/* The group is not on this machine: the file was copied here. */
	return err == TARE_ENOENT ? tare_comparison_add_view(c, view) : err;
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* A path has a slash, a table the ending ".csv"; other words mean a run. */
int compare_take(tare_comparison *c, const char *operand, size_t *n)
{
	struct stat st;
	bool is_there = strchr(operand, '/') && stat(operand, &st) == 0;
	tare_view *view;
	int err;

	if (is_there && S_ISDIR(st.st_mode))
		return take_folder(c, operand, n);
	if (ends_in(operand, ".csv"))
		return take_file(c, operand, n);
	err = tare_view_open(operand, &view);
	if (!err) {
		err = take_run(c, view);
		tare_view_close(view);
		if (err)
			return message_error("open", operand, err);
	} else if (is_there && !ends_in(operand, ".tare")) {
		/* A file that is not a ledger is read as a table. */
		return take_file(c, operand, n);
	} else if (err != TARE_ENOENT || !*operand ||
		   take_group(c, operand)) {
		return run_refused(operand, err);
	}
	++*n;
	return CODE_OK;
}
