/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock: one reader at a time, for the texts and the former readings.
 *
 * Rates are differences to the reading before, so readings must not overtake
 * each other. A reading takes some 60 us; a waiting thread sleeps meanwhile.
 */
#ifndef TR_RECORD_SYSTEM_LOCK_H
#define TR_RECORD_SYSTEM_LOCK_H

#include <tare/api.h>

struct tr_lock {
	int error;  /* the host's errno */
	int cancel; /* the host's state of cancellation */
};

/* False: it was not to be had within a second. Leave only if true. */
bool tr_lock_enter(struct tr_lock *lock);
void tr_lock_leave(struct tr_lock *lock);

#endif
