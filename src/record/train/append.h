/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Append: a new file that grows by whole records.
 *
 * Records are collected and written by one call. What a full disk or a limit
 * cuts off is taken back, so that the file always ends with a whole record,
 * and kept for the next time: up to TR_APPEND_KEPT, then it is lost.
 *
 * Nothing is synced to the disk: a killed process loses nothing that was
 * written, and the machine may not wait for its disk every epoch.
 */
#ifndef TR_RECORD_TRAIN_APPEND_H
#define TR_RECORD_TRAIN_APPEND_H

#include "base/text.h"

#define TR_APPEND_KEPT (1u << 20)

struct tr_append {
	int fd;
	unsigned number;       /* that its name has; 1: none */
	unsigned moved;	       /* to which the one before was; 0: none was */
	uint64_t size;	       /* bytes of the file */
	struct tr_buf pending; /* records to be written; add to it */
	char path[1024];
};

/*
 * Makes folder/<stem><ending>, or <stem>_2<ending> if there is one, and so
 * on: never replaces. `number` is the first to be tried; 0 and 1 are the name
 * without one. The folder is made if needed. 0 or an error.
 */
int tr_append_open(struct tr_append *append, const char *folder,
		   const char *stem, const char *ending, unsigned number);
/*
 * The same, but the new file gets the name without a number: a file that has
 * it is first moved to the number `moved` (0: 2), or the next one that is
 * free. Not one that is being written, nor what is no file: then the new one
 * gets a number. Processes that do so at once wait for each other.
 */
int tr_append_open_newest(struct tr_append *append, const char *folder,
			  const char *stem, const char *ending,
			  unsigned moved);
/* Writes what is pending, but not beyond the process's limit of file sizes,
 * which is asked for each time: going beyond it would end the host. */
int tr_append_flush(struct tr_append *append);
/* Replaces bytes that are in the file already. */
int tr_append_patch(struct tr_append *append, uint64_t off, const void *data,
		    size_t len);
/* Flushes; in any case the file is closed then. */
int tr_append_close(struct tr_append *append);

/* This host's name. */
void tr_append_host(char *out, size_t size);

#endif
