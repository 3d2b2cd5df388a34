/* SPDX-License-Identifier: Apache-2.0 */
/* Token: the secret that every request but the health check must show. */
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

/* "...; <name>=<token>; ...", as in a Cookie header. */
bool token_in_cookie(const char *token, const char *name,
		     const char *header);

#endif
