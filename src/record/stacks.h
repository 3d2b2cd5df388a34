/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/stacks/: stacks and the modules that their addresses lie in,
 * as tables in the ledger.
 *
 * Comes in: return addresses. Goes out: the number of a stack. Called by:
 * record/sampler, record/alloc, and record/runtime, also for function hooks.
 */
#ifndef TR_RECORD_STACKS_H
#define TR_RECORD_STACKS_H

#include "ledger/write.h"
#include "record/unwind.h"

/* ---- modules.c --------------------------------------------------------- */

/*
 * Brings the ledger's table of modules up to date. At the start, after
 * dlopen and dlclose, now and then. Not for signal handlers.
 */
void tr_modules_look(void);
/*
 * The same of those that are known, where the ledger is a new one: without
 * the dynamic linker. Signal-safe.
 */
void tr_modules_repeat(void);
/*
 * The same without the dynamic linker's lock, of those that are wanted
 * (tr_unwind_wants_look()). True: some came or went. One that finds nothing
 * makes the next wait twice as long, up to 2 s: code may lie in no module at
 * all. Signal-safe.
 */
bool tr_modules_look_here(void);
/* Looks so if this address is in no module. Signal-safe. */
void tr_modules_know(uint64_t address);
/* Before there is a ledger. Not for signal handlers. */
void tr_modules_learn(void);

/* ---- stacks.c ---------------------------------------------------------- */

/* Memory for the table; at the start. False: none, all stacks are lost. */
bool tr_stacks_init(void);

/*
 * Number of the stack (place of its innermost frame in the ledger's region),
 * found or made. Frames innermost first. TR_STACK_LOST where there is no
 * room, and counted. Any thread, signal-safe, no lock.
 */
uint32_t tr_stack_intern(const struct tr_unwind_frame *frames, uint32_t n,
			 bool is_whole, bool is_exact);

/* Its node, or NULL. */
struct tr_stack *tr_stack_at(uint32_t number);

#endif
