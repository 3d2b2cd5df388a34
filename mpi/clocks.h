/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks: how far a rank's wall clock is ahead of rank 0's.
 *
 * A rank asks rank 0 for the time and gets an answer: rank 0's clock was read
 * between the question and the answer. The exchange with the least round trip
 * tells most: the offset is the middle, and it is wrong by half of that round
 * trip at most. Processes that the same kernel runs have the same clock.
 */
#ifndef MPI_CLOCKS_H
#define MPI_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct clocks {
	double offset_ns; /* this clock less rank 0's */
	double error_ns;  /* half of the least round trip */
	bool is_known;
};

/* One exchange: asked and answered here, `there` read by rank 0. */
void clocks_add(struct clocks *clocks, int64_t asked_ns, int64_t there_ns,
		int64_t answered_ns);

/*
 * Both ends of a run as one: the middle. Clocks drift, so half of the
 * difference is added to the error.
 */
struct clocks clocks_between(const struct clocks *begin,
			     const struct clocks *end);

#endif
