/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Screen: full-screen output by plain ANSI escapes.
 *
 * Why not curses: every terminal of the last thirty years supports the few
 * sequences used here, and `tare` stays free of dependencies.
 *
 * The terminal is restored in every case: screen_close(), exit(), a signal that
 * ends the program, a crash, and while it is stopped by Ctrl-Z. One screen per
 * process.
 */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: no suitable terminal. */
bool screen_open(void);
void screen_close(void);

/* Replaces the screen's content by `text`, without flicker. */
void screen_show(const char *text, size_t len);

enum screen_event {
	SCREEN_TIMEOUT = 256, /* values below are keys */
	SCREEN_RESIZED,	      /* redraw */
	SCREEN_END	      /* a signal asks the program to end */
};

/* Waits for a key, a signal or the time `until_ns` (monotonic). */
int screen_wait(int64_t until_ns);

/* Ends by the signal that SCREEN_END reported, as the sender expects. */
void screen_die(void);

#endif
