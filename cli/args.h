/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Args: options and operands of one command.
 *
 * Why not getopt_long: its table holds no help text, so parser and help drift
 * apart, and it accepts abbreviations, which break scripts as soon as an
 * option with the same beginning is added. A process runs one command, so the
 * options are static variables of its file; each row here points to one.
 *
 * Accepted: -x, -xVALUE, -x VALUE, -xyz for flags, --name, --name=VALUE,
 * --name VALUE, and -- which ends the options. A value that may be left out
 * is --name=VALUE only.
 */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command.h"

/* The type of the variable that an option sets. */
enum option_type {
	TYPE_FLAG,     /* bool */
	TYPE_TEXT,     /* const char *, borrows from argv */
	TYPE_MAYBE,    /* the same; --name alone is "true" */
	TYPE_COUNT,    /* uint64_t */
	TYPE_DURATION, /* uint64_t, ns */
	TYPE_LIST      /* struct words; may be given several times */
};

/* Words given to a repeatable option. Borrows the words from argv. */
struct words {
	const char **at;
	size_t n;
};

struct option_spec {
	char letter; /* 0: none */
	const char *name;
	enum option_type type;
	void *target;
	const char *argument;
	const char *choices; /* NULL: any; else separated by spaces */
	const char *help;
};

/* Rows of a table of options, which ends with OPTION_END. */
#define OPTION_FLAG(letter, name, target, help) \
	{ letter, name, TYPE_FLAG, target, NULL, NULL, help }
#define OPTION_TEXT(letter, name, target, argument, help) \
	{ letter, name, TYPE_TEXT, target, argument, NULL, help }
#define OPTION_WORD(letter, name, target, argument, choices, help) \
	{ letter, name, TYPE_TEXT, target, argument, choices, help }
#define OPTION_MAYBE(letter, name, target, argument, choices, help) \
	{ letter, name, TYPE_MAYBE, target, argument, choices, help }
#define OPTION_COUNT(letter, name, target, argument, help) \
	{ letter, name, TYPE_COUNT, target, argument, NULL, help }
#define OPTION_DURATION(letter, name, target, argument, help) \
	{ letter, name, TYPE_DURATION, target, argument, NULL, help }
#define OPTION_LIST(letter, name, target, argument, choices, help) \
	{ letter, name, TYPE_LIST, target, argument, choices, help }
#define OPTION_JSON(target) OPTION_FLAG(0, "json", target, "write JSON")
#define OPTION_END { 0, NULL, TYPE_FLAG, NULL, NULL, NULL, NULL }

/* Options that every command has: --help and --color. */
extern const struct option_spec common_options[];

struct args {
	const struct command *command;
	char **next; /* next word of argv; ends with NULL */
	char **operands;
	size_t n_operands;
	bool wants_help;
};

/*
 * Stores every option in its row's variable, and collects the operands. Returns
 * 0, or CODE_USAGE after a message.
 */
int args_parse(struct args *args);

/* The operand at `index`, or `otherwise` if there are fewer. */
const char *args_operand(const struct args *args, size_t index,
			 const char *otherwise);

#endif
