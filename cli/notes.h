/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes: warnings of the library in a measured program, for the report of `tare
 * run`; they do not go to the program's stderr.
 *
 * The program gets the file's path in /proc by its environment. The file has no
 * name, so it need not be removed.
 */
#ifndef CLI_NOTES_H
#define CLI_NOTES_H

#include <stdio.h>

/* Before the program starts. -1: not available, no message. */
int notes_open(void);
/* Calls `take` with each line that is not empty. */
void notes_each(int notes,
		void (*take)(void *arg, const char *line, size_t len),
		void *arg);
/* After its end: prints one line per message. */
void notes_print(int notes, FILE *text);

#endif
