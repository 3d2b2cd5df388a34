/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load: makes the machine busy on purpose, within limits.
 *
 * It must never exhaust the machine it runs on:
 * - at most as many burning threads as usable CPUs: the scheduler still gives
 *   other processes their turns;
 * - a tenth of the available memory, at most 256 MiB. If the available memory
 *   is unknown, none.
 */
#ifndef LOAD_H
#define LOAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_MOST_BURNERS 64
#define LOAD_MOST_BYTES ((uint64_t)256 << 20)
#define LOAD_SHARE 10 /* divisor of the available memory */

struct burners {
	pthread_t threads[LOAD_MOST_BURNERS];
	unsigned n;
	atomic_bool is_over; /* written by burners_stop() */
};

/* One thread per CPU, or as many as can be started. */
void burners_start(struct burners *ret_burners, unsigned cpus);
void burners_stop(struct burners *burners);

/* The most that ballast_take() may take with this much available. */
size_t ballast_bound(uint64_t available_bytes);

struct ballast {
	void *memory; /* NULL: none */
	size_t bytes;
};

/*
 * Takes memory and touches every page of it, so that it is resident; checks
 * again first, and takes less if less is available.
 */
void ballast_take(struct ballast *ret_ballast, size_t bytes);
void ballast_drop(struct ballast *ballast);

#endif
