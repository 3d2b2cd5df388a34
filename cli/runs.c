/* SPDX-License-Identifier: Apache-2.0 */
#include "runs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tare/read/profile.h>
#include <tare/read/train.h>

#include "base/text.h"
#include "ledger/runs.h"
#include "message.h"
#include "name_cache.h"
#include "read/profile.h"
#include "read/view.h"
#include "render/output.h"
#include "suggest.h"
#include "symbols/symbols.h"
#include "table.h"

/* ---- names of functions and lines --------------------------------------- */

#define WARNINGS_MOST 5 /* the first ones show what is wrong */

static void warn(void *arg, const char *text)
{
	static int warnings;

	(void)arg;
	if (warnings < WARNINGS_MOST)
		message("%s", text);
	else if (warnings == WARNINGS_MOST)
		message("and others");
	warnings++;
}

/* Files of a process in a container are below its root. */
static const char *root_of(const tare_run *run)
{
	static char root[64];

	if (run->state != TARE_RUN_LIVE)
		return NULL;
	(void)snprintf(root, sizeof(root), "/proc/%lld/root",
		       (long long)run->pid);
	return root;
}

static bool is_brief; /* the lines of runtime code are not read */

void names_of_runtime_alone(void)
{
	is_brief = true;
}

/* Opened at first use; NULL: no memory. */
static struct symbols *symbols_here(void)
{
	static struct symbols *symbols;

	if (!symbols) {
		symbols = symbols_open(warn, NULL);
		if (is_brief)
			symbols_skip_lines(symbols, tr_is_runtime_module);
	}
	return symbols;
}

/* Names of one run: of its files, and of code that it generated. */
struct run_names {
	struct run_names *next;
	struct name_cache *files;
	struct generated *generated;
};

/* A tare_name_fn. */
static size_t name_address(void *arg, const tare_module *module,
			   uint64_t address, tare_place *places, size_t most)
{
	struct run_names *names = arg;

	if (module->path[0])
		return name_cache_name(names->files, module, address, places,
				       most);
	return symbols_run_name(names->generated, module, address, places,
				most);
}

/* Kept to the end of the program, as what they point to. NULL: no memory. */
static struct run_names *names_of(struct generated *generated)
{
	static struct name_cache *files;
	static struct run_names *all;
	struct run_names *names = all;

	if (!files)
		files = name_cache_open(symbols_here());
	while (names && names->generated != generated)
		names = names->next;
	if (names || !files)
		return names;
	names = malloc(sizeof(*names));
	if (!names)
		return NULL;
	*names = (struct run_names){ all, files, generated };
	all = names;
	return names;
}

void names_attach(tare_view *view)
{
	const tare_run *run = tare_view_run(view);
	struct generated *generated =
		symbols_here() ? symbols_for_run(symbols_here(), run) : NULL;
	struct run_names *names = generated ? names_of(generated) : NULL;

	if (!names)
		return;
	tr_gpu_demangle_with(symbols_demangle);
	name_cache_root(names->files, root_of(run));
	tare_view_name_with(view, name_address, names);
}

void names_keep(const tare_run_entry *runs, size_t n)
{
	for (size_t i = 0; symbols_here() && i < n; i++)
		symbols_keep(symbols_here(), &runs[i]);
}

/* ---- one run ----------------------------------------------------------- */

/* Of a word for runs of which there are too few; false: there is none. */
static bool tell_count(const char *which, const tare_run_entry *runs, size_t n)
{
	size_t count = tr_runs_count(runs, n, which);

	if (!count || !strrchr(which, '~'))
		return false;
	message("cannot open '%s': not found; there %s %zu, and the oldest is "
		"'%.*s~%zu'",
		which, count == 1 ? "is only" : "are", count,
		(int)(strrchr(which, '~') - which), which, count - 1);
	return true;
}

/* Offers programs and the commands that started them; changes the list. */
static void tell_unknown(const char *which, tare_run_entry *runs, size_t n)
{
	struct suggestion near = { .word = which };
	char command[TR_GROUP_BYTES];

	for (size_t i = 0; i < n; i++) {
		suggest_offer(&near, runs[i].program);
		tr_group_command(runs[i].group, command);
		memcpy(runs[i].group, command, sizeof(command));
		if (command[0])
			suggest_offer(&near, runs[i].group);
	}
	message("cannot open '%s': not found%s", which,
		suggest_text(&near, ""));
}

static void tell_missing(const char *which, tare_run_entry *runs, size_t n)
{
	if (access(which, F_OK) == 0)
		message("cannot open '%s': not found; a path needs a slash: "
			"'./%s'", which, which);
	else if (!tell_count(which, runs, n))
		tell_unknown(which, runs, n);
}

static int tell_ambiguous(const char *which, tare_run_entry *runs, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (tr_runs_may_mean(&runs[i], which))
			runs[kept++] = runs[i];
	(void)message_usage("'%s' is ambiguous: it may mean %zu runs", which,
			    kept);
	runs_print(runs, kept, NULL, false, stderr);
	return CODE_USAGE;
}

int run_refused(const char *which, int err)
{
	tare_run_entry *runs;
	size_t n;
	int code = CODE_IO;

	if ((err != TARE_ENOENT && err != TARE_EAMBIGUOUS) ||
	    strchr(which, '/') || tare_runs_list(&runs, &n))
		return runs_error("open", which, err);
	if (err == TARE_EAMBIGUOUS)
		code = tell_ambiguous(which, runs, n);
	else if (!n && strncmp(which, "last", 4) == 0)
		message("no run found; make one with 'tare run -- PROGRAM'");
	else
		tell_missing(which, runs, n);
	tare_runs_free(runs);
	return code;
}

int run_open_listed(const tare_run_entry *run, tare_view **ret_view)
{
	int err = tare_view_open(run->path, ret_view);

	return err == TARE_ENOENT ? tare_view_open(run->id, ret_view) : err;
}

int run_open(const char *which, tare_view **ret_view)
{
	int err = tare_view_open(which, ret_view);

	if (err)
		return run_refused(which, err);
	names_attach(*ret_view);
	return CODE_OK;
}

int runs_error(const char *what, const char *which, int err)
{
	char path[sizeof(((tare_run_entry *)0)->path)] = "";

	tr_runs_refused(path, sizeof(path));
	if (!path[0] && (err == TARE_EPERM || err == TARE_EIO) &&
	    tr_runs_find(which, path, sizeof(path)))
		path[0] = '\0';
	return message_error(what, path[0] ? path : which, err);
}

enum tint run_state_tint(enum tare_run_state state)
{
	if (state == TARE_RUN_LIVE)
		return TINT_GREEN;
	return state == TARE_RUN_KILLED ? TINT_RED : TINT_NONE;
}

/* Indices of the columns that a row of a training may have. */
#define ROW_COLUMN(name) ROW_##name,
enum { TARE_RUN_COLUMNS(ROW_COLUMN) };

/* "mpi_4 30/200, loss 0.6524": the newest training; "": none. */
static void run_training_text(const tare_run_entry *run, char *text,
			      size_t size)
{
	const tare_training_info *info;
	tare_view *view;
	size_t n;

	text[0] = '\0';
	if (!run->has_trainings || tare_view_open(run->path, &view) != 0)
		return;
	n = tare_view_trainings(view, &info);
	if (n) {
		char planned[32] = "", loss[48] = "";

		info += n - 1;
		if (info->epochs)
			(void)snprintf(planned, sizeof(planned), "/%llu",
				       (unsigned long long)info->epochs);
		if (info->n_rows && info->columns & 1u << ROW_loss)
			(void)snprintf(loss, sizeof(loss), ", loss %.4g",
				       info->rows[info->n_rows - 1].loss);
		(void)snprintf(text, size, "%.40s %llu%s%s", info->config,
			       (unsigned long long)info->n_epochs, planned,
			       loss);
	}
	tare_view_close(view);
}

/* `processes` 0: no such column. */
static void add_run(struct table *table, const tare_run_entry *run,
		    uint32_t processes, bool has_trainings, bool exact_bytes)
{
	char training[160];

	table_add(table, run->id);
	table_add(table, run->program);
	table_addf(table, "%lld", (long long)run->pid);
	if (processes)
		table_addf(table, "%u", processes);
	table_add_tinted(table, tr_run_state_name(run->state),
			 run_state_tint(run->state));
	table_add(table, tr_as_date(run->start_ns).text);
	table_add(table, tr_as_duration((double)run->end_ns -
					 (double)run->start_ns).text);
	if (exact_bytes)
		table_addf(table, "%llu", (unsigned long long)run->bytes);
	else
		table_add(table, tr_as_bytes((double)run->bytes).text);
	if (!has_trainings)
		return;
	run_training_text(run, training, sizeof(training));
	table_add(table, training);
}

void runs_print(const tare_run_entry *runs, size_t n,
		const uint32_t *processes, bool exact_bytes, FILE *stream)
{
	const struct column first[] = { COLUMN_TEXT("ID", 0),
					COLUMN_WIDE("PROGRAM"),
					COLUMN_NUMBER("PID", 0) };
	const struct column some = COLUMN_NUMBER("PROCESSES", 1);
	const struct column rest[] = {
		COLUMN_TEXT("STATE", 0), COLUMN_TEXT("STARTED", 2),
		COLUMN_NUMBER("DURATION", 3),
		COLUMN_NUMBER(exact_bytes ? "BYTES" : "SIZE",
			      exact_bytes ? 0 : 1),
		COLUMN_TEXT("TRAINING", 4),
	};
	struct column columns[TR_N_OF(first) + 1 + TR_N_OF(rest)];
	struct table table;
	bool has_trainings = false, has_several = false;
	size_t used = TR_N_OF(first);

	for (size_t i = 0; i < n; i++) {
		has_trainings |= runs[i].has_trainings;
		has_several |= processes && processes[i] > 1;
	}
	memcpy(columns, first, sizeof(first));
	if (has_several)
		columns[used++] = some;
	memcpy(&columns[used], rest, sizeof(rest));
	used += TR_N_OF(rest) - !has_trainings;
	table_init(&table, columns, used);
	for (size_t i = 0; i < n; i++)
		add_run(&table, &runs[i], has_several ? processes[i] : 0,
			has_trainings, exact_bytes);
	table_end(&table, stream);
}

void runs_json(struct tr_json *json, const tare_run_entry *runs, size_t n)
{
	char training[160], command[TR_GROUP_BYTES];

	tr_json_array(json, NULL);
	for (size_t i = 0; i < n; i++) {
		tr_group_command(runs[i].group, command);
		tr_json_object(json, NULL);
		tr_json_str(json, "id", runs[i].id);
		tr_json_str(json, "program", runs[i].program);
		tr_json_i64(json, "pid", runs[i].pid);
		tr_json_str(json, "state", tr_run_state_name(runs[i].state));
		tr_json_i64(json, "start_ns", runs[i].start_ns);
		tr_json_i64(json, "end_ns", runs[i].end_ns);
		tr_json_u64(json, "bytes", runs[i].bytes);
		tr_json_str(json, "group", runs[i].group);
		tr_json_str(json, "command", command);
		tr_json_str(json, "path", runs[i].path);
		run_training_text(&runs[i], training, sizeof(training));
		tr_json_str(json, "training", training);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
}

void attribute_json(struct tr_json *json, const tare_attr_value *attr)
{
	if (attr->type == TARE_ATTR_INT)
		tr_json_i64(json, attr->key, attr->i);
	else if (attr->type == TARE_ATTR_DOUBLE)
		tr_json_double(json, attr->key, attr->d);
	else
		tr_json_str(json, attr->key, attr->s);
}

int stream_write(void *arg, const char *text, size_t len)
{
	return fwrite(text, 1, len, arg) == len ? 0 : -1;
}

tare_report_options report_options(FILE *stream, uint32_t parts)
{
	return (tare_report_options){
		.struct_size = sizeof(tare_report_options),
		.parts = parts,
		.width = terminal_width(stream),
		.color = terminal_wants_color(stream),
	};
}

int report_write(tare_view *view, const tare_report_options *how,
		 bool as_json, const char *what, const char *which)
{
	int err = as_json ? tare_view_json(view, how, stream_write, stdout) :
			    tare_view_report(view, how, stream_write, stdout);

	/* main() reports failed writes: it handles EPIPE. */
	return err && !ferror(stdout) ? message_error(what, which, err) :
					CODE_OK;
}
