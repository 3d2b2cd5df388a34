/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Token: the secret that every request for data must show. A server has two:
 * one that reads, one that changes things, too.
 */
#ifndef SERVER_TOKEN_H
#define SERVER_TOKEN_H

#include <stdbool.h>

#define TOKEN_BYTES 32u
#define TOKEN_TEXT (2u * TOKEN_BYTES + 1u) /* hexadecimal, and its end */

/* 256 random bits as text. False: the kernel gave none. */
bool token_make(char token[TOKEN_TEXT]);

/* Takes the same time wherever the first difference is. */
bool token_equal(const char *token, const char *given);

/* "Bearer <token>", as in an Authorization header. */
bool token_in_bearer(const char *token, const char *header);

#endif
