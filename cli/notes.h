/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes: warnings of the library in a measured program, for the report of
 * `tare run`: the program's own stderr is not for them.
 *
 * The program finds the file by its environment, in /proc: it has no name
 * that anybody would have to remove.
 */
#ifndef CLI_NOTES_H
#define CLI_NOTES_H

#include <stdio.h>

/* Before the program starts. -1: there are none, and nothing is said. */
int notes_open(void);
/* After its end: a line each. */
void notes_print(int notes, FILE *text);

#endif
