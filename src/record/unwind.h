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
	const char *path;  /* stays, also when the module is gone */
	uint8_t id[20];
	uint32_t id_bytes;
};

/* Registers of where to begin. */
struct tr_unwind_at {
	uint64_t pc, sp, fp;
	uint64_t link;	/* aarch64: x30; 0 elsewhere */
	uint64_t bx;	/* x86-64: rbx; 0 elsewhere */
	bool is_return; /* pc is where a call returns to, not an instruction
			 * that is next */
};

/* From a handler's third argument. */
void tr_unwind_from_context(const void *ucontext, struct tr_unwind_at *at);

/*
 * The caller of the function that this stands in, which must not be inlined
 * itself. It gets a frame pointer by this.
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
 * Asks the dynamic linker which modules there are, if they changed, and calls
 * `came` and `gone` for each that did. `number` is that of the module from
 * now on and never given to another; one that comes back to its old place
 * has its old number. Not for signal handlers, but for `is_known_only` and
 * `is_lock_free`; one at a time (others return at once).
 */
struct tr_unwind_watch {
	void (*came)(uint32_t number, const struct tr_unwind_module *module);
	void (*gone)(uint32_t number);
	bool is_all;	    /* `came` also for those that are not new */
	bool is_known_only; /* without the dynamic linker: signal-safe */
	bool is_lock_free;  /* only what is wanted: signal-safe */
};
/* False: another thread is at it. */
bool tr_unwind_look(const struct tr_unwind_watch *watch);
/* Something jumped to an address in no module: look again, when you can. */
bool tr_unwind_wants_look(void);

/* A plain load: no sanitizer's idea of the stack comes in. */
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
/* Of the module that an address is in. Signal-safe. */
uint32_t tr_unwind_module_of(uint64_t address);

struct tr_unwind_frame {
	uint64_t pc;	 /* of the first: the instruction; else where it
			  * returns to */
	uint32_t module; /* number, or TR_UNWIND_NO_MODULE */
};

/*
 * Frames from `at` on, innermost first. Gives how many; *ret_whole: the last
 * is where its thread began (or main's caller). Signal-safe, no lock.
 *
 * After a fork, in the child, all is as it was, and right.
 */
uint32_t tr_unwind(const struct tr_unwind_at *at,
		   struct tr_unwind_frame *frames, uint32_t most,
		   bool *ret_whole);

/* ---- trail.c ----------------------------------------------------------- */

/* A word of a stack, and what it was. */
struct tr_unwind_word {
	uint64_t at, value;
};

/*
 * What decided where a walk went: from the same `at` (fp only if it is used),
 * with the same words, another walk goes the same way. In the order in which
 * they were read, the first return address first; a frame pointer that it
 * needed comes before.
 */
struct tr_unwind_trail {
	uint32_t n, most;
	bool uses_fp;
	bool is_first_by_fp; /* the first frame is found by fp, not by sp */
	struct tr_unwind_word *word;
};

/* The same, with its trail; n is 0 where it has none, or is too long. */
uint32_t tr_unwind_with_trail(const struct tr_unwind_at *at,
			      struct tr_unwind_frame *frames, uint32_t most,
			      bool *ret_whole, struct tr_unwind_trail *trail);
/* Moves when modules came or went: trails are out of date. */
extern uint32_t tr_unwind_generation;

#endif
