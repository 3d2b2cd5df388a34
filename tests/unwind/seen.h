/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the walk have in common: stacks as seen, and modules. */
#ifndef SEEN_H
#define SEEN_H

#include "unwind/chain.h"
#include "record/unwind.h"

#if defined(__SANITIZE_THREAD__)
#define HAS_TSAN 1
#else
#define HAS_TSAN 0
#endif

#define SEEN_MOST 256u
#define SEEN_MODULES 4096

struct seen {
	struct tr_unwind_frame frame[SEEN_MOST];
	uint32_t n;
	bool is_whole;
};

/* What the looks told. */
extern char seen_path[SEEN_MODULES][256];
extern unsigned seen_came, seen_gone;
extern uint32_t seen_last_came, seen_last_gone;
extern uint64_t seen_last_from;

/* A look has been there before the first test. */
void seen_look(void);

/* From its caller on, into the struct seen that `arg` is. */
void seen_walk(void *arg);
/* The same; the stack must be whole, and what the chain has noted. */
void seen_walk_and_compare(void *arg);

#endif
