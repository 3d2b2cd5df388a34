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
 * Counting is not free either. So every second trial counts without a frame
 * (`light`): its calls are not on the stack of open scopes, and probe.h counts
 * them inline, without calling the library. As soon as such a call needs its
 * frame, for a scope inside it, an attribute or a failure, it gets one (is
 * promoted).
 *
 * A trial takes one call of a hundred at most: the pause after it is a hundred
 * times as long. The site is that of a random call, so sites are chosen as
 * often as they are called, and sites that are called rarely, whose cost does
 * not matter, almost never. Operations, sites whose calls have attributes and
 * sites whose values are kept are never chosen, since each call has a record,
 * nor are sites that the governor has reduced. There are no trials while events
 * are traced.
 */
#ifndef TR_RECORD_PRICE_H
#define TR_RECORD_PRICE_H

#include <tare/probe.h>

#include "ledger/write.h"

/* In tare_site.reserved[1], above the level: a thread's trial is under way. */
#define TR_SITE_TRIAL 512u
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
	return TR_LOAD(thread->trial.site) == site;
}

/* After TR_TRIAL_CALLS counted calls. True: this one is timed again. */
bool tr_trial_check(struct tr_thread *thread, tare_site *site);

/* Counts a call of the trial's site. False: this one is timed again. */
TR_INLINE bool tr_trial_counts(struct tr_thread *thread, tare_site *site)
{
	if (TR_UNLIKELY(--thread->self.light.left == 0) &&
	    tr_trial_check(thread, site))
		return false;
	thread->self.light.counted++;
	return true;
}

TR_INLINE bool tr_trial_is_light(const void *handle)
{
	return handle && TARE_IS_LIGHT_(handle);
}

/*
 * Begins a call without a frame, where the program did not: its first one, and
 * those of programs with an older probe.h. NULL: this one needs a frame.
 */
TR_INLINE void *tr_trial_light_begin(struct tr_thread *thread,
				     const tare_site *site)
{
	struct tare_light_ *light = &thread->self.light;

	if (TR_LOAD(light->site) != site || TR_LOAD(light->is_inside) ||
	    TR_LOAD(*light->current) != light->parent)
		return NULL;
	thread->trial.called++;
	/* As tare_light_begin_(), which uses another variable of the thread. */
	TR_STORE(light->is_inside, true);
	TR_FENCE();
	TR_STORE(*light->last, light->path);
	return TARE_LIGHT_;
}

/*
 * Ends a call that the program did not end itself: the last one of a trial, and
 * one that got a frame, whose handle is returned, to be ended.
 */
void *tr_trial_light_end(struct tr_thread *thread);

/*
 * The site is marked as in a trial: if the trial's thread gave it up, or has
 * ended, its calls are timed again.
 */
void tr_trial_drop_ended(tare_site *site, uint64_t mark);

/*
 * The cost of a call of the site in this row, which is returned; zeros if it is
 * not known yet, or is being changed. Returns 0 after the last row.
 */
uint32_t tr_price_at(uint32_t row, struct tr_price_figures *ret_figures);

/* An estimate of calls that were not counted, for tr_site.missed. */
struct tr_missed {
	double low, high; /* for the least and the highest cost of counting */
	double variance;
};
/* Adds to the site's row; without room for a row, to none. One thread. */
void tr_price_missed(uint32_t site, const struct tr_missed *missed);

/* With a ledger open; also in a child. `on`: make trials. */
void tr_price_open(bool on);

#endif
