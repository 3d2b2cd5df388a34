/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/python/: the Python functions that a thread is in, without
 * any package in the program.
 *
 * Comes in: the interpreter's own memory, read in a signal handler. Goes out:
 * frames, innermost first, and a row of the ledger for each code object.
 * Called by: record/sampler; record/stacks reports modules and stores frames;
 * record/runtime looks for an interpreter at the start.
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

#endif
