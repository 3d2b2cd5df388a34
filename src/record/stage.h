/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/stage/: implementation of wrapped stages and queues. Stages
 * by macro are scopes and counters, and do not use this room.
 *
 * Comes in: the calls of <tare/stage.h>. Goes out: series of a pipeline.
 * Called by: programs.
 */
#ifndef TR_RECORD_STAGE_H
#define TR_RECORD_STAGE_H

#include <tare/stage.h>

#include "record/probe.h"

/* Template for a series of a stage or of a queue: a series of times. */
tare_site tr_stage_site(const char *pipeline, const char *name,
			uint16_t flags);
/* Present time on the clock of the ledger that events go to; 0: no ledger. */
uint64_t tr_stage_ticks(void);
/* Records a time from `from` to `to` outside the call tree's scopes. */
void tr_stage_overlap(tare_site *site, uint64_t from, uint64_t to);
/* The series `name``suffix` of a stage; never NULL. */
tare_site *tr_stage_series(const tare_site *like, const char *suffix);

#endif
