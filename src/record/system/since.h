/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Since: which former reading a rate is computed from.
 *
 * The kernel's ticks are 10 ms, so a difference over less than 0.1 s says
 * little: two readings are kept, and one that comes early is compared with the
 * older of them (or with none) and not kept. A caller that reads often, and
 * several that alternate, all get rates over 0.1 s at least.
 *
 * After a clock went back, or a machine slept, there is nothing to compare
 * with: the readings start again. Sleep is what CLOCK_BOOTTIME counts and
 * CLOCK_MONOTONIC does not.
 */
#ifndef TR_RECORD_SYSTEM_SINCE_H
#define TR_RECORD_SYSTEM_SINCE_H

#include <tare/api.h>

struct tr_since {
	int64_t at_ns[2];
	int64_t slept_ns[2]; /* boot time minus monotonic */
	uint8_t n;	     /* readings kept: 0, 1, 2 */
	uint8_t newest;
};

struct tr_gap {
	int from;	/* the reading to compare with, or -1 */
	int keep;	/* where this one is kept, or -1 */
	double seconds; /* since `from` */
};

/* Reads the clocks; the caller fills its own array at `keep`. */
struct tr_gap tr_since_next(struct tr_since *since);

/* n over the gap's time; NAN if there is nothing to compare with, or for more
 * than `most` a second. */
double tr_gap_rate(const struct tr_gap *gap, double n, double most);

#endif
