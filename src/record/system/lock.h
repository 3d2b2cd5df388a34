/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock: one reader at a time, for the texts and the former readings.
 *
 * Rates are differences from the previous reading, so readings must not
 * overtake each other. A reading takes about 60 us; a waiting thread sleeps.
 */
#ifndef TR_RECORD_SYSTEM_LOCK_H
#define TR_RECORD_SYSTEM_LOCK_H

#include <tare/api.h>

struct tr_lock {
	int error;  /* the host's errno */
	int cancel; /* the host's cancellation state */
};

/* False: not available within a second. Leave only if true. */
bool tr_lock_enter(struct tr_lock *lock);
void tr_lock_leave(struct tr_lock *lock);

#endif
