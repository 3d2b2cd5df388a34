/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alloc ignore: live allocations that are no leaks: those that libraries keep
 * on purpose, and those of functions and modules that the user names.
 */
#ifndef CLI_ALLOC_IGNORE_H
#define CLI_ALLOC_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

#include <tare/read/alloc.h>

#include "args.h"

#define IGNORE_KINDS 8u

struct alloc_ignore {
	const struct words *globs; /* of --ignore */
	const char *file;	   /* of --ignore-file; NULL: none */
	bool no_known;		   /* also what libraries keep is a leak */
	char *text;		   /* the file's: a text for each line */
	size_t text_bytes;
	struct {
		const char *what;
		uint64_t n, bytes;
	} kind[IGNORE_KINDS]; /* what was ignored, and why */
	size_t n_kinds;
};

/* Reads the file. An exit code. */
int alloc_ignore_open(struct alloc_ignore *ignore);
/*
 * The rows that are live and not ignored. Gives an array (free); NULL: out of
 * memory.
 */
tare_alloc *alloc_ignore_rows(struct alloc_ignore *ignore, tare_view *view,
			      const tare_alloc *rows, size_t n, size_t *ret_n);
/* One line; nothing if nothing was ignored. */
void alloc_ignore_print(const struct alloc_ignore *ignore);
void alloc_ignore_sum(const struct alloc_ignore *ignore, uint64_t *ret_n,
		      uint64_t *ret_bytes);
void alloc_ignore_close(struct alloc_ignore *ignore);

#endif
