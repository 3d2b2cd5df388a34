/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiled runs of two programs that differ: a few more of each by `tare run`,
 * into a folder of their own. They are no part of the timing.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "difference.h"
#include "message.h"
#include "profiled.h"

/* Waiting is this part of the change: look where threads wait. */
#define WAITS_MUCH 0.25

static void run_both(const struct bench *bench, struct profiled *p,
		     const struct bench_pair *pair, const char *const *options,
		     uint64_t runs)
{
	uint64_t seed = bench->seed;

	for (uint64_t i = 0; i < runs && !trial_interrupted; i++) {
		unsigned first = (unsigned)bench_random(&seed, 2);

		(void)profiled_run(p, first, first ? pair->now : pair->old,
				   options, &bench->how);
		(void)profiled_run(p, !first, first ? pair->old : pair->now,
				   options, &bench->how);
	}
}

/* Does waiting, or threads beside each other, make the change? */
static bool needs_wall(const struct bench_pair *pair)
{
	double time = pair->row[0].now - pair->row[0].old;
	double cpu = pair->row[1].now - pair->row[1].old;

	if (pair->n_rows < 2 || pair->row[0].figure != TRIAL_TIME ||
	    pair->row[1].figure != TRIAL_CPU)
		return false;
	return !pair->old->is_single ||
	       fabs(time - cpu) > WAITS_MUCH * fabs(time);
}

int bench_profile(const struct bench *bench, const struct bench_pair *pair,
		  uint64_t runs, struct difference *d)
{
	struct profiled *p = calloc(1, sizeof(*p));
	struct tr_side side[2];
	int err = p ? profiled_init(p) : TARE_ENOMEM;

	if (err) {
		if (p)
			profiled_release(p);
		free(p);
		return message_error("profile", pair->now->name, err);
	}
	run_both(bench, p, pair, profiled_by_cpu, runs);
	if (needs_wall(pair))
		run_both(bench, p, pair, profiled_by_wall, runs);
	run_both(bench, p, pair, profiled_by_alloc, 1);
	for (unsigned s = 0; s < 2; s++) {
		profiled_open(p, s);
		side[s] = (struct tr_side){ p->views[s], p->n[s], 0 };
	}
	err = difference_find(d, &side[0], &side[1]);
	profiled_release(p);
	free(p);
	return err ? message_error("profile", pair->now->name, err) : CODE_OK;
}
