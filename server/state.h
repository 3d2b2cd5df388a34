/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State: the file `server` in tare's folder, in which a server writes its
 * address and tokens.
 *
 * The file is locked while the server lives, so that a second one detects the
 * first, and the file of a killed server is not mistaken for a live one. Only
 * its owner can read it: the tokens give access to everything.
 */
#ifndef SERVER_STATE_H
#define SERVER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The secret that every request for data must have. A server has two: one that
 * reads, one that can also change things.
 */
#define TOKEN_BYTES 32u
#define TOKEN_TEXT (2u * TOKEN_BYTES + 1u) /* hexadecimal, with its end */

struct state {
	char url[300]; /* without the token, ends with / */
	char token[TOKEN_TEXT];	/* reads */
	char steer_token[TOKEN_TEXT]; /* reads and changes */
	int64_t pid;
};

/*
 * Opens and locks the file. Returns 0 and the descriptor that holds the lock,
 * EWOULDBLOCK if a server has it, or another errno.
 */
int state_take(int *ret_fd);
int state_write(int fd, const struct state *state);

/* The path of the file. Returns 0 or an errno. */
int state_path(char *path, size_t size);

/* The running server. Returns 0, ENOENT if there is none, or an errno. */
int state_read(struct state *ret_state);

/*
 * Its URL with a token, for a user to open. The token is after a '#', which a
 * browser does not send.
 */
void state_print_url(const struct state *state, bool may_steer, char *text,
		     unsigned size);

/* 256 random bits as text. False: the kernel provided none. */
bool token_make(char token[TOKEN_TEXT]);

/*
 * Is it "Bearer <token>", as in an Authorization header? Takes constant time,
 * independent of the first difference.
 */
bool token_in_bearer(const char *token, const char *header);

#endif
