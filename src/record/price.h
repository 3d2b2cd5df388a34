/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/price/: what timing the calls of a site costs, measured in
 * the program.
 *
 * Comes in: calls of scopes. Goes out: the cost of timing a call, a row per
 * site in the ledger. Called by: record/probe, record/governor,
 * record/runtime.
 *
 * The cost of a probe depends on the code around it. Where a processor waits
 * for memory or for a multiplication, a probe costs almost nothing; in code
 * that uses every cycle it costs all its instructions and more. A calibration
 * at the start cannot know which code that is. So the cost is measured in
 * place: for some ten microseconds a thread counts the calls of one site
 * without timing them (a trial), and its time per call is compared with that
 * of the calls before and after, which are timed.
 *
 * A trial takes one call of a hundred at most: the pause after it is a hundred
 * times as long. The site is that of a random call, so sites are chosen as
 * often as they are called, and sites that are called rarely, whose cost does
 * not matter, almost never. Operations and sites whose values are kept are
 * never chosen, since each call has a record, nor are sites that the governor
 * has reduced. There are no trials
 * while events are traced.
 */
#ifndef TR_RECORD_PRICE_H
#define TR_RECORD_PRICE_H

#include <tare/probe.h>

#include "ledger/write.h"

/* In tare_site.reserved[1], above the level: a thread's trial is under way. */
#define TR_SITE_TRIAL 512u
#define TR_SITE_TWICE 1024u /* of the cost of counting */
#define TR_SITE_TRIAL_SHIFT 16u /* the thread's index, plus one */

/*
 * A call of the site of a thread's chosen call path: begins the trial. False:
 * there is none. Signal-safe.
 */
bool tr_trial_begin(struct tr_thread *thread, tare_site *site, uint32_t gate);

/* Does this thread count the calls of the site? */
TR_INLINE bool tr_trial_is_own(const struct tr_thread *thread,
			       const tare_site *site)
{
	return thread->trial.site == site;
}

/* After TR_TRIAL_CALLS counted calls. True: this one is timed again. */
bool tr_trial_check(struct tr_thread *thread, tare_site *site);

/* Counts a call of the trial's site. False: this one is timed again. */
TR_INLINE bool tr_trial_counts(struct tr_thread *thread, tare_site *site)
{
	if (TR_UNLIKELY(--thread->trial.left == 0) &&
	    tr_trial_check(thread, site))
		return false;
	thread->trial.counted++;
	return true;
}

/* A trial whose thread gave it up, or has ended: the site is timed again. */
void tr_trial_drop(tare_site *site, uint64_t state);

/*
 * The cost of a call of the site in this row, which is returned; zeros if it is
 * not known yet. Returns 0 after the last row.
 */
uint32_t tr_price_at(uint32_t row, struct tr_price_figures *ret_figures);

/* With a ledger open; also in a child. */
void tr_price_open(void);

#endif
