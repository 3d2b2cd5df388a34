/* SPDX-License-Identifier: Apache-2.0 */
/* Problem: an error as application/problem+json (RFC 9457). */
#ifndef SERVER_PROBLEM_H
#define SERVER_PROBLEM_H

#include <tare/api.h>

#include "exchange.h"

/* Answers with `status` and a sentence that says what to do about it. */
void problem(struct exchange *ex, int status, const char *format, ...)
	TARE_PRINTF(3, 4);

/* The same from a TARE_E* result: "cannot <what>: <reason>". */
void problem_error(struct exchange *ex, const char *what, int error);

/* The name of an HTTP status. */
const char *problem_title(int status);

#endif
