/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: counted and timed at every call, by any thread, without a lock. Rare
 * work (a line, a reading of memory) is done by the thread that gets the lock;
 * the others continue.
 *
 * The time of a step is from one end to the next, of any thread. It overlaps
 * the scopes in it, so it is outside the call tree: its path begins at the
 * root.
 */
#include "record/step/pace.h"
#include "record/step/schedule.h"

#include <errno.h>
#include <sched.h>

struct tr_step_options tr_step_options = { 10, 0, 50, 1, 0, 1000, 0, 1, 3, 0 };
/* Time between checks for work that is due by time: options may change. */
#define STEP_LOOK_NS 20000000u

bool (*tr_step_is_read)(void);
static tr_step_log step_log;

/* Follows the general switches: times of steps may be off. */
static tare_site steps_site =
	TARE_SITE_INIT_(steps_site, TARE_KIND_COUNTER, TARE_TYPE_COUNTER, 0,
			"steps", NULL, "step");
static tare_site step_site =
	TARE_SITE_INIT_(step_site, TARE_KIND_SCOPE, TARE_TYPE_TIME,
			TR_SITE_OVERLAP, "step", NULL, "step");
static tare_site pace_site =
	TARE_SITE_INIT_(pace_site, TARE_KIND_GAUGE, TARE_TYPE_THROUGHPUT, 0,
			"step.throughput", "items/s", "step");

/* State of this process; a child starts from zero. */
static struct {
	uint32_t pid;	/* 0: empty. Written with the lock */
	uint32_t lock;	/* 0, or the process whose thread holds it */
	uint64_t steps, items; /* items of timed steps */
	uint64_t last;	/* ticks at the end of the last step; 0: none */
	uint64_t due_step, due; /* work is due at this step, at this time */
	/* Written by the holder of the lock. */
	uint64_t line_steps, line_items, line_ticks;
	uint32_t n_durations; /* since the last line */
	float duration[TR_DURATIONS];
} state;

void tr_step_set_log(tr_step_log log)
{
	__atomic_store_n(&step_log, log, __ATOMIC_RELEASE);
}

void tr_step_message(enum tare_level level, const char *text)
{
	tr_step_log log = __atomic_load_n(&step_log, __ATOMIC_ACQUIRE);

	if (log)
		log(level, text);
}

/* ---- state -------------------------------------------------------------- */

/* With the lock. */
static void reset(uint32_t pid)
{
	TR_STORE(state.steps, 0);
	TR_STORE(state.items, 0);
	TR_STORE(state.last, 0);
	TR_STORE(state.n_durations, 0);
	TR_STORE(state.due_step, 1);
	TR_STORE(state.due, 0);
	state.line_steps = state.line_items = 0;
	state.line_ticks = tr_ledger_ticks();
	tr_watch_reset();
	tr_pace_line_reset();
	tr_components_reset();
	tr_schedule_reset();
	TR_PUBLISH(state.pid, pid);
}

/* The first step in this process resets the state. */
static void ready_state(void)
{
	uint32_t pid = tr_ledger->pid;

	if (TR_LIKELY(TR_ACQUIRE(state.pid) == pid))
		return;
	tr_process_lock(&state.lock);
	if (TR_LOAD(state.pid) != pid)
		reset(pid);
	tr_process_unlock(&state.lock);
}

/* ---- every step -------------------------------------------------------- */

/* Writes the step into the ledger. The very first step has no begin. */
static void record(struct tr_thread *thread, tare_site *site, uint64_t from,
		   uint64_t now, uint64_t items)
{
	uint32_t node;

	if (!tr_thread_enter(thread)) {
		(void)TR_ADD(tr_ledger->header->lost.busy, 1);
		return;
	}
	node = tr_tree_child(thread, thread->own_track->root,
			     TR_LOAD(site->id));
	if (!node)
		tr_scope_overflow(thread);
	else if (!from)
		tr_log_append(thread, 1, 0, node | TR_ENTRY_UNTIMED);
	else
		tr_scope_append(thread, node, from, now > from ? now - from : 0,
				0);
	if (node && items && TR_LOAD(tr_probe_items))
		tr_log_append(thread, items, 0, node | TR_ENTRY_ITEMS);
	tr_thread_leave(thread);
}

static void keep_duration(uint64_t from, uint64_t now)
{
	uint32_t n = TR_ADD(state.n_durations, 1);
	float seconds = now > from ? (float)((double)(now - from) *
					     tr_ledger->sec_per_tick) :
				     0;

	__atomic_store(&state.duration[n % TR_DURATIONS], &seconds,
		       __ATOMIC_RELAXED);
}

/* ---- now and then ------------------------------------------------------ */

/* Rounded down: an early check only finds nothing due. */
static uint64_t step_ticks(uint64_t ns)
{
	return (uint64_t)((double)ns * 1e-9 / tr_ledger->sec_per_tick);
}

static bool is_line_due(uint64_t steps, uint64_t now)
{
	uint64_t ns = TR_LOAD(tr_step_options.line_ns);
	uint64_t every = TR_LOAD(tr_step_options.line_steps);
	double seconds = (double)(now - state.line_ticks) *
			 tr_ledger->sec_per_tick;

	if (ns && seconds * 1e9 >= (double)ns)
		return true;
	return every && steps / every != state.line_steps / every;
}

static void write_line(uint64_t steps, uint64_t now)
{
	uint64_t items = TR_LOAD(state.items);
	float duration[TR_DURATIONS];
	bool is_told;
	uint32_t n = __atomic_exchange_n(&state.n_durations, 0,
					 __ATOMIC_RELAXED);
	struct tr_pace pace = {
		.steps = steps,
		.items = items,
		.ticks = now,
		.duration = duration,
		.n_durations = n < TR_DURATIONS ? n : TR_DURATIONS,
		.seconds = (double)(now - state.line_ticks) *
			   tr_ledger->sec_per_tick,
		.steps_since = steps - state.line_steps,
		.items_since = items - state.line_items,
	};

	for (unsigned i = 0; i < pace.n_durations; i++)
		__atomic_load(&state.duration[i], &duration[i],
			      __ATOMIC_RELAXED);
	if (pace.items_since && pace.seconds > 0)
		tare_gauge_set(&pace_site,
			       (double)pace.items_since / pace.seconds);
	is_told = TR_LOAD(step_log) && (!tr_step_is_read || tr_step_is_read());
	if (is_told)
		tr_pace_line(&pace);
	tr_components_line(&pace, is_told);
	state.line_steps = steps;
	state.line_items = items;
	state.line_ticks = now;
}

/* The next step at which a line may be due, independent of time. */
static uint64_t next_line(uint64_t steps)
{
	uint64_t every = TR_LOAD(tr_step_options.line_steps);

	return every ? (steps / every + 1) * every : UINT64_MAX;
}

/* The latest time of the next check: a line may be due, or options changed. */
static uint64_t next_look(uint64_t now)
{
	uint64_t ns = TR_LOAD(tr_step_options.line_ns);
	uint64_t look = now + step_ticks(STEP_LOOK_NS);
	uint64_t line = state.line_ticks + step_ticks(ns);

	return ns && line < look ? line : look;
}

static void work(uint64_t now, bool is_epoch)
{
	uint64_t steps, step, ticks, line, look;

	if (!tr_process_try_lock(&state.lock))
		return;
	steps = TR_LOAD(state.steps);
	/* Epochs: the first ones do not each need a reading. */
	if (tr_watch_is_due(is_epoch ? 0 : steps, now))
		tr_watch_step(steps);
	if (is_line_due(steps, now))
		write_line(steps, now);
	tr_watch_due(&step, &ticks);
	if (is_epoch)
		step = UINT64_MAX;
	line = next_line(steps);
	look = next_look(now);
	TR_STORE(state.due, ticks < look ? ticks : look);
	TR_STORE(state.due_step, step < line ? step : line);
	tr_process_unlock(&state.lock);
}

/* The series of a kind of steps: `step`, with its name as a label. */
static tare_site *site_of(struct tr_kind *kind)
{
	tare_site *site = __atomic_load_n(&kind->site, __ATOMIC_ACQUIRE);
	const char *pair[] = { "name", kind->name };

	if (TR_LIKELY(site != NULL))
		return site;
	site = kind->name[0] ? tr_own_site_labels(&step_site, 1, pair) :
			       &step_site;
	__atomic_store_n(&kind->site, site, __ATOMIC_RELEASE);
	return site;
}

static void step(struct tr_thread *thread, const char *name, uint64_t items,
		 bool is_epoch)
{
	struct tr_kind *kind = tr_kind_of(name);
	tare_site *site = site_of(kind);
	uint32_t gate = tare_gate_(site);
	uint64_t now, from, n;

	ready_state();
	now = tr_ledger_ticks();
	from = __atomic_exchange_n(&state.last, now, __ATOMIC_RELAXED);
	n = TR_ADD(state.steps, 1) + 1;
	if (from) {
		(void)TR_ADD(state.items, items);
		keep_duration(from, now);
	}
	if (gate && tr_probe_ready(site, gate))
		record(thread, site, from, now, items);
	tr_schedule_step(kind, TR_ADD(kind->count, 1) + 1, now);
	if (n >= TR_LOAD(state.due_step) || now >= TR_LOAD(state.due))
		work(now, is_epoch);
}

/* ---- public ------------------------------------------------------------ */

static void count_step(const char *name, uint64_t items, bool is_epoch)
{
	uint32_t gate = tare_gate_(&steps_site);
	struct tr_thread *thread;
	int saved;

	if (!gate)
		return;
	thread = tr_probe_ready(&steps_site, gate);
	if (!thread)
		return;
	saved = errno;
	tare_counter_add(&steps_site, 1);
	step(thread, name, items, is_epoch);
	errno = saved;
}

void tr_own_step_named(const char *name, uint64_t items)
{
	count_step(name, items, false);
}

void tr_own_step(uint64_t items)
{
	count_step(NULL, items, false);
}

void tr_own_step_epoch(uint64_t items)
{
	count_step(NULL, items, true);
}

void tr_step_epoch(uint64_t items)
{
	if (TR_LIKELY(!tr_probe_forward))
		tr_own_step_epoch(items);
	else if (TR_FIRST_HAS(step_epoch))
		tr_probe_forward->step_epoch(items);
	else
		tare_step_done(items);
}

TARE_API void tare_step_done(uint64_t items)
{
	if (TR_LIKELY(!tr_probe_forward))
		tr_own_step(items);
	else if (TR_FIRST_HAS(step))
		tr_probe_forward->step(items);
}

TARE_API void tare_step_named(const char *name, uint64_t items)
{
	if (TR_LIKELY(!tr_probe_forward))
		tr_own_step_named(name, items);
	else if (TR_FIRST_HAS(step_named))
		tr_probe_forward->step_named(name, items);
	else
		tare_step_done(items);
}

size_t tr_own_leaks(tare_leak *ret_leaks, size_t size)
{
	int saved = errno, tries = 0;
	size_t n;

	if (!tr_ledger_is_open() || TR_ACQUIRE(state.pid) != tr_ledger->pid)
		return 0;
	/* Not for ever: the caller may be the log's callback. */
	while (!tr_process_try_lock(&state.lock)) {
		if (++tries == 10000)
			return 0;
		(void)sched_yield();
	}
	n = tr_watch_look(ret_leaks, size, TR_LOAD(state.steps), false);
	tr_process_unlock(&state.lock);
	errno = saved;
	return n;
}

TARE_API size_t tare_leak_check(tare_leak *ret_leaks, size_t size)
{
	if (!ret_leaks)
		size = 0;
	if (TR_UNLIKELY(tr_probe_forward != NULL))
		return TR_FIRST_HAS(leaks) ?
			       tr_probe_forward->leaks(ret_leaks, size) :
			       0;
	return tr_own_leaks(ret_leaks, size);
}

void tr_step_finish(void)
{
	if (TR_ACQUIRE(state.pid) != tr_ledger->pid ||
	    !tr_process_try_lock(&state.lock))
		return;
	(void)tr_watch_look(NULL, 0, TR_LOAD(state.steps), true);
	tr_process_unlock(&state.lock);
}
