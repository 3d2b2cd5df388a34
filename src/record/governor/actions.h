/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actions: what the governor did, for records, the host's log and tests.
 * Stored in a probe, reported from a thread.
 */
#ifndef TR_RECORD_GOVERNOR_ACTIONS_H
#define TR_RECORD_GOVERNOR_ACTIONS_H

#include <stdint.h>

#include "record/governor.h"

/* The reason for an action: the measured share and the limit. */
struct tr_reason {
	double share, limit; /* of the CPU time */
};

/* Stores an action. Site 0: all sites, on or (TR_GOVERNED_OFF) off. */
void tr_action_note(uint32_t site, uint8_t level, struct tr_reason why);
/* Reports the stored actions. Outside of probes. */
void tr_actions_tell(tr_governor_tell tell);

#endif
