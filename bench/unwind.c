/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a walk of a stack of 20 frames costs.
 *
 * The reference is backtrace() of libc, in the same place: it returns the same
 * addresses. The depth is that of the whole stack, with main and its callers.
 */
#include <execinfo.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench.h"

/* The walk has no public name: declared as in src/record/unwind.h. */
struct tr_unwind_at {
	uint64_t pc, sp, fp, link, bx;
	bool is_return;
};

struct tr_unwind_frame {
	uint64_t pc;
	uint32_t module;
};

struct tr_unwind_watch {
	void (*came)(uint32_t, const void *);
	void (*gone)(uint32_t);
	bool is_all, is_known_only, is_lock_free;
};

bool tr_unwind_look(const struct tr_unwind_watch *watch);
uint32_t tr_unwind(const struct tr_unwind_at *at,
		   struct tr_unwind_frame *frames, uint32_t most,
		   bool *ret_whole);

uint64_t bench_chain_bare(unsigned depth, void (*end)(uint64_t), uint64_t n);
uint64_t bench_chain_framed(unsigned depth, void (*end)(uint64_t),
			    uint64_t n);

#define FRAMES 20u
#define MOST 64

static unsigned depth;	/* of the chain, for FRAMES in total */
static uint32_t n_ours, n_theirs;
static bool is_whole;

__attribute__((noinline)) static void walk_once(void)
{
	struct tr_unwind_frame frames[MOST];
	const uint64_t *frame = __builtin_frame_address(0);
	struct tr_unwind_at at = {
		.pc = (uint64_t)(uintptr_t)__builtin_return_address(0),
		.sp = (uint64_t)(uintptr_t)__builtin_dwarf_cfa(),
		.fp = frame[0],
		.is_return = true,
	};

	n_ours = tr_unwind(&at, frames, MOST, &is_whole);
	BENCH_OPAQUE(frames);
}

static void walk(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		walk_once();
}

static void trace(uint64_t n)
{
	void *frames[MOST];

	for (uint64_t i = 0; i < n; i++) {
		n_theirs = (uint32_t)backtrace(frames, MOST);
		BENCH_OPAQUE(frames);
	}
}

static void bare(uint64_t n)
{
	(void)bench_chain_bare(depth, walk, n);
}

static void framed(uint64_t n)
{
	(void)bench_chain_framed(depth, walk, n);
}

static void libc_bare(uint64_t n)
{
	(void)bench_chain_bare(depth, trace, n);
}

static struct bench_case cases[] = {
	{ "empty_loop", bench_empty, 0, 0 },
	{ "bare", bare, 0, 0 },
	{ "framed", framed, 0, 0 },
	{ "libc", libc_bare, 0, 0 },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static void report(const char *name)
{
	double ns = bench_best(cases, N_CASES, name);
	double libc = bench_best(cases, N_CASES, "libc");

	bench_report(name, ns, "ns", ns / libc, "backtrace()");
}

/* Finds the depth of the chain that is needed here. */
static void find_depth(void)
{
	bare(1);
	if (!is_whole || n_ours >= FRAMES)
		bench_fail("unwind", "the stack is not whole");
	while (depth < FRAMES && (bare(1), n_ours) < FRAMES)
		depth++;
	if (!is_whole || n_ours != FRAMES)
		bench_fail("unwind", "the stack has another depth");
}

static void run(void)
{
	struct tr_unwind_watch watch = { .came = NULL };

	(void)tr_unwind_look(&watch);
	find_depth();
	bench_run(cases, N_CASES, bench_is_quick() ? 200 : 1500);
	report("bare");
	report("framed");
	bench_report("a_frame", bench_best(cases, N_CASES, "bare") / FRAMES,
		     "ns", NAN, NULL);
}

const struct bench_part bench_parts[] = {
	{ "walk", run, { NULL } },
	{ NULL, NULL, { NULL } },
};
