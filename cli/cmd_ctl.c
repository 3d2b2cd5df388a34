/* SPDX-License-Identifier: Apache-2.0 */
/* tare ctl: controls the measuring of a running program. */
#include <string.h>

#include "args.h"
#include "ledger/runs.h"
#include "message.h"
#include "output.h"
#include "runs.h"
#include "settings.h"
#include "table.h"

static bool as_json;

static const struct option_spec options[] = {
	OPTION_FLAG(0, "json", &as_json, "write JSON (with get)"),
	OPTION_END
};

/* A command for one process: its words after the verb are in `args`. */
struct target {
	const struct args *args;
	const char *which; /* as typed */
	int64_t pid;
};

/* The exit code of an action; prints why it failed. */
static int result_of(const struct target *target, int err)
{
	if (!err)
		return CODE_OK;
	if (err == TARE_EOFF) {
		message("cannot reach '%s': it opened no control page; start "
			"it with TARE=on or TARE=standby",
			target->which);
		return CODE_IO;
	}
	return message_error("reach", target->which, err);
}

static int ctl_on(const struct target *target)
{
	return result_of(target, tare_remote_enable(target->pid, true));
}

static int ctl_off(const struct target *target)
{
	return result_of(target, tare_remote_enable(target->pid, false));
}

static int ctl_clear(const struct target *target)
{
	return result_of(target, tare_remote_clear(target->pid));
}

static int set_one(const struct target *target, const struct setting *setting)
{
	int err = tare_remote_set(target->pid, setting->option->name,
				  setting->value);

	if (err == TARE_ERANGE)
		return setting_bad_value(setting);
	return result_of(target, err);
}

/* All words are checked before the first is sent: all or nothing. */
static int ctl_set(const struct target *target)
{
	const struct args *args = target->args;
	struct setting setting;
	int code = CODE_OK;

	if (args->n_operands < 3)
		return message_usage("'set' needs key=value");
	for (size_t i = 2; i < args->n_operands; i++) {
		code = setting_parse(args->operands[i], &setting);
		if (code)
			return code;
		if (!setting.option->live)
			return message_usage("cannot set '%s': it is fixed at "
					     "the program's start",
					     setting.option->name);
	}
	for (size_t i = 2; i < args->n_operands && !code; i++) {
		code = setting_parse(args->operands[i], &setting);
		if (!code)
			code = set_one(target, &setting);
	}
	return code;
}

/* The current value of `option` in the process; "?" if it has ended. */
static const char *live_value(int64_t pid, const tare_option *option,
			      char *value, size_t size)
{
	return tare_remote_get(pid, option->name, value, size) < 0 ? "?" :
								     value;
}

/* With words after `get`, only the options they name. */
static bool is_wanted(const struct args *args, const tare_option *option)
{
	for (size_t i = 2; i < args->n_operands; i++)
		if (strcmp(args->operands[i], option->name) == 0)
			return true;
	return args->n_operands <= 2;
}

static void get_json(const struct args *args, int64_t pid)
{
	struct tr_json *json = output_json_begin();
	const tare_option *option;

	tr_json_object(json, NULL);
	for (size_t i = 0; (option = tare_option_at(i)) != NULL; i++) {
		char value[512];

		if (is_wanted(args, option))
			tr_json_str(json, option->name,
				    live_value(pid, option, value,
					       sizeof(value)));
	}
	tr_json_end_object(json);
	output_json(json, stdout);
}

static void get_text(const struct args *args, int64_t pid)
{
	static const struct column columns[] = {
		COLUMN_TEXT("OPTION", 0),
		COLUMN_WIDE("VALUE"),
		COLUMN_TEXT("CHANGES", 1),
	};
	const tare_option *option;
	struct table table;
	char text[512];
	const char *value;

	table_init(&table, columns, 3);
	for (size_t i = 0; (option = tare_option_at(i)) != NULL; i++) {
		if (!is_wanted(args, option))
			continue;
		value = live_value(pid, option, text, sizeof(text));
		table_add(&table, option->name);
		table_add_tinted(&table, value,
				 strcmp(value, option->default_value) ?
					 TINT_BOLD :
					 TINT_NONE);
		table_add(&table, option->live ? "any time" : "at start");
	}
	table_end(&table, stdout);
}

static int ctl_get(const struct target *target)
{
	const struct args *args = target->args;
	bool on;
	int err;

	for (size_t i = 2; i < args->n_operands; i++)
		if (!setting_option(args->operands[i],
				    strlen(args->operands[i])))
			return message_usage("unknown option '%s'",
					     args->operands[i]);
	err = tare_remote_is_enabled(target->pid, &on);
	if (err)
		return result_of(target, err);
	if (as_json)
		get_json(args, target->pid);
	else
		get_text(args, target->pid);
	return CODE_OK;
}

/* The only live run that a word may mean; 0: none, or several. */
static int64_t only_live(const char *which)
{
	tare_run_entry *runs;
	int64_t pid = 0;
	size_t n, n_live = 0;

	if (strpbrk(which, "/~") || tare_runs_list(&runs, &n))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (runs[i].state != TARE_RUN_LIVE ||
		    !tr_runs_may_mean(&runs[i], which))
			continue;
		pid = runs[i].pid;
		n_live++;
	}
	tare_runs_free(runs);
	return n_live == 1 ? pid : 0;
}

/* A process id, or any name of a run: then that run's process. */
static int find_process(struct target *target)
{
	uint64_t pid;
	tare_view *view;
	int code;

	if (tr_parse_u64(target->which, &pid) && pid <= INT32_MAX) {
		target->pid = (int64_t)pid;
		return CODE_OK;
	}
	target->pid = only_live(target->which);
	if (target->pid)
		return CODE_OK;
	code = run_open(target->which, &view);
	if (code)
		return code;

	target->pid = tare_view_run(view)->pid;
	if (tare_view_run(view)->state != TARE_RUN_LIVE)
		code = result_of(target, TARE_EDEAD);
	tare_view_close(view);
	return code;
}

static const struct verb {
	const char *name;
	size_t max_words; /* of the command line, verb and process included */
	int (*act)(const struct target *target);
} verbs[] = {
	{ "on", 2, ctl_on },
	{ "off", 2, ctl_off },
	{ "clear", 2, ctl_clear },
	{ "set", OPERANDS_ANY, ctl_set },
	{ "get", OPERANDS_ANY, ctl_get },
};

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

static int ctl(struct args *args)
{
	struct target target = { .args = args };
	const struct verb *verb;
	int code;

	if (args->n_operands < 2)
		return message_usage("needs a process and one of on off clear "
				     "set get");
	verb = find_verb(args->operands[1]);
	if (!verb)
		return message_usage("unknown action '%s': one of on off "
				     "clear set get",
				     args->operands[1]);
	if (args->n_operands > verb->max_words)
		return message_usage("unexpected argument '%s'",
				     args->operands[verb->max_words]);
	target.which = args->operands[0];
	code = find_process(&target);
	return code ? code : verb->act(&target);
}

const struct command cmd_ctl = {
	.name = "ctl",
	.usage = "PID on | off | clear | set KEY=VALUE... | get [KEY...]",
	.summary = "control a running program: on, off, clear, set, get",
	.examples =
		"  tare ctl 12345 off               pause measuring\n"
		"  tare ctl 12345 on                resume measuring\n"
		"  tare ctl 12345 clear             discard what was measured\n"
		"  tare ctl 12345 set exclude='db.*'\n"
		"  tare ctl 12345 get               print the program's "
		"options\n",
	.notes = "PID may also be a run id, or 'last'; keys are "
		 "listed by 'tare config'\n",
	.options = options,
	.max_operands = OPERANDS_ANY,
	.run = ctl,
};
