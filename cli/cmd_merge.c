/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare merge: what many runs measured, added up, as a table or as a summary:
 * a file that can be merged with others. For jobs of a thousand processes on
 * many hosts: each host merges its own runs, and one last merge reads them.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "args.h"
#include "base/text.h"
#include "group.h"
#include "message.h"
#include "output.h"
#include "render/report.h"
#include "runs.h"

static struct {
	const char *output;
	uint64_t top;
	bool json;
} opts;

static const struct option_spec options[] = {
	OPTION_TEXT('o', "output", &opts.output, "FILE",
		    "write a summary, for another tare merge"),
	OPTION_COUNT('n', "top", &opts.top, "N",
		     "show only the first N series of a table"),
	OPTION_JSON(&opts.json),
	OPTION_END
};

/* Paths of ledgers and summaries. */
struct paths {
	char **at;
	size_t n, room;
};

static bool add_path(struct paths *paths, const char *folder, const char *name)
{
	size_t room = paths->room ? 2 * paths->room : 256;
	char **more = paths->at;

	if (paths->n == paths->room)
		more = realloc(paths->at, room * sizeof(*more));
	if (!more)
		return false;
	paths->room = paths->n == paths->room ? room : paths->room;
	paths->at = more;
	if (asprintf(&paths->at[paths->n], "%s%s%s", folder,
		     folder[0] ? "/" : "", name) < 0)
		return false;
	paths->n++;
	return true;
}

static void release_paths(struct paths *paths)
{
	for (size_t i = 0; i < paths->n; i++)
		free(paths->at[i]);
	free(paths->at);
}

static bool is_folder(const char *word)
{
	struct stat about;

	return stat(word, &about) == 0 && S_ISDIR(about.st_mode);
}

static bool ends_with(const char *name, const char *ending)
{
	size_t n = strlen(name), k = strlen(ending);

	return n > k && strcmp(name + n - k, ending) == 0;
}

/* All ledgers and summaries of a folder. */
static int add_folder(struct paths *paths, const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	int err = dir ? 0 : TARE_EIO;

	while (!err && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.' &&
		    (ends_with(entry->d_name, ".tare") ||
		     ends_with(entry->d_name, ".summary")) &&
		    !add_path(paths, folder, entry->d_name))
			err = TARE_ENOMEM;
	if (dir)
		(void)closedir(dir);
	return err;
}

/* A run, and all others of the `tare run` that started it. */
static int add_group(struct paths *paths, const char *which)
{
	struct group group = { .n = 0 };
	tare_view *view;
	int code = run_open(which, &view), err;

	if (code)
		return code;
	err = group_meant(&group, tare_view_run(view), which);
	if (!err && !group.n && !add_path(paths, "", tare_view_run(view)->path))
		err = TARE_ENOMEM;
	for (size_t i = 0; !err && i < group.n; i++)
		if (!add_path(paths, "", group.runs[i].path))
			err = TARE_ENOMEM;
	group_release(&group);
	tare_view_close(view);
	return err ? runs_error("list", "runs", err) : CODE_OK;
}

static int add_word(struct paths *paths, const char *word)
{
	int err;

	if (is_folder(word)) {
		err = add_folder(paths, word);
		return err ? message_error("read", word, err) : CODE_OK;
	}
	if (!strchr(word, '/'))
		return add_group(paths, word);
	return add_path(paths, "", word) ? CODE_OK :
					   message_error("read", word,
							 TARE_ENOMEM);
}

static void write_json(const tare_merge *merge)
{
	struct tr_json *json = output_json_begin();
	uint64_t unreadable;

	tr_json_object(json, NULL);
	tr_json_u64(json, "runs", tare_merge_runs(merge, &unreadable));
	tr_json_u64(json, "unreadable_runs", unreadable);
	tr_json_merged(json, merge);
	tr_json_end_object(json);
	output_json(json, stdout);
}

static int show(const tare_merge *merge)
{
	tare_report_options how = { .struct_size = sizeof(how),
				    .parts = TARE_REPORT_FLAT,
				    .top = (uint32_t)opts.top };
	uint64_t unreadable, runs = tare_merge_runs(merge, &unreadable);
	int err;

	if (opts.output) {
		err = tare_merge_save(merge, opts.output);
		if (err)
			return message_error("write", opts.output, err);
		message("%llu run%s in '%s'", (unsigned long long)runs,
			runs == 1 ? "" : "s", opts.output);
	} else if (opts.json) {
		write_json(merge);
	} else {
		err = tr_report_merge(merge, &how, stream_write, stdout);
		if (err && !ferror(stdout))
			return message_error("report", "the runs", err);
	}
	if (unreadable)
		message("%llu file%s could not be read: left out",
			(unsigned long long)unreadable,
			unreadable == 1 ? "" : "s");
	return CODE_OK;
}

static int merge_paths(const struct paths *paths)
{
	tare_merge *merge;
	int err = tare_merge_files((const char *const *)paths->at, paths->n,
				   NULL, &merge), code;

	if (err)
		return message_error("merge", "the runs", err);
	if (!tare_merge_runs(merge, NULL)) {
		message("nothing to merge: %zu file%s, none of which is a "
			"ledger or a summary", paths->n,
			paths->n == 1 ? "" : "s");
		code = CODE_IO;
	} else {
		code = show(merge);
	}
	tare_merge_close(merge);
	return code;
}

static int run(struct args *args)
{
	struct paths paths = { .at = NULL };
	int code = CODE_OK;

	if (!args->n_operands)
		code = add_word(&paths, "last");
	for (size_t i = 0; i < args->n_operands && !code; i++)
		code = add_word(&paths, args->operands[i]);
	if (!code)
		code = merge_paths(&paths);
	release_paths(&paths);
	return code;
}

const struct command cmd_merge = {
	.name = "merge",
	.usage = "[-n N] [-o FILE | --json] [RUN | FILE | FOLDER]...",
	.summary = "add up what many processes or hosts measured",
	.examples =
		"  tare merge                          all of the newest run\n"
		"  tare merge -o host7.summary         into a file, per host\n"
		"  tare merge ./*.summary              of all hosts\n"
		"  tare merge ./ledgers                a folder of ledgers\n",
	.notes = NOTE_RUN,
	.options = options,
	.max_operands = OPERANDS_ANY,
	.run = run,
};
