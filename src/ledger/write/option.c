/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Current values of options: the value set through the control page, if the
 * option's row accepts it, else the configured one.
 *
 * Any process of this user may write to the page, so every value is checked.
 */
#include "ledger/write.h"

#include "base/text.h"

static bool set_outside(const char *name, char *value, size_t size)
{
	return tr_ledger->control &&
	       tr_control_get(tr_ledger->control, name, value, size);
}

/* Numbers that are not in the table have no bounds. */
static bool is_accepted(const char *name, double value)
{
	const tare_option *option = tr_option_find(name);
	const struct tr_option_row *row = tr_option_row(option);

	return !option || (value >= row->min && value <= row->max);
}

bool tr_control_bool(const char *name, bool configured)
{
	char text[16];
	bool on;

	return set_outside(name, text, sizeof(text)) &&
			       tr_parse_bool(text, &on) ?
		       on :
		       configured;
}

uint64_t tr_control_u64(const char *name, uint64_t configured)
{
	char text[32];
	uint64_t n;

	return set_outside(name, text, sizeof(text)) &&
			       tr_parse_u64(text, &n) &&
			       is_accepted(name, (double)n) ?
		       n :
		       configured;
}

double tr_control_double(const char *name, double configured)
{
	char text[32];
	double value;

	return set_outside(name, text, sizeof(text)) &&
			       tr_parse_double(text, &value) &&
			       is_accepted(name, value) ?
		       value :
		       configured;
}

const char *tr_control_text(const char *name, const char *configured,
			    char *value)
{
	return set_outside(name, value, TR_CONFIG_STRING) ? value : configured;
}
