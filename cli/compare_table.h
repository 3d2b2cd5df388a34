/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that `tare compare` prints. */
#ifndef CLI_COMPARE_TABLE_H
#define CLI_COMPARE_TABLE_H

#include <tare/read/compare.h>

/* To stdout: summary, tables, fits, notes. */
void compare_print(const tare_compared *result, bool has_target);

#endif
