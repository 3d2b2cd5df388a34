/* SPDX-License-Identifier: Apache-2.0 */
/* The program `tare`: finds the command and runs it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <tare/control.h>
#include <tare/version.h>

#include "args.h"
#include "command.h"
#include "group_view.h"
#include "history.h"
#include "message.h"
#include "runs.h"
#include "suggest.h"

/* `TARE=1 tare ls` must not measure `tare` itself. */
const bool tare_only_reads = true;

/* In the order in which a new user needs them. */
static const struct command *const commands[] = {
	&cmd_run,     &cmd_report,  &cmd_tree,	 &cmd_flame, &cmd_alloc,
	&cmd_stages,  &cmd_amdahl,  &cmd_mpi,	 &cmd_merge, &cmd_top,
	&cmd_ls,      &cmd_rm,
	&cmd_records, &cmd_summary, &cmd_trend,	 &cmd_compare,
	&cmd_bench,   &cmd_check,   &cmd_changes, &cmd_history,
	&cmd_export,
	&cmd_verify,
	&cmd_ctl,     &cmd_config,  &cmd_doctor, &cmd_serve, &cmd_url,
	&cmd_alerts,  &cmd_flags,
};

#define HELP_WIDTH 79u
#define CATCH_UP 16u /* runs that a command adds to the history */
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int command_unknown(const char *name)
{
	struct suggestion near = { .word = name };

	for (size_t i = 0; i < N_COMMANDS; i++)
		suggest_offer(&near, commands[i]->name);
	suggest_offer(&near, "help");
	return message_usage("unknown command '%s'%s", name,
			     suggest_text(&near, ""));
}

static void overview(FILE *stream)
{
	(void)fputs("tare shows where a program's time and memory go\n\n"
		    "examples:\n"
		    "  tare run -- ./prog       run a program and report\n"
		    "  tare top                 watch a running program\n"
		    "  tare report              show the newest run\n"
		    "  tare ctl prog off        pause measuring\n\n"
		    "usage: tare COMMAND [options]\n"
		    "       tare help [COMMAND]\n"
		    "       tare --version\n\n"
		    "commands:\n",
		    stream);
	for (size_t i = 0; i < N_COMMANDS; i++)
		(void)fprintf(stream, "  %-8s  %s\n", commands[i]->name,
			      commands[i]->summary);
	(void)fputs("\nexit status: 0 ok, 1 problem found, 2 wrong usage, "
		    "3 input or output, 4 cannot tell\n",
		    stream);
}

/* Wraps `text` at HELP_WIDTH columns, indented by `indent`. */
static void print_wrapped(const char *text, size_t indent)
{
	size_t column = indent;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (column > indent && column + 1 + len > HELP_WIDTH) {
			(void)printf("\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			(void)putchar(' ');
			column++;
		}
		(void)printf("%.*s", (int)len, text);
		column += len;
		text += len;
		text += strspn(text, " ");
	}
	(void)putchar('\n');
}

static void option_help(const struct option_spec *spec)
{
	char left[40];

	(void)snprintf(left, sizeof(left), "%s%c%s--%s%s%s",
		       spec->letter ? "-" : " ",
		       spec->letter ? spec->letter : ' ',
		       spec->letter ? ", " : "  ", spec->name,
		       spec->argument && spec->type != TYPE_MAYBE ? " " : "",
		       spec->argument ? spec->argument : "");
	(void)printf("  %-19s  ", left);
	print_wrapped(spec->help, 23);
}

static void command_help(const struct command *command)
{
	const struct option_spec *spec;

	(void)printf("tare %s: %s\n\nexamples:\n%s\nusage: tare %s%s%s\n\n"
		     "options:\n",
		     command->name, command->summary, command->examples,
		     command->name, command->usage[0] ? " " : "",
		     command->usage);
	for (spec = command->options; spec->name; spec++)
		option_help(spec);
	for (spec = common_options; spec->name; spec++)
		option_help(spec);
	if (command->notes)
		(void)printf("\n%s", command->notes);
}

static int help(const char *name)
{
	const struct command *command;

	if (!name) {
		overview(stdout);
		return CODE_OK;
	}
	command = command_find(name);
	if (!command)
		return command_unknown(name);
	command_help(command);
	return CODE_OK;
}

static int version(void)
{
	(void)printf("tare %s\n", TARE_VERSION);
	/* Program and library may come from different packages. */
	if (strcmp(tare_version(), TARE_VERSION) != 0)
		(void)printf("library %s\n", tare_version());
	return CODE_OK;
}

/* For commands about one run: opens it. */
static int show_run(const struct command *command, const char *which)
{
	tare_view *view;
	int code = command->processes == PROCESSES_ITSELF ?
			   run_open(which, &view) :
			   group_view_open(which, command->processes ==
							  PROCESSES_JOINED,
					   &view);

	if (code)
		return code;
	code = command->show(view, which);
	tare_view_close(view);
	return code;
}

static int run_command(const struct command *command, char **argv)
{
	struct args args = { .command = command, .next = argv };
	int code;

	message_command = command;
	code = args_parse(&args);
	if (code)
		return code;
	if (args.wants_help) {
		command_help(command);
		return CODE_OK;
	}
	if (command->check)
		code = command->check(&args);
	if (code)
		return code;
	code = command->show ? show_run(command, args_operand(&args, 0,
							      "last")) :
			       command->run(&args);
	if (command->show || command == &cmd_ls)
		history_catch_up(CATCH_UP);
	return code;
}

static int dispatch(char **argv)
{
	const struct command *command;

	if (!argv[0]) {
		overview(stderr);
		return CODE_USAGE;
	}
	if (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "-V") == 0)
		return version();
	if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)
		return help(NULL);
	if (strcmp(argv[0], "help") == 0)
		return help(argv[1]);
	if (argv[0][0] == '-')
		return message_usage("unknown option '%s'", argv[0]);
	command = command_find(argv[0]);
	if (!command)
		return command_unknown(argv[0]);
	return run_command(command, argv + 1);
}

/* A closed pipe (tare ls | head) is not an error. */
static int finish_output(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	if (errno == EPIPE)
		return code;
	return message_error("write to", "standard output", errno);
}

int main(int argc, char **argv)
{
	return finish_output(dispatch(argc > 0 ? argv + 1 : argv));
}
