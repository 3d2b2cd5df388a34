/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trial: one comparison of calls that are timed with calls that are counted.
 *
 * The thread goes through these states. Its log has TR_RING_INLINE entries, and
 * the states before and after the counted part change at its end, where all
 * entries are in their nodes.
 *
 *	idle      until enough calls have passed
 *	before    the time of calls of a path, all timed
 *	armed     until the next call of the path
 *	counting  the site's calls are counted, for the same time
 *	counted   until the end of the log
 *	after     as before
 *
 * The site is switched by its own call (tare_site.reserved[1]), never by
 * another: a site of a library that was unloaded has no calls.
 */
#include "record/price/price.h"

#include <assert.h>

enum state { IDLE, BEFORE, ARMED, COUNTING, COUNTED, AFTER };

#define PART_S 25e-6	/* of each of the three parts */
#define LONGEST 40	/* parts: longer ones were disturbed */
#define CALLS 32u	/* between two reads of the clock */
#define PAUSE 100u	/* times the counted calls */
#define UNLIKE 0.25	/* before and after differ by more: not comparable */
#define FIRST 2048u	/* entries before the first trial of a thread */

static uint64_t part_ticks(const struct tr_thread *thread)
{
	return (uint64_t)(PART_S / thread->scale);
}

static uint64_t calls_of(const struct tr_thread *thread)
{
	const struct tr_node *node = tr_node_at(thread, thread->trial.path);

	return TR_LOAD(node->calls) + TR_LOAD(node->untimed);
}

static void start_part(struct tr_thread *thread, enum state state)
{
	struct tr_trial *trial = &thread->trial;

	trial->state = state;
	trial->calls = calls_of(thread);
	trial->ticks = tr_counter();
}

/* Entries until the next trial, on average; random, not in step with a loop. */
static void rest(struct tr_thread *thread, uint64_t entries)
{
	struct tr_trial *trial = &thread->trial;
	uint64_t random = (uint64_t)tr_counter() / 16 % 64;

	trial->state = IDLE;
	trial->node = 0;
	trial->wait = entries * (32 + random) / 64 + FIRST;
}

/* A path that a trial may use: that of a random one of the last entries. */
static uint32_t choose(const struct tr_thread *thread)
{
	const struct tr_track *track = thread->own_track;
	uint32_t entries = track->log.bytes / (uint32_t)sizeof(struct tr_entry);
	const struct tr_entry *entry;
	const struct tr_site *site;
	uint32_t what;

	if (!entries)
		return 0;
	entry = (const void *)(thread->base + track->log.off);
	what = TR_LOAD(entry[tr_counter() / 8 % entries].what);
	if (!what || what & TR_ENTRY_FLAGS)
		return 0;
	site = tr_site_at(TR_LOAD(tr_node_at(thread, what)->site));
	return site->kind != TARE_KIND_SCOPE || TR_LOAD(site->level) ||
			       tr_site_is_kept(site) ||
			       site->flags & (TARE_SITE_OPERATION |
					      TR_SITE_STAGES |
					      TR_SITE_INTERNAL |
					      TR_SITE_OVERLAP) ?
		       0 :
		       what;
}

static void start(struct tr_thread *thread)
{
	struct tr_trial *trial = &thread->trial;

	trial->path = choose(thread);
	if (!trial->path || TR_LOAD(tr_ledger->tracing) ||
	    !tr_price_prepare(TR_LOAD(tr_node_at(thread, trial->path)->site))) {
		rest(thread, TR_LOOK_EVENTS);
		return;
	}
	trial->is_twice = !trial->is_twice;
	start_part(thread, BEFORE);
}

/* The next call of the path begins the trial: it is not found by the guess. */
static void arm(struct tr_thread *thread)
{
	struct tr_trial *trial = &thread->trial;
	uint32_t parent = TR_LOAD(tr_node_at(thread, trial->path)->parent);

	start_part(thread, ARMED);
	TR_STORE(tr_node_at(thread, parent)->last, 0);
	trial->node = trial->path;
}

/* Ends a timed part if it is long enough; its ticks per call, else 0. */
static double end_part(struct tr_thread *thread)
{
	const struct tr_trial *trial = &thread->trial;
	uint64_t ticks = tr_counter() - trial->ticks;
	uint64_t calls = calls_of(thread) - trial->calls;

	if (ticks < part_ticks(thread) || calls < CALLS)
		return 0;
	return (double)ticks / (double)calls;
}

static void conclude(struct tr_thread *thread, double after)
{
	const struct tr_trial *trial = &thread->trial;
	double before = trial->before, mean = (before + after) / 2;
	double differ = before > after ? before - after : after - before;
	struct tr_trial_result result = {
		.ticks = (mean - trial->without) / trial->part,
		.untimed = trial->counted,
		.is_usable = differ < UNLIKE * mean,
		.is_counting = trial->is_twice,
	};

	tr_price_add(TR_LOAD(tr_node_at(thread, trial->path)->site), &result);
	rest(thread, (uint64_t)trial->counted * PAUSE);
}

/* A trial that cannot end: its calls were counted all the same. */
static void give_up(struct tr_thread *thread)
{
	struct tr_trial *trial = &thread->trial;
	struct tr_trial_result result = { .untimed = trial->counted };

	trial->site = NULL; /* its next call finds that */
	if (trial->counted)
		tr_price_add(TR_LOAD(tr_node_at(thread, trial->path)->site),
			     &result);
	rest(thread, ((uint64_t)trial->counted + CALLS) * PAUSE);
}

static void turn(struct tr_thread *thread, uint32_t entries)
{
	struct tr_trial *trial = &thread->trial;
	double ticks;

	if (trial->state == IDLE) {
		if (trial->wait > entries) {
			trial->wait -= entries;
			return;
		}
		if (thread->fast)
			start(thread);
	} else if (trial->state == BEFORE || trial->state == AFTER) {
		ticks = end_part(thread);
		if (ticks > 0 && trial->state == AFTER) {
			conclude(thread, ticks);
		} else if (ticks > 0) {
			trial->before = ticks;
			arm(thread);
		}
	} else if (trial->state == COUNTED) {
		start_part(thread, AFTER);
	}
	if (trial->state != IDLE &&
	    tr_counter() - trial->ticks > LONGEST * part_ticks(thread))
		give_up(thread);
	if (trial->state != IDLE)
		thread->check_after = 1; /* at the end of each lap */
	else if (trial->wait < TR_LOOK_EVENTS)
		thread->check_after = (uint32_t)trial->wait;
}

bool tr_trial_begin(struct tr_thread *thread, tare_site *site, uint32_t gate)
{
	struct tr_trial *trial = &thread->trial;
	uint64_t none = 0, own = (uint64_t)(thread->index + 1)
				 << TR_SITE_TRIAL_SHIFT;

	own |= TR_SITE_TRIAL | (trial->is_twice ? TR_SITE_TWICE : 0);
	trial->node = 0;
	if (trial->state != ARMED || TR_LOAD(site->reserved[0]) != gate ||
	    !TR_SWAP(site->reserved[1], &none, own))
		return false;
	trial->counted = 0;
	trial->left = CALLS;
	trial->is_extra = false;
	start_part(thread, COUNTING);
	trial->site = site;
	TR_PUBLISH(site->generation, 0);
	return true;
}

void tr_trial_drop(tare_site *site, uint64_t state)
{
	if (TR_SWAP(site->reserved[1], &state, 0))
		TR_PUBLISH(site->generation, TR_LOAD(site->reserved[0]));
}

bool tr_trial_check(struct tr_thread *thread, tare_site *site)
{
	struct tr_trial *trial = &thread->trial;
	uint64_t ticks = tr_counter() - trial->ticks, calls;

	trial->left = CALLS;
	if (ticks < part_ticks(thread))
		return false;
	calls = calls_of(thread) - trial->calls;
	trial->site = NULL;
	tr_trial_drop(site, TR_LOAD(site->reserved[1]));
	trial->state = COUNTED;
	trial->ticks = tr_counter();
	trial->without = calls ? (double)ticks / (double)calls : 0;
	trial->part = calls ? (double)trial->counted / (double)calls : 0;
	if (trial->part < 0.5 || ticks > LONGEST * part_ticks(thread))
		give_up(thread);
	return true;
}

void tr_price_open(void)
{
	__atomic_store_n(&tr_trial_turn, turn, __ATOMIC_RELAXED);
}
