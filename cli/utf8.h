/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Utf8: names in a ledger are bytes that anybody may have written. Before
 * they reach a terminal or a JSON document, what is no text goes.
 */
#ifndef CLI_UTF8_H
#define CLI_UTF8_H

#include <stddef.h>

/* Bytes of the valid code point at `text`, which is not at its end; or 0. */
size_t utf8_length(const char *text);

/* The same, and 0 also for control characters, which steer terminals. */
size_t utf8_printable(const char *text);

/* Replaces every byte that is not printable by '?', in place. */
void utf8_make_printable(char *text);

#endif
