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
 * Where much code runs between two calls, the processor needs time to get used
 * to the program without the probes: its caches and the prediction of branches
 * hold the library's code, too. In Lua, trials of 25 us found two thirds of the
 * cost that longer ones find. So the parts after a switch begin later there
 * (`settle`), and are longer.
 *
 * The site is switched by its own call (tare_site.reserved[1]), never by
 * another: a site of a library that was unloaded has no calls.
 */
#include "record/price/price.h"

#include <assert.h>

enum state { IDLE, BEFORE, ARMED, COUNTING, COUNTED, AFTER };

#define PART_S 25e-6	/* of each of the three parts */
#define LARGE_S 64e-9	/* a call: more code than a small loop */
#define LARGE_PART_S 60e-6
#define LARGE_SETTLE_S 100e-6
#define LONGEST 40	/* parts: longer ones were disturbed */
#define CALLS 32u	/* between two reads of the clock */
#define CALLS_MOST 65536u /* counted inline in one trial */
#define PAUSE 100u	/* times the counted calls */
#define FRAMES_LEAST 64u /* light calls per call that needs a frame */
#define UNLIKE 0.25	/* before and after differ by more: not comparable */
#define FIRST 2048u	/* entries before the first trial of a thread */

static bool is_large(const struct tr_thread *thread, double ticks_per_call)
{
	return ticks_per_call * thread->scale >= LARGE_S;
}

static uint64_t part_ticks(const struct tr_thread *thread,
			   double ticks_per_call)
{
	double s = is_large(thread, ticks_per_call) ? LARGE_PART_S : PART_S;

	return (uint64_t)(s / thread->scale);
}

/* Of the trial, whose first part is over. */
static uint64_t settle_ticks(const struct tr_thread *thread)
{
	return is_large(thread, thread->trial.before) ?
		       (uint64_t)(LARGE_SETTLE_S / thread->scale) :
		       0;
}

static bool is_too_long(const struct tr_thread *thread)
{
	double most = LONGEST * LARGE_PART_S;

	return (double)(tr_counter() - thread->trial.ticks) * thread->scale >
	       most;
}

static uint64_t calls_at(const struct tr_thread *thread, uint32_t path)
{
	const struct tr_node *node = tr_node_at(thread, path);

	return TR_LOAD(node->calls) + TR_LOAD(node->untimed);
}

static void start_part(struct tr_thread *thread, enum state state)
{
	struct tr_trial *trial = &thread->trial;

	trial->state = state;
	trial->calls = calls_at(thread, thread->trial.path);
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
			       TR_LOAD(site->flags) &
				       (TARE_SITE_OPERATION | TR_SITE_STAGES |
					TR_SITE_INTERNAL | TR_SITE_NOTED |
					TR_SITE_OVERLAP) ?
		       0 :
		       what;
}

/*
 * Scopes or functions are called in it never or rarely, as by a recursion: few
 * calls need a frame.
 */
static bool is_leaf(const struct tr_thread *thread, uint32_t path)
{
	uint32_t last = TR_LOAD(tr_node_at(thread, path)->last);

	return !thread->self.light.promoted &&
	       (!last || calls_at(thread, last) * FRAMES_LEAST <
				 calls_at(thread, path));
}

/* In turn, of a leaf. */
static uint8_t next_kind(const struct tr_thread *thread)
{
	return is_leaf(thread, thread->trial.path) ?
		       (thread->trial.kind + 1) % (TR_TRIAL_TWICE + 1) :
		       TR_TRIAL_COUNTED;
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
	trial->kind = next_kind(thread);
	trial->is_light = trial->kind != TR_TRIAL_COUNTED;
	trial->is_spoilt = false;
	trial->promotions = trial->called = 0;
	trial->is_lost = false;
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
	uint64_t calls = calls_at(thread, thread->trial.path) - trial->calls;

	if (calls < CALLS ||
	    ticks < part_ticks(thread, (double)ticks / (double)calls))
		return 0;
	return (double)ticks / (double)calls;
}

/* An older probe.h does not do the work twice: it calls the library. */
static bool is_by_library(const struct tr_trial *trial, uint32_t counted)
{
	return trial->kind == TR_TRIAL_TWICE &&
	       trial->called * FRAMES_LEAST > counted;
}

static void conclude(struct tr_thread *thread, double after)
{
	const struct tr_trial *trial = &thread->trial;
	double before = trial->before, mean = (before + after) / 2;
	double differ = before > after ? before - after : after - before;
	uint32_t counted = thread->self.light.counted;
	struct tr_trial_result result = {
		.ticks = (mean - trial->without) / trial->part,
		.untimed = counted,
		.is_usable = differ < UNLIKE * mean && !trial->is_spoilt &&
			     trial->promotions * FRAMES_LEAST <= counted &&
			     !is_by_library(trial, counted),
		.kind = trial->kind,
	};

	tr_price_add(TR_LOAD(tr_node_at(thread, trial->path)->site), &result);
	rest(thread, (uint64_t)counted * PAUSE);
}

/* A trial that cannot end: its calls were counted all the same. Not in one. */
static void give_up(struct tr_thread *thread)
{
	struct tr_trial *trial = &thread->trial;
	uint32_t counted = thread->self.light.counted;
	struct tr_trial_result result = { .untimed = counted };

	TR_STORE(trial->site, NULL); /* its next call finds that */
	TR_STORE(thread->self.light.site, NULL);
	if (counted)
		tr_price_add(TR_LOAD(tr_node_at(thread, trial->path)->site),
			     &result);
	rest(thread, ((uint64_t)counted + CALLS) * PAUSE);
}

/* The open call has no end, it seems, after longjmp(): counts it. */
static void lose(struct tr_thread *thread)
{
	struct tare_light_ *light = &thread->self.light;
	struct tr_losses *lost = &thread->own_track->lost;

	TR_STORE(light->site, NULL);
	thread->trial.is_spoilt = true;
	TR_STORE(light->is_inside, false);
	tare_slot_add_(&tr_node_at(thread, light->path)->untimed, 1);
	TR_STORE(lost->repairs, lost->repairs + 1);
	thread->trial.is_lost = true;
}

/* It was only slow: on a busy machine, with a handler's scopes inside. */
static void find_again(struct tr_thread *thread)
{
	struct tr_losses *lost = &thread->own_track->lost;

	thread->trial.is_lost = false;
	TR_STORE(lost->repairs, lost->repairs - 1);
}

static void turn(struct tr_thread *thread, uint32_t entries)
{
	const struct tare_light_ *light = &thread->self.light;
	struct tr_trial *trial = &thread->trial;
	double ticks;

	if (light->is_inside && is_too_long(thread))
		lose(thread);
	if (light->is_inside) {
		thread->check_after = 1;
		return;
	}
	if (trial->state == IDLE) {
		if (!trial->wait) /* a new thread: a pause is never 0 */
			trial->wait = FIRST;
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
	} else if (trial->state == COUNTED &&
		   tr_counter() - trial->ticks >= settle_ticks(thread)) {
		start_part(thread, AFTER);
	}
	if (trial->state != IDLE && is_too_long(thread))
		give_up(thread);
	if (trial->state != IDLE)
		thread->check_after = 1; /* at the end of each lap */
	else if (trial->wait < TR_LOOK_EVENTS)
		thread->check_after = (uint32_t)trial->wait;
}

/*
 * Calls until the clock is read. The program counts light calls itself: as many
 * as fit into the time, and some more, since they are faster.
 */
static uint32_t calls_to_come(const struct tr_thread *thread)
{
	const struct tr_trial *trial = &thread->trial;
	uint64_t ticks = trial->is_settled ?
				 part_ticks(thread, trial->before) :
				 settle_ticks(thread);
	double calls = 1.25 * (double)ticks / trial->before;

	if (!trial->is_light || calls < CALLS)
		calls = CALLS;
	if (calls > CALLS_MOST)
		calls = CALLS_MOST;
	/* Each half of the work counts one down. */
	return (uint32_t)calls << (trial->kind == TR_TRIAL_TWICE);
}

static void start_light(struct tr_thread *thread, tare_site *site)
{
	const struct tr_trial *trial = &thread->trial;
	struct tare_light_ *light = &thread->self.light;
	struct tr_node *node = tr_node_at(thread, trial->path);

	light->parent = TR_LOAD(node->parent);
	light->path = trial->path;
	light->ready = (void *const *)&thread->track;
	light->current = &thread->own_track->current;
	light->last = &tr_node_at(thread, light->parent)->last;
	light->calls = &node->untimed;
	TR_FENCE();
	TR_STORE(light->site, site);
	TR_STORE(site->slot, trial->kind == TR_TRIAL_TWICE ? TARE_SLOT_TWICE_ :
							     TARE_SLOT_LIGHT_);
}

/* Of a site in a trial of this thread, in tare_site.reserved[1]. */
static uint64_t mark_of(const struct tr_thread *thread)
{
	return (uint64_t)(thread->index + 1) << TR_SITE_TRIAL_SHIFT |
	       TR_SITE_TRIAL;
}

/*
 * Marks the site. `trial.site` comes first: a thread that finds the mark, and
 * its thread not at it, removes the mark. Such a mark is also left where a
 * trial begins just as another thread ends its own and opens the gate: no call
 * of the site finds it then.
 */
static bool mark(struct tr_thread *thread, tare_site *site)
{
	uint64_t found = 0;

	TR_STORE(thread->trial.site, site);
	if (TR_SWAP(site->reserved[1], &found, mark_of(thread)))
		return true;
	TR_STORE(thread->trial.site, NULL);
	if (found & TR_SITE_TRIAL)
		tr_trial_drop_ended(site, found);
	return false;
}

bool tr_trial_begin(struct tr_thread *thread, tare_site *site, uint32_t gate)
{
	struct tr_trial *trial = &thread->trial;

	trial->node = 0;
	if (trial->state != ARMED || TR_LOAD(site->reserved[0]) != gate ||
	    !mark(thread, site))
		return false;
	thread->self.light.counted = 0;
	trial->counted_before = 0;
	trial->is_settled = !settle_ticks(thread);
	thread->self.light.left = calls_to_come(thread);
	start_part(thread, COUNTING);
	if (trial->is_light)
		start_light(thread, site);
	TR_PUBLISH(site->generation, 0);
	return true;
}

/* No other value than this mark: the governor may have stored a level. */
static void unmark(tare_site *site, uint64_t mark)
{
	TR_STORE(site->slot, 0);
	if (TR_SWAP(site->reserved[1], &mark, 0))
		TR_PUBLISH(site->generation, TR_LOAD(site->reserved[0]));
}

void tr_trial_drop_ended(tare_site *site, uint64_t mark)
{
	uint32_t owner = (uint32_t)(mark >> TR_SITE_TRIAL_SHIFT) - 1;

	if (owner >= tr_max_threads ||
	    !tr_trial_is_own(&tr_threads[owner], site))
		unmark(site, mark);
}

/* From here on the time counts. */
static void settle(struct tr_thread *thread)
{
	struct tr_trial *trial = &thread->trial;

	trial->is_settled = true;
	trial->counted_before = thread->self.light.counted;
	thread->self.light.left = calls_to_come(thread);
	start_part(thread, COUNTING);
}

bool tr_trial_check(struct tr_thread *thread, tare_site *site)
{
	struct tr_trial *trial = &thread->trial;
	struct tare_light_ *light = &thread->self.light;
	uint64_t ticks = tr_counter() - trial->ticks, calls;
	uint64_t wanted = part_ticks(thread, trial->before);

	light->left = CALLS;
	if (!trial->is_settled) {
		if (ticks >= settle_ticks(thread))
			settle(thread);
		return false;
	}
	if (ticks < (trial->is_light ? wanted / 2 : wanted))
		return false;
	calls = calls_at(thread, trial->path) - trial->calls;
	TR_STORE(trial->site, NULL);
	TR_STORE(light->site, NULL);
	unmark(site, mark_of(thread));
	trial->state = COUNTED;
	trial->ticks = tr_counter();
	trial->without = calls ? (double)ticks / (double)calls : 0;
	trial->part = calls ? (double)(light->counted - trial->counted_before) /
				      (double)calls :
			      0;
	if (trial->part < 0.5 || ticks > LONGEST * wanted)
		give_up(thread);
	return true;
}

void *tr_trial_light_end(struct tr_thread *thread)
{
	struct tare_light_ *light = &thread->self.light;
	bool was_inside = TR_LOAD(light->is_inside);
	tare_site *site = TR_LOAD(light->site);
	void *promoted;

	/* From here on no signal handler can give it a frame. */
	TR_STORE(light->is_inside, false);
	TR_FENCE();
	promoted = TR_LOAD(light->promoted);
	if (promoted || !was_inside) {
		TR_STORE(light->promoted, NULL);
		if (!promoted && thread->trial.is_lost)
			find_again(thread);
		if (promoted && thread->trial.is_light)
			TR_STORE(light->site, thread->trial.site);
		return promoted;
	}
	tare_slot_add_(light->calls, 1);
	light->counted++;
	if (light->left > 1)
		light->left--;
	else if (site)
		(void)tr_trial_check(thread, site);
	return NULL;
}

void tr_price_open(bool on)
{
	__atomic_store_n(&tr_trial_turn, on ? turn : NULL, __ATOMIC_RELAXED);
}
