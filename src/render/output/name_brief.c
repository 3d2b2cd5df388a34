/* SPDX-License-Identifier: Apache-2.0 */
#include "render/output.h"

#include <string.h>

/* Length of an operator's name such as operator< that begins here, or 0. */
static size_t operator_length(const char *at)
{
	size_t n = 8;

	if (strncmp(at, "operator", 8) != 0)
		return 0;
	if (strncmp(at + n, "()", 2) == 0)
		return n + 2;
	while (at[n] && strchr("<>=-", at[n]))
		n++;
	return n;
}

const char *tr_name_brief(const char *name, char *brief)
{
	unsigned inside = 0;
	size_t n = 0, skip = 0;

	for (const char *at = name; *at && n < TR_BRIEF_BYTES - 1; at++) {
		bool closes = *at == '>' || *at == ')';

		if (!skip && !inside)
			skip = operator_length(at);
		if (skip) {
			brief[n++] = *at;
			skip--;
			continue;
		}
		if (closes && inside)
			inside--;
		if (!inside)
			brief[n++] = *at;
		if (*at == '<' || *at == '(')
			inside++;
	}
	brief[n] = '\0';
	return brief;
}
