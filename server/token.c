/* SPDX-License-Identifier: Apache-2.0 */
#include "token.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

bool token_make(char token[TOKEN_TEXT])
{
	unsigned char bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return false;
	for (unsigned i = 0; i < TOKEN_BYTES; i++)
		(void)snprintf(token + 2u * i, 3, "%02x", bytes[i]);
	return true;
}

static bool equal_bytes(const char *token, const char *given, size_t len)
{
	unsigned char different = 0;

	/* The length is no secret. */
	if (len != TOKEN_TEXT - 1)
		return false;
	for (size_t i = 0; i < len; i++)
		different |= (unsigned char)(token[i] ^ given[i]);
	return different == 0;
}

bool token_equal(const char *token, const char *given)
{
	return equal_bytes(token, given, strlen(given));
}

bool token_in_bearer(const char *token, const char *header)
{
	if (strncasecmp(header, "Bearer ", 7) != 0)
		return false;
	header += 7;
	header += strspn(header, " ");
	return token_equal(token, header);
}
