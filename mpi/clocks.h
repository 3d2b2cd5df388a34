/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks: how far a rank's wall clock is ahead of rank 0's.
 *
 * A rank asks rank 0 for the time: rank 0's clock was read between the question
 * and the answer. The exchange with the shortest round trip is the most
 * precise: the offset is taken at its middle, with an error of at most half the
 * round trip. Processes under the same kernel have the same clock.
 */
#ifndef MPI_CLOCKS_H
#define MPI_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct clocks {
	double offset_ns; /* this clock minus rank 0's */
	double error_ns;  /* half of the shortest round trip */
	bool is_known;
};

/* One exchange: asked and answered are read here, `there` by rank 0. */
void clocks_add(struct clocks *clocks, int64_t asked_ns, int64_t there_ns,
		int64_t answered_ns);

/*
 * Combines the offsets at both ends of a run: their middle. Clocks drift, so
 * half of the difference is added to the error.
 */
struct clocks clocks_between(const struct clocks *begin,
			     const struct clocks *end);

#endif
