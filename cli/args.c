/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "parse.h"
#include "suggest.h"

struct common_fields {
	bool help;
	const char *color;
};

const struct option_spec common_options[] = {
	{ 0, "color", OPTION_TEXT, offsetof(struct common_fields, color),
	  "WHEN", "auto always never", "colour the output: auto (the "
	  "default), always, never" },
	{ 'h', "help", OPTION_FLAG, offsetof(struct common_fields, help), NULL,
	  NULL, "show this help" },
	OPTION_END
};

/* One parse: where it stands, and the structs it fills. */
struct parse {
	struct args *args;
	void *fields;
	struct common_fields common;
	char **next;
	bool failed;
};

void words_release(struct words *words)
{
	free(words->at);
	*words = (struct words){ NULL, 0 };
}

const char *args_operand(const struct args *args, size_t index,
			 const char *otherwise)
{
	return index < args->n_operands ? args->operands[index] : otherwise;
}

static void fail(struct parse *parse)
{
	parse->failed = true;
}

static bool words_add(struct words *words, const char *word)
{
	const char **at =
		realloc(words->at, (words->n + 1) * sizeof(*words->at));

	if (!at)
		return false;
	words->at = at;
	words->at[words->n++] = word;
	return true;
}

/* Whether `value` is one of the words in `choices`; says so if it is not. */
static bool check_choice(struct parse *parse, const struct option_spec *spec,
			 const char *value)
{
	struct suggestion near = { .word = value };
	char known[256], *state = NULL;

	if (!spec->choices)
		return true;
	(void)strncpy(known, spec->choices, sizeof(known) - 1);
	known[sizeof(known) - 1] = '\0';
	for (char *word = strtok_r(known, " ", &state); word;
	     word = strtok_r(NULL, " ", &state)) {
		if (strcmp(word, value) == 0)
			return true;
		suggest_offer(&near, word);
	}
	(void)message_usage(parse->args->command,
			    "wrong value '%s' for '--%s': one of %s%s", value,
			    spec->name, spec->choices, suggest_text(&near));
	return false;
}

/* Stores a value, or says why it cannot be one. */
static bool store(struct parse *parse, const struct option_spec *spec,
		  void *field, const char *value)
{
	const char *wanted;

	switch (spec->type) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return true;
	case OPTION_TEXT:
	case OPTION_MAYBE:
		*(const char **)field = value;
		return check_choice(parse, spec, value);
	case OPTION_LIST:
		return check_choice(parse, spec, value) &&
		       words_add(field, value);
	case OPTION_COUNT:
		wanted = "a whole number";
		if (parse_count(value, field))
			return true;
		break;
	default:
		wanted = "a time such as 5m, 1.5s or 200ms";
		if (parse_duration(value, field))
			return true;
	}
	(void)message_usage(parse->args->command,
			    "wrong value '%s' for '--%s': not %s", value,
			    spec->name, wanted);
	return false;
}

static const struct option_spec *find_in(const struct option_spec *spec,
					 const char *name, size_t len,
					 char letter)
{
	for (; spec->name; spec++) {
		if (letter && spec->letter == letter)
			return spec;
		if (name && strncmp(spec->name, name, len) == 0 &&
		    spec->name[len] == '\0')
			return spec;
	}
	return NULL;
}

/* The option and, in *ret_field, the place it fills. */
static const struct option_spec *find(struct parse *parse, const char *name,
				      size_t len, char letter,
				      void **ret_field)
{
	const struct option_spec *spec;
	void *base = parse->fields;

	spec = find_in(parse->args->command->options, name, len, letter);
	if (!spec) {
		spec = find_in(common_options, name, len, letter);
		base = &parse->common;
	}
	if (spec)
		*ret_field = (char *)base + spec->offset;
	return spec;
}

static void unknown_long(struct parse *parse, const char *name, size_t len)
{
	char word[64];
	struct suggestion near = { .word = word };
	const struct option_spec *spec;

	if (len >= sizeof(word))
		len = sizeof(word) - 1;
	(void)memcpy(word, name, len);
	word[len] = '\0';
	for (spec = parse->args->command->options; spec->name; spec++)
		suggest_offer(&near, spec->name);
	for (spec = common_options; spec->name; spec++)
		suggest_offer(&near, spec->name);
	if (suggest_best(&near))
		(void)message_usage(parse->args->command,
				    "unknown option '--%s'; did you mean "
				    "'--%s'",
				    word, suggest_best(&near));
	else
		(void)message_usage(parse->args->command,
				    "unknown option '--%s'", word);
	fail(parse);
}

/* The value of an option: what follows in its own word, or the next word. */
static void take_value(struct parse *parse, const struct option_spec *spec,
		       void *field, const char *attached)
{
	const char *value = attached;

	if (!value && spec->type == OPTION_MAYBE)
		value = "true";
	if (!value && spec->type != OPTION_FLAG) {
		value = *parse->next;
		if (!value) {
			(void)message_usage(parse->args->command,
					    "option '--%s' needs %s",
					    spec->name, spec->argument);
			fail(parse);
			return;
		}
		parse->next++;
	}
	if (!store(parse, spec, field, value))
		fail(parse);
}

static void parse_long(struct parse *parse, const char *name)
{
	size_t len = strcspn(name, "=");
	const struct option_spec *spec;
	void *field;

	spec = find(parse, name, len, 0, &field);
	if (!spec) {
		unknown_long(parse, name, len);
		return;
	}
	if (name[len] && spec->type == OPTION_FLAG) {
		(void)message_usage(parse->args->command,
				    "option '--%s' takes no value",
				    spec->name);
		fail(parse);
		return;
	}
	take_value(parse, spec, field, name[len] ? name + len + 1 : NULL);
}

/* -abc is -a -b -c as long as they are flags; else the rest is the value. */
static void parse_letters(struct parse *parse, const char *letters)
{
	const struct option_spec *spec;
	void *field;

	for (; *letters && !parse->failed; letters++) {
		spec = find(parse, NULL, 0, *letters, &field);
		if (!spec) {
			(void)message_usage(parse->args->command,
					    "unknown option '-%c'", *letters);
			fail(parse);
			return;
		}
		if (spec->type == OPTION_FLAG) {
			take_value(parse, spec, field, NULL);
			continue;
		}
		take_value(parse, spec, field,
			   letters[1] ? letters + 1 : NULL);
		return;
	}
}

/* Operands move to the front of argv, over words already read. */
static void take_operand(struct parse *parse, char *word)
{
	struct args *args = parse->args;

	if (args->n_operands >= args->command->max_operands) {
		(void)message_usage(args->command, "unexpected argument '%s'",
				    word);
		fail(parse);
		return;
	}
	args->operands[args->n_operands++] = word;
}

static void parse_words(struct parse *parse)
{
	bool only_operands = false;

	while (*parse->next && !parse->failed) {
		char *word = *parse->next++;

		if (only_operands || word[0] != '-' || !word[1]) {
			take_operand(parse, word);
			only_operands |= parse->args->command->stops_at_operand;
		} else if (strcmp(word, "--") == 0) {
			only_operands = true;
		} else if (word[1] == '-') {
			parse_long(parse, word + 2);
		} else {
			parse_letters(parse, word + 1);
		}
		if (parse->common.help)
			return;
	}
}

int args_parse(struct args *args, void *fields)
{
	struct parse parse = { .args = args, .fields = fields };
	const char *color;

	args->operands = args->argv;
	parse.next = args->argv;
	parse_words(&parse);
	args->operands[args->n_operands] = NULL;
	if (parse.failed)
		return CODE_USAGE;
	if (parse.common.help) {
		command_help(args->command);
		return CODE_OK;
	}
	color = parse.common.color ? parse.common.color : "auto";
	args->color = strcmp(color, "always") == 0  ? COLOR_ALWAYS
		      : strcmp(color, "never") == 0 ? COLOR_NEVER
						    : COLOR_AUTO;
	return ARGS_GO;
}
