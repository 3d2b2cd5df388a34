/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "message.h"
#include "parse.h"
#include "suggest.h"
#include "terminal.h"

static struct {
	bool help;
	const char *color;
} common = { .color = "auto" };

const struct option_spec common_options[] = {
	OPTION_WORD(0, "color", &common.color, "WHEN", "auto always never",
		    "colour the output: auto (the default), always, never"),
	OPTION_FLAG('h', "help", &common.help, "show this help"),
	OPTION_END
};

const char *args_operand(const struct args *args, size_t index,
			 const char *otherwise)
{
	return index < args->n_operands ? args->operands[index] : otherwise;
}

static int words_add(struct words *words, const char *word)
{
	const char **at =
		realloc(words->at, (words->n + 1) * sizeof(*words->at));

	if (!at)
		return CODE_USAGE;
	words->at = at;
	words->at[words->n++] = word;
	return CODE_OK;
}

/* Checks that `value` is one of the words in `choices`; else a message. */
static int check_choice(const struct option_spec *spec, const char *value)
{
	struct suggestion near = { .word = value };
	char known[256], *state = NULL;

	if (!spec->choices)
		return CODE_OK;
	(void)strncpy(known, spec->choices, sizeof(known) - 1);
	known[sizeof(known) - 1] = '\0';
	for (char *word = strtok_r(known, " ", &state); word;
	     word = strtok_r(NULL, " ", &state)) {
		if (strcmp(word, value) == 0)
			return CODE_OK;
		suggest_offer(&near, word);
	}
	return message_usage("wrong value '%s' for '--%s': one of %s%s", value,
			     spec->name, spec->choices,
			     suggest_text(&near, ""));
}

/* Stores a value, or prints why it is invalid. */
static int store(const struct option_spec *spec, const char *value)
{
	const char *wanted = "a whole number";
	int code;

	switch (spec->type) {
	case TYPE_FLAG:
		*(bool *)spec->target = true;
		return CODE_OK;
	case TYPE_TEXT:
	case TYPE_MAYBE:
		*(const char **)spec->target = value;
		return check_choice(spec, value);
	case TYPE_LIST:
		code = check_choice(spec, value);
		return code ? code : words_add(spec->target, value);
	case TYPE_COUNT:
		if (tr_parse_u64(value, spec->target))
			return CODE_OK;
		break;
	case TYPE_DURATION:
		wanted = "a time such as 5m, 1.5s or 200ms";
		if (parse_duration(value, spec->target))
			return CODE_OK;
	}
	return message_usage("wrong value '%s' for '--%s': not %s", value,
			     spec->name, wanted);
}

static const struct option_spec *find_in(const struct option_spec *spec,
					 const char *name, size_t len,
					 char letter)
{
	for (; spec->name; spec++)
		if (letter ? spec->letter == letter :
			     strncmp(spec->name, name, len) == 0 &&
				     spec->name[len] == '\0')
			return spec;
	return NULL;
}

/* Finds an option by its name, or by its letter if it has one. */
static const struct option_spec *find(const struct args *args,
				      const char *name, size_t len,
				      char letter)
{
	const struct option_spec *spec =
		find_in(args->command->options, name, len, letter);

	return spec ? spec : find_in(common_options, name, len, letter);
}

static int unknown_long(const struct args *args, const char *name, size_t len)
{
	char word[64];
	struct suggestion near = { .word = word };
	const struct option_spec *spec;

	(void)snprintf(word, sizeof(word), "%.*s", (int)len, name);
	for (spec = args->command->options; spec->name; spec++)
		suggest_offer(&near, spec->name);
	for (spec = common_options; spec->name; spec++)
		suggest_offer(&near, spec->name);
	return message_usage("unknown option '--%s'%s", word,
			     suggest_text(&near, "--"));
}

/* The value of an option: the rest of its own word, or the next word. */
static int take_value(struct args *args, const struct option_spec *spec,
		      const char *value)
{
	if (!value && spec->type == TYPE_MAYBE)
		value = "true";
	if (!value && spec->type != TYPE_FLAG) {
		value = *args->next;
		if (!value)
			return message_usage("option '--%s' needs %s",
					     spec->name, spec->argument);
		args->next++;
	}
	return store(spec, value);
}

static int parse_long(struct args *args, const char *name)
{
	size_t len = strcspn(name, "=");
	const struct option_spec *spec = find(args, name, len, 0);

	if (!spec)
		return unknown_long(args, name, len);
	if (name[len] && spec->type == TYPE_FLAG)
		return message_usage("option '--%s' takes no value",
				     spec->name);
	return take_value(args, spec, name[len] ? name + len + 1 : NULL);
}

/* -abc is -a -b -c while these are flags; else the rest is the value. */
static int parse_letters(struct args *args, const char *letters)
{
	int code = CODE_OK;

	for (; *letters && !code; letters++) {
		const struct option_spec *spec = find(args, NULL, 0, *letters);

		if (!spec)
			return message_usage("unknown option '-%c'", *letters);
		if (spec->type != TYPE_FLAG)
			return take_value(args, spec,
					  letters[1] ? letters + 1 : NULL);
		code = store(spec, NULL);
	}
	return code;
}

/* Moves operands to the front of argv, over words already parsed. */
static int take_operand(struct args *args, char *word)
{
	if (args->n_operands >= args->command->max_operands)
		return message_usage("unexpected argument '%s'", word);
	args->operands[args->n_operands++] = word;
	return CODE_OK;
}

int args_parse(struct args *args)
{
	bool only_operands = false;
	int code = CODE_OK;

	args->operands = args->next;
	while (*args->next && !code && !common.help) {
		char *word = *args->next++;

		if (only_operands || word[0] != '-' || !word[1]) {
			code = take_operand(args, word);
			only_operands |= args->command->stops_at_operand;
		} else if (strcmp(word, "--") == 0) {
			only_operands = true;
		} else if (word[1] == '-') {
			code = parse_long(args, word + 2);
		} else {
			code = parse_letters(args, word + 1);
		}
	}
	args->operands[args->n_operands] = NULL;
	args->wants_help = common.help;
	terminal_set_color(common.color);
	return code;
}
