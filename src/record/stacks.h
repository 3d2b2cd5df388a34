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
 * Updates the ledger's table of modules. At the start, after dlopen and
 * dlclose, and at times in between. Not for signal handlers.
 */
void tr_modules_look(void);
/*
 * The same for known modules only, without the dynamic linker, when the ledger
 * is new. Signal-safe.
 */
void tr_modules_repeat(void);
/*
 * The same without the dynamic linker's lock, only for missing modules
 * (tr_unwind_wants_look()). True: modules were added or removed. A call that
 * finds nothing doubles the time to the next one, up to 2 s: code may be in no
 * module at all. Signal-safe.
 */
bool tr_modules_look_here(void);
/* Calls tr_modules_look_here() if this address is in no module. Signal-safe. */
void tr_modules_know(uint64_t address);
/* Lists the modules before a ledger exists. Not for signal handlers. */
void tr_modules_learn(void);
/*
 * The same later, when the ledger is opened, also by a handler. False: not
 * possible with this libc.
 */
bool tr_modules_prepare(void);

/* ---- stacks.c ---------------------------------------------------------- */

/* Allocates the table; at the start. False: no memory, all stacks are lost. */
bool tr_stacks_init(void);

/*
 * Number of the stack (place of its innermost frame in the ledger's region),
 * found or added. Frames innermost first. TR_STACK_LOST if there is no room;
 * the loss is counted. Any thread, signal-safe, no lock.
 */
uint32_t tr_stack_intern(const struct tr_unwind_frame *frames, uint32_t n,
			 bool is_whole, bool is_exact);

/* Node of a stack, or NULL. */
struct tr_stack *tr_stack_at(uint32_t number);

#endif
