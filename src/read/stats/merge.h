/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merge: what a merge consists of, for the files of this folder.
 */
#ifndef TR_STATS_MERGE_H
#define TR_STATS_MERGE_H

#include "read/stats.h"

/* The first line of a summary; the number is its version. */
#define TR_SUMMARY_HEAD "tare-summary\t1\n"

/* A series of all runs. */
struct tr_merge_part {
	tare_stats row;
	struct tr_series series; /* only its histograms */
	double timed_items;	 /* items with a time */
	double sum;		 /* of the distribution, in the row's unit */
	uint64_t all_failures;	 /* over all time, if `row` is not */
	int64_t last_ns;	 /* end of the run that `last` comes from */
	uint64_t processes;	 /* that have values of it */
};

/* That a process has values of a part. */
struct tr_merge_owner {
	uint32_t part;
	uint64_t process; /* its id, and a hash of its host */
};

struct tare_merge {
	struct tr_pool pool; /* pages and strings */
	struct tr_merge_part *part;
	size_t n, cap;
	struct tr_lookup by_name; /* parts */
	struct tr_merge_owner *owner;
	size_t n_owners, cap_owners;
	struct tr_lookup by_pid; /* owners */
	tare_stats *stats;
	uint64_t runs, unreadable;
	int64_t start_ns, end_ns; /* of all runs */
};

void tr_merge_begin_part(struct tr_merge_part *part);
void tr_merge_spans(tare_merge *m, int64_t start_ns, int64_t end_ns);
/* The part for a row, a new one if there is none; NULL: out of memory. */
struct tr_merge_part *tr_merge_part_of(tare_merge *m, const tare_stats *row);

#endif
