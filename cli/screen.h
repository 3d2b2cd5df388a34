/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Screen: the whole terminal, by plain ANSI escapes.
 *
 * Why not curses: every terminal of the last thirty years knows the handful
 * of sequences used here, and `tare` stays free of dependencies.
 *
 * The terminal is put back on every way out: screen_close(), exit(), a signal
 * that ends the program, a crash, and for as long as it is stopped by Ctrl-Z.
 * One screen a process.
 */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: there is no terminal that could do this. */
bool screen_open(void);
void screen_close(void);

/* Replaces what is shown by `text`, without flicker. */
void screen_show(const char *text, size_t len);

enum screen_event {
	SCREEN_TIMEOUT = 256, /* events below are keys */
	SCREEN_RESIZED,	      /* draw again */
	SCREEN_END	      /* a signal asks the program to end */
};

/* Waits for a key, a signal or the time `until_ns` (monotonic). */
int screen_wait(int64_t until_ns);

/* Dies of the signal that SCREEN_END told of, as the sender expects. */
void screen_die(void);

#endif
