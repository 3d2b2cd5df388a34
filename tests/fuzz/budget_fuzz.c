/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of budgets: what is accepted has a name, a number, and a text that
 * is read as the same line again.
 */
#include "cli/budget.h"

#include <stdint.h>
#include <string.h>

#include <tare/error.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(const struct budget_line *line)
{
	struct budget again;

	if (!line->name[0] || !(line->value > -1e300 && line->value < 1e301))
		__builtin_trap();
	(void)budget_is_kept(line, line->value);
	/* What cannot be printed was replaced in the text alone. */
	if (strchr(line->text, '?'))
		return;
	if (budget_parse(&again, line->text, strlen(line->text)) ||
	    again.n != 1 || strcmp(again.at[0].name, line->name) != 0 ||
	    again.at[0].compare != line->compare ||
	    again.at[0].unit != line->unit ||
	    again.at[0].value > line->value ||
	    again.at[0].value < line->value)
		__builtin_trap();
	budget_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct budget budget;
	int err = budget_parse(&budget, (const char *)data, size);

	if (err == TARE_EFORMAT && (!budget.problem || !budget.bad_line))
		__builtin_trap();
	for (size_t i = 0; !err && i < budget.n; i++)
		check_line(&budget.at[i]);
	budget_release(&budget);
	return 0;
}
