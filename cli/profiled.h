/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiled: runs of programs by `tare run` into a temporary folder, for
 * `tare bench` and `tare check`. The folder is removed at the end.
 */
#ifndef CLI_PROFILED_H
#define CLI_PROFILED_H

#include "bench.h"

#define PROFILED_SIDES 2u
#define PROFILED_VIEWS 512u

struct profiled {
	char root[512];
	char side[PROFILED_SIDES][540];
	tare_view *views[PROFILED_SIDES][PROFILED_VIEWS];
	size_t n[PROFILED_SIDES];
};

/* Options of a profiled run; end with NULL. */
extern const char *const profiled_by_cpu[], *const profiled_by_wall[],
	*const profiled_by_alloc[];

/* 0 or an errno; release in any case. */
int profiled_init(struct profiled *p);
/* One run of a case for a side. False: it failed. */
bool profiled_run(struct profiled *p, unsigned side,
		  const struct bench_case *c, const char *const *options,
		  const struct trial_how *how);
/* Opens the runs of a side. */
void profiled_open(struct profiled *p, unsigned side);
void profiled_release(struct profiled *p);

#endif
