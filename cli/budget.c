/* SPDX-License-Identifier: Apache-2.0 */
#include "budget.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tare/error.h>

#include "base/text.h"

static const struct {
	const char *text;
	enum budget_unit unit;
	double factor;
} units[] = {
	{ "", BUDGET_PLAIN, 1 },	   { "ns", BUDGET_NS, 1 },
	{ "us", BUDGET_NS, 1e3 },	   { "ms", BUDGET_NS, 1e6 },
	{ "s", BUDGET_NS, 1e9 },	   { "min", BUDGET_NS, 60e9 },
	{ "B", BUDGET_BYTES, 1 },	   { "kB", BUDGET_BYTES, 1e3 },
	{ "KB", BUDGET_BYTES, 1e3 },	   { "MB", BUDGET_BYTES, 1e6 },
	{ "GB", BUDGET_BYTES, 1e9 },	   { "KiB", BUDGET_BYTES, 1024 },
	{ "MiB", BUDGET_BYTES, 1048576 },  { "GiB", BUDGET_BYTES, 1073741824 },
	{ "%", BUDGET_SHARE, 0.01 },
};

static const struct {
	const char *text;
	enum budget_compare compare;
} compares[] = {
	{ "<=", BUDGET_AT_MOST }, { ">=", BUDGET_AT_LEAST },
	{ "==", BUDGET_EQUAL },	  { "<", BUDGET_BELOW },
	{ ">", BUDGET_ABOVE },
};

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *skip(const char *at)
{
	return at + strspn(at, " \t\r");
}

/* A name ends at a space or a comparison; with spaces it is in quotes. */
static const char *take_name(const char *at, struct budget_line *line)
{
	bool is_quoted = *at == '"';
	size_t n;

	at += is_quoted;
	n = is_quoted ? strcspn(at, "\"") : strcspn(at, " \t\r<>=");
	if (!n || n >= sizeof(line->name) || (is_quoted && at[n] != '"'))
		return NULL;
	memcpy(line->name, at, n);
	line->name[n] = '\0';
	return skip(at + n + is_quoted);
}

static const char *take_compare(const char *at, struct budget_line *line)
{
	for (size_t i = 0; i < N_OF(compares); i++) {
		size_t n = strlen(compares[i].text);

		if (strncmp(at, compares[i].text, n) == 0) {
			line->compare = compares[i].compare;
			return skip(at + n);
		}
	}
	return NULL;
}

static bool take_value(const char *at, struct budget_line *line)
{
	size_t n = strspn(at, "0123456789.eE+-");
	char number[64], unit[8];
	size_t len;

	/* "2e3" is a number, and the e of no unit follows a digit. */
	if (!n || n >= sizeof(number))
		return false;
	memcpy(number, at, n);
	number[n] = '\0';
	if (!tr_parse_double(number, &line->value) ||
	    !(line->value > -1e300 && line->value < 1e300))
		return false;
	at = skip(at + n);
	len = strcspn(at, " \t\r");
	if (len >= sizeof(unit) || *skip(at + len))
		return false;
	memcpy(unit, at, len);
	unit[len] = '\0';
	for (size_t i = 0; i < N_OF(units); i++)
		if (strcmp(unit, units[i].text) == 0) {
			line->unit = units[i].unit;
			line->value *= units[i].factor;
			return true;
		}
	return false;
}

/* NULL, or what is wrong. */
static const char *parse_line(const char *at, struct budget_line *line)
{
	(void)snprintf(line->text, sizeof(line->text), "%s", at);
	tr_text_make_printable(line->text);
	at = take_name(at, line);
	if (!at)
		return "no name at the beginning";
	at = take_compare(at, line);
	if (!at)
		return "no <, <=, >, >= or == after the name";
	return take_value(at, line) ? NULL :
				      "no value such as 2ms, 200MB, 3 or 5%";
}

/* Cuts the comment and spaces at the end. */
static void trim(char *text)
{
	size_t n;

	text[strcspn(text, "#")] = '\0';
	n = strlen(text);
	while (n && isspace((unsigned char)text[n - 1]))
		text[--n] = '\0';
}

static int refuse(struct budget *budget, unsigned number, const char *problem)
{
	budget->bad_line = number;
	budget->problem = problem;
	return TARE_EFORMAT;
}

int budget_parse(struct budget *budget, const char *text, size_t len)
{
	const char *end = text + len;
	unsigned number = 0;

	*budget = (struct budget){ .n = 0 };
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);
		struct budget_line line = { .line = ++number };
		const char *problem, *at;
		char copy[200];

		if (n >= sizeof(copy))
			return refuse(budget, number, "longer than 199 bytes");
		memcpy(copy, text, n);
		copy[n] = '\0';
		if (strlen(copy) != n)
			return refuse(budget, number, "a byte of 0");
		text = stop ? stop + 1 : end;
		trim(copy);
		at = skip(copy);
		if (!*at)
			continue;
		problem = parse_line(at, &line);
		if (problem)
			return refuse(budget, number, problem);
		if (budget->n == BUDGET_LINES_MOST)
			return refuse(budget, number, "too many lines");
		if (!TR_ARRAY_ROOM(budget->at, budget->n, budget->room))
			return TARE_ENOMEM;
		budget->at[budget->n++] = line;
	}
	return 0;
}

void budget_release(struct budget *budget)
{
	free(budget->at);
	*budget = (struct budget){ .n = 0 };
}

bool budget_is_kept(const struct budget_line *line, double value)
{
	switch (line->compare) {
	case BUDGET_BELOW:
		return value < line->value;
	case BUDGET_AT_MOST:
		return value <= line->value;
	case BUDGET_ABOVE:
		return value > line->value;
	case BUDGET_AT_LEAST:
		return value >= line->value;
	case BUDGET_EQUAL:
		break;
	}
	return value >= line->value && value <= line->value;
}
