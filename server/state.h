/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State: the file `server` in tare's folder, where a server says how it is
 * reached.
 *
 * It is locked as long as the server lives, so that a second one notices the
 * first, and what a killed one left behind is not taken for a server. Readable
 * by its owner alone: the tokens in it are the keys to everything.
 */
#ifndef SERVER_STATE_H
#define SERVER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The secret that every request for data must show. A server has two: one
 * that reads, one that changes things, too.
 */
#define TOKEN_BYTES 32u
#define TOKEN_TEXT (2u * TOKEN_BYTES + 1u) /* hexadecimal, and its end */

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

/* Where the file is. Returns 0 or an errno. */
int state_path(char *path, size_t size);

/* The running server. Returns 0, ENOENT if there is none, or an errno. */
int state_read(struct state *ret_state);

/*
 * Its URL with a token: what a person opens. Behind a '#', which a browser
 * keeps to itself.
 */
void state_print_url(const struct state *state, bool may_steer, char *text,
		     unsigned size);

/* 256 random bits as text. False: the kernel gave none. */
bool token_make(char token[TOKEN_TEXT]);

/*
 * Is it "Bearer <token>", as in an Authorization header? Takes the same time
 * wherever the first difference is.
 */
bool token_in_bearer(const char *token, const char *header);

#endif
