/* SPDX-License-Identifier: Apache-2.0 */
/* Compare: what `tare compare` is given, and the tables that it prints. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include <tare/read/compare.h>

/*
 * Adds what `operand` names: a folder's run CSV files, such a file, or a run;
 * *n grows by what was added. What cannot be read is told, with line and
 * column, and the rest is still added. Returns an exit code.
 */
int compare_take(tare_comparison *c, const char *operand, size_t *n);

/* To stdout: summary, tables, fits, notes. */
void compare_print(const tare_compared *result, bool has_target);

#endif
