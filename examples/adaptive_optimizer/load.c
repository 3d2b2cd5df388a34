/* SPDX-License-Identifier: Apache-2.0 */
#include "load.h"

#include <sys/mman.h>

#include <tare/tare.h>

#include "conditions.h"

#define PAGE_BYTES 4096 /* the smallest page size: touches every page */

/* ---- CPUs -------------------------------------------------------------- */

static void *burner_main(void *arg)
{
	struct burners *burners = arg;
	volatile uint64_t turns = 0;

	TARE_SCOPE("burn");
	/* Relaxed: only the flag is passed. */
	while (!atomic_load_explicit(&burners->is_over, memory_order_relaxed))
		turns = turns + 1;
	return NULL;
}

void burners_start(struct burners *ret_burners, unsigned cpus)
{
	unsigned most = cpus < LOAD_MOST_BURNERS ? cpus : LOAD_MOST_BURNERS;

	ret_burners->n = 0;
	atomic_init(&ret_burners->is_over, false);
	while (ret_burners->n < most &&
	       pthread_create(&ret_burners->threads[ret_burners->n], NULL,
			      burner_main, ret_burners) == 0)
		ret_burners->n++;
	TARE_GAUGE("load.burners", "threads", ret_burners->n);
}

void burners_stop(struct burners *burners)
{
	atomic_store_explicit(&burners->is_over, true, memory_order_relaxed);
	for (unsigned i = 0; i < burners->n; i++)
		(void)pthread_join(burners->threads[i], NULL);
	burners->n = 0;
	TARE_GAUGE("load.burners", "threads", 0);
}

/* ---- memory ------------------------------------------------------------ */

size_t ballast_bound(uint64_t available_bytes)
{
	uint64_t bytes = available_bytes / LOAD_SHARE;

	return (size_t)(bytes < LOAD_MOST_BYTES ? bytes : LOAD_MOST_BYTES);
}

/* mmap() instead of malloc(): freed memory leaves the process at once. */
void ballast_take(struct ballast *ret_ballast, size_t bytes)
{
	size_t bound = ballast_bound(conditions_available());
	volatile char *touched;
	void *memory;

	TARE_SCOPE("ballast");
	*ret_ballast = (struct ballast){ NULL, 0 };
	bytes = bytes < bound ? bytes : bound;
	if (!bytes)
		return;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	touched = memory;
	for (size_t i = 0; i < bytes; i += PAGE_BYTES)
		touched[i] = 1;
	*ret_ballast = (struct ballast){ memory, bytes };
	TARE_GAUGE("load.ballast", "B", (double)bytes);
}

void ballast_drop(struct ballast *ballast)
{
	if (ballast->memory)
		(void)munmap(ballast->memory, ballast->bytes);
	*ballast = (struct ballast){ NULL, 0 };
	TARE_GAUGE("load.ballast", "B", 0);
}
