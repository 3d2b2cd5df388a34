/* SPDX-License-Identifier: Apache-2.0 */
#include "live.h"

#include <time.h>

size_t live_views(struct pool *pool, tare_view *views[POOL_VIEWS])
{
	size_t n = 0;

	pool_refresh(pool);
	for (size_t i = 0; i < pool->n_runs && n < POOL_VIEWS; i++) {
		if (pool->runs[i].state != TARE_RUN_LIVE)
			continue;
		views[n] = pool_view(pool, &pool->runs[i]);
		n += views[n] != NULL;
	}
	return n;
}

int64_t live_now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
