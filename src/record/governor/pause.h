/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pause: sites that are on for a part of the time only, all at once.
 *
 * They have one gate, a word of the control page, which a thread opens and
 * closes. How long it really was open is what counts are extrapolated by.
 */
#ifndef TR_RECORD_GOVERNOR_PAUSE_H
#define TR_RECORD_GOVERNOR_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

struct tr_pause {
	bool is_used, is_open;
	double want;	    /* part of the time */
	double gain;	    /* what is asked for, to get that */
	int64_t switched_ns, next_ns;
	int64_t open_ns, shut_ns; /* since the last look */
	uint32_t periods;	  /* whole ones since then */
};

void tr_pause_init(struct tr_pause *pause);
void tr_pause_enable(struct tr_pause *pause, bool on);
void tr_pause_want(struct tr_pause *pause, double part);
/* Part of the time since the last look that they were on. */
double tr_pause_part(const struct tr_pause *pause);
/* Is now a good moment for a look? At the end of some whole periods. */
bool tr_pause_is_whole(const struct tr_pause *pause);
/* A look has been taken: the next part begins. */
void tr_pause_counted(struct tr_pause *pause);
/* Opens or closes if it is time. */
void tr_pause_turn(struct tr_pause *pause, int64_t now);
/* ns until it is time again, or `next` if nothing is paused. */
int64_t tr_pause_next(const struct tr_pause *pause, int64_t now, int64_t next);

#endif
