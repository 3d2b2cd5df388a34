/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function, file and line in a name that a run-time system gave to generated
 * code. One function has a name for each of its forms (interpreted, compiled,
 * optimised): the mark of the form is left out, so that they are one row.
 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

static const char *skip(const char *text, const char *start)
{
	size_t n = strlen(start);

	return strncmp(text, start, n) == 0 ? text + n : NULL;
}

/* "/app/a.js:12:7": cuts the numbers off; 0: there are none. */
static uint32_t take_line(char *place)
{
	char *column = strrchr(place, ':'), *line;
	unsigned long number;

	if (!column || strspn(column + 1, "0123456789") != strlen(column + 1))
		return 0;
	*column = '\0';
	line = strrchr(place, ':');
	if (!line || !line[1] ||
	    strspn(line + 1, "0123456789") != strlen(line + 1)) {
		*column = ':';
		return 0;
	}
	number = strtoul(line + 1, NULL, 10);
	*line = '\0';
	return number <= UINT32_MAX ? (uint32_t)number : 0;
}

static tare_place place_of(struct texts *texts, const char *function,
			   const char *file, uint32_t line)
{
	return (tare_place){
		.function = texts_keep(texts, function),
		.file = texts_keep(texts, file),
		.line = line,
		.first_line = line,
	};
}

/* V8: "JS:*inner /app/a.js:12:7", with "*", "^", "~" or "+" for the form. */
static bool script_place(struct texts *texts, const char *name,
			 tare_place *ret)
{
	static const char *const kinds[] = { "JS:", "LazyCompile:", "Function:",
					     "Eval:", "Script:" };
	char text[CODE_NAME_BYTES], *file;
	const char *rest = NULL;
	uint32_t line;

	for (size_t i = 0; !rest && i < sizeof(kinds) / sizeof(*kinds); i++)
		rest = skip(name, kinds[i]);
	if (!rest || strlen(rest) >= sizeof(text))
		return false;
	(void)strcpy(text, rest + (*rest && strchr("*^~+", *rest) != NULL));
	file = strchr(text, ' ');
	line = file ? take_line(file + 1) : 0;
	if (!line)
		return false;
	*file = '\0';
	*ret = place_of(texts, text[0] ? text : "(anonymous)", file + 1, line);
	return true;
}

/* Python: "py::work:/app/a.py" */
static bool python_place(struct texts *texts, const char *name,
			 tare_place *ret)
{
	const char *rest = skip(name, "py::");
	const char *file = rest ? strchr(rest, ':') : NULL;
	char text[CODE_NAME_BYTES];

	if (!file || (size_t)(file - rest) >= sizeof(text))
		return false;
	memcpy(text, rest, (size_t)(file - rest));
	text[file - rest] = '\0';
	*ret = place_of(texts, text, file + 1, 0);
	return true;
}

tare_place code_place(struct texts *texts, const char *name)
{
	tare_place place;

	if (script_place(texts, name, &place) ||
	    python_place(texts, name, &place))
		return place;
	return place_of(texts, demangle(texts, name), "", 0);
}
