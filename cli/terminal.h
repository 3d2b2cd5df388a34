/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminal: its width, and whether to use colour.
 *
 * Colour only on a terminal, never with NO_COLOR or TERM=dumb;
 * --color=always|never overrides both.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum tint {
	TINT_NONE,
	TINT_BOLD,
	TINT_DIM,
	TINT_RED,
	TINT_GREEN,
	TINT_YELLOW
};

/* Borrows `when`: "always", "never", or anything else. */
void terminal_set_color(const char *when);
bool terminal_wants_color(FILE *stream);

/* Columns of `stream`, or 0 if it is not a terminal: no limit. */
unsigned terminal_width(FILE *stream);
/* Lines of `stream`, or 24. */
unsigned terminal_height(FILE *stream);

/* Writes `text` in a colour; plain when `color` is false. */
void terminal_tinted(FILE *stream, bool color, enum tint tint,
		     const char *text);

/*
 * Prints `text` with every character that could control the terminal replaced
 * by '?': names come from ledgers, which any program may write.
 */
void terminal_safe(FILE *stream, const char *text);

#endif
