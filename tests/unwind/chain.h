/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chain: functions that call each other and note where each returns to, so
 * that a test knows the stack without walking it. Compiled with and without
 * frame pointers.
 */
#ifndef CHAIN_H
#define CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#define CHAIN_MOST 256

/* Return addresses, outermost first. A thread's own. */
extern __thread uint64_t chain_at[CHAIN_MOST];
extern __thread unsigned chain_n;

typedef void (*chain_end)(void *arg);

/* Calls `end` below `depth` functions of different kinds. */
int chain_bare(unsigned depth, chain_end end, void *arg);
int chain_framed(unsigned depth, chain_end end, void *arg);
/* The same in a module to be loaded; "chain_guest" is its name there. */
typedef int (*chain_fn)(unsigned depth, chain_end end, void *arg);

#endif
