/* SPDX-License-Identifier: Apache-2.0 */
#include "record/governor/pause.h"

#include <time.h>

#include "ledger/write.h"
#include "record/probe.h"

#define PERIOD_NS 50000000.0
#define LOOK_PERIODS 2u

void tr_pause_init(struct tr_pause *pause)
{
	*pause = (struct tr_pause){ .want = 1, .gain = 1, .is_open = true };
}

static int64_t grown(int64_t *before, int64_t now)
{
	/* Less: another thread has the place, or it cannot be read. */
	int64_t by = now > *before ? now - *before : 0;

	*before = now;
	return by;
}

/*
 * CPU time of the measured threads since the last call. The kernel's sum of a
 * process is as old as the last tick, 4 ms or 10, where threads run on other
 * processors: longer than a gate is open. A single thread's clock is exact.
 */
static int64_t cpu_passed(struct tr_pause *pause)
{
	int64_t sum = 0;

	if (pause->has_many)
		return grown(&pause->process_ns,
			     tr_clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	for (uint32_t i = 0; i < TR_PAUSE_THREADS && i < tr_max_threads; i++) {
		const struct tr_track *track = TR_ACQUIRE(
			tr_threads[i].own_track);

		if (!track)
			break;
		sum += grown(&pause->cpu_ns[i], tr_clock_ns(tr_thread_clock(
						TR_LOAD(track->owner))));
	}
	return sum;
}

static void open_gate(struct tr_pause *pause, bool open)
{
	struct tr_control *control = tr_ledger->control;

	pause->is_open = open;
	TR_STORE(control->pause, open ? TR_LOAD(control->generation) : 0);
}

void tr_pause_enable(struct tr_pause *pause, bool on)
{
	if (pause->is_used == on)
		return;
	if (on)
		tr_ledger_open_gate_in_children();
	pause->is_used = on;
	pause->gain = 1;
	tr_pause_counted(pause);
	pause->got = 0;
	pause->next_ns = tr_monotonic_ns();
	pause->has_many = tr_max_threads > TR_PAUSE_THREADS &&
			  TR_ACQUIRE(tr_threads[TR_PAUSE_THREADS].own_track);
	(void)cpu_passed(pause);
	open_gate(pause, true);
}

void tr_pause_want(struct tr_pause *pause, double part)
{
	/*
	 * A thread that wakes late leaves the gate open too long: ask for
	 * less.
	 */
	if (pause->is_used && pause->got > 0) {
		double ratio = pause->want / pause->got;

		pause->gain *= ratio < 0.5 ? 0.5 : ratio > 2 ? 2 : ratio;
		if (pause->gain > 1)
			pause->gain = 1;
		if (pause->gain < 0.05)
			pause->gain = 0.05;
	}
	/* A check that found its thread asleep must not open the gate wide. */
	pause->want = part > pause->want * 1.25 && pause->is_used ?
			      pause->want * 1.25 :
			      part;
}

double tr_pause_part(const struct tr_pause *pause)
{
	double open = (double)pause->open_ns, shut = (double)pause->shut_ns;

	return open > 0 ? open / (open + shut) : 1;
}

bool tr_pause_is_whole(const struct tr_pause *pause)
{
	return !pause->is_used || pause->periods >= LOOK_PERIODS;
}

void tr_pause_counted(struct tr_pause *pause)
{
	pause->got = pause->open_ns > 0 ? tr_pause_part(pause) : 0;
	pause->open_ns = pause->shut_ns = 0;
	pause->periods = 0;
}

static void account(struct tr_pause *pause, bool was_open, int64_t cpu_ns)
{
	if (was_open)
		pause->open_ns += cpu_ns;
	else
		pause->shut_ns += cpu_ns;
}

void tr_pause_account(struct tr_pause *pause)
{
	if (pause->is_used)
		account(pause, pause->is_open, cpu_passed(pause));
}

void tr_pause_turn(struct tr_pause *pause, int64_t now)
{
	double open = PERIOD_NS * pause->want * pause->gain;
	int64_t late;

	if (!pause->is_used || now < pause->next_ns)
		return;
	tr_pause_account(pause);
	open_gate(pause, !pause->is_open);
	/* In between, if this thread had to wait for a CPU. */
	late = cpu_passed(pause);
	account(pause, !pause->is_open, late / 2);
	account(pause, pause->is_open, late - late / 2);
	pause->periods += pause->is_open;
	pause->next_ns = now + (int64_t)(pause->is_open ? open :
							  PERIOD_NS - open);
}

int64_t tr_pause_next(const struct tr_pause *pause, int64_t now, int64_t next)
{
	int64_t rest = pause->next_ns - now;

	if (!pause->is_used)
		return next;
	return rest > 0 ? rest : 1;
}
