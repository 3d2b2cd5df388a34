/* SPDX-License-Identifier: Apache-2.0 */
#include "side.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tare/read/alloc.h>
#include <tare/read/communication.h>
#include <tare/read/profile.h>
#include <tare/read/train.h>

#include "base/text.h"
#include "ending.h"
#include "group.h"
#include "message.h"
#include "revision.h"
#include "runs.h"

#define VIEWS_MOST 2048u /* open at the same time */

/* ---- views ------------------------------------------------------------- */

static int add_view(struct side *side, tare_view *view)
{
	if (side->n_views >= VIEWS_MOST ||
	    !TR_ARRAY_ROOM(side->views, side->n_views, side->views_room)) {
		tare_view_close(view);
		return TARE_ENOMEM;
	}
	names_attach(view);
	side->views[side->n_views++] = view;
	return 0;
}

/* A damaged one is missing, and said to be. */
static int add_path(struct side *side, const char *path)
{
	tare_view *view;
	int err = tare_view_open(path, &view);

	if (err == TARE_ENOMEM)
		return err;
	if (err) {
		message("cannot read '%s': it is left out", path);
		return 0;
	}
	return add_view(side, view);
}

static bool ends_in_tare(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && strcmp(name + n - 5, ".tare") == 0;
}

static int add_folder(struct side *side, const char *folder)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, alphasort), err = 0;
	char path[4608];

	for (int i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "%.4000s/%.500s", folder,
			       entries[i]->d_name);
		if (!err && ends_in_tare(entries[i]->d_name))
			err = add_path(side, path);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return n < 0 ? TARE_EIO : err;
}

static int add_glob(struct side *side, const char *pattern)
{
	glob_t found;
	int err = 0;

	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc && !err; i++)
		if (ends_in_tare(found.gl_pathv[i]))
			err = add_path(side, found.gl_pathv[i]);
	globfree(&found);
	return err;
}

/* ---- what a word means ------------------------------------------------- */

static int add_group(struct side *side, const char *which)
{
	struct group group = { .n = 0 };
	tare_view *view;
	int err = tare_view_open(which, &view);

	if (err)
		return err;
	err = group_of(&group, tare_view_run(view));
	for (size_t i = 0; !err && i < group.n; i++)
		if (strcmp(group.runs[i].id, tare_view_run(view)->id) != 0)
			err = add_path(side, group.runs[i].path);
	group_release(&group);
	if (err) {
		tare_view_close(view);
		return err;
	}
	return add_view(side, view);
}

static bool is_revision(tare_view *view, const char *revision)
{
	const char *git = tare_view_run(view)->git;

	return git[0] && strncmp(git, revision, strlen(git)) == 0;
}

/* All runs of the user that match a pattern or are of a revision. */
static int add_matching(struct side *side, const char *pattern,
			const char *revision, const char *program)
{
	tare_run_entry *runs;
	size_t n;
	int err = tare_runs_list(&runs, &n);

	if (err)
		return err;
	for (size_t i = 0; i < n && !err; i++) {
		tare_view *view;

		if (program && program[0] &&
		    strcmp(runs[i].program, program) != 0)
			continue;
		if (pattern && !tr_glob_match(pattern, runs[i].id) &&
		    !tr_glob_match(pattern, runs[i].program))
			continue;
		if (tare_view_open(runs[i].path, &view))
			continue;
		if (revision && !is_revision(view, revision))
			tare_view_close(view);
		else
			err = add_view(side, view);
	}
	tare_runs_free(runs);
	return err;
}

static int add_word(struct side *side, const char *word, const char *program)
{
	char revision[REVISION_BYTES];
	struct stat st;
	int err;

	if (strchr(word, '/') && stat(word, &st) == 0 && S_ISDIR(st.st_mode))
		return add_folder(side, word);
	if (strpbrk(word, "*?["))
		return strchr(word, '/') ? add_glob(side, word) :
					   add_matching(side, word, NULL,
							program);
	err = add_group(side, word);
	if (err == TARE_ENOENT && !strchr(word, '/') &&
	    revision_of(word, revision))
		err = add_matching(side, NULL, revision, program);
	return err;
}

/* ---- runs -------------------------------------------------------------- */

static int by_group(const void *a, const void *b)
{
	const tare_run *x = tare_view_run(*(tare_view *const *)a);
	const tare_run *y = tare_view_run(*(tare_view *const *)b);
	int order = strcmp(x->group, y->group);

	if (!order && !x->group[0])
		order = strcmp(x->id, y->id);
	return order ? order : (x->start_ns > y->start_ns) -
				       (x->start_ns < y->start_ns);
}

static bool is_same_run(tare_view *a, tare_view *b)
{
	const char *group = tare_view_run(a)->group;

	return group[0] && strcmp(group, tare_view_run(b)->group) == 0;
}

static void add_up(struct side_run *run, tare_view *view, bool *has_cpu)
{
	const tare_run *r = tare_view_run(view);
	const tare_sampling *s = tare_view_sampling(view);
	const tare_heap *heap = tare_view_heap(view);
	double *f = run->figure;

	if (s->was_on && s->cpu_ns > 0) {
		f[SIDE_CPU] = (*has_cpu ? f[SIDE_CPU] : 0) + s->cpu_ns;
		*has_cpu = true;
	}
	if (r->rss_peak && !(f[SIDE_MEMORY] >= (double)r->rss_peak))
		f[SIDE_MEMORY] = (double)r->rss_peak;
	if (heap->was_on)
		f[SIDE_ALLOCS] = (isnan(f[SIDE_ALLOCS]) ? 0 :
							  f[SIDE_ALLOCS]) +
				 (double)heap->allocs;
	run->failed |= r->state == TARE_RUN_KILLED && run->n == 1;
}

/* What `tare run` left beside one of the processes. */
static void read_ending(struct side_run *run, tare_view *view,
			bool is_single)
{
	struct ending ending;
	double *f = run->figure;

	if (!ending_read(tare_view_run(view)->path, &ending))
		return;
	run->failed = ending.status != 0;
	if (ending.cpu_ns > 0)
		f[SIDE_CPU] = (double)ending.cpu_ns;
	if (ending.peak_bytes > 0)
		f[SIDE_MEMORY] = (double)ending.peak_bytes;
	if (ending.wall_ns <= 0)
		return;
	run->is_exact = true;
	f[SIDE_WALL] = f[SIDE_TIME] = (double)ending.wall_ns;
	if (!is_single)
		return;
	f[SIDE_TIME] -= (double)ending.queued_ns;
	if (f[SIDE_CPU] > 0) {
		f[SIDE_TIME] = f[SIDE_TIME] > f[SIDE_CPU] ? f[SIDE_TIME] :
							    f[SIDE_CPU];
		f[SIDE_WAITING] = f[SIDE_TIME] - f[SIDE_CPU];
	}
}

static void find_figures(const struct side *side, struct side_run *run)
{
	int64_t from = INT64_MAX, to = INT64_MIN;
	bool has_cpu = false, is_single = run->n == 1;

	for (unsigned i = 0; i < SIDE_FIGURES; i++)
		run->figure[i] = NAN;
	for (size_t i = run->first; i < run->first + run->n; i++) {
		const tare_run *r = tare_view_run(side->views[i]);

		add_up(run, side->views[i], &has_cpu);
		is_single &= tare_view_sampling(side->views[i])->threads == 1;
		from = r->start_ns < from ? r->start_ns : from;
		to = r->end_ns > to ? r->end_ns : to;
	}
	run->figure[SIDE_WALL] = run->figure[SIDE_TIME] =
		to > from ? (double)to - (double)from : NAN;
	for (size_t i = run->first; i < run->first + run->n; i++)
		read_ending(run, side->views[i], is_single);
}

static int find_runs(struct side *side)
{
	qsort(side->views, side->n_views, sizeof(tare_view *), by_group);
	for (size_t i = 0; i < side->n_views; i++) {
		if (i && is_same_run(side->views[i - 1], side->views[i])) {
			side->runs[side->n_runs - 1].n++;
			continue;
		}
		if (!TR_ARRAY_ROOM(side->runs, side->n_runs, side->runs_room))
			return TARE_ENOMEM;
		side->runs[side->n_runs++] = (struct side_run){ .first = i,
								.n = 1 };
	}
	for (size_t i = 0; i < side->n_runs; i++)
		find_figures(side, &side->runs[i]);
	return 0;
}

/* ---- all --------------------------------------------------------------- */

int side_open(struct side *side, const char *word, const char *program)
{
	int err;

	*side = (struct side){ .word = word };
	err = add_word(side, word, program);
	if (!err && !side->n_views)
		err = TARE_ENOENT;
	return err ? err : find_runs(side);
}

void side_release(struct side *side)
{
	for (size_t i = 0; i < side->n_views; i++)
		tare_view_close(side->views[i]);
	free(side->views);
	free(side->runs);
	*side = (struct side){ .word = side->word };
}

const char *side_program(const struct side *side)
{
	const char *best = "";
	size_t most = 0;

	for (size_t i = 0; i < side->n_runs && i < 64; i++) {
		const char *program = tare_view_run(
			side->views[side->runs[i].first])->program;
		size_t n = 0;

		for (size_t k = 0; k < side->n_runs; k++)
			n += strcmp(tare_view_run(side->views[
					    side->runs[k].first])->program,
				    program) == 0;
		if (n > most) {
			most = n;
			best = program;
		}
	}
	return best;
}

bool side_is_training(const struct side *side)
{
	const tare_training_info *infos;
	tare_communication comm;

	for (size_t i = 0; i < side->n_views; i++)
		if (tare_view_trainings(side->views[i], &infos) > 0 ||
		    (tare_view_communication(side->views[i], &comm) == 0 &&
		     comm.ranks > 1))
			return true;
	return false;
}

size_t side_values(const struct side *side, enum side_figure figure,
		   double *out)
{
	size_t n = 0;

	for (size_t i = 0; i < side->n_runs; i++)
		if (!side->runs[i].failed &&
		    !isnan(side->runs[i].figure[figure]))
			out[n++] = side->runs[i].figure[figure];
	return n;
}
