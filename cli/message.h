/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages for users: on stderr, lower case, no full stop, what failed first,
 * subject quoted. Data is never printed here.
 */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <tare/api.h>

#include "command.h"

/* The running command; NULL: none yet. */
extern const struct command *message_command;

/* "tare: ..." */
void message(const char *format, ...) TARE_PRINTF(1, 2);

/* The same with a hint to the help; returns CODE_USAGE. */
int message_usage(const char *format, ...) TARE_PRINTF(1, 2);

/*
 * "cannot <what> '<subject>': <reason>". Returns the exit code that fits the
 * TARE_E* result, or CODE_IO for a positive one, which is an errno.
 */
int message_error(const char *what, const char *subject, int error);

#endif
