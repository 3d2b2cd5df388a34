/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

#define LEAST_WIDTH 20u
#define MOST_WIDTH 1000u

static const char *color_when = "auto";

void terminal_set_color(const char *when)
{
	color_when = when;
}

bool terminal_wants_color(FILE *stream)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (strcmp(color_when, "always") == 0)
		return true;
	if (strcmp(color_when, "never") == 0)
		return false;
	if (no_color && no_color[0])
		return false;
	if (!term || strcmp(term, "dumb") == 0)
		return false;
	return isatty(fileno(stream));
}

/* False if there is no terminal or its size is unknown. */
static bool window_size(FILE *stream, struct winsize *size)
{
	return ioctl(fileno(stream), TIOCGWINSZ, size) == 0 && size->ws_col;
}

unsigned terminal_width(FILE *stream)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t width;

	if (window_size(stream, &size))
		width = size.ws_col;
	else if (!columns || !tr_parse_u64(columns, &width) || !width)
		return 0;
	if (width < LEAST_WIDTH)
		return LEAST_WIDTH;
	return width > MOST_WIDTH ? MOST_WIDTH : (unsigned)width;
}

unsigned terminal_height(FILE *stream)
{
	struct winsize size;

	return window_size(stream, &size) && size.ws_row ? size.ws_row : 24;
}

void terminal_tinted(FILE *stream, bool color, enum tint tint,
		     const char *text)
{
	static const char *const code[] = {
		[TINT_NONE] = "", [TINT_BOLD] = "1", [TINT_DIM] = "2",
		[TINT_RED] = "31", [TINT_GREEN] = "32", [TINT_YELLOW] = "33",
	};

	if (!color || tint == TINT_NONE)
		(void)fputs(text, stream);
	else
		(void)fprintf(stream, "\033[%sm%s\033[0m", code[tint], text);
}

void terminal_safe(FILE *stream, const char *text)
{
	size_t len = strlen(text), n, width;
	bool print;

	for (size_t i = 0; i < len; i += n) {
		n = tr_text_next(text + i, len - i, &print, &width);
		(void)fwrite(print ? text + i : "?", 1, print ? n : 1, stream);
	}
}
