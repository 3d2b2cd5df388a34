/* SPDX-License-Identifier: Apache-2.0 */
#include "record/governor/pause.h"

#include <time.h>

#include "ledger/write.h"

#define PERIOD_NS 50000000.0
#define LOOK_PERIODS 2u

void tr_pause_init(struct tr_pause *pause)
{
	*pause = (struct tr_pause){ .want = 1, .gain = 1, .is_open = true };
}

static int64_t cpu_now(void)
{
	return tr_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
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
	pause->cpu_ns = cpu_now();
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

static void account(struct tr_pause *pause, bool was_open, int64_t cpu)
{
	if (was_open)
		pause->open_ns += cpu - pause->cpu_ns;
	else
		pause->shut_ns += cpu - pause->cpu_ns;
	pause->cpu_ns = cpu;
}

void tr_pause_account(struct tr_pause *pause)
{
	if (pause->is_used)
		account(pause, pause->is_open, cpu_now());
}

void tr_pause_turn(struct tr_pause *pause, int64_t now)
{
	double open = PERIOD_NS * pause->want * pause->gain;
	int64_t cpu;

	if (!pause->is_used || now < pause->next_ns)
		return;
	cpu = cpu_now();
	open_gate(pause, !pause->is_open);
	/* In between, if this thread had to wait for a CPU. */
	account(pause, !pause->is_open, (cpu + cpu_now()) / 2);
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
