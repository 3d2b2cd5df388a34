/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Append: a new file that grows by whole records.
 *
 * Records are collected and written by one call. A part that a full disk or a
 * limit cut off is removed, so that the file always ends with a whole record,
 * and kept for the next time: up to TR_APPEND_KEPT, then it is lost.
 *
 * Nothing is synced to the disk: a killed process loses nothing that was
 * written, and an epoch must not wait for the disk.
 */
#ifndef TR_RECORD_TRAIN_APPEND_H
#define TR_RECORD_TRAIN_APPEND_H

#include "base/text.h"

#define TR_APPEND_KEPT (1u << 20)

struct tr_append {
	int fd;
	unsigned number;       /* in its name; 1: none */
	unsigned moved;	       /* number given to the previous file; 0: none */
	uint64_t size;	       /* bytes of the file */
	struct tr_buf pending; /* records to be written; add to it */
	char path[1024];
};

/*
 * Creates folder/<stem><ending>, or <stem>_2<ending> if that exists, and so
 * on: never replaces. `number` is the first to be tried; 0 and 1 are the name
 * without one. Creates the folder if needed. 0 or an error.
 */
int tr_append_open(struct tr_append *append, const char *folder,
		   const char *stem, const char *ending, unsigned number);
/*
 * The same, but the new file gets the name without a number: a file with that
 * name is first moved to the number `moved` (0: 2), or the next free one. If
 * that file is being written, or is no regular file, the new one gets a
 * number. Processes that do so at once wait for each other.
 */
int tr_append_open_newest(struct tr_append *append, const char *folder,
			  const char *stem, const char *ending,
			  unsigned moved);
/* Writes what is pending, but not beyond the process's limit on file sizes,
 * which is read each time: exceeding it would end the host. */
int tr_append_flush(struct tr_append *append);
/* Replaces bytes that are already in the file. */
int tr_append_patch(struct tr_append *append, uint64_t off, const void *data,
		    size_t len);
/* Flushes; closes the file in any case. */
int tr_append_close(struct tr_append *append);

/* This host's name. */
void tr_append_host(char *out, size_t size);

#endif
