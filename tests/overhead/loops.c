/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops: one probe a turn, for callgrind to count. Each loop is a function
 * of its own, so that its instructions, with all that it calls, are known by
 * its name. Nothing is unrolled or moved out: the compiler sees a barrier.
 */
#include <tare/tare.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/write.h"

#define TURNS 100000
#define BARRIER() __asm__ volatile("" ::: "memory")
#define LOOP __attribute__((noinline)) void

LOOP loop_empty(void);
LOOP loop_scope(void);
LOOP loop_nested(void);
LOOP loop_counter(void);
LOOP loop_value(void);
LOOP loop_operation(void);

LOOP loop_empty(void)
{
	for (int i = 0; i < TURNS; i++)
		BARRIER();
}

LOOP loop_scope(void)
{
	for (int i = 0; i < TURNS; i++) {
		TARE_SCOPE("scope");
		BARRIER();
	}
}

LOOP loop_nested(void)
{
	for (int i = 0; i < TURNS; i++) {
		TARE_SCOPE("outer");
		BARRIER();
		{
			TARE_SCOPE("inner");
			BARRIER();
		}
		BARRIER();
	}
}

LOOP loop_counter(void)
{
	for (int i = 0; i < TURNS; i++) {
		TARE_COUNT("counter", 1);
		BARRIER();
	}
}

LOOP loop_value(void)
{
	for (int i = 0; i < TURNS; i++) {
		TARE_VALUE("value", "1", 1 + i % 64);
		BARRIER();
	}
}

LOOP loop_operation(void)
{
	for (int i = 0; i < TURNS; i++) {
		TARE_OPERATION("operation");
		BARRIER();
	}
}

/* Instead of the way that was measured to be faster, under valgrind. */
static void use_drain(const char *way)
{
	for (unsigned i = 0; i < TR_BATCH; i++) {
		TARE_SCOPE("filler");
		if (tr_drain_use(tr_this_thread(), strcmp(way, "behind") == 0))
			return;
	}
}

/* usage: loops [LOOP [batch|behind]] */
int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} loops[] = {
		{ "empty", loop_empty },     { "scope", loop_scope },
		{ "nested", loop_nested },   { "counter", loop_counter },
		{ "value", loop_value },     { "operation", loop_operation },
	};

	if (argc > 2)
		use_drain(argv[2]);
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++)
		if (argc == 1 || strcmp(argv[1], loops[i].name) == 0)
			loops[i].run();
	return 0;
}
