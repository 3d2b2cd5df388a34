/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Since: which former reading a rate is taken from.
 *
 * The kernel's ticks are 10 ms, so a difference over less than 0.1 s says
 * little: two readings are kept, and one that comes early is compared with the
 * older of them (or with none) and not kept. A caller that reads often, and
 * several that read in turn, all get rates over 0.1 s at least.
 *
 * A clock that went back, or a machine that slept, leaves nothing to compare
 * with: the readings start anew. Asleep is what CLOCK_BOOTTIME counts and
 * CLOCK_MONOTONIC does not.
 */
#ifndef TR_RECORD_SYSTEM_SINCE_H
#define TR_RECORD_SYSTEM_SINCE_H

#include <tare/api.h>

struct tr_since {
	int64_t at_ns[2];
	int64_t slept_ns[2]; /* boot time less monotonic */
	uint8_t n;	     /* readings kept: 0, 1, 2 */
	uint8_t newest;
};

struct tr_gap {
	int from;	/* the reading to compare with, or -1 */
	int keep;	/* where this one is kept, or -1 */
	double seconds; /* since `from` */
};

/* Asks the clocks; the caller fills its own array at `keep`. */
struct tr_gap tr_since_next(struct tr_since *since);

/* n over the gap's time; NAN for nothing to compare with, and for more than
 * `most` a second. */
double tr_gap_rate(const struct tr_gap *gap, double n, double most);

#endif
