/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Args: options and operands of one command.
 *
 * Why not getopt_long: its table holds no help text, so parser and help drift
 * apart, and it accepts abbreviations, which break scripts as soon as an
 * option with the same beginning is added. Each row here names the field of
 * the command's own struct that it fills.
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
#include "terminal.h"

enum option_type {
	OPTION_FLAG,	 /* bool */
	OPTION_TEXT,	 /* const char *, borrows from argv */
	OPTION_MAYBE,	 /* the same; --name alone is "true" */
	OPTION_COUNT,	 /* uint64_t */
	OPTION_DURATION, /* uint64_t, ns */
	OPTION_LIST	 /* struct words; may be given several times */
};

/* Words given to a repeatable option. Borrows the words from argv. */
struct words {
	const char **at;
	size_t n;
};

void words_release(struct words *words);

struct option_spec {
	char letter; /* 0: none */
	const char *name;
	enum option_type type;
	size_t offset; /* of its field in the command's struct */
	const char *argument;
	const char *choices; /* NULL: any; else separated by spaces */
	const char *help;
};

#define OPTION_END { 0, NULL, OPTION_FLAG, 0, NULL, NULL, NULL }
#define OPTION_JSON(type) \
	{ 0, "json", OPTION_FLAG, offsetof(type, json), NULL, NULL, \
	  "write JSON" }

/* Options that every command has: --help and --color. */
extern const struct option_spec common_options[];

struct args {
	const struct command *command;
	char **argv; /* after the command's name; ends with NULL */
	char **operands;
	size_t n_operands;
	enum color_when color;
};

#define ARGS_GO (-1) /* no exit code: the command goes on */

/*
 * Reads every option into `fields`, which starts with the defaults, and
 * gathers the operands. Returns ARGS_GO, CODE_OK when help was printed, or
 * CODE_USAGE after a message. The caller releases its lists in every case.
 */
int args_parse(struct args *args, void *fields);

/* The operand at `index`, or `otherwise` when there are fewer. */
const char *args_operand(const struct args *args, size_t index,
			 const char *otherwise);

#endif
