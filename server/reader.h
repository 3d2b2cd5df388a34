/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader: the process in which the server reads runs and changes programs.
 *
 * Why a process: a ledger that hangs or crashes its reader must affect only its
 * own request, and a hanging thread cannot be stopped. A process can be killed
 * at any time: the kernel frees memory, locks and descriptors.
 *
 * Forked without exec from the loop, which has one thread: a start costs under
 * a millisecond and needs no second command. The reader closes all other
 * descriptors, clears the tokens, and dies with the server.
 */
#ifndef SERVER_READER_H
#define SERVER_READER_H

#include <sys/types.h>

struct board;
struct exchange;
struct server;

/* Starts a reader: its process id, or -1; `*ret_fd` is the server's end. */
pid_t reader_start(struct server *server, struct board *board, int *ret_fd);

/* Sends the answer of an exchange to the server. Takes `file`. */
void reader_answer(struct exchange *ex, int status, const char *type,
		   const void *body, size_t len);
void reader_answer_file(struct exchange *ex, int status, const char *type,
			int file, size_t len);

#endif
