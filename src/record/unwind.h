/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/unwind/: the return addresses on a thread's stack, in a
 * signal handler or in an allocator, of code with or without frame pointers.
 *
 * Comes in: registers of a thread. Goes out: frames, innermost first, with the
 * numbers of their modules. Called by: record/stacks, record/alloc,
 * record/sampler.
 *
 * The list of modules is made outside of handlers. The rest is done on demand:
 * search a module's unwind table (.eh_frame_hdr), execute the few instructions
 * of the function found there up to the address, and cache the result by
 * address. Nothing is trusted: tables and stacks are checked to be mapped
 * before a read.
 */
#ifndef TR_RECORD_UNWIND_H
#define TR_RECORD_UNWIND_H

#include "base/platform.h"

struct tr_unwind_module {
	uint64_t from, to; /* addresses of its code */
	uint64_t bias;
	const char *path;  /* remains valid after the module is gone */
	uint8_t id[20];
	uint32_t id_bytes;
};

/* Registers to start from. */
struct tr_unwind_at {
	uint64_t pc, sp, fp;
	uint64_t link;	/* aarch64: x30; 0 elsewhere */
	uint64_t bx;	/* x86-64: rbx; 0 elsewhere */
	bool is_return; /* pc is a return address, not the next instruction */
};

/* Fills `at` from a signal handler's third argument. */
void tr_unwind_from_context(const void *ucontext, struct tr_unwind_at *at);

/*
 * The caller of the enclosing function, which must not be inlined itself.
 * Makes the compiler give that function a frame pointer.
 */
__attribute__((unused)) TR_INLINE void
tr_unwind_here(struct tr_unwind_at *at)
{
	const uint64_t *frame = __builtin_frame_address(0);

	at->pc = (uint64_t)(uintptr_t)__builtin_extract_return_addr(
		__builtin_return_address(0));
	at->sp = (uint64_t)(uintptr_t)__builtin_dwarf_cfa();
	at->fp = frame[0];
	at->link = 0;
	at->bx = 0;
	at->is_return = true;
}

/*
 * Asks the dynamic linker for the modules, if they changed, and calls `came`
 * and `gone` for each change. A module keeps its `number`, which is never
 * given to another; a module that returns to its old place gets its old
 * number. Not for signal handlers, except with `is_known_only` or
 * `is_lock_free`; one call at a time (others return at once).
 */
struct tr_unwind_watch {
	void (*came)(uint32_t number, const struct tr_unwind_module *module);
	void (*gone)(uint32_t number);
	bool is_all;	    /* call `came` for known modules, too */
	bool is_known_only; /* without its lock: signal-safe; lists them if
			     * nothing has been listed yet */
	bool is_lock_free;  /* missing modules only: signal-safe */
};
/*
 * Before the first look, if that comes from a signal handler. False: no such
 * look is possible with this libc.
 */
bool tr_unwind_prepare(void);
/* False: another thread is in this call. */
bool tr_unwind_look(const struct tr_unwind_watch *watch);
/* A stack had an address in no module: look again when possible. */
bool tr_unwind_wants_look(void);

/* A plain load, without instrumentation by sanitizers. */
TR_INLINE uint64_t tr_unwind_load(uint64_t at)
{
	const uint64_t *place = (const uint64_t *)(uintptr_t)at;
	uint64_t value;

#if defined(__x86_64__)
	__asm__("movq %1, %0" : "=r"(value) : "m"(*place));
#elif defined(__aarch64__)
	__asm__("ldr %0, %1" : "=r"(value) : "m"(*place));
#else
	value = *place;
#endif
	return value;
}

#define TR_UNWIND_NO_MODULE UINT32_MAX
/* Frames of record/python, which this room never makes. */
#define TR_UNWIND_PYTHON (UINT32_MAX - 1)
/* Number of the module that contains an address. Signal-safe. */
uint32_t tr_unwind_module_of(uint64_t address);

struct tr_unwind_frame {
	uint64_t pc;	 /* first frame: the instruction; else the return
			  * address */
	uint32_t module; /* number, or TR_UNWIND_NO_MODULE */
};

/*
 * Frames from `at` on, innermost first. Returns their number; *ret_whole: the
 * last one is where its thread began (or main's caller). Signal-safe, no lock.
 *
 * Works unchanged in a forked child.
 */
uint32_t tr_unwind(const struct tr_unwind_at *at,
		   struct tr_unwind_frame *frames, uint32_t most,
		   bool *ret_whole);
/*
 * The same up to the frame that contains the address `until` of the stack:
 * that frame is left out, and *ret_whole is true.
 */
uint32_t tr_unwind_until(const struct tr_unwind_at *at, uint64_t until,
			 struct tr_unwind_frame *frames, uint32_t most,
			 bool *ret_whole);
/* Can a word at this address be read? Asks the kernel. Signal-safe. */
bool tr_unwind_can_read(uint64_t at);

/* ---- trail.c ----------------------------------------------------------- */

/* A word of a stack, and its value. */
struct tr_unwind_word {
	uint64_t at, value;
};

/*
 * The words that determined a walk: from the same `at` (fp only if it is used)
 * and with the same words, another walk takes the same way. In the order of
 * reading, the first return address first; a frame pointer that its reading
 * needed comes before it.
 */
struct tr_unwind_trail {
	uint32_t n, most;
	bool uses_fp;
	bool is_first_by_fp; /* the first frame is found by fp, not by sp */
	uint64_t until; /* in: as of tr_unwind_until(), or UINT64_MAX */
	struct tr_unwind_word *word;
};

/* The same, with its trail; n is 0 if there is none, or it is too long. */
uint32_t tr_unwind_with_trail(const struct tr_unwind_at *at,
			      struct tr_unwind_frame *frames, uint32_t most,
			      bool *ret_whole, struct tr_unwind_trail *trail);
/* Changes when modules were added or removed: trails are out of date. */
extern uint32_t tr_unwind_generation;

#endif
