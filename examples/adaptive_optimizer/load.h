/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load: what makes the machine busy on purpose, within bounds.
 *
 * It must never exhaust the machine it is shown on:
 * - as many burning threads as CPUs that may be used, at most: others still
 *   get their turns from the scheduler;
 * - of memory a tenth of what is available, and at most 256 MiB. Where it is
 *   not known what is available, none.
 */
#ifndef LOAD_H
#define LOAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_MOST_BURNERS 64
#define LOAD_MOST_BYTES ((uint64_t)256 << 20)
#define LOAD_SHARE 10 /* one part in so many of what is available */

struct burners {
	pthread_t threads[LOAD_MOST_BURNERS];
	unsigned n;
	atomic_bool is_over; /* written by burners_stop() */
};

/* As many as can be had, of one for each CPU. */
void burners_start(struct burners *ret_burners, unsigned cpus);
void burners_stop(struct burners *burners);

/* What ballast_take() may take where so much is available. */
size_t ballast_bound(uint64_t available_bytes);

struct ballast {
	void *memory; /* NULL: none */
	size_t bytes;
};

/*
 * Takes memory and touches every page of it, so that it is resident; looks
 * again first, and takes less where less is left by now.
 */
void ballast_take(struct ballast *ret_ballast, size_t bytes);
void ballast_drop(struct ballast *ballast);

#endif
