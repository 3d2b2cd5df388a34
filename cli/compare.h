/* SPDX-License-Identifier: Apache-2.0 */
/* Compare: the input of `tare compare`, and the tables it prints. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include <tare/read/compare.h>

/*
 * Adds what `operand` names: the run CSV files of a folder, such a file, or a
 * run; adds their number to *n. Unreadable input is reported with line and
 * column, and the rest is still added. Returns an exit code.
 */
int compare_take(tare_comparison *c, const char *operand, size_t *n);

/* Prints summary, tables, fits and notes to stdout. */
void compare_print(const tare_compared *result, bool has_target);

#endif
