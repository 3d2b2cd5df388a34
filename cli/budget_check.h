/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets against runs. */
#ifndef CLI_BUDGET_CHECK_H
#define CLI_BUDGET_CHECK_H

#include "budget.h"
#include "findings.h"
#include "side.h"

/* Reads a file. 0, or an exit code after a message; release in any case. */
int budget_read(struct budget *budget, const char *path);
/* Has a line a figure that only runs with tracked allocations have? */
bool budget_needs_allocs(const struct budget *budget);
/* A finding for each line. 0, or an exit code after a message. */
int budget_check(const struct budget *budget, const struct side *side,
		 struct findings *findings);

#endif
