/* SPDX-License-Identifier: Apache-2.0 */
#include "export_name.h"

#include <stddef.h>
#include <string.h>

#include <tare/read/export.h>

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyz"

static bool find_format(const char *ending, uint32_t *ret_format)
{
	static const struct {
		const char *ending;
		uint32_t format;
	} known[] = {
		{ "json", TARE_FORMAT_JSON },
		{ "csv", TARE_FORMAT_CSV },
		{ "prom", TARE_FORMAT_PROMETHEUS },
		{ "om", TARE_FORMAT_OPENMETRICS },
		{ "pb", TARE_FORMAT_PROTOBUF },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].ending, ending) != 0)
			continue;
		*ret_format = known[i].format;
		return true;
	}
	return false;
}

/* Moves on behind exactly `n` digits. */
static bool skip_digits(const char **at, size_t n)
{
	if (strspn(*at, DIGITS) != n)
		return false;
	*at += n;
	return true;
}

static bool skip(const char **at, const char *text)
{
	size_t len = strlen(text);

	if (strncmp(*at, text, len) != 0)
		return false;
	*at += len;
	return true;
}

bool export_name_parse(const char *name, uint32_t *ret_format)
{
	const char *at = name;
	size_t n;

	if (!skip(&at, "metrics_"))
		return false;
	(void)skip(&at, "periodic_");
	n = strspn(at, LETTERS);
	at += n;
	if (!n || !skip(&at, "_") || !skip_digits(&at, 8) ||
	    !skip(&at, "_") || !skip_digits(&at, 6))
		return false;
	if (skip(&at, "_")) {
		n = strspn(at, DIGITS);
		at += n;
		if (!n || n > 4)
			return false;
	}
	return skip(&at, ".") && find_format(at, ret_format);
}
