/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare run: runs a program with measuring on and reports at its end.
 *
 * The program's own streams and its exit status pass through untouched; all
 * that is said goes to stderr, after the program, or to a file.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "args.h"
#include "child.h"
#include "format.h"
#include "group.h"
#include "message.h"
#include "runs.h"
#include "settings.h"

struct run_options {
	struct words set;
	const char *output;
	const char *json;
	const char *monitor;
	bool trace;
	bool no_report;
};

static const struct option_spec options[] = {
	{ 'o', "output", OPTION_TEXT, offsetof(struct run_options, output),
	  "FILE", NULL, "write the report to FILE instead of stderr" },
	{ 0, "json", OPTION_TEXT, offsetof(struct run_options, json), "FILE",
	  NULL, "also write it as JSON to FILE" },
	{ 0, "monitor", OPTION_MAYBE, offsetof(struct run_options, monitor),
	  "[=PARTS]", NULL,
	  "read system and process at intervals; PARTS: system,"
	  "process,gpu,detailed,all" },
	{ 0, "trace", OPTION_FLAG, offsetof(struct run_options, trace), NULL,
	  NULL, "keep single events, too" },
	{ 0, "no-report", OPTION_FLAG,
	  offsetof(struct run_options, no_report), NULL, NULL,
	  "print nothing at the end; see it later with 'tare report'" },
	{ 's', "set", OPTION_LIST, offsetof(struct run_options, set),
	  "KEY=VALUE", NULL,
	  "an option of 'tare config' for this run; may be repeated" },
	OPTION_END
};

/* Where the outcome of one run goes. */
struct outcome {
	const struct args *args;
	struct child child;
	struct group group;
	FILE *text; /* NULL: not wanted */
	FILE *json; /* NULL: not wanted */
};

static int apply_setting(const struct args *args, const char *word)
{
	struct setting setting;
	int code = setting_parse(args->command, word, &setting);

	if (code)
		return code;
	if (setenv(setting.option->env, setting.value, 1))
		return message_error("set", setting.option->env, errno);
	return CODE_OK;
}

/* Also set in this process: it must look where the program writes. */
static int apply_settings(const struct args *args,
			  const struct run_options *opts)
{
	char word[256];
	int code;

	if (setenv("TARE", "on", 1) || setenv("TARE_REPORT", "none", 1))
		return message_error("set", "TARE", errno);
	for (size_t i = 0; i < opts->set.n; i++) {
		code = apply_setting(args, opts->set.at[i]);
		if (code)
			return code;
	}
	if (opts->monitor) {
		(void)snprintf(word, sizeof(word), "monitor=%s",
			       opts->monitor);
		code = apply_setting(args, word);
		if (code)
			return code;
	}
	if (opts->trace && setenv("TARE_TRACE", "1", 1))
		return message_error("set", "TARE_TRACE", errno);
	return CODE_OK;
}

/* Opened before the program runs: better now than after an hour. */
static int open_file(const char *path, FILE **ret_stream)
{
	FILE *stream = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");

	if (!stream)
		return message_error("open", path, errno);
	*ret_stream = stream;
	return CODE_OK;
}

static int open_outputs(const struct run_options *opts,
			struct outcome *outcome)
{
	int code = CODE_OK;

	if (!opts->no_report)
		outcome->text = stderr;
	if (opts->output)
		code = open_file(opts->output, &outcome->text);
	if (!code && opts->json)
		code = open_file(opts->json, &outcome->json);
	return code;
}

static void close_file(FILE *stream, const char *path)
{
	if (!stream || stream == stdout || stream == stderr)
		return;
	if (ferror(stream) | (fclose(stream) != 0))
		(void)message_error("write", path, errno);
}

static double timeval_ns(struct timeval time)
{
	return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

static void print_resources(const struct outcome *outcome)
{
	const struct child *child = &outcome->child;
	FILE *text = outcome->text;

	(void)fprintf(text, "wall %s, ",
		      format_duration((double)child->wall_ns).text);
	(void)fprintf(text, "user %s, ",
		      format_duration(timeval_ns(child->usage.ru_utime)).text);
	(void)fprintf(text, "system %s, ",
		      format_duration(timeval_ns(child->usage.ru_stime)).text);
	(void)fprintf(text, "peak memory %s",
		      format_bytes((double)child->usage.ru_maxrss * 1024)
			      .text);
	if (WIFSIGNALED(child->status))
		(void)fprintf(text, ", ended by signal %d (%s)",
			      WTERMSIG(child->status),
			      strsignal(WTERMSIG(child->status)));
	else if (child->status)
		(void)fprintf(text, ", exit status %d", child_code(child));
	(void)fputc('\n', text);
}

/* One line for each process of the group but the reported one. */
static void print_others(const struct outcome *outcome)
{
	const struct group *group = &outcome->group;

	for (size_t i = group->n; i-- > 0;) {
		const tare_run_entry *run = &group->runs[i];

		if (run == group->main)
			continue;
		(void)fputs("also '", outcome->text);
		terminal_safe(outcome->text, run->program);
		(void)fprintf(outcome->text,
			      "', pid %lld, %s, %s: tare report %s\n",
			      (long long)run->pid, run_state_text(run->state),
			      format_duration((double)run->end_ns -
					      (double)run->start_ns)
				      .text,
			      run->id);
	}
}

static void print_report(const struct outcome *outcome, tare_view *view)
{
	tare_report_options how = {
		.struct_size = sizeof(how),
		.width = terminal_width(outcome->text),
		.color = terminal_wants_color(outcome->text,
					      outcome->args->color),
	};
	const tare_run_entry *run = outcome->group.main;
	int err;

	if (run->pid != outcome->child.pid)
		message("'%s' itself has no probes; the report is that of "
			"'%s', pid %lld",
			outcome->args->operands[0], run->program,
			(long long)run->pid);
	err = tare_view_report(view, &how, stream_write, outcome->text);
	if (err)
		(void)message_error("report", run->id, err);
}

static void write_processes(const struct outcome *outcome, struct json *json)
{
	json_begin_array(json, "processes");
	for (size_t i = outcome->group.n; i-- > 0;) {
		const tare_run_entry *run = &outcome->group.runs[i];

		json_begin_object(json, NULL);
		json_text(json, "id", run->id);
		json_text(json, "program", run->program);
		json_signed(json, "pid", run->pid);
		json_text(json, "state", run_state_text(run->state));
		json_bool(json, "reported", run == outcome->group.main);
		json_end_object(json);
	}
	json_end_array(json);
}

/* `view` is NULL for a program without probes. */
static void write_json(const struct outcome *outcome, tare_view *view)
{
	tare_report_options how = { .struct_size = sizeof(how) };
	struct json json = { .stream = outcome->json };
	const struct child *child = &outcome->child;
	const struct rusage *usage = &child->usage;

	json_begin_object(&json, NULL);
	json_begin_array(&json, "command");
	for (size_t i = 0; i < outcome->args->n_operands; i++)
		json_text(&json, NULL, outcome->args->operands[i]);
	json_end_array(&json);
	json_signed(&json, "exit_status", child_code(child));
	json_signed(&json, "signal",
		    WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0);
	json_unsigned(&json, "wall_ns", child->wall_ns);
	json_number(&json, "user_ns", timeval_ns(usage->ru_utime));
	json_number(&json, "system_ns", timeval_ns(usage->ru_stime));
	json_signed(&json, "peak_memory_bytes",
		    (int64_t)usage->ru_maxrss * 1024);
	write_processes(outcome, &json);
	json_place(&json, "report");
	if (!view || tare_view_json(view, &how, stream_write, outcome->json))
		(void)fputs("null", outcome->json);
	json_end_object(&json);
	json_finish(&json);
}

static void tell(struct outcome *outcome)
{
	tare_view *view = NULL;
	int err = group_find(&outcome->group, outcome->child.pid);

	if (!err && outcome->group.main)
		err = tare_view_open(outcome->group.main->path, &view);
	if (err)
		(void)message_error("find the run of",
				    outcome->args->operands[0], err);
	else if (!view && outcome->text)
		message("'%s' has no tare probes, or they were off in its "
			"build; its exit status is passed through",
			outcome->args->operands[0]);
	if (outcome->text) {
		if (view)
			print_report(outcome, view);
		print_others(outcome);
		print_resources(outcome);
	}
	if (outcome->json)
		write_json(outcome, view);
	tare_view_close(view);
	group_release(&outcome->group);
}

static int run_program(const struct args *args, const struct run_options *opts)
{
	struct outcome outcome = { .args = args };
	int code, error;

	group_init(&outcome.group);
	if (setenv("TARE_GROUP", outcome.group.name, 1))
		return message_error("set", "TARE_GROUP", errno);
	code = open_outputs(opts, &outcome);
	if (code)
		return code;

	error = child_run(args->operands, &outcome.child);
	/* A reader of our stderr that went away must not change the status. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (error) {
		(void)message_error("run", args->operands[0], error);
		code = error == ENOENT ? 127 : 126;
	} else {
		tell(&outcome);
		code = child_code(&outcome.child);
	}
	close_file(outcome.text, opts->output);
	close_file(outcome.json, opts->json);
	if (!error)
		child_die_alike(&outcome.child);
	return code;
}

static int run(struct args *args)
{
	struct run_options opts = { 0 };
	int code = args_parse(args, &opts);

	if (code == ARGS_GO && args->n_operands == 0)
		code = message_usage(args->command, "no program to run");
	if (code == ARGS_GO && opts.output && opts.no_report)
		code = message_usage(args->command,
				     "'--output' and '--no-report' exclude "
				     "each other");
	if (code == ARGS_GO) {
		code = apply_settings(args, &opts);
		if (!code)
			code = run_program(args, &opts);
	}
	words_release(&opts.set);
	return code;
}

const struct command cmd_run = {
	.name = "run",
	.usage = "[options] [--] PROGRAM [ARGUMENT...]",
	.summary = "run a program with measuring on, report at its end",
	.examples =
		"  tare run -- ./prog --its-option      report on stderr\n"
		"  tare run -o report.txt -- ./prog     report in a file\n"
		"  tare run --json run.json -- ./prog   and as JSON\n"
		"  tare run --monitor=process,gpu -- ./prog\n"
		"  tare run --set max_depth=64 -- ./prog\n",
	.notes = "exit status: the program's; 128 + n if signal n ended it, "
		 "127 if it was not\nfound, 126 if it could not be run\n",
	.options = options,
	.max_operands = OPERANDS_ANY,
	.stops_at_operand = true,
	.run = run,
};
