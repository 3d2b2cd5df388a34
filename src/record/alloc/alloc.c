/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alloc: passes an allocation or a free to the tables.
 *
 * The thread-local `self` points to the state of the thread. The state of a
 * thread that has ended is taken over by another thread, as with tracks. While
 * a thread is inside, events of its signal handlers are deferred, and counted
 * when the thread leaves.
 */
#include "record/alloc/alloc.h"
#include "record/alloc.h"
#include "record/stacks.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#define FILTER_STICKS 200 /* of 255: several may add at once */
#define TRIES 4 /* states checked for a dead owner by a new thread */

#if !defined(TARE_TLS_DYNAMIC)
#define TR_ALLOC_TLS __attribute__((tls_model("initial-exec")))
#else
#define TR_ALLOC_TLS
#endif

/* In wiped memory. */
struct threads {
	uint32_t ready;
	uint32_t n;
	uint32_t look; /* where the search for dead owners continues */
	uint32_t most;
	struct tr_alloc_thread at[];
};

static struct threads *threads;
static struct tr_alloc_thread no_thread;
static struct tr_alloc_thread joining = { .state = TR_ALLOC_THREAD_INSIDE,
					  .n_deferred = TR_ALLOC_DEFERRED };
static double sample_mean;
static bool is_sampled;

static __thread struct tr_alloc_thread *self TR_ALLOC_TLS = &no_thread;
__thread int64_t tr_alloc_left TR_ALLOC_TLS;
uint8_t tr_alloc_filter[TR_ALLOC_FILTER];
static bool (*open_ledger)(void);
uint32_t tr_alloc_mode;
bool tr_alloc_maps;

/* An old kernel does not wipe: a handler does it, at least for fork(). */
static void wipe_in_child(void)
{
	memset(threads->at, 0, threads->n * sizeof(threads->at[0]));
	memset(threads, 0, sizeof(*threads));
	memset(tr_alloc_table, 0, sizeof(*tr_alloc_table));
	tr_blocks_wipe();
	tr_alloc_map_wipe();
	self = &no_thread;
}

bool tr_alloc_start(const struct tr_config *config)
{
	static bool wiped;

	if (config->alloc == TR_ALLOCS_OFF)
		return false;
	if (!threads)
		threads = tr_memory_map_wiped(
			sizeof(*threads) +
				tr_max_threads * sizeof(struct tr_alloc_thread),
			&wiped);
	if (!threads || !tr_blocks_init() || !tr_stacks_init() ||
	    !tr_alloc_table_init(config))
		return false;
	if (!wiped && !pthread_atfork(NULL, NULL, wipe_in_child))
		wiped = true; /* from now on */
	if (config->alloc_mmap)
		tr_alloc_map_init();
	is_sampled = config->alloc == TR_ALLOCS_SAMPLED;
	sample_mean = (double)config->alloc_sample;
	tr_walk_depth = (uint32_t)config->stack_depth;
	threads->most = tr_max_threads;
	TR_PUBLISH(threads->ready, 1);
	return true;
}

void tr_alloc_prepare(const struct tr_config *config, bool (*open)(void))
{
	assert(open);
	open_ledger = open;
	TR_STORE(tr_alloc_maps, config->alloc_mmap);
	if (config->alloc != TR_ALLOCS_OFF)
		TR_PUBLISH(tr_alloc_mode, config->alloc == TR_ALLOCS_EXACT ?
						  TR_HEAP_EXACT :
						  TR_HEAP_SAMPLED);
}

void tr_alloc_halt(void)
{
	TR_STORE(tr_alloc_mode, 0);
	TR_STORE(tr_alloc_maps, false);
}

bool tr_alloc_is_on(void)
{
	return threads && TR_ACQUIRE(threads->ready);
}

void tr_alloc_unseen(void)
{
	if (tr_alloc_is_on())
		(void)TR_ADD(tr_ledger->header->heap.unseen, 1);
}

/* ---- joining ----------------------------------------------------------- */

static bool take_over(struct tr_alloc_thread *thread, uint32_t tid)
{
	uint32_t owner = TR_LOAD(thread->owner);

	if (!owner || (owner != tid &&
		       tr_thread_alive(tr_ledger->pid, owner)))
		return false;
	if (!TR_SWAP(thread->owner, &owner, tid))
		return false;
	/* Every store of the dead thread is before this; see leave(). */
	(void)TR_ACQUIRE(thread->state);
	return true;
}

static struct tr_alloc_thread *find_thread(uint32_t tid)
{
	uint32_t n = TR_LOAD(threads->n), i;

	for (uint32_t k = 0; k < TRIES && k < n; k++) {
		i = TR_ADD(threads->look, 1) % n;
		if (take_over(&threads->at[i], tid))
			return &threads->at[i];
	}
	n = TR_LOAD(threads->n);
	do {
		if (n >= threads->most)
			return NULL;
	} while (!TR_SWAP(threads->n, &n, n + 1));
	TR_STORE(threads->at[n].owner, tid);
	return &threads->at[n];
}

static struct tr_alloc_thread *join(void)
{
	struct tr_alloc_thread *thread;
	uint32_t tid;

	if (!tr_alloc_is_on() &&
	    (!open_ledger || !open_ledger() || !tr_alloc_is_on()))
		return NULL;
	tid = tr_thread_id();
	thread = find_thread(tid);
	if (!thread)
		return NULL;
	TR_STORE(thread->state, TR_ALLOC_THREAD_INSIDE);
	thread->last = 0;
	thread->is_at_top = false;
	TR_STORE(thread->n_deferred, 0); /* the last read of the owner before */
	thread->is_drawn = false;
	if (!thread->walk_cache)
		thread->walk_cache = tr_walk_cache_new();
	else
		tr_walk_cache_clear(thread->walk_cache);
	thread->replaced = TR_LOAD(tr_ledger->replaced);
	if (!thread->random)
		thread->random = (uint64_t)tr_monotonic_ns() << 20 ^
				 (uint64_t)tid << 1 ^ 1;
	tr_alloc_table_join(thread);
	return thread;
}

/* The thread's first event, or its first in a child. */
static TR_COLD struct tr_alloc_thread *join_inside(void)
{
	struct tr_alloc_thread *thread;

	self = &joining;
	TR_FENCE();
	thread = join();
	TR_FENCE();
	self = thread ? thread : &no_thread;
	return thread;
}

TR_INLINE struct tr_alloc_thread *enter(void)
{
	struct tr_alloc_thread *thread = self;
	uint32_t state = TR_LOAD(thread->state);

	if (TR_LIKELY(state == TR_ALLOC_THREAD_FREE)) {
		TR_STORE(thread->state, TR_ALLOC_THREAD_INSIDE);
		TR_FENCE();
		return thread;
	}
	return state == TR_ALLOC_THREAD_NONE ? join_inside() : NULL;
}

/* ---- counting ---------------------------------------------------------- */

/* Allocations and bytes that an entry of the table represents. */
TR_INLINE void weigh(const struct tr_block_entry *entry,
		     struct tr_alloc_event *event)
{
	uint64_t size = entry->what >> TR_BLOCK_SHIFT;

	event->key = entry->key;
	event->row = (uint32_t)(entry->what & TR_BLOCK_ROW);
	event->count = 1;
	event->bytes = size;
	if (TR_LIKELY(!is_sampled))
		return;
	event->count = TR_SAMPLED_UNIT;
	if (!(entry->key & 1))
		tr_weight_of(size, sample_mean, &event->count,
			     &event->bytes);
}

/* A full counter stays full: then all blocks of its place are looked up. */
static void filter_add(uint64_t key, int n)
{
	uint8_t *at = &tr_alloc_filter[tr_alloc_filter_of(key)];

	if (!(key & 1) && TR_LOAD(*at) < FILTER_STICKS)
		(void)TR_ADD(*at, (uint8_t)n);
}

TR_INLINE void count_free(struct tr_alloc_thread *thread,
			  const struct tr_block_entry *entry)
{
	struct tr_alloc_event event;

	assert(thread->state == TR_ALLOC_THREAD_INSIDE);
	assert(entry->key);
	weigh(entry, &event);
	event.is_temporary = thread->last == entry->key;
	if (TR_UNLIKELY(is_sampled)) {
		/* No sample since, and no other allocation either? */
		event.is_temporary &= thread->last_left == tr_alloc_left;
		filter_add(entry->key, -1);
	}
	tr_alloc_table_remove(thread, &event);
}

/*
 * The same for all callers but malloc() and free(): each copy inside a caller
 * is a kilobyte of every program whose allocations are tracked.
 */
static TR_NOINLINE void count_free_call(struct tr_alloc_thread *thread,
					const struct tr_block_entry *entry)
{
	count_free(thread, entry);
}

/* A free was not reported: its address was allocated again. */
static TR_COLD void count_missed_free(struct tr_alloc_thread *thread,
				      const struct tr_block_entry *old)
{
	thread->last = 0;
	count_free_call(thread, old);
}

void (*tr_alloc_seen)(uint64_t bytes);
#define TR_ALLOC_SEEN() __atomic_load_n(&tr_alloc_seen, __ATOMIC_ACQUIRE)

static TR_COLD void see(uint64_t bytes)
{
	void (*seen)(uint64_t bytes) = TR_ALLOC_SEEN();

	if (seen)
		seen(bytes);
}

TR_INLINE void count_alloc(struct tr_alloc_thread *thread, uint64_t key,
			   uint64_t size, uint32_t row)
{
	struct tr_block_entry entry, old;
	struct tr_alloc_event event;

	assert(thread->state == TR_ALLOC_THREAD_INSIDE);
	assert(key);
	assert(row <= TR_BLOCK_ROW);
	if (TR_UNLIKELY(size >= TR_BLOCK_MOST))
		size = TR_BLOCK_MOST - 1;
	entry.key = key;
	entry.what = size << TR_BLOCK_SHIFT | row;
	if (TR_UNLIKELY(!tr_blocks_put(&entry, &old))) {
		tr_alloc_unseen();
		return;
	}
	if (TR_UNLIKELY(old.key != 0))
		count_missed_free(thread, &old);
	weigh(&entry, &event);
	if (TR_UNLIKELY(is_sampled))
		filter_add(key, 1);
	tr_alloc_table_add(thread, &event);
	thread->last = key;
	if (TR_UNLIKELY(TR_ALLOC_SEEN() != NULL))
		see(size);
}

/* See count_free_call(). */
static TR_NOINLINE void count_alloc_call(struct tr_alloc_thread *thread,
					 uint64_t key, uint64_t size,
					 uint32_t row)
{
	count_alloc(thread, key, size, row);
}

/* In a handler, while its thread is inside. False: no room. */
static bool defer_event(uint64_t key, uint64_t size, uint32_t row)
{
	struct tr_alloc_thread *thread = self;
	uint32_t n = TR_LOAD(thread->n_deferred);

	if (n >= TR_ALLOC_DEFERRED)
		return false;
	thread->deferred[n] = (struct tr_alloc_deferred){ key, size, row };
	TR_FENCE();
	TR_STORE(thread->n_deferred, n + 1);
	return true;
}

static TR_COLD void count_deferred(struct tr_alloc_thread *thread,
				   const struct tr_alloc_deferred *deferred)
{
	struct tr_block_entry entry;

	if (deferred->size != UINT64_MAX)
		count_alloc_call(thread, deferred->key, deferred->size,
				 deferred->row);
	else if (tr_blocks_take(deferred->key, &entry))
		count_free_call(thread, &entry);
}

/* Counts deferred events; signal handlers may add more meanwhile. */
static TR_COLD void settle(struct tr_alloc_thread *thread)
{
	uint32_t i = 0, n;

	assert(thread->state == TR_ALLOC_THREAD_INSIDE);
	do {
		n = TR_LOAD(thread->n_deferred);
		for (; i < n; i++)
			count_deferred(thread, &thread->deferred[i]);
	} while (!TR_SWAP(thread->n_deferred, &n, 0));
}

TR_INLINE void leave(struct tr_alloc_thread *thread)
{
	assert(thread->state == TR_ALLOC_THREAD_INSIDE);
	for (;;) {
		TR_FENCE();
		if (TR_UNLIKELY(TR_LOAD(thread->n_deferred) != 0))
			settle(thread);
		TR_FENCE();
		/* Release: another thread may take it over. */
		TR_PUBLISH(thread->state, TR_ALLOC_THREAD_FREE);
		TR_FENCE();
		/* Did a handler defer an event just before that store? */
		if (TR_LIKELY(TR_LOAD(thread->n_deferred) == 0))
			return;
		TR_STORE(thread->state, TR_ALLOC_THREAD_INSIDE);
	}
}

struct tr_alloc_thread *tr_alloc_enter(void)
{
	return enter();
}

void tr_alloc_leave(struct tr_alloc_thread *thread)
{
	leave(thread);
}

/* ---- events ------------------------------------------------------------ */

static TR_COLD bool is_nested(void)
{
	return TR_LOAD(self->state) == TR_ALLOC_THREAD_NESTED;
}

static TR_COLD void defer_alloc(uint64_t key, uint64_t size,
				const struct tr_unwind_at *at)
{
	if (self == &no_thread || self == &joining || is_nested())
		return; /* tracking is off, or the block is ours */
	if (!tr_alloc_is_on() ||
	    TR_LOAD(self->n_deferred) >= TR_ALLOC_DEFERRED ||
	    !defer_event(key, size, tr_walk_row_plain(at)))
		tr_alloc_unseen();
}

TR_INLINE uint32_t row_at(const struct tr_alloc_thread *thread,
			  const struct tr_unwind_at *at)
{
	return TR_LIKELY(thread->walk_cache != NULL) ?
		       tr_walk_cache_row(thread->walk_cache, at) :
		       tr_walk_row_plain(at);
}

uint32_t tr_alloc_row_at(const struct tr_alloc_thread *thread,
			 const struct tr_unwind_at *at)
{
	return row_at(thread, at);
}

void tr_alloc_count(struct tr_alloc_thread *thread, const void *block,
		    uint64_t size, uint32_t row)
{
	count_alloc_call(thread, (uintptr_t)block, size, row);
	if (is_sampled)
		thread->last_left = tr_alloc_left;
}

bool tr_alloc_uncount(struct tr_alloc_thread *thread, const void *block)
{
	struct tr_block_entry entry;

	if (!tr_blocks_take((uintptr_t)block, &entry))
		return false;
	count_free_call(thread, &entry);
	return true;
}

TR_NOINLINE void *tr_alloc_added(void *block, size_t size)
{
	struct tr_unwind_at at;
	struct tr_alloc_thread *thread = enter();

	tr_unwind_here(&at);
	if (TR_UNLIKELY(!thread)) {
		defer_alloc((uintptr_t)block, size, &at);
		return block;
	}
	count_alloc(thread, (uintptr_t)block, size, row_at(thread, &at));
	leave(thread);
	return block;
}

void tr_alloc_added_at(const void *block, size_t size, uint64_t pc)
{
	struct tr_unwind_frame frame = { pc, TR_UNWIND_NO_MODULE };
	struct tr_alloc_thread *thread = enter();
	uint32_t stack;

	if (!thread)
		return;
	stack = tr_stack_intern(&frame, 1, false, false);
	count_alloc_call(thread, (uintptr_t)block, size,
			 tr_alloc_table_row(stack));
	leave(thread);
}

/* Draws the next sample. False: no sample was due yet. */
static bool draw_next(struct tr_alloc_thread *thread, uint64_t size)
{
	if (!thread->is_drawn) { /* the thread's first */
		thread->is_drawn = true;
		tr_alloc_left = tr_weight_draw(&thread->random, sample_mean) -
				tr_alloc_step(size);
		if (tr_alloc_left >= 0)
			return false;
	}
	tr_alloc_left = tr_weight_draw(&thread->random, sample_mean);
	return true;
}

struct tr_alloc_thread *tr_alloc_sample_due(uint64_t size)
{
	struct tr_alloc_thread *thread;

	if (!size && --tr_alloc_left >= 0)
		return NULL;
	thread = enter();
	if (!thread || draw_next(thread, size))
		return thread;
	leave(thread);
	return NULL;
}

TR_NOINLINE void *tr_alloc_sampled(void *block, size_t size)
{
	struct tr_alloc_thread *thread;
	struct tr_unwind_at at;

	/* Without bytes: counts as 1, see tr_alloc_step(). */
	if (!size && --tr_alloc_left >= 0)
		return block;
	thread = enter();
	tr_unwind_here(&at);
	if (!thread) {
		defer_alloc((uintptr_t)block, size, &at);
		return block;
	}
	if (draw_next(thread, size)) {
		count_alloc_call(thread, (uintptr_t)block, size,
				 tr_alloc_row_at(thread, &at));
		thread->last_left = tr_alloc_left;
	}
	leave(thread);
	return block;
}

void tr_alloc_take(const void *block, struct tr_alloc_taken *ret_taken)
{
	struct tr_alloc_thread *thread = enter();
	uint64_t key = (uintptr_t)block;
	struct tr_block_entry entry;

	*ret_taken = (struct tr_alloc_taken){ .key = key };
	if (TR_UNLIKELY(!thread)) {
		if (is_nested())
			ret_taken->key = 0;
		/* realloc may fail and keep the block. */
		ret_taken->is_deferred = self != &no_thread;
		return;
	}
	if (tr_blocks_take(key, &entry)) {
		ret_taken->what = entry.what;
		ret_taken->is_known = true;
	}
	leave(thread);
}

void tr_alloc_kept(const struct tr_alloc_taken *taken)
{
	struct tr_block_entry entry = { taken->key, taken->what }, old;
	struct tr_alloc_thread *thread = taken->is_known ? enter() : NULL;

	if (!thread)
		return;
	if (!tr_blocks_put(&entry, &old))
		count_free_call(thread, &entry);
	leave(thread);
}

/* A free of a block that is in no row. */
static void count_foreign(void)
{
	if (!is_sampled && tr_alloc_is_on())
		(void)TR_ADD(tr_ledger->header->heap.foreign, 1);
}

void tr_alloc_gone(const struct tr_alloc_taken *taken)
{
	struct tr_block_entry entry = { taken->key, taken->what };
	struct tr_alloc_thread *thread;

	if (TR_UNLIKELY(!taken->key))
		return;
	if (taken->is_deferred) {
		if (!defer_event(taken->key, UINT64_MAX, 0))
			count_foreign();
		return;
	}
	if (!taken->is_known) {
		count_foreign();
		return;
	}
	thread = enter();
	if (!thread)
		return;
	count_free_call(thread, &entry);
	leave(thread);
}

static TR_COLD void defer_free(uint64_t key)
{
	if (self != &no_thread && !is_nested() &&
	    !defer_event(key, UINT64_MAX, 0))
		count_foreign();
}

void tr_alloc_removed(const void *block)
{
	struct tr_alloc_thread *thread = enter();
	uint64_t key = (uintptr_t)block;
	struct tr_block_entry entry;

	if (TR_UNLIKELY(!thread)) {
		defer_free(key);
		return;
	}
	if (TR_LIKELY(tr_blocks_take(key, &entry)))
		count_free(thread, &entry);
	else
		count_foreign();
	leave(thread);
}

/* ---- tags -------------------------------------------------------------- */

int tr_alloc_tagged(uint64_t key, uint64_t size, uint32_t row)
{
	struct tr_alloc_thread *thread = enter();
	uint64_t last;

	if (!thread)
		return TARE_EOFF;
	last = thread->last;
	count_alloc_call(thread, key, size, row);
	thread->last = last; /* temporary: before the next malloc */
	leave(thread);
	return 0;
}

int tr_alloc_untagged(uint64_t key)
{
	struct tr_alloc_thread *thread = enter();
	struct tr_block_entry entry;
	bool is_known;

	if (!thread)
		return TARE_EOFF;
	is_known = tr_blocks_take(key, &entry);
	if (is_known)
		count_free_call(thread, &entry);
	leave(thread);
	return is_known ? 0 : TARE_ENOENT;
}
