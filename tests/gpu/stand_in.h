/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-in for libnvidia-ml, to be loaded in its place.
 *
 * What its boards say is in one struct. A test that loads the same file finds
 * it by dlsym("stand_in"); for programs that cannot, the variable STAND_IN
 * has it as words: "gpus=8 hot=1 init=18".
 */
#ifndef STAND_IN_H
#define STAND_IN_H

#include <stdint.h>

#define STAND_IN_BOARDS 16

/* The calls that can be told to fail or to hang. */
enum stand_in_call {
	CALL_INIT,
	CALL_COUNT,
	CALL_DEVICE,
	CALL_NAME,
	CALL_UUID,
	CALL_LOAD,
	CALL_MEMORY,
	CALL_MEMORY_V2,
	CALL_TEMPERATURE,
	CALL_THRESHOLD,
	CALL_POWER,
	CALL_POWER_LIMIT,
	CALL_ENERGY,
	CALL_CLOCK,
	CALL_REASONS,
	CALL_PROCESSES,
	STAND_IN_CALLS
};

struct stand_in_board {
	char name[128], uuid[96];
	unsigned load, memory_load;
	uint64_t total, reserved, used; /* used: without what is reserved */
	unsigned temperature, slowdown;
	unsigned power_mw, limit_mw;
	uint64_t energy_mj;
	unsigned clock, memory_clock;
	uint64_t reasons;
	uint64_t own;  /* of `own_pid` */
	unsigned own_pid; /* 0: the process that asks */
	int is_lost;   /* the result of all its calls, if not 0 */
};

struct stand_in {
	unsigned n_boards;
	struct stand_in_board board[STAND_IN_BOARDS];
	int result[STAND_IN_CALLS]; /* 0: it works */
	uint32_t hangs[STAND_IN_CALLS]; /* atomic; while it is not 0 */
	int64_t slow_ns;	    /* every call takes this long */
	/* Written by the library; atomic. */
	uint64_t n_calls[STAND_IN_CALLS];
	uint64_t n_shutdowns;
};

#endif
