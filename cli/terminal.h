/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminal: how wide it is, and whether to colour.
 *
 * Colour is for people: only on a terminal, never with NO_COLOR or TERM=dumb;
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

/* Columns of `stream`, or 0 when it is no terminal and nothing need fit. */
unsigned terminal_width(FILE *stream);
/* Lines of `stream`, or 24. */
unsigned terminal_height(FILE *stream);

/* Writes `text` in a colour; plain when `color` is false. */
void terminal_tinted(FILE *stream, bool color, enum tint tint,
		     const char *text);

/*
 * Names come from ledgers, which anybody may have written: prints `text` with
 * every character that could control the terminal replaced by '?'.
 */
void terminal_safe(FILE *stream, const char *text);

#endif
