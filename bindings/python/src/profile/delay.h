/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel knows of a thread's time: how long it ran, and how long it
 * was ready to run while others had the processor.
 */
#ifndef TR_PY_DELAY_H
#define TR_PY_DELAY_H

#include <stdint.h>
#include <sys/types.h>

struct tr_delay {
	uint64_t ran_ns;
	uint64_t waited_ns;
};

/* Of a thread of this process. Zeros: not known. */
struct tr_delay tr_delay_read(pid_t tid);
struct tr_delay tr_delay_sum(struct tr_delay sum, struct tr_delay begin,
			     struct tr_delay end);

/* What a time without waiting is to be multiplied by; 1: not known. */
double tr_delay_factor(struct tr_delay delay);

#endif
