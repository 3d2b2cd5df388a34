/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tare/error.h>

#include "terminal.h"

const struct command *message_command;

/* Names come from files and programs: they may contain any bytes. */
static void say(const char *format, va_list list)
{
	char *text = NULL;

	(void)fputs("tare: ", stderr);
	if (vasprintf(&text, format, list) < 0)
		return;
	terminal_safe(stderr, text);
	free(text);
}

void message(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	say(format, list);
	va_end(list);
	(void)fputc('\n', stderr);
}

int message_usage(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	say(format, list);
	va_end(list);
	if (message_command)
		(void)fprintf(stderr, "; see 'tare %s --help'\n",
			      message_command->name);
	else
		(void)fputs("; see 'tare help'\n", stderr);
	return CODE_USAGE;
}

int message_error(const char *what, const char *subject, int error)
{
	const char *reason =
		error > 0 ? strerror(error) : tare_strerror(error);

	/* strerror() starts with a capital letter, our texts do not. */
	message("cannot %s '%s': %c%s", what, subject,
		tolower((unsigned char)reason[0]),
		reason[0] ? reason + 1 : "");
	return error == TARE_EINVAL || error == TARE_ERANGE ? CODE_USAGE
							    : CODE_IO;
}
