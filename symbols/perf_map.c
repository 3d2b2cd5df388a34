/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perf maps: what Node (--perf-basic-prof), Java, Python, .NET, Ruby and others
 * write to /tmp/perf-PID.map. A line that was written in part, because the
 * program was killed, is skipped like any other that is no function.
 */
#include "code_names.h"

#include <string.h>

/* After the number and its blank; NULL: none, or too many digits. */
static const char *take_number(const char *at, const char *end, uint64_t *ret)
{
	const char *first;

	if (end - at > 2 && at[0] == '0' && at[1] == 'x')
		at += 2; /* as Java writes it */
	*ret = 0;
	for (first = at; at < end; at++) {
		if (*at >= '0' && *at <= '9')
			*ret = *ret << 4 | (uint64_t)(*at - '0');
		else if ((*at | 32) >= 'a' && (*at | 32) <= 'f')
			*ret = *ret << 4 | (uint64_t)((*at | 32) - 'a' + 10);
		else
			break;
	}
	if (at == first || at - first > 16 || at >= end || *at != ' ')
		return NULL;
	return at + 1;
}

static void read_line(struct code_names *names, const char *line,
		      const char *end)
{
	uint64_t from, size;

	line = take_number(line, end, &from);
	if (line)
		line = take_number(line, end, &size);
	if (line && line < end)
		code_names_add(names, from, size, line, (size_t)(end - line));
}

void perf_map_read(struct code_names *names, const char *text, size_t bytes)
{
	const char *end = text + bytes, *line_end;

	for (; text < end; text = line_end + 1) {
		line_end = memchr(text, '\n', (size_t)(end - text));
		if (!line_end)
			return;
		read_line(names, text, line_end);
	}
}
