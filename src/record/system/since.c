/* SPDX-License-Identifier: Apache-2.0 */
#include "since.h"

#include <math.h>

#include "base/platform.h"

#define NEAR_NS 100000000
#define SLEPT_NS 100000000 /* less may be the time between both reads */

static int keep_at(struct tr_since *since, int at, int64_t now, int64_t slept)
{
	since->at_ns[at] = now;
	since->slept_ns[at] = slept;
	since->newest = (uint8_t)at;
	if (since->n < 2)
		since->n++;
	return at;
}

/*
 * The former readings are useless: the clock went back, or the machine slept.
 */
static bool is_broken(const struct tr_since *since, int64_t now,
		      int64_t slept)
{
	int64_t more = slept - since->slept_ns[since->newest];

	return now < since->at_ns[since->newest] || more > SLEPT_NS ||
	       more < -SLEPT_NS;
}

/*
 * Both clocks at about the same moment: a thread may be preempted in between.
 */
static int64_t clocks(int64_t *ret_slept)
{
	int64_t now = 0;

	for (int i = 0; i < 4; i++) {
		now = tr_monotonic_ns();
		*ret_slept = tr_boottime_ns() - now;
		if (tr_monotonic_ns() - now < SLEPT_NS / 10)
			break;
	}
	return now;
}

struct tr_gap tr_since_next(struct tr_since *since)
{
	struct tr_gap gap = { -1, -1, NAN };
	int64_t slept, now = clocks(&slept);

	if (since->n && is_broken(since, now, slept))
		since->n = 0;
	if (!since->n) {
		gap.keep = keep_at(since, 0, now, slept);
		return gap;
	}
	gap.from = since->newest;
	if (now - since->at_ns[gap.from] >= NEAR_NS)
		gap.keep = keep_at(since, !gap.from, now, slept);
	else
		gap.from = since->n == 2 ? !gap.from : -1;
	if (gap.from < 0)
		return gap;
	gap.seconds = (double)(now - since->at_ns[gap.from]) / 1e9;
	return gap;
}

double tr_gap_rate(const struct tr_gap *gap, double n, double most)
{
	double rate;

	if (gap->from < 0 || !(gap->seconds > 0))
		return NAN;
	rate = n / gap->seconds;
	return rate >= 0 && rate <= most ? rate : NAN;
}
