/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of a process: samples come more often, so that a program of 10 ms
 * has more than two. A sample's weight is the time since the one before, so
 * sums stay right.
 *
 * Timers on CPU time fire on the kernel's tick only. Perf events are exact, and
 * send nothing to a thread that waits, unlike timers on real time. The first
 * thread has both: the timer at its usual period takes over if the host closes
 * the event's descriptor, and remains when the start is over.
 *
 * The first sample opens the ledger, so its period is long. Opening an event
 * takes 70 us, a quarter of what a process that ends at once costs otherwise:
 * so only the process that `tare run` starts has this, not those of a build.
 *
 * Only if the kernel's part may be counted, too: else the time of system calls
 * would be added to the code after them.
 */
#include "record/sampler/sampler.h"

#define TR_EARLY_NS 60000000u	   /* weight of samples until it is over */
#define TR_EARLY_FIRST_NS 2000000u /* of the first sample */
#define TR_EARLY_MOST 512u	   /* signals, if no samples can be taken */

uint64_t tr_sample_early_choose(const struct tr_config *config)
{
	double rate = config->sample_early_rate;

	if (!tr_sampling.has_early || config->profile_region ||
	    tr_sampler->clock != TR_SAMPLING_CPU ||
	    rate <= config->sample_rate || !tr_sample_clock_has_queue())
		return 0;
	return (uint64_t)(1e9 / rate);
}

/* The full rate for the first third, then half of it. */
uint64_t tr_sample_early_ns(void)
{
	uint64_t taken = TR_LOAD(tr_sampler->taken_ns);
	uint64_t period = tr_sampler->early_ns;

	if (!period || taken >= TR_EARLY_NS ||
	    TR_LOAD(tr_sampler->early) >= TR_EARLY_MOST)
		return 0;
	if (!taken && period < TR_EARLY_FIRST_NS)
		period = TR_EARLY_FIRST_NS;
	else if (taken >= TR_EARLY_NS / 3)
		period *= 2;
	return period < tr_sampler->period_ns ? period : tr_sampler->period_ns;
}

void tr_sample_early_count(void)
{
	(void)TR_ADD(tr_sampler->early, 1);
}

void tr_sample_early_end(void)
{
	if (!tr_sampler->early_ns || tr_sample_early_ns() ||
	    __atomic_exchange_n(&tr_sampler->early_over, 1, __ATOMIC_RELAXED))
		return;
	for (uint32_t i = 0; i < tr_sampler->size &&
			     TR_LOAD(tr_sampler->events); i++)
		tr_sample_clock_close_event(&tr_sampler->followed[i]);
}
