/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiled runs of two programs that differ: a few more of each by `tare run`,
 * into a folder of their own. They are no part of the timing.
 */
#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "difference.h"
#include "message.h"
#include "runs.h"

#define PROFILE_VIEWS_MOST 512u
#define WORDS_MOST 12u

/* Samples a second: a program of a fifth of a second has hundreds. */
#define RATE "2000"

/* Waiting is this part of the change: look where threads wait. */
#define WAITS_MUCH 0.25

struct profile {
	char root[512];
	char side[2][540];
	tare_view *views[2][PROFILE_VIEWS_MOST];
	size_t n[2];
};

/* Of a profiled run; the program's words follow. */
static const char *const by_cpu[] = { "--rate", RATE, NULL };
static const char *const by_wall[] = { "--wall", "--rate", RATE, NULL };
static const char *const by_alloc[] = { "--alloc", "--no-sample", NULL };

/* ---- folders ----------------------------------------------------------- */

static int make_folders(struct profile *p)
{
	const char *tmp = getenv("TMPDIR");

	(void)snprintf(p->root, sizeof(p->root), "%.400s/tare-bench-XXXXXX",
		       tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(p->root))
		return errno;
	for (unsigned s = 0; s < 2; s++) {
		(void)snprintf(p->side[s], sizeof(p->side[s]), "%s/%s",
			       p->root, s ? "new" : "old");
		if (mkdir(p->side[s], 0700))
			return errno;
	}
	return 0;
}

/* Two levels: files, and folders of files. */
static void remove_folder(const char *path, int levels)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char below[1024];

	while (dir && (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		(void)snprintf(below, sizeof(below), "%.600s/%.300s", path,
			       entry->d_name);
		if (unlink(below) && levels > 0)
			remove_folder(below, levels - 1);
	}
	if (dir)
		(void)closedir(dir);
	(void)rmdir(path);
}

static void release(struct profile *p)
{
	for (unsigned s = 0; s < 2; s++)
		for (size_t i = 0; i < p->n[s]; i++)
			tare_view_close(p->views[s][i]);
	remove_folder(p->root, 3);
}

/* ---- runs -------------------------------------------------------------- */

static char *self_path(void)
{
	static char path[512];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	return path;
}

/* TARE_DIR is set for the run alone. */
static bool run_in(const char *folder, char **words,
		   const struct trial_how *how)
{
	char *before = getenv("TARE_DIR");
	struct trial trial;

	before = before ? strdup(before) : NULL;
	(void)setenv("TARE_DIR", folder, 1);
	trial_run(words, how, &trial);
	if (before)
		(void)setenv("TARE_DIR", before, 1);
	else
		(void)unsetenv("TARE_DIR");
	free(before);
	return trial_is_good(&trial);
}

static bool run_one(const struct bench *bench, const struct bench_case *c,
		    const char *folder, const char *const *options)
{
	size_t n = 0, m = 0;
	char **words;
	bool is_good;

	while (c->argv[n])
		n++;
	words = calloc(n + WORDS_MOST, sizeof(*words));
	if (!words)
		return false;
	words[m++] = self_path();
	words[m++] = (char *)(uintptr_t)"run";
	words[m++] = (char *)(uintptr_t)"--no-report";
	while (*options)
		words[m++] = (char *)(uintptr_t)*options++;
	words[m++] = (char *)(uintptr_t)"--";
	memcpy(words + m, c->argv, n * sizeof(*words));
	is_good = run_in(folder, words, &bench->how);
	free(words);
	return is_good;
}

static void run_both(const struct bench *bench, struct profile *p,
		     const struct bench_pair *pair, const char *const *options,
		     uint64_t runs)
{
	uint64_t seed = bench->seed;

	for (uint64_t i = 0; i < runs && !trial_interrupted; i++) {
		bool first = bench_random(&seed, 2);

		(void)run_one(bench, first ? pair->now : pair->old,
			      p->side[first], options);
		(void)run_one(bench, first ? pair->old : pair->now,
			      p->side[!first], options);
	}
}

/* ---- views ------------------------------------------------------------- */

static void open_views(struct profile *p, unsigned side)
{
	char path[1024];
	struct dirent *entry;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "%s/runs", p->side[side]);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)) != NULL &&
	       p->n[side] < PROFILE_VIEWS_MOST) {
		size_t len = strlen(entry->d_name);
		tare_view *view;

		if (len < 5 || strcmp(entry->d_name + len - 5, ".tare") != 0)
			continue;
		(void)snprintf(path, sizeof(path), "%s/runs/%.300s",
			       p->side[side], entry->d_name);
		if (tare_view_open(path, &view))
			continue;
		names_attach(view);
		p->views[side][p->n[side]++] = view;
	}
	if (dir)
		(void)closedir(dir);
}

/* Does waiting, or threads beside each other, make the change? */
static bool needs_wall(const struct bench_pair *pair)
{
	double time = pair->row[0].now - pair->row[0].old;
	double cpu = pair->row[1].now - pair->row[1].old;

	if (pair->n_rows < 2 || pair->row[0].figure != TRIAL_TIME ||
	    pair->row[1].figure != TRIAL_CPU)
		return false;
	return !pair->old->is_single ||
	       fabs(time - cpu) > WAITS_MUCH * fabs(time);
}

int bench_profile(const struct bench *bench, const struct bench_pair *pair,
		  uint64_t runs, struct difference *d)
{
	struct profile *p = calloc(1, sizeof(*p));
	struct tr_side side[2];
	int err = p ? make_folders(p) : ENOMEM;

	if (err) {
		free(p);
		return message_error("profile", pair->now->name, err);
	}
	run_both(bench, p, pair, by_cpu, runs);
	if (needs_wall(pair))
		run_both(bench, p, pair, by_wall, runs);
	run_both(bench, p, pair, by_alloc, 1);
	for (unsigned s = 0; s < 2; s++) {
		open_views(p, s);
		side[s] = (struct tr_side){ p->views[s], p->n[s], 0 };
	}
	err = difference_find(d, &side[0], &side[1]);
	release(p);
	free(p);
	return err ? message_error("profile", pair->now->name, err) : CODE_OK;
}
