/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare config: the table of options.
 *
 * Everything is read from the library's table, so that no option is documented
 * twice: --conf prints the sample tare.conf, --markdown prints docs/options.md.
 */
#include <string.h>

#include <tare/control.h>

#include "args.h"
#include "base/config.h"
#include "base/text.h"
#include "message.h"
#include "output.h"
#include "settings.h"
#include "terminal.h"

static struct {
	bool json;
	bool conf;
	bool markdown;
} opts;

static const struct option_spec options[] = {
	OPTION_FLAG(0, "conf", &opts.conf,
		    "write a tare.conf with every option commented out"),
	OPTION_FLAG(0, "markdown", &opts.markdown,
		    "write the options as a Markdown table"),
	OPTION_JSON(&opts.json),
	OPTION_END
};

static const char *const type_names[] = {
	[TARE_OPTION_BOOL] = "bool",	 [TARE_OPTION_INT] = "int",
	[TARE_OPTION_DOUBLE] = "double", [TARE_OPTION_STRING] = "string",
	[TARE_OPTION_CHOICE] = "choice",
};

static const char *const names_names[] = {
	[TARE_NAMES_NOTHING] = "nothing", [TARE_NAMES_PATH] = "path",
	[TARE_NAMES_COMMAND] = "command", [TARE_NAMES_URL] = "url",
};

/* The current value: environment and tare.conf included. */
static const char *value_text(const tare_option *option, char *text,
			      size_t size)
{
	int len = tare_option_get(option->name, text, size);

	return len < 0 ? option->default_value : text;
}

static const char *shown(const char *value)
{
	return value[0] ? value : "(empty)";
}

static void print_text(const tare_option *option)
{
	char value[512];

	(void)value_text(option, value, sizeof(value));
	terminal_tinted(stdout, terminal_wants_color(stdout), TINT_BOLD,
			option->name);
	(void)printf(" = %s", shown(value));
	if (strcmp(value, option->default_value) != 0)
		(void)printf("  (default %s)", shown(option->default_value));
	(void)printf("\n    %s%s\n", option->help,
		     option->effective ? "" : " (no effect yet)");
	(void)printf("    %s, %s%s%s, %s\n", option->env, option->range,
		     option->unit[0] ? " " : "", option->unit,
		     option->live ? "may change while running"
				  : "fixed at the start");
}

static void print_source(const tare_option *option)
{
	char place[PATH_MAX];
	unsigned line;

	(void)printf("    source: ");
	switch (tr_config_source(option, place, &line)) {
	case TR_CONFIG_ENVIRONMENT:
		(void)printf("environment, %s\n", option->env);
		break;
	case TR_CONFIG_FILE:
		(void)printf("file, ");
		terminal_safe(stdout, place);
		(void)printf(":%u\n", line);
		break;
	case TR_CONFIG_DEFAULT:
		(void)printf("default\n");
	}
}

static void print_conf(const tare_option *option)
{
	(void)printf("\n# %s%s\n# %s%s%s%s\n# %s = %s\n", option->help,
		     option->effective ? "" : " (no effect yet)",
		     option->range, option->unit[0] ? " " : "", option->unit,
		     option->live ? "; may change while running" : "",
		     option->name, option->default_value);
}

/* A vertical bar would end the cell. */
static void print_cell(const char *text)
{
	for (; *text; text++)
		(void)(*text == '|' ? printf("\\|") : putchar(*text));
}

static void print_markdown(const tare_option *option)
{
	(void)printf("| `%s` | `%s` | ", option->name, option->env);
	if (option->default_value[0])
		(void)printf("`%s`", option->default_value);
	(void)printf(" | ");
	print_cell(option->range);
	(void)printf(" | %s | %s | ", option->unit,
		     option->live ? "yes" : "no");
	print_cell(option->help);
	(void)printf("%s |\n", option->effective ? "" : " (no effect yet)");
}

static void write_json(struct tr_json *json, const tare_option *option)
{
	static const char *const source_names[] = {
		[TR_CONFIG_DEFAULT] = "default",
		[TR_CONFIG_FILE] = "file",
		[TR_CONFIG_ENVIRONMENT] = "environment",
	};
	char value[512], place[PATH_MAX];
	unsigned line;

	tr_json_object(json, NULL);
	tr_json_str(json, "name", option->name);
	tr_json_str(json, "env", option->env);
	tr_json_str(json, "type", type_names[option->type]);
	tr_json_str(json, "default", option->default_value);
	tr_json_str(json, "value", value_text(option, value, sizeof(value)));
	tr_json_str(json, "source", source_names[tr_config_source(
		option, place, &line)]);
	tr_json_str(json, "range", option->range);
	tr_json_str(json, "unit", option->unit);
	tr_json_bool(json, "live", option->live);
	tr_json_bool(json, "effective", option->effective);
	tr_json_str(json, "names", names_names[option->names]);
	tr_json_str(json, "help", option->help);
	tr_json_end_object(json);
}

static void all_json(void)
{
	struct tr_json *json = output_json_begin();
	const tare_option *option;

	tr_json_array(json, NULL);
	for (size_t i = 0; (option = tare_option_at(i)) != NULL; i++)
		write_json(json, option);
	tr_json_end_array(json);
	output_json(json, stdout);
}

static void print_all(void (*print)(const tare_option *option))
{
	const tare_option *option;

	for (size_t i = 0; (option = tare_option_at(i)) != NULL; i++)
		print(option);
}

static void all_conf(void)
{
	(void)printf("# tare.conf: options of tare and their defaults.\n"
		     "# A variable of the environment, TARE_<OPTION>, goes "
		     "before this file.\n");
	print_all(print_conf);
}

static void all_markdown(void)
{
	(void)printf("# Options\n\n"
		     "Made by `tare config --markdown`; do not edit.\n\n"
		     "| option | variable | default | accepted | unit | while "
		     "running | meaning |\n"
		     "|---|---|---|---|---|---|---|\n");
	print_all(print_markdown);
}

static int one(const char *name)
{
	const tare_option *option = setting_option(name, strlen(name));
	struct tr_json *json = output_json_begin();

	if (!option)
		return setting_unknown(name, strlen(name));
	if (opts.conf || opts.markdown)
		return message_usage("'--conf' and '--markdown' are for all "
				     "options");
	if (opts.json) {
		write_json(json, option);
		output_json(json, stdout);
		return CODE_OK;
	}
	print_text(option);
	print_source(option);
	return CODE_OK;
}

static int config(struct args *args)
{
	if (opts.json + opts.conf + opts.markdown > 1)
		return message_usage("'--json', '--conf' and '--markdown' "
				     "exclude each other");
	if (args->n_operands)
		return one(args->operands[0]);
	if (opts.json)
		all_json();
	else if (opts.conf)
		all_conf();
	else if (opts.markdown)
		all_markdown();
	else
		print_all(print_text);
	return CODE_OK;
}

const struct command cmd_config = {
	.name = "config",
	.usage = "[NAME] [--json | --conf | --markdown]",
	.summary = "list all options: value, default, range, variable",
	.examples = "  tare config                    the values that are in "
		    "effect\n"
		    "  tare config sample_rate        one option, and where "
		    "its value is from\n"
		    "  tare config --conf > tare.conf  a configuration file "
		    "to edit\n"
		    "  tare config --json             as JSON, for a script\n",
	.options = options,
	.max_operands = 1,
	.run = config,
};
