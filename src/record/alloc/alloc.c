/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alloc: an allocation or a free on its way into the books.
 *
 * Which thread: a purser, found by the thread's own pointer. Threads that
 * ended leave theirs to others, as with tracks. While a thread is inside, what
 * its signal handlers do is put aside, and booked when it leaves.
 */
#include "record/alloc/alloc.h"
#include "record/alloc.h"
#include "record/stacks.h"

#include <pthread.h>
#include <string.h>

#define FILTER_STICKS 200 /* of 255: several may add at once */
#define TRIES 4 /* dead threads looked for when one comes */

#if !defined(TARE_TLS_DYNAMIC)
#define TR_ALLOC_TLS __attribute__((tls_model("initial-exec")))
#else
#define TR_ALLOC_TLS
#endif

/* In wiped memory. */
struct pursers {
	uint32_t ready;
	uint32_t n;
	uint32_t look; /* where to look for dead ones */
	uint32_t most;
	struct tr_purser at[];
};

static struct pursers *pursers;
static struct tr_purser no_purser;
static struct tr_purser joining = { .state = TR_PURSER_INSIDE,
				    .n_aside = TR_ASIDE };
static double sample_mean;
static bool is_sampled;

static __thread struct tr_purser *self TR_ALLOC_TLS = &no_purser;
__thread int64_t tr_alloc_left TR_ALLOC_TLS;
uint8_t tr_alloc_filter[TR_ALLOC_FILTER];
static bool (*open_ledger)(void);
uint32_t tr_alloc_mode;
bool tr_alloc_maps;

/* An old kernel: a handler does it, for fork() at least. */
static void wipe_in_child(void)
{
	memset(pursers->at, 0, pursers->n * sizeof(pursers->at[0]));
	memset(pursers, 0, sizeof(*pursers));
	memset(tr_books, 0, sizeof(*tr_books));
	tr_blocks_wipe();
	tr_alloc_map_wipe();
	self = &no_purser;
}

bool tr_alloc_start(const struct tr_config *config)
{
	static bool wiped;

	if (config->alloc == TR_ALLOCS_OFF)
		return false;
	if (!pursers)
		pursers = tr_memory_map_wiped(
			sizeof(*pursers) +
				tr_hands_most * sizeof(struct tr_purser),
			&wiped);
	if (!pursers || !tr_blocks_init() || !tr_stacks_init() ||
	    !tr_books_init(config))
		return false;
	if (!wiped && !pthread_atfork(NULL, NULL, wipe_in_child))
		wiped = true; /* from now on */
	if (config->alloc_mmap)
		tr_alloc_map_init();
	is_sampled = config->alloc == TR_ALLOCS_SAMPLED;
	sample_mean = (double)config->alloc_sample;
	tr_walk_depth = (uint32_t)config->stack_depth;
	pursers->most = tr_hands_most;
	TR_PUBLISH(pursers->ready, 1);
	return true;
}

void tr_alloc_prepare(const struct tr_config *config, bool (*open)(void))
{
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
	return pursers && TR_ACQUIRE(pursers->ready);
}

void tr_alloc_unseen(void)
{
	if (tr_alloc_is_on())
		(void)TR_ADD(tr_ledger->header->heap.unseen, 1);
}

/* ---- joining ----------------------------------------------------------- */

static bool take_over(struct tr_purser *purser, uint32_t thread)
{
	uint32_t owner = TR_LOAD(purser->owner);

	if (!owner || (owner != thread &&
		       tr_thread_alive(tr_ledger->pid, owner)))
		return false;
	if (!__atomic_compare_exchange_n(&purser->owner, &owner, thread, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	/* Every store of the dead thread is before this; see leave(). */
	(void)TR_ACQUIRE(purser->state);
	return true;
}

static struct tr_purser *find_purser(uint32_t thread)
{
	uint32_t n = TR_LOAD(pursers->n), i;

	for (uint32_t k = 0; k < TRIES && k < n; k++) {
		i = TR_ADD(pursers->look, 1) % n;
		if (take_over(&pursers->at[i], thread))
			return &pursers->at[i];
	}
	n = TR_LOAD(pursers->n);
	do {
		if (n >= pursers->most)
			return NULL;
	} while (!__atomic_compare_exchange_n(&pursers->n, &n, n + 1, true,
					      __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	TR_STORE(pursers->at[n].owner, thread);
	return &pursers->at[n];
}

static struct tr_purser *join(void)
{
	struct tr_purser *purser;
	uint32_t thread;

	if (!tr_alloc_is_on() &&
	    (!open_ledger || !open_ledger() || !tr_alloc_is_on()))
		return NULL;
	thread = tr_thread_id();
	purser = find_purser(thread);
	if (!purser)
		return NULL;
	TR_STORE(purser->state, TR_PURSER_INSIDE);
	purser->last = 0;
	purser->is_at_top = false;
	TR_STORE(purser->n_aside, 0); /* read last by who had it */
	purser->is_drawn = false;
	if (!purser->walks)
		purser->walks = tr_walks_new();
	else
		tr_walks_clear(purser->walks);
	purser->replaced = TR_LOAD(tr_ledger->replaced);
	if (!purser->random)
		purser->random = (uint64_t)tr_monotonic_ns() << 20 ^
				 (uint64_t)thread << 1 ^ 1;
	tr_books_join(purser);
	return purser;
}

/* The thread's first event, or its first in a child. */
static TR_COLD struct tr_purser *join_inside(void)
{
	struct tr_purser *purser;

	self = &joining;
	TR_FENCE();
	purser = join();
	TR_FENCE();
	self = purser ? purser : &no_purser;
	return purser;
}

TR_INLINE struct tr_purser *enter(void)
{
	struct tr_purser *purser = self;
	uint32_t state = TR_LOAD(purser->state);

	if (TR_LIKELY(state == TR_PURSER_FREE)) {
		TR_STORE(purser->state, TR_PURSER_INSIDE);
		TR_FENCE();
		return purser;
	}
	return state == TR_PURSER_NONE ? join_inside() : NULL;
}

/* ---- booking ----------------------------------------------------------- */

/* What an entry of the table stands for. */
TR_INLINE void weigh(const struct tr_block_entry *entry,
		     struct tr_booking *booking)
{
	uint64_t size = entry->what >> TR_BLOCK_SHIFT;

	booking->key = entry->key;
	booking->row = (uint32_t)(entry->what & TR_BLOCK_ROW);
	booking->count = 1;
	booking->bytes = size;
	if (TR_LIKELY(!is_sampled))
		return;
	booking->count = TR_SAMPLED_UNIT;
	if (!(entry->key & 1))
		tr_weight_of(size, sample_mean, &booking->count,
			     &booking->bytes);
}

/* Sticks where many share a place: then all of them are looked up. */
static void filter_add(uint64_t key, int n)
{
	uint8_t *at = &tr_alloc_filter[tr_alloc_filter_of(key)];

	if (!(key & 1) && TR_LOAD(*at) < FILTER_STICKS)
		(void)TR_ADD(*at, (uint8_t)n);
}

TR_INLINE void book_free(struct tr_purser *purser,
		      const struct tr_block_entry *entry)
{
	struct tr_booking booking;

	weigh(entry, &booking);
	booking.is_temporary = purser->last == entry->key;
	if (TR_UNLIKELY(is_sampled))
		filter_add(entry->key, -1);
	tr_books_remove(purser, &booking);
}

/* A free that nobody told of. */
static TR_COLD void book_untold(struct tr_purser *purser,
				const struct tr_block_entry *old)
{
	purser->last = 0;
	book_free(purser, old);
}

void (*tr_alloc_seen)(uint64_t bytes);
#define TR_ALLOC_SEEN() __atomic_load_n(&tr_alloc_seen, __ATOMIC_ACQUIRE)

static TR_COLD void see(uint64_t bytes)
{
	void (*seen)(uint64_t bytes) = TR_ALLOC_SEEN();

	if (seen)
		seen(bytes);
}

TR_INLINE void book_alloc(struct tr_purser *purser, uint64_t key, uint64_t size,
		       uint32_t row)
{
	struct tr_block_entry entry, old;
	struct tr_booking booking;

	if (TR_UNLIKELY(size >= TR_BLOCK_MOST))
		size = TR_BLOCK_MOST - 1;
	entry.key = key;
	entry.what = size << TR_BLOCK_SHIFT | row;
	if (TR_UNLIKELY(!tr_blocks_put(&entry, &old))) {
		tr_alloc_unseen();
		return;
	}
	if (TR_UNLIKELY(old.key != 0))
		book_untold(purser, &old);
	weigh(&entry, &booking);
	if (TR_UNLIKELY(is_sampled))
		filter_add(key, 1);
	tr_books_add(purser, &booking);
	purser->last = key;
	if (TR_UNLIKELY(TR_ALLOC_SEEN() != NULL))
		see(size);
}

/* In a handler, while its thread is inside. False: no room. */
static bool put_aside(uint64_t key, uint64_t size, uint32_t row)
{
	struct tr_purser *purser = self;
	uint32_t n = TR_LOAD(purser->n_aside);

	if (n >= TR_ASIDE)
		return false;
	purser->aside[n] = (struct tr_aside){ key, size, row };
	TR_FENCE();
	TR_STORE(purser->n_aside, n + 1);
	return true;
}

static TR_COLD void book_aside(struct tr_purser *purser,
			       const struct tr_aside *aside)
{
	struct tr_block_entry entry;

	if (aside->size != UINT64_MAX)
		book_alloc(purser, aside->key, aside->size, aside->row);
	else if (tr_blocks_take(aside->key, &entry))
		book_free(purser, &entry);
}

/* What handlers put aside meanwhile; they may go on. */
static TR_COLD void settle(struct tr_purser *purser)
{
	uint32_t i = 0, n;

	do {
		n = TR_LOAD(purser->n_aside);
		for (; i < n; i++)
			book_aside(purser, &purser->aside[i]);
	} while (!__atomic_compare_exchange_n(&purser->n_aside, &n, 0, false,
					      __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
}

TR_INLINE void leave(struct tr_purser *purser)
{
	for (;;) {
		TR_FENCE();
		if (TR_UNLIKELY(TR_LOAD(purser->n_aside) != 0))
			settle(purser);
		TR_FENCE();
		/* Release: another thread may take it over. */
		TR_PUBLISH(purser->state, TR_PURSER_FREE);
		TR_FENCE();
		/* A handler just before that store? */
		if (TR_LIKELY(TR_LOAD(purser->n_aside) == 0))
			return;
		TR_STORE(purser->state, TR_PURSER_INSIDE);
	}
}

struct tr_purser *tr_purser_enter(void)
{
	return enter();
}

void tr_purser_leave(struct tr_purser *purser)
{
	leave(purser);
}

/* ---- events ------------------------------------------------------------ */

static TR_COLD void add_aside(uint64_t key, uint64_t size,
			      const struct tr_unwind_at *at)
{
	if (self == &no_purser || self == &joining)
		return; /* it is off; or it is our own */
	if (!tr_alloc_is_on() || TR_LOAD(self->n_aside) >= TR_ASIDE ||
	    !put_aside(key, size, tr_walk_row_plain(at)))
		tr_alloc_unseen();
}

TR_INLINE uint32_t row_at(const struct tr_purser *purser,
			  const struct tr_unwind_at *at)
{
	return TR_LIKELY(purser->walks != NULL) ?
		       tr_walks_row(purser->walks, at) :
		       tr_walk_row_plain(at);
}

TR_NOINLINE void *tr_alloc_added(void *block, size_t size)
{
	struct tr_unwind_at at;
	struct tr_purser *purser = enter();

	tr_unwind_here(&at);
	if (TR_UNLIKELY(!purser)) {
		add_aside((uintptr_t)block, size, &at);
		return block;
	}
	book_alloc(purser, (uintptr_t)block, size, row_at(purser, &at));
	leave(purser);
	return block;
}

void tr_alloc_added_at(const void *block, size_t size, uint64_t pc)
{
	struct tr_unwind_frame frame = { pc, TR_UNWIND_NO_MODULE };
	struct tr_purser *purser = enter();
	uint32_t stack;

	if (!purser)
		return;
	stack = tr_stack_intern(&frame, 1, false, false);
	book_alloc(purser, (uintptr_t)block, size, tr_books_row(stack));
	leave(purser);
}

TR_NOINLINE void *tr_alloc_sampled(void *block, size_t size)
{
	struct tr_purser *purser = enter();
	struct tr_unwind_at at;
	bool is_hit = true;

	tr_unwind_here(&at);
	if (!purser) {
		add_aside((uintptr_t)block, size, &at);
		return block;
	}
	if (!purser->is_drawn) { /* the thread's first: nothing was due yet */
		purser->is_drawn = true;
		tr_alloc_left = tr_weight_draw(&purser->random, sample_mean) -
				(int64_t)size;
		is_hit = tr_alloc_left < 0;
	}
	if (is_hit) {
		tr_alloc_left = tr_weight_draw(&purser->random, sample_mean);
		book_alloc(purser, (uintptr_t)block, size,
			   row_at(purser, &at));
	}
	leave(purser);
	return block;
}

void tr_alloc_take(const void *block, struct tr_alloc_taken *ret_taken)
{
	struct tr_purser *purser = enter();
	uint64_t key = (uintptr_t)block;
	struct tr_block_entry entry;

	*ret_taken = (struct tr_alloc_taken){ .key = key };
	if (TR_UNLIKELY(!purser)) {
		/* Taken back if nothing comes of it. */
		ret_taken->is_aside = self != &no_purser;
		return;
	}
	if (tr_blocks_take(key, &entry)) {
		ret_taken->what = entry.what;
		ret_taken->is_known = true;
	}
	leave(purser);
}

void tr_alloc_kept(const struct tr_alloc_taken *taken)
{
	struct tr_block_entry entry = { taken->key, taken->what }, old;
	struct tr_purser *purser = taken->is_known ? enter() : NULL;

	if (!purser)
		return;
	if (!tr_blocks_put(&entry, &old))
		book_free(purser, &entry);
	leave(purser);
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
	struct tr_purser *purser;

	if (taken->is_aside) {
		if (!put_aside(taken->key, UINT64_MAX, 0))
			count_foreign();
		return;
	}
	if (!taken->is_known) {
		count_foreign();
		return;
	}
	purser = enter();
	if (!purser)
		return;
	book_free(purser, &entry);
	leave(purser);
}

static TR_COLD void remove_aside(uint64_t key)
{
	if (self != &no_purser && !put_aside(key, UINT64_MAX, 0))
		count_foreign();
}

void tr_alloc_removed(const void *block)
{
	struct tr_purser *purser = enter();
	uint64_t key = (uintptr_t)block;
	struct tr_block_entry entry;

	if (TR_UNLIKELY(!purser)) {
		remove_aside(key);
		return;
	}
	if (TR_LIKELY(tr_blocks_take(key, &entry)))
		book_free(purser, &entry);
	else
		count_foreign();
	leave(purser);
}

/* ---- tags -------------------------------------------------------------- */

int tr_alloc_tagged(uint64_t key, uint64_t size, uint32_t row)
{
	struct tr_purser *purser = enter();
	uint64_t last;

	if (!purser)
		return TARE_EOFF;
	last = purser->last;
	book_alloc(purser, key, size, row);
	purser->last = last; /* temporary: before the next malloc */
	leave(purser);
	return 0;
}

int tr_alloc_untagged(uint64_t key)
{
	struct tr_purser *purser = enter();
	struct tr_block_entry entry;
	bool is_known;

	if (!purser)
		return TARE_EOFF;
	is_known = tr_blocks_take(key, &entry);
	if (is_known)
		book_free(purser, &entry);
	leave(purser);
	return is_known ? 0 : TARE_ENOENT;
}
