/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actions: what the governor did, for the history, the host's log and tests.
 * Noted in a probe, told from a thread.
 */
#ifndef TR_RECORD_GOVERNOR_ACTIONS_H
#define TR_RECORD_GOVERNOR_ACTIONS_H

#include <stdint.h>

#include "record/governor.h"

/* What was seen, and what may be: the reason why it was done. */
struct tr_reason {
	double share, limit; /* of the CPU time */
};

/* Site 0: all of them, on or (TR_GOVERNED_OFF) off. */
void tr_action_note(uint32_t site, uint8_t level, struct tr_reason why);
/* Outside of probes. */
void tr_actions_tell(tr_governor_tell tell);

#endif
