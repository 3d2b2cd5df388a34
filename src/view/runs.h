/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where runs are and how they are named; used inside view/.
 */
#ifndef TR_VIEW_RUNS_H
#define TR_VIEW_RUNS_H

#include "view/view.h"

/* What is configured: folder, how many runs to keep. */
const struct tr_config *tr_runs_config(void);
/* As tare_runs_list(), faster: who was killed has no end. */
int tr_runs_list(tare_run_entry **ret_runs, size_t *ret_n);
/* Folders of this user, from the configuration. 0 or an error. */
int tr_runs_folders(char *live, char *runs, size_t size);
/* Path of the ledger meant by `which`. */
int tr_runs_find(const char *which, char *path, size_t size);
/* Value of a key in a metadata page, "" if absent; copied. */
void tr_meta_value(const char *meta, const char *key, char *out, size_t size);
/* Header and metadata of a file. */
int tr_runs_peek(const char *path, struct tr_header *header,
		 char meta[TR_META_BYTES]);
/* Of the ledger at `path`, which may be NULL: it has no file. */
enum tare_run_state tr_runs_state(const struct tr_header *header,
				  const char *path);
/* Certainly: the file may be moved. */
bool tr_runs_is_over(const struct tr_header *header, const char *path);
/* Ledger mapped by a live process, seen from here; suffix ".tare". */
int tr_runs_of_process(int64_t pid, const char *suffix, char *path,
		       size_t size);

#endif
