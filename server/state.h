/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State: the file `server` in tare's folder, where a server says how it is
 * reached.
 *
 * It is locked as long as the server lives, so that a second one notices the
 * first, and what a killed one left behind is not taken for a server. Readable
 * by its owner alone: the token in it is the key to everything.
 */
#ifndef SERVER_STATE_H
#define SERVER_STATE_H

#include <stdint.h>

#include "token.h"

struct state {
	char url[300]; /* without the token, ends with / */
	char token[TOKEN_TEXT];
	int64_t pid;
};

/*
 * Opens and locks the file. Returns 0 and the descriptor that holds the lock,
 * EWOULDBLOCK if a server has it, or another errno.
 */
int state_take(int *ret_fd);
int state_write(int fd, const struct state *state);

/* The running server. Returns 0, ENOENT if there is none, or an errno. */
int state_read(struct state *ret_state);

/* Its URL with the token: what a person opens. */
void state_print_url(const struct state *state, char *text, unsigned size);

#endif
