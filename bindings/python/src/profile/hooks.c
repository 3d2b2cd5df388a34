/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks of the interpreter's allocators.
 *
 * The context of each allocator stays as it was, and the functions here find
 * theirs by the domain: a thread that reads the allocator while it is being
 * exchanged gets a function and a context that fit, whichever it sees first.
 */
#include "tracking.h"

#include <string.h>

enum domain { RAW, MEM, OBJ, DOMAINS };

static const PyMemAllocatorDomain domain_numbers[DOMAINS] = {
	PYMEM_DOMAIN_RAW,
	PYMEM_DOMAIN_MEM,
	PYMEM_DOMAIN_OBJ,
};

static PyMemAllocatorEx base[DOMAINS]; /* what was there before */
static bool is_hooked[DOMAINS];
static volatile bool is_on;
static PyInterpreterState *owner; /* 3.12 and later: each may have a lock */

/*
 * An allocator may call another one: pymalloc asks the raw domain for big
 * blocks. Only the outer call is recorded.
 */
static __thread bool is_inside __attribute__((tls_model("initial-exec")));
static __thread bool is_paused __attribute__((tls_model("initial-exec")));
/* The newest block: the object in it is new, and at its line. */
static __thread void *newest __attribute__((tls_model("initial-exec")));

static struct tr_book *book_of(enum domain domain)
{
#ifdef Py_GIL_DISABLED
	(void)domain;
	return &tr_tracking.book[TR_BOOK_RAW];
#else
	return &tr_tracking.book[domain == RAW ? TR_BOOK_RAW : TR_BOOK_PYTHON];
#endif
}

/*
 * Whether this thread may use the book. A subinterpreter with a lock of its
 * own must not use a book that another lock guards.
 */
static inline bool is_ours(enum domain domain)
{
#if TR_HAS_MONITORING
	PyThreadState *state;

	if (domain == RAW)
		return true;
	state = tr_state_with_lock();
	return !state || state->interp == owner;
#else
	(void)domain;
	return true;
#endif
}

static inline void note(enum domain domain, void *block, size_t size)
{
	struct tr_book *book = book_of(domain);

	newest = block;
	if (TR_UNLIKELY(!block || is_paused || !is_ours(domain)))
		return;
	if (domain != RAW && TR_LIKELY(book->is_plain))
		tr_book_add_plain(book, block, size);
	else
		tr_book_add(book, block, size);
}

/* True: the block was recorded. */
static inline bool forget(enum domain domain, void *block)
{
	struct tr_book *book = book_of(domain);

	if (!block || !is_on || !is_ours(domain))
		return false;
	if (domain != RAW && TR_LIKELY(book->is_plain))
		return tr_book_remove_plain(book, block);
	return tr_book_remove(book, block);
}

static inline void *do_malloc(enum domain domain, size_t size)
{
	const PyMemAllocatorEx *to = &base[domain];
	void *block;

	if (is_inside || !is_on)
		return to->malloc(to->ctx, size);
	is_inside = true;
	block = to->malloc(to->ctx, size);
	note(domain, block, size);
	is_inside = false;
	return block;
}

static inline void *do_calloc(enum domain domain, size_t n, size_t size)
{
	const PyMemAllocatorEx *to = &base[domain];
	void *block;

	if (is_inside || !is_on)
		return to->calloc(to->ctx, n, size);
	is_inside = true;
	block = to->calloc(to->ctx, n, size);
	note(domain, block, n * size);
	is_inside = false;
	return block;
}

/*
 * The old block leaves the book first: as soon as it is free, another thread
 * may get its address. If it cannot be moved, it is still there.
 */
static inline void *do_realloc(enum domain domain, void *old, size_t size)
{
	const PyMemAllocatorEx *to = &base[domain];
	bool was_there;
	void *block;

	if (is_inside || !is_on)
		return to->realloc(to->ctx, old, size);
	is_inside = true;
	was_there = forget(domain, old);
	block = to->realloc(to->ctx, old, size);
	if (block)
		note(domain, block, size);
	else if (was_there)
		tr_tracking.book[TR_BOOK_RAW].n_lost++;
	is_inside = false;
	return block;
}

static inline void do_free(enum domain domain, void *block)
{
	const PyMemAllocatorEx *to = &base[domain];
	bool was_inside = is_inside;

	if (!was_inside)
		(void)forget(domain, block);
	is_inside = true;
	to->free(to->ctx, block);
	is_inside = was_inside;
}

#define HOOKS(domain, name)                                                    \
	static void *name##_malloc(void *context, size_t size)                 \
	{                                                                      \
		(void)context;                                                 \
		return do_malloc(domain, size);                                \
	}                                                                      \
	static void *name##_calloc(void *context, size_t n, size_t size)       \
	{                                                                      \
		(void)context;                                                 \
		return do_calloc(domain, n, size);                             \
	}                                                                      \
	static void *name##_realloc(void *context, void *old, size_t size)     \
	{                                                                      \
		(void)context;                                                 \
		return do_realloc(domain, old, size);                          \
	}                                                                      \
	static void name##_free(void *context, void *block)                    \
	{                                                                      \
		(void)context;                                                 \
		do_free(domain, block);                                        \
	}

HOOKS(RAW, raw)
HOOKS(MEM, mem)
HOOKS(OBJ, obj)

static PyMemAllocatorEx hook_of(enum domain domain)
{
	static const PyMemAllocatorEx hooks[DOMAINS] = {
		{ NULL, raw_malloc, raw_calloc, raw_realloc, raw_free },
		{ NULL, mem_malloc, mem_calloc, mem_realloc, mem_free },
		{ NULL, obj_malloc, obj_calloc, obj_realloc, obj_free },
	};
	PyMemAllocatorEx hook = hooks[domain];

	hook.ctx = base[domain].ctx;
	return hook;
}

/* A hook that another tool has built upon stays, and lets calls through. */
static void hook_domain(enum domain domain)
{
	PyMemAllocatorEx hook;

	if (is_hooked[domain])
		return;
	PyMem_GetAllocator(domain_numbers[domain], &base[domain]);
	hook = hook_of(domain);
	PyMem_SetAllocator(domain_numbers[domain], &hook);
	is_hooked[domain] = true;
}

static void unhook_domain(enum domain domain)
{
	PyMemAllocatorEx present;

	PyMem_GetAllocator(domain_numbers[domain], &present);
	if (present.malloc != hook_of(domain).malloc)
		return;
	PyMem_SetAllocator(domain_numbers[domain], &base[domain]);
	is_hooked[domain] = false;
}

/* ---- fork -------------------------------------------------------------- */

static void before_fork(void)
{
	(void)pthread_mutex_lock(&tr_tracking.book[TR_BOOK_RAW].mutex);
}

static void after_fork(void)
{
	(void)pthread_mutex_unlock(&tr_tracking.book[TR_BOOK_RAW].mutex);
}

static void init_once(void)
{
	static bool is_done;

	if (is_done)
		return;
	is_done = true;
	tr_tracking.book[TR_BOOK_RAW].is_locked = true;
	(void)pthread_mutex_init(&tr_tracking.book[TR_BOOK_RAW].mutex, NULL);
	(void)pthread_atfork(before_fork, after_fork, after_fork);
}

/* ---- switching --------------------------------------------------------- */

static bool init_books(void)
{
	for (int i = 0; i < TR_BOOKS; i++) {
		if (tr_book_init(&tr_tracking.book[i]))
			continue;
		for (int k = 0; k <= i; k++)
			tr_book_release(&tr_tracking.book[k]);
		return false;
	}
	return true;
}

bool tr_hooks_start(unsigned max_frames, double mean_bytes)
{
	if (is_on)
		return true;
	init_once();
	tr_tracking.max_frames = max_frames;
	tr_tracking.mean_bytes = mean_bytes;
	owner = PyInterpreterState_Get();
	if (!init_books())
		return false;
	for (int domain = RAW; domain < DOMAINS; domain++)
		hook_domain(domain);
	is_on = true;
	tr_reuse_start();
	return true;
}

void tr_hooks_stop(void)
{
	if (!is_on)
		return;
	tr_reuse_stop();
	is_on = false;
	for (int domain = RAW; domain < DOMAINS; domain++)
		unhook_domain(domain);
	for (int i = 0; i < TR_BOOKS; i++)
		tr_book_release(&tr_tracking.book[i]);
}

void tr_hooks_clear(void)
{
	if (!is_on)
		return;
	is_on = false;
	for (int i = 0; i < TR_BOOKS; i++)
		tr_book_release(&tr_tracking.book[i]);
	is_on = init_books();
	if (!is_on)
		tr_hooks_stop();
}

bool tr_hooks_are_on(void)
{
	return is_on;
}

void tr_hooks_reuse(void *block)
{
	if (block == newest || is_inside || is_paused || !is_ours(OBJ))
		return;
	is_inside = true;
	tr_book_move(book_of(OBJ), block);
	is_inside = false;
}

void tr_hooks_pause(bool pause)
{
	is_paused = pause;
}
