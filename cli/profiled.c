/* SPDX-License-Identifier: Apache-2.0 */
#include "profiled.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runs.h"

#define WORDS_MOST 12u

/* Samples a second: a program of a fifth of a second has hundreds. */
#define RATE "2000"

const char *const profiled_by_cpu[] = { "--rate", RATE, NULL };
const char *const profiled_by_wall[] = { "--wall", "--rate", RATE, NULL };
const char *const profiled_by_alloc[] = { "--alloc", "--no-sample", NULL };

/* ---- folders ----------------------------------------------------------- */

int profiled_init(struct profiled *p)
{
	const char *tmp = getenv("TMPDIR");

	memset(p, 0, sizeof(*p));
	(void)snprintf(p->root, sizeof(p->root), "%.400s/tare-bench-XXXXXX",
		       tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(p->root)) {
		p->root[0] = '\0';
		return errno;
	}
	for (unsigned s = 0; s < PROFILED_SIDES; s++) {
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

void profiled_release(struct profiled *p)
{
	for (unsigned s = 0; s < 2; s++)
		for (size_t i = 0; i < p->n[s]; i++)
			tare_view_close(p->views[s][i]);
	if (p->root[0])
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

bool profiled_run(struct profiled *p, unsigned side,
		  const struct bench_case *c, const char *const *options,
		  const struct trial_how *how)
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
	/* They are no runs of the user's. */
	words[m++] = (char *)(uintptr_t)"--set";
	words[m++] = (char *)(uintptr_t)"history=off";
	while (*options)
		words[m++] = (char *)(uintptr_t)*options++;
	words[m++] = (char *)(uintptr_t)"--";
	memcpy(words + m, c->argv, n * sizeof(*words));
	is_good = run_in(p->side[side], words, how);
	free(words);
	return is_good;
}

/* ---- views ------------------------------------------------------------- */

void profiled_open(struct profiled *p, unsigned side)
{
	char path[1024];
	struct dirent *entry;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "%s/runs", p->side[side]);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)) != NULL &&
	       p->n[side] < PROFILED_VIEWS) {
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
