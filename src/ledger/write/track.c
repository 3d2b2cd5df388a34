/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Track: a thread's part of the ledger, from its first event on.
 *
 * The owner of a track is a thread id. When another thread needs a track, the
 * kernel is asked whether the owner still lives. So no destructor has to run in
 * the right order, and it works for threads that were created or ended without
 * libc. A dead thread's track is passed on as a whole: its counts stay, only
 * the owner changes.
 *
 * Everything here may run in a signal handler: no lock, no malloc.
 */
#include "ledger/write.h"

#include <assert.h>
#include <string.h>

#define TR_CHUNK 4096u	     /* unit of allocation for small objects */
#define TR_CHUNK_LARGE 65536u /* for a thread with many nodes */
#define TR_TRIES 8	     /* tracks checked for a dead owner at an attach */

struct tr_thread *tr_threads;
uint32_t tr_max_threads = TR_MAX_TRACKS;
struct tr_thread tr_thread_none;
struct tr_thread tr_thread_creating;

__thread struct tare_self_ *tare_self_
#if !defined(TARE_TLS_DYNAMIC)
	__attribute__((tls_model("initial-exec")))
#endif
	= &tr_thread_none.self;

__thread struct tr_thread *tr_self = &tr_thread_none;

bool tr_thread_is_busy(const struct tr_thread *thread)
{
	return thread->fast ? thread->track == NULL : thread->busy;
}

bool tr_thread_enter(struct tr_thread *thread)
{
	if (tr_thread_is_busy(thread))
		return false;
	/* In this order: a handler in between must find the track taken. */
	thread->track = NULL;
	TR_FENCE();
	thread->busy = true;
	TR_FENCE();
	return true;
}

void tr_thread_leave(struct tr_thread *thread)
{
	assert(thread->own_track);
	TR_FENCE();
	__atomic_store_n(&thread->busy, false, TR_OWNER_ORDER);
	if (thread->fast)
		tr_thread_set_track(thread, thread->own_track);
}

/* ---- memory of a track ------------------------------------------------- */

static bool new_chunk(struct tr_thread *thread, uint32_t bytes)
{
	struct tr_track *track = thread->own_track;
	uint32_t want = track->n_nodes > 64 ? TR_CHUNK_LARGE : TR_CHUNK;
	uint32_t off = track->claimed;

	assert(tr_thread_is_busy(thread));
	if (bytes > want)
		want = (bytes + TR_PAGE - 1) & ~(TR_PAGE - 1);
	if (off && bytes > TR_CHUNK)
		off = 0; /* the claimed chunk is for small objects */
	else if (off)
		want = TR_CHUNK;
	if (!off)
		off = tr_arena_claim(want);
	if (!off)
		return false;
	if (!tr_space_reserve(off, want)) {
		/* A chunk for small objects is kept and tried again later. */
		if (!track->claimed && want == TR_CHUNK)
			track->claimed = off;
		else if (track->claimed != off)
			tr_arena_unclaim(off, want);
		return false;
	}
	if (track->claimed == off)
		track->claimed = 0;
	track->chunk = off;
	track->chunk_left = want;
	return true;
}

uint32_t tr_track_alloc(struct tr_thread *thread, uint32_t bytes)
{
	struct tr_track *track = thread->own_track;
	uint32_t left, off;

	assert(tr_thread_is_busy(thread));
	assert(bytes);
	bytes = (bytes + TR_LINE - 1) & ~(TR_LINE - 1);
	if (TR_LOAD(track->chunk_left) < bytes && !new_chunk(thread, bytes))
		return 0;
	/* Each is read once: it becomes 0 when the file is truncated. */
	left = TR_LOAD(track->chunk_left);
	off = TR_LOAD(track->chunk);
	if (left < bytes || !off)
		return 0;
	/* In this order: a thread that dies in between only wastes space. */
	TR_STORE(track->chunk_left, left - bytes);
	TR_FENCE();
	TR_STORE(track->chunk, off + bytes);
	return off;
}

uint64_t *tr_track_counters(struct tr_thread *thread, uint32_t slot)
{
	uint32_t chunk = slot / TR_COUNTER_SLOTS, off;
	struct tr_track *track = thread->own_track;
	uint64_t *slots;

	if (chunk >= TR_COUNTER_CHUNKS)
		return NULL;
	slots = TR_LOAD(thread->self.counter[chunk]);
	if (slots)
		return slots;
	off = TR_LOAD(track->counters[chunk]);
	if (!off)
		off = tr_track_alloc(thread, TR_COUNTER_SLOTS * 8);
	if (!off)
		return NULL;
	slots = (void *)(thread->base + off);
	TR_PUBLISH(track->counters[chunk], off);
	/*
	 * In this order, and checked again: the ledger may be replaced in
	 * between, and tr_ledger_replace() clears `slots` after the switch.
	 */
	__atomic_store_n(&thread->self.counter[chunk], slots, __ATOMIC_SEQ_CST);
	if (TR_LOAD(track->counters[chunk]) != off)
		TR_PUBLISH(track->counters[chunk], off);
	return slots;
}

/* ---- getting a track --------------------------------------------------- */

static void fill_thread(struct tr_thread *thread, struct tr_track *track)
{
	thread->base = tr_ledger->base;
	/* The governor reads the state of other threads. */
	TR_PUBLISH(thread->own_track, track);
	thread->index = track->index;
	thread->scale = tr_ledger->sec_per_tick;
	thread->shift = tr_ledger->slice_shift;
	thread->due = TR_LOAD(tr_drain_due);
	thread->spot.due = 0;
	thread->frames = (void *)((char *)track + TR_FRAMES_AT);
	thread->top = thread->frames;
	thread->fast = tr_ledger->counter_clock;
	thread->busy = true;
}

/* tr_ledger_replace() reads it at any time, so it is written in one store. */
static void keep_log(struct tr_thread *thread, struct tr_ring_place log)
{
	__atomic_store(&thread->log, &log, __ATOMIC_RELAXED);
}

static struct tr_ring_place log_of(const struct tr_thread *thread)
{
	struct tr_ring_place log;

	__atomic_load(&thread->log, &log, __ATOMIC_RELAXED);
	return log;
}

/* A ring for tracing; without room the log stays small. */
static void start_tracing(struct tr_thread *thread)
{
	struct tr_track *track = thread->own_track;
	uint32_t bytes = tr_ledger->ring_bytes, off;

	assert(tr_thread_is_busy(thread));
	off = tr_arena_claim(bytes);
	if (!off)
		return;
	if (!tr_space_reserve(off, bytes)) {
		tr_arena_unclaim(off, bytes);
		return;
	}
	TR_STORE(track->log.off, off);
	TR_STORE(track->log.bytes, bytes);
	TR_STORE(track->trace.bytes, bytes);
	TR_PUBLISH(track->trace.off, off);
}

void tr_tracing_begin(void)
{
	__atomic_store_n(&tr_ledger->discard, false, __ATOMIC_RELAXED);
	__atomic_store_n(&tr_ledger->tracing, true, __ATOMIC_RELAXED);
}

void tr_track_trace(struct tr_thread *thread, uint64_t lap)
{
	struct tr_track *track = thread->own_track;

	assert(tr_thread_is_busy(thread));
	if (track->trace.bytes || !TR_LOAD(tr_ledger->tracing))
		return;
	TR_STORE(track->trace_lap, (uint32_t)lap);
	start_tracing(thread);
	keep_log(thread, track->log);
}

void tr_track_name(struct tr_thread *thread)
{
	union {
		char text[16];
		uint64_t word[2];
	} name = { .word = { 0 } };

	assert(tr_thread_is_busy(thread));
	tr_thread_name(name.text);
	TR_STORE(thread->own_track->name[0], name.word[0]);
	TR_STORE(thread->own_track->name[1], name.word[1]);
}

static bool init_track(struct tr_thread *thread, struct tr_track *track,
		       uint32_t off, uint32_t tid)
{
	track->magic = TR_TRACK_MAGIC;
	track->owner = tid;
	track->owners = 1;
	track->frames_real = (TR_PAGE - TR_FRAMES_AT) / 16;
	track->chunk = (off + (uint32_t)sizeof(*track) + TR_LINE - 1) &
		       ~(TR_LINE - 1);
	track->chunk_left = off + TR_FRAMES_AT - track->chunk;
	track->log.off = off + (uint32_t)offsetof(struct tr_track, log_inline);
	track->log.bytes = sizeof(track->log_inline);
	fill_thread(thread, track);
	if (!tr_tree_init(thread))
		return false;
	if (TR_LOAD(tr_ledger->tracing))
		start_tracing(thread);
	track->write = track->log.off;
	track->intent.stage = track->log.off;
	keep_log(thread, track->log);
	return true;
}

/*
 * Builds the same track in a new ledger at `base`: same place, same log, empty.
 * Its thread runs meanwhile, so its private state is not changed. Open scopes
 * end as calls of the root, which is not shown. Entries of the hash and of the
 * cells of values have no site any more, and are skipped.
 */
bool tr_track_rebuild(const struct tr_thread *thread, char *base)
{
	uint32_t off = (uint32_t)((char *)thread->own_track - thread->base);
	struct tr_track *track = (void *)(base + off);
	struct tr_node *root;
	struct tr_ring_place place = log_of(thread);
	uint64_t log = place.off & ~(uint64_t)(TR_PAGE - 1);

	if (tr_memory_reserve(track, TR_PAGE) ||
	    tr_memory_reserve(base + log, place.off + place.bytes - log))
		return false;
	track->magic = TR_TRACK_MAGIC;
	track->index = thread->index;
	track->owner = thread->tid;
	track->owners = 1;
	track->frames_real = (TR_PAGE - TR_FRAMES_AT) / 16;
	track->root = ((off + (uint32_t)sizeof(*track) + TR_LINE - 1) &
		       ~(TR_LINE - 1)) - TR_NODE_BIAS;
	track->log = place;
	if (place.bytes > sizeof(track->log_inline))
		track->trace = place;
	root = (void *)(base + TR_NODE_BIAS + track->root);
	root->parent = track->root;
	root->last = track->root;
	track->current = track->root;
	track->write = track->log.off;
	track->intent.stage = track->log.off;
	return true;
}

/* After the new ledger is in place: counters must find their chunks again. */
void tr_track_forget(struct tr_thread *thread)
{
	for (uint32_t i = 0; i < TR_COUNTER_CHUNKS; i++)
		TR_STORE(thread->self.counter[i], NULL);
}

void tr_track_rewind(struct tr_thread *thread)
{
	struct tr_track *track = thread->own_track;

	if (!track || !track->trace.bytes || !tr_thread_enter(thread))
		return;
	track->log = track->trace;
	track->trace_discarded = 0;
	TR_STORE(track->write, track->log.off);
	TR_STORE(track->intent.stage, track->log.off);
	thread->spot.due = 0;
	tr_thread_leave(thread);
}

static uint32_t *directory(void)
{
	struct tr_region *tracks = &tr_ledger->region[TR_REGION_TRACKS];

	return (void *)(tr_ledger->base + tracks->off);
}

static struct tr_thread *new_track(uint32_t tid)
{
	struct tr_region *tracks = &tr_ledger->region[TR_REGION_TRACKS];
	uint32_t off = __atomic_exchange_n(&tr_ledger->spare_track, 0,
					   __ATOMIC_RELAXED);
	uint32_t entry, index;
	struct tr_track *track;
	struct tr_thread *thread;

	assert(tid);
	if (!off)
		off = tr_arena_claim(TR_TRACK_BYTES);
	if (!off)
		return NULL;
	if (!tr_space_reserve(off, TR_PAGE) ||
	    !(entry = tr_region_take(TR_REGION_TRACKS, sizeof(uint32_t)))) {
		uint32_t other = __atomic_exchange_n(&tr_ledger->spare_track,
						     off, __ATOMIC_RELAXED);

		if (other)
			tr_arena_unclaim(other, TR_TRACK_BYTES);
		return NULL;
	}
	index = (entry - (uint32_t)tracks->off) / 4;
	track = (void *)(tr_ledger->base + off);
	track->index = index;
	thread = &tr_threads[index];
	if (!init_track(thread, track, off, tid))
		return NULL;
	TR_PUBLISH(directory()[index], off);
	return thread;
}

/* Scopes that the dead thread had open: counted, not timed. */
static void close_open_scopes(struct tr_thread *thread)
{
	struct tr_track *track = thread->own_track;
	uint32_t back;

	assert(tr_thread_is_busy(thread));
	while (track->current && track->current != track->root) {
		uint32_t node = track->current;

		back = thread->deep ? tr_node_at(thread, node)->back : 0;
		thread->deep = 0;
		TR_STORE(track->current,
			 back ? back : tr_node_at(thread, node)->parent);
		TR_STORE(track->lost.repairs, track->lost.repairs + 1);
		/* Functions were counted when they began. */
		if (!tr_node_is_function(tr_node_at(thread, node)))
			tr_log_append(thread, 1, 0, node | TR_ENTRY_UNTIMED);
	}
	TR_STORE(track->current, track->root);
	thread->top = thread->frames;
	thread->deep = 0;
	thread->orphans = 0;
	thread->note_bytes = 0;
	thread->notes_cut = false;
	thread->trial = (struct tr_trial){ 0 };
	thread->self.light = (struct tare_light_){ 0 };
	for (unsigned i = 0; i < TR_DETACHED; i++)
		thread->detached[i].in_use = 0;
}

static struct tr_thread *take_over(uint32_t index, uint32_t tid)
{
	uint32_t off = TR_ACQUIRE(directory()[index]);
	struct tr_track *track;
	struct tr_thread *thread = &tr_threads[index];
	uint32_t owner;
	bool cut;

	assert(tid);
	if (!off)
		return NULL;
	track = (void *)(tr_ledger->base + off);
	owner = TR_LOAD(track->owner);
	if (owner != tid && tr_thread_alive(tr_ledger->pid, owner))
		return NULL;
	if (!TR_SWAP(track->owner, &owner, tid))
		return NULL;
	/*
	 * Every store of the dead thread is before these. `busy` first: with
	 * the slow clock it alone ends the busy time, and `track` is a plain
	 * store before it.
	 */
	(void)TR_ACQUIRE(thread->busy);
	(void)TR_ACQUIRE(thread->track);
	(void)TR_ACQUIRE(thread->top);
	cut = tr_thread_is_busy(thread);
	thread->track = NULL;
	thread->busy = true;
	tr_drain_redo(thread, cut);
	close_open_scopes(thread);
	TR_STORE(track->owners, track->owners + 1);
	if (track->trace.bytes)
		tr_log_append(thread, tr_ledger_ticks(), tid,
			      owner * (TR_ENTRY_FLAGS + 1) | TR_ENTRY_OWNER);
	return thread;
}

static struct tr_thread *reuse_track(uint32_t tid)
{
	struct tr_header *header = tr_ledger->header;
	uint64_t used = TR_LOAD(tr_ledger->region[TR_REGION_TRACKS].used);
	uint32_t n = (uint32_t)(used / sizeof(uint32_t));

	for (uint32_t i = 0; i < n && i < TR_TRIES; i++) {
		uint32_t hint = TR_ADD(header->track_hint, 1) * 2654435769u;
		uint32_t at = (uint32_t)((uint64_t)hint * n >> 32);
		struct tr_thread *thread;

		/*
		 * If there are many, check them scattered: threads that were
		 * started together often live equally long, on adjacent tracks.
		 */
		thread = take_over(n <= TR_TRIES ? i : at, tid);
		if (thread)
			return thread;
	}
	return NULL;
}

TR_COLD struct tr_thread *tr_track_attach(void)
{
	struct tr_thread *thread = tr_this_thread();
	struct tr_losses *lost = &tr_ledger->header->lost;
	uint32_t tid;

	if (thread == &tr_thread_creating) {
		(void)TR_ADD(lost->busy, 1);
		return NULL;
	}
	if (thread->own_track)
		return thread; /* a handler did it after the caller's check */
	if (TR_LOAD(tr_ledger->retry_at) > tr_monotonic_ns()) {
		(void)TR_ADD(lost->no_track, 1);
		return NULL; /* no space a moment ago: do not try again yet */
	}
	tr_thread_set(&tr_thread_creating);
	TR_FENCE();
	tid = tr_thread_id();
	thread = reuse_track(tid);
	if (!thread)
		thread = new_track(tid);
	if (!thread) {
		(void)TR_ADD(lost->no_track, 1);
		tr_thread_set(&tr_thread_none);
		return NULL;
	}
	thread->tid = tid;
	tr_track_name(thread);
	tr_thread_leave(thread);
	tr_thread_set(thread);
	return thread;
}
