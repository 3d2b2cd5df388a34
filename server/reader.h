/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader: the process in which the server reads runs and changes programs.
 *
 * Why a process: a ledger whose reading never ends, or ends in a crash, must
 * cost its own request and no other, and a thread that hangs in the middle of
 * a reader cannot be stopped. A process can be killed at any instant: the
 * kernel takes back memory, locks and descriptors.
 *
 * Forked without exec from the loop, which has one thread: a start costs
 * under a millisecond and needs no second command. It closes every descriptor
 * but its own, forgets the tokens, and dies with the server.
 */
#ifndef SERVER_READER_H
#define SERVER_READER_H

#include <sys/types.h>

struct board;
struct exchange;
struct server;

/* Starts one. The process id, or -1; `*ret_fd` is the server's end. */
pid_t reader_start(struct server *server, struct board *board, int *ret_fd);

/* Sends the answer of an exchange to the server. Takes `file`. */
void reader_answer(struct exchange *ex, int status, const char *type,
		   const void *body, size_t len);
void reader_answer_file(struct exchange *ex, int status, const char *type,
			int file, size_t len);

#endif
