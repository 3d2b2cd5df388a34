/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pause: sites that are on for only a part of the time, all together.
 *
 * They share one gate, a word of the control page, which a thread opens and
 * closes. Counts are extrapolated by the CPU time of the measured threads while
 * it really was open: by the clock on the wall they would be wrong when the
 * process waits.
 */
#ifndef TR_RECORD_GOVERNOR_PAUSE_H
#define TR_RECORD_GOVERNOR_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

/* Threads whose CPU times are read one by one. */
#define TR_PAUSE_THREADS 32u

struct tr_pause {
	bool is_used, is_open;
	bool has_many; /* more threads than that */
	double want;	    /* part of the time */
	double gain;	    /* correction of `want`, to reach it */
	double got;	    /* part of the last interval; 0: unknown */
	int64_t next_ns;
	int64_t cpu_ns[TR_PAUSE_THREADS]; /* accounted so far */
	int64_t process_ns;		  /* the same, of all threads */
	int64_t open_ns, shut_ns; /* of the CPU time since the last check */
	uint32_t periods;	  /* whole periods since then */
};

void tr_pause_init(struct tr_pause *pause);
void tr_pause_enable(struct tr_pause *pause, bool on);
/* After tr_pause_counted(), which finds out how far off the last part was. */
void tr_pause_want(struct tr_pause *pause, double part);
/* Part of the CPU time since the last check in which the sites were on. */
double tr_pause_part(const struct tr_pause *pause);
/* Is this a good moment for a check: the end of several whole periods? */
bool tr_pause_is_whole(const struct tr_pause *pause);
/* A check is done: starts the next interval. */
void tr_pause_counted(struct tr_pause *pause);
/* Before tr_pause_part(): takes the time until now into account. */
void tr_pause_account(struct tr_pause *pause);
/* Opens or closes the gate if it is time. */
void tr_pause_turn(struct tr_pause *pause, int64_t now);
/* ns until the gate changes next, or `next` if nothing is paused. */
int64_t tr_pause_next(const struct tr_pause *pause, int64_t now, int64_t next);

#endif
