/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/python/: the Python functions that a thread is in, without
 * any package in the program.
 *
 * Comes in: the interpreter's own memory, read in a signal handler. Goes out:
 * frames, innermost first, and a row of the ledger for each code object.
 * Called by: record/sampler, record/alloc; record/stacks reports modules and
 * stores frames; record/runtime looks for an interpreter at the start.
 *
 * Nothing of Python is linked. CPython 3.10 to 3.14 on 64-bit machines, builds
 * with the GIL and without Py_DEBUG; others are refused, with the reason in
 * the ledger's header.
 */
#ifndef TR_RECORD_PYTHON_H
#define TR_RECORD_PYTHON_H

#include "base/platform.h"
#include "record/unwind.h"

/* ---- find.c ------------------------------------------------------------ */

/* Is there one whose memory can be read? */
bool tr_python_is_known(void);
/* Looks for an interpreter in the program and its libraries; at the start. */
void tr_python_find(void);
/* The same in a library that was loaded later. Signal-safe. */
void tr_python_came(const char *path, uint64_t base);
/* There is a new ledger: writes which interpreter there is. Signal-safe. */
void tr_python_opened(void);

/* ---- frames.c ---------------------------------------------------------- */

struct tr_python_walk {
	uint32_t n;	/* frames stored; 0: the thread runs no Python */
	bool is_whole;	/* down to the thread's first one */
	/*
	 * A place inside the frame of the evaluation loop that runs the
	 * innermost function, on the C stack: native frames below it are that
	 * function's callees, the others are plumbing.
	 */
	uint64_t loop_at;
};

/*
 * Frames of the calling thread, at most `most`: `pc` is the number of a row of
 * the ledger's code in the upper half and the offset of the instruction in the
 * lower, `module` is TR_UNWIND_PYTHON. In a signal handler of this thread.
 * Nothing is locked or allocated from the host.
 */
void tr_python_walk(struct tr_unwind_frame *frames, uint32_t most,
		    struct tr_python_walk *ret_walk);

/* ---- trail.c ----------------------------------------------------------- */

/* A frame that a walk passed, and what it found there. */
struct tr_python_step {
	uint64_t frame, code, instr;
};

/*
 * All frames of a walk, for a thread that asks again and again. While the same
 * frames with the same contents follow one another, another walk finds the
 * same; this is checked without asking the kernel, since each frame of a trail
 * that matches so far is a frame of the thread.
 */
struct tr_python_trail {
	uint32_t n, most; /* n > most: too long */
	bool is_whole;	  /* down to the thread's first frame */
	struct tr_python_step *step;
};

/*
 * The same walk, with its trail. Not in a signal handler: the thread itself
 * allocates or frees memory, so its frames are complete.
 */
void tr_python_walk_with_trail(struct tr_unwind_frame *frames, uint32_t most,
			       struct tr_python_walk *ret_walk,
			       struct tr_python_trail *trail);
/* The calling thread's innermost frame and its instruction. */
struct tr_python_top {
	uint64_t frame, instr;
};
/*
 * False: the thread runs no Python. The thread holds the interpreter's lock, or
 * the call is between tr_python_enter() and tr_python_leave().
 */
bool tr_python_find_top(struct tr_python_top *ret_top);
/* Is the thread, whose innermost frame this is, where the trail was made? */
bool tr_python_is_there(const struct tr_python_trail *trail,
			const struct tr_python_top *top);
/*
 * A thread begins to read the interpreter's memory, and ends. False: the
 * interpreter is shutting down, nothing may be read.
 */
bool tr_python_enter(void);
void tr_python_leave(void);
/* Changes when code that has a row is freed: trails are out of date. */
extern uint32_t tr_python_generation;

/* ---- title.c ----------------------------------------------------------- */

/*
 * The title of the thread that the caller is about to create, by its name in
 * the program; 0: none. The thread sets it when it begins.
 */
uint32_t tr_python_title_new(void);
void tr_python_title_set(uint32_t title);

/* ---- objects.c --------------------------------------------------------- */

/* As PyMemAllocatorEx. */
struct tr_python_allocator {
	void *ctx;
	void *(*malloc)(void *ctx, size_t n);
	void *(*calloc)(void *ctx, size_t n, size_t size);
	void *(*realloc)(void *ctx, void *block, size_t n);
	void (*free)(void *ctx, void *block);
};

/* Its domains, as in CPython; the raw one is malloc. */
enum tr_python_domain { TR_PYTHON_MEMORY = 1, TR_PYTHON_OBJECTS = 2 };

/*
 * Puts `wrap(domain, real)` in place of the interpreter's allocators. True:
 * done, or it never will be; false: not yet, because the interpreter is not
 * ready or another thread has its lock.
 */
bool tr_python_wrap_objects(const struct tr_python_allocator *(*wrap)(
	enum tr_python_domain domain, const struct tr_python_allocator *real));

#endif
