/* SPDX-License-Identifier: Apache-2.0 */
/* Live: what a timer looks at, where no request says which runs. */
#ifndef SERVER_LIVE_H
#define SERVER_LIVE_H

#include "pool.h"

/* The views of all live runs, as fresh as the pool has them. */
size_t live_views(struct pool *pool, tare_view *views[POOL_VIEWS]);
/* ns since 1970 */
int64_t live_now_ns(void);

#endif
