/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind: stacks of code with and without frame pointers, of threads, signal
 * handlers and coroutines, and those that are damaged. What a stack holds is
 * known from the functions themselves (unwind/chain.h).
 */
#include "check.h"
#include "scene.h"

#include "unwind/seen.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

TEST(stacks_without_frame_pointers_are_exact)
{
	struct seen seen;

	for (unsigned depth = 0; depth < 40; depth++)
		(void)chain_bare(depth, seen_walk_and_compare, &seen);
}

TEST(stacks_with_frame_pointers_are_exact)
{
	struct seen seen;

	for (unsigned depth = 0; depth < 40; depth++)
		(void)chain_framed(depth, seen_walk_and_compare, &seen);
}

TR_NOINLINE static void walk_in_both(void *arg)
{
	chain_at[chain_n++] = (uint64_t)(uintptr_t)
		__builtin_extract_return_addr(__builtin_return_address(0));
	(void)chain_framed(7, seen_walk_and_compare, arg);
	__asm__ volatile("" : : "r"(arg) : "memory"); /* no tail call */
	chain_n--;
}

TEST(stacks_of_both_kinds_are_exact)
{
	struct seen seen;

	(void)chain_bare(11, walk_in_both, &seen);
}

/* ---- through code of others -------------------------------------------- */

static uint32_t find_module(const char *part)
{
	for (uint32_t i = 0; i < SEEN_MODULES; i++)
		if (strstr(seen_path[i], part))
			return i;
	return UINT32_MAX - 1;
}

/* The outer frames are those of a stack that was walked further out. */
static bool has_outer(const struct seen *seen, const struct seen *outer)
{
	/* The first of the outer one is where it was called from. */
	for (uint32_t i = 1; i < outer->n; i++)
		if (seen->n < outer->n ||
		    seen->frame[seen->n - i].pc !=
			    outer->frame[outer->n - i].pc)
			return false;
	return seen->is_whole && outer->is_whole;
}

static struct seen inner;

static int compare_and_walk(const void *a, const void *b)
{
	if (!inner.n)
		seen_walk(&inner);
	return *(const int *)a - *(const int *)b;
}

TEST(the_way_leads_through_libc)
{
	int numbers[] = { 3, 1, 2, 9, 4, 8 };
	unsigned in_libc = 0;
	struct seen outer;

	inner.n = 0;
	seen_walk(&outer);
	qsort(numbers, 6, sizeof(int), compare_and_walk);
	for (uint32_t i = 0; i < inner.n; i++)
		in_libc += inner.frame[i].module == find_module("libc.so");
	/* What calls main, and sorting (a sanitizer may have its own). */
	CHECK(in_libc >= 2);
	CHECK(inner.n > outer.n + 1);
	CHECK(has_outer(&inner, &outer));
}

/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret, and the like. */
#if defined(__aarch64__)
static const uint32_t made_code[] = { 0xa9bf7bfd, 0x910003fd, 0xaa0003e2,
				      0xaa0103e0, 0xd63f0040, 0xa8c17bfd,
				      0xd65f03c0 };
#else
static const uint8_t made_code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x89,
				     0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0,
				     0x5d, 0xc3 };
#endif

TEST(code_that_a_program_makes_is_followed_by_its_frame_pointer)
{
	void (*call)(void (*)(void *), void *);
	struct seen outer, seen;
	unsigned stray = 0;
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!CHECK(page != MAP_FAILED))
		return;
	memcpy(page, made_code, sizeof(made_code));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC))
		SKIP("no pages for code");
	__builtin___clear_cache(page, page + 4096);
	seen_walk(&outer);
	memcpy(&call, &page, sizeof(call));
	call(seen_walk, &seen);
	for (uint32_t i = 0; i < seen.n; i++)
		stray += seen.frame[i].module == TR_UNWIND_NO_MODULE;
	CHECK_INT(stray, 1);
	CHECK(tr_unwind_wants_look());
#if defined(__x86_64__)
	CHECK(has_outer(&seen, &outer));
#endif
	(void)munmap(page, 4096);
	seen_look();
	CHECK(!tr_unwind_wants_look());
}

#if defined(__x86_64__)
/* Before the frame pointer is stored, and before it is this function's. */
TEST(made_code_that_is_interrupted_at_its_entry_has_its_caller)
{
	uint64_t fp = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	uint64_t ra = (uint64_t)(uintptr_t)__builtin_return_address(0);
	volatile uint64_t stack[2] = { ra, ra };
	struct tr_unwind_at at = { .sp = (uint64_t)(uintptr_t)stack,
				   .fp = fp };
	struct tr_unwind_frame frame[8];
	bool is_whole;
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!CHECK(page != MAP_FAILED))
		return;
	memcpy(page, made_code, sizeof(made_code));
	at.pc = (uint64_t)(uintptr_t)page;
	CHECK(tr_unwind(&at, frame, 8, &is_whole) >= 2);
	CHECK(frame[1].pc == ra);
	at.pc++;
	stack[0] = fp;
	frame[1].pc = 0;
	CHECK(tr_unwind(&at, frame, 8, &is_whole) >= 2);
	CHECK(frame[1].pc == ra);
	(void)munmap(page, 4096);
}
#endif

/* ---- threads ----------------------------------------------------------- */

static void *walk_in_thread(void *arg)
{
	for (unsigned depth = 0; depth < 20; depth++)
		(void)chain_bare(depth, seen_walk_and_compare, arg);
	return NULL;
}

TEST(a_threads_stack_ends_where_it_began)
{
	pthread_t threads[4];
	static struct seen seen[4];

	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, walk_in_thread,
					 &seen[i]), 0);
	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_join(threads[i], NULL), 0);
	CHECK(seen[0].is_whole);
}

/* ---- signals ----------------------------------------------------------- */

static struct seen of_context, of_handler;

static void on_signal(int number, siginfo_t *info, void *context)
{
	struct tr_unwind_at at;

	(void)number;
	(void)info;
	tr_unwind_from_context(context, &at);
	of_context.n = tr_unwind(&at, of_context.frame, SEEN_MOST,
				 &of_context.is_whole);
	seen_walk(&of_handler);
}

static void handle(int number, int flags,
		   void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO | flags;
	CHECK_INT(sigaction(number, &action, NULL), 0);
}

/* From the handler, and from where it was called: the same outer part. */
static void check_handler(const struct seen *outer)
{
	uint32_t n = of_context.n;

	CHECK(has_outer(&of_context, outer));
	CHECK(has_outer(&of_handler, outer));
	if (!CHECK(of_handler.n >= n + 2))
		return;
	for (uint32_t i = 1; i <= n; i++)
		CHECK(of_handler.frame[of_handler.n - i].pc ==
		      of_context.frame[n - i].pc);
}

TEST(handlers_stacks_go_on_where_they_interrupted)
{
	struct seen outer;

	if (HAS_TSAN)
		SKIP("the thread sanitizer calls handlers itself");
	handle(SIGUSR1, 0, on_signal);
	seen_walk(&outer);
	CHECK_INT(raise(SIGUSR1), 0);
	check_handler(&outer);
}

TEST(a_handler_may_have_a_stack_of_its_own)
{
	stack_t mine = { .ss_size = 256 << 10 };
	struct seen outer;

	if (HAS_TSAN)
		SKIP("the thread sanitizer calls handlers itself");
	mine.ss_sp = malloc(mine.ss_size);
	CHECK_INT(sigaltstack(&mine, NULL), 0);
	handle(SIGUSR1, SA_ONSTACK, on_signal);
	seen_walk(&outer);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(raise(SIGUSR1), 0);
		check_handler(&outer);
	}
	mine.ss_flags = SS_DISABLE;
	CHECK_INT(sigaltstack(&mine, NULL), 0);
	free(mine.ss_sp);
}

static struct seen base;
static unsigned long n_steps, n_cut, n_wrong;
static uint32_t is_stepping;

static void check_step(const void *context)
{
	struct tr_unwind_at at;
	static struct seen now;

	tr_unwind_from_context(context, &at);
	now.n = tr_unwind(&at, now.frame, SEEN_MOST, &now.is_whole);
	n_steps++;
	if (!now.is_whole)
		n_cut++;
	else if (!has_outer(&now, &base))
		n_wrong++;
	if (now.n < 2 || now.frame[0].pc != at.pc)
		n_wrong++;
}

static void on_step(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	if (__atomic_load_n(&is_stepping, __ATOMIC_RELAXED))
		check_step(context);
}

/* Libc, the binder of symbols, prologues and epilogues of all kinds. */
static void work_through(void *arg)
{
	char text[200];
	int numbers[] = { 3, 1, 2, 9, 4, 8 };
	void *memory = malloc(100);

	(void)arg;
	inner.n = 1; /* no walk in there */
	qsort(numbers, 6, sizeof(int), compare_and_walk);
	(void)snprintf(text, sizeof(text), "%s %d %f %p", "text", numbers[0],
		       atof("1.5e3"), memory);
	memset(text, 7, sizeof(text));
	free(memory);
	if (getenv("NO_SUCH_VARIABLE"))
		text[0] = 1;
	(void)time(NULL);
}

TR_NOINLINE static void work(void)
{
	__atomic_store_n(&is_stepping, 1, __ATOMIC_RELAXED);
	chain_n = 0;
	for (unsigned depth = 0; depth < 12; depth++) {
		(void)chain_bare(depth, work_through, NULL);
		(void)chain_framed(depth, work_through, NULL);
	}
	__atomic_store_n(&is_stepping, 0, __ATOMIC_RELAXED);
}

#if defined(__x86_64__)
#define TRAP_FLAG_ON() \
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", \
			 "cc")
#define TRAP_FLAG_OFF() \
	__asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", \
			 "cc")

TEST(every_single_instruction_gives_the_whole_stack)
{
	if (HAS_TSAN)
		SKIP("the thread sanitizer calls handlers itself");
	n_steps = n_cut = n_wrong = 0;
	handle(SIGTRAP, 0, on_step);
	seen_walk(&base);
	TRAP_FLAG_ON();
	work();
	TRAP_FLAG_OFF();
	printf("# %lu instructions\n", n_steps);
	CHECK(n_steps > 10000);
	CHECK_INT(n_cut, 0);
	CHECK_INT(n_wrong, 0);
}
#endif

TEST(timer_signals_find_whole_stacks)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGUSR2 };
	struct itimerspec every = { { 0, 100000 }, { 0, 100000 } };
	timer_t timer;

	if (HAS_TSAN)
		SKIP("the thread sanitizer calls handlers itself");
	n_steps = n_cut = n_wrong = 0;
	handle(SIGUSR2, SA_RESTART, on_step);
	seen_walk(&base);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		SKIP("no timers");
	CHECK_INT(timer_settime(timer, 0, &every, NULL), 0);
	while (__atomic_load_n(&n_steps, __ATOMIC_RELAXED) < 2000)
		work();
	(void)timer_delete(timer);
	printf("# %lu stacks, %lu cut\n", n_steps, n_cut);
	CHECK(n_cut * 100 <= n_steps);
	CHECK_INT(n_wrong, 0);
}

/* ---- other stacks ------------------------------------------------------ */

static ucontext_t outside, inside;
static struct seen of_fiber;

static void run_fiber(void)
{
	chain_n = 0;
	(void)chain_bare(8, seen_walk, &of_fiber);
}

/* In between there are pages that nobody may read. */
TEST(coroutines_stacks_come_and_go)
{
	for (size_t i = 0; i < 50; i++) {
		size_t bytes = (60 + i % 7) << 12;
		char *stack = mmap(NULL, bytes + 4096,
				   PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (!CHECK(stack != MAP_FAILED))
			return;
		(void)mprotect(stack + bytes, 4096, PROT_NONE);
		CHECK_INT(getcontext(&inside), 0);
		inside.uc_stack.ss_sp = stack;
		inside.uc_stack.ss_size = bytes;
		inside.uc_link = &outside;
		makecontext(&inside, run_fiber, 0);
		of_fiber.n = 0;
		CHECK_INT(swapcontext(&outside, &inside), 0);
		CHECK(of_fiber.n > 10);
		(void)munmap(stack, bytes + 4096);
	}
}

/* ---- damage ------------------------------------------------------------ */

#define AREA (16u << 12)

static uint64_t any_word(struct dice *dice, const struct seen *seen,
			 const char *area)
{
	switch (dice_next(dice) % 6) {
	case 0:
		return dice_next(dice);
	case 1:
		return 0;
	case 2: /* into the area, mostly aligned */
		return (uint64_t)(uintptr_t)area +
		       dice_next(dice) % (AREA / 8 + 64) * 8 +
		       !(dice_next(dice) % 16);
	case 3:
		return seen->frame[dice_next(dice) % seen->n].pc;
	case 4: /* any code */
		return seen->frame[dice_next(dice) % seen->n].pc +
		       dice_next(dice) % 100000 - 50000;
	default:
		return dice_next(dice) % 4096;
	}
}

/* A page that must not be read follows, and one comes before. */
TEST(damaged_stacks_and_wild_registers_end_a_walk)
{
	struct dice dice = { 5 };
	struct seen seen, now;
	char *area = mmap(NULL, AREA + 8192, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!CHECK(area != MAP_FAILED))
		return;
	area += 4096;
	(void)mprotect(area, AREA, PROT_READ | PROT_WRITE);
	inner.n = 0;
	(void)chain_bare(20, seen_walk, &seen);
	for (int round = 0; round < 20000; round++) {
		struct tr_unwind_at at = {
			.pc = any_word(&dice, &seen, area),
			.sp = any_word(&dice, &seen, area),
			.fp = any_word(&dice, &seen, area),
			.link = any_word(&dice, &seen, area),
			.bx = any_word(&dice, &seen, area),
			.is_return = round & 1,
		};
		uint32_t most = (uint32_t)(dice_next(&dice) % SEEN_MOST);

		for (int i = 0; i < 40; i++)
			((uint64_t *)(void *)area)[dice_next(&dice) %
						   (AREA / 8)] =
				any_word(&dice, &seen, area);
		now.n = tr_unwind(&at, now.frame, most, &now.is_whole);
		if (now.n > most || (most && !now.n && at.pc)) {
			CHECK_INT(now.n, most);
			break;
		}
	}
	(void)munmap(area - 4096, AREA + 8192);
}

TEST(a_walk_that_is_cut_by_its_bound_is_not_whole)
{
	struct tr_unwind_at at;
	struct seen seen;

	tr_unwind_here(&at);
	seen.n = tr_unwind(&at, seen.frame, SEEN_MOST, &seen.is_whole);
	CHECK(seen.is_whole);
	for (uint32_t most = 0; most < seen.n; most++) {
		bool is_whole = true;

		CHECK_INT(tr_unwind(&at, seen.frame, most, &is_whole), most);
		CHECK(!is_whole);
	}
}

TEST(errno_is_the_hosts)
{
	struct tr_unwind_at at = { .pc = 1, .sp = 8, .fp = 16 };
	struct seen seen;

	errno = 77;
	seen.n = tr_unwind(&at, seen.frame, SEEN_MOST, &seen.is_whole);
	CHECK_INT(errno, 77);
	CHECK_INT(seen.n, 1);
	CHECK(!seen.is_whole);
}
