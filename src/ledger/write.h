/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of ledger/write/: the memory-mapped file that everything is written to.
 *
 * Comes in: entries, values and counts of threads. Goes out: a ledger that can
 * be read at any instant. Called by: most rooms of record/, and preload.
 *
 * Writing: a thread has a struct tr_thread (private memory: pointers, the hash
 * of call paths) and a track (in the ledger: what a reader needs). A probe
 * appends a 16-byte entry to the track's log; the owner drains it into nodes
 * and cells two entries later, or every TR_BATCH entries, whichever is faster
 * on this processor. Readers add entries that are not drained.
 *
 * Why a log first: the address of a histogram bucket depends on the time just
 * read, and a store there stalls the next read of the clock; entries are
 * drained when their times are old. The log is also the write-ahead record
 * that makes a kill at any instant exact, and a longer log is the trace.
 */
#ifndef TR_LEDGER_WRITE_H
#define TR_LEDGER_WRITE_H

#include <tare/error.h>
#include <tare/probe.h>
#include <tare/version.h>

#include "base/config.h"
#include "ledger/layout.h"
#include "base/platform.h"

#define TR_SLICE_SHIFT 31u /* of x86's counter: 0.5 to 1.1 s a slice */

/* Scopes that a signal handler opened while the track was busy. */
#define TR_DETACHED 8u

struct tr_detached {
	struct tr_frame frame;
	tare_site *site;
	uint32_t in_use;
	bool failed;
	bool noted; /* a record was wanted */
};

#define TR_NOTE_BUFFER_BYTES 896u
#define TR_HASH_INLINE 64u
#define TR_LABEL_GUESSES 16u
#define TR_GUESSES 1024u /* a page */
#define TR_SKIPS 16u
#define TR_RUNS 8u
#define TR_RUN_VALUES 64u /* values after which the clock is read again */

/*
 * Measures the cost of timing a site by counting some of its calls without
 * timing them: see record/price.h.
 */
struct tr_trial {
	uint32_t state;	   /* of the trial, see price/trial.c */
	uint32_t node;	   /* armed: the call path whose next call begins it */
	tare_site *site;   /* counting: its site; else NULL. Others read it */
	uint32_t path;	   /* the chosen call path */
	uint8_t kind;	   /* enum tr_trial_kind */
	bool is_light;	   /* counting: without a frame, see record/price.h */
	bool is_spoilt;	   /* such a call was left by longjmp() */
	bool is_lost;	   /* the same, and no end has come yet */
	uint32_t promotions; /* such calls that needed a frame */
	uint32_t called;   /* such calls that called the library */
	bool is_settled;   /* counting: the time counts now */
	uint32_t counted_before; /* calls until then */
	uint64_t ticks;	   /* when this part began */
	uint64_t calls;	   /* of the path, then */
	double before;	   /* ticks per call of the path, timed */
	double without;	   /* the same while counted */
	double part;	   /* counted calls per call of the path */
	uint64_t wait;	   /* entries until the next trial */
};

/* Where an entry of the log goes. */
struct tr_spot {
	uint64_t due; /* the log's `write` at which it is drained; 0: none */
	uint64_t duration;
	struct tr_node *node;
	struct tr_cell *cell;
	uint32_t *bucket;
};

/* Private state of a thread. Lies in memory that a fork wipes. */
struct tr_thread {
	struct tare_self_ self; /* first: probes reach it inline */
	struct tr_track *track; /* NULL: busy, forked, slow clock or none */
	char *base;
	struct tr_frame *top;	/* innermost open frame */
	double scale;		/* seconds a tick */
	uint32_t *hash;
	uint32_t hash_mask;
	uint32_t hash_used;
	uint32_t shift;		/* of time slices */
	uint32_t due;		/* drains where write & due is 0 */
	bool fast;		/* the processor's counter is the clock */
	bool busy;		/* like track == NULL, for the slow clock */
	struct tr_track *own_track;	/* the track also while busy */
	struct tr_spot spot;	/* of the entry to be drained next */
	/* Of the track, for when that is gone; in one piece, see rebuild. */
	_Alignas(8) struct tr_ring_place log;
	struct tr_frame *frames;
	uint32_t index;
	uint32_t tid; /* of the owner */
	uint32_t values_close;	/* in a row that came close to each other */
	int32_t values_left;	/* values until the clock is read again */
	uint32_t values_slice;	/* what it said then */
	uint64_t values_ticks;
	uint64_t long_start;	/* of the long scope being drained */
	uint32_t random;	/* for the next line, 0 at first */
	struct tr_seen {
		uint64_t timed, untimed, values;
	} seen;			/* by the governor, at its last look */
	uint32_t unlooked;	/* entries since the last check */
	uint32_t check_after;	/* entries; 0 at first */
	uint32_t ungoverned;	/* entries since the last call of tr_look */
	struct tr_trial trial;	/* see record/price.h */
	uint32_t deep;		/* functions open without a place */
	uint32_t orphans;	/* functions inside of a scope that has ended */
	uint64_t orphan_at;	/* where the stack was at the first of them */
	uint32_t call_slice;	/* when a function that was timed ended last */
	uint64_t deep_at;	/* where the stack was at the first of them */
	struct tr_track *calls; /* the track, or NULL: no functions now */
	uint32_t *guess;	/* TR_GUESSES functions by where called */
	struct tr_run {
		uint32_t site, runs;
	} run[TR_RUNS];		/* whole runs of values, by site: a guess */
	int32_t skip[TR_SKIPS];	/* calls until one is timed, see untimed.c */
	uint16_t note_bytes;	/* of `notes` in use */
	bool notes_cut;		/* a note did not fit */
	/* Eight bytes may be read wherever one is. */
	_Alignas(8) char notes[TR_NOTE_BUFFER_BYTES + 8];
	uint64_t value_cell[16]; /* cell << 32 | site, of values used last */
	void *labels[TR_LABEL_GUESSES]; /* see probe/handle.c */
	struct tr_detached detached[TR_DETACHED];
	uint32_t hash_inline[TR_HASH_INLINE];
};

/* One process's ledger. Lies in memory that a fork wipes. */
struct tr_ledger {
	uint32_t ready; /* everything below is in place */
	uint32_t pid;
	char *base; /* NULL: none */
	struct tr_header *header;
	struct tr_control *control;
	uint64_t map_bytes;
	bool anonymous;
	bool tracing;	  /* may begin later: see tr_tracing_begin() */
	bool discard;
	bool counter_clock;
	uint32_t ring_bytes;
	uint32_t max_nodes, max_depth, keep_values, keep_kinds;
	uint64_t window_limit;
	uint64_t rings_used, rings_limit; /* bytes of last values */
	int64_t retry_at; /* after a full file system: when to ask again */
	int reserve_fd;	  /* -1, or for kernels without populate */
	uint32_t spare_track; /* claimed for a track, not real yet */
	/*
	 * Copies of header fields that stay valid: a process may truncate the
	 * file, and then the header says 0. Writers use these and show them
	 * in the header for readers.
	 */
	struct tr_region region[TR_REGION_SLOTS];
	double sec_per_tick;
	uint32_t slice_shift;
	uint32_t block_count;
	uint64_t block_base; /* ticket of block 0 */
	uint32_t next_counter, next_gauge;
	uint64_t limit_bytes, real_bytes;
	uint64_t training_bytes; /* of the file, for trainings */
	uint32_t replacing;   /* a thread is in tr_ledger_replace() */
	uint32_t replaced;    /* how often it was */
	struct tr_header saved_header; /* for a new ledger, should this one */
	char saved_meta[TR_META_BYTES]; /* be truncated */
	char path[512];
	char control_path[512];
	char id[48];
};

/* The one of this process; its content is zero in a child until it opens. */
extern struct tr_ledger *tr_ledger;
/* At least its control page is there. */
TR_INLINE bool tr_ledger_is_ready(void)
{
	return tr_ledger && TR_ACQUIRE(tr_ledger->ready);
}

/* All of it is. */
TR_INLINE bool tr_ledger_is_open(void)
{
	return tr_ledger_is_ready() && tr_ledger->base;
}

extern struct tr_thread *tr_threads; /* tr_max_threads of them */
extern uint32_t tr_max_threads;	 /* at most TR_MAX_TRACKS */

extern struct tr_thread tr_thread_none;	/* thread without a track yet */
extern struct tr_thread tr_thread_creating; /* thread that is getting one */

/*
 * State of the calling thread. Not by way of tare_self_, which is exported:
 * where two copies of the library are in a process, both may find the same one.
 */
extern __thread struct tr_thread *tr_self
#if !defined(TARE_TLS_DYNAMIC)
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
#else
	__attribute__((visibility("hidden")));
#endif

TR_INLINE struct tr_thread *tr_this_thread(void)
{
	return tr_self;
}

TR_INLINE void tr_thread_set(struct tr_thread *thread)
{
	tr_self = thread;
	TR_FENCE();
	tare_self_ = &thread->self;
}

/*
 * Order of a thread's last store to its state before another takes it over.
 * The kernel orders them by the thread's end; the thread sanitizer does not
 * see that. On x86-64 a release store is a plain one.
 */
#if defined(__x86_64__) || defined(__SANITIZE_THREAD__)
#define TR_OWNER_ORDER __ATOMIC_RELEASE
#else
#define TR_OWNER_ORDER __ATOMIC_RELAXED
#endif

/* The end of the busy time. */
TR_INLINE void tr_thread_set_track(struct tr_thread *thread,
				   struct tr_track *track)
{
	__atomic_store_n(&thread->track, track, TR_OWNER_ORDER);
}

TR_INLINE struct tr_node *tr_node_at(const struct tr_thread *thread,
				     uint32_t off)
{
	return (struct tr_node *)(void *)(thread->base + TR_NODE_BIAS + off);
}

TR_INLINE struct tr_cell *tr_cell_at(const struct tr_thread *thread,
				     uint32_t off)
{
	return (struct tr_cell *)(void *)(thread->base + off);
}

/* ---- space.c ----------------------------------------------------------- */

/* Takes `bytes` (a multiple of 8) of a region, 0 if there is no room. */
uint32_t tr_region_take(enum tr_region_id id, uint64_t bytes);
/* Makes [off, off + bytes) of the file real, within the limit. */
bool tr_space_reserve(uint64_t off, uint64_t bytes);
/* Address space of the arena that is not real yet. */
uint32_t tr_arena_claim(uint64_t bytes);
/* Gives back what was claimed and never used. */
void tr_arena_unclaim(uint32_t off, uint64_t bytes);

/* ---- file.c ------------------------------------------------------------ */

/* Before the gate of paused sites is closed: children find it open. */
void tr_ledger_open_gate_in_children(void);

/*
 * Opens ledger and control page of this process (tr_ledger must be zero).
 * In a forked child it takes over the parent's sites, so that ids stay
 * right, and lets go of the parent's mapping. 0 or an error.
 */
int tr_ledger_open(const struct tr_config *config, bool control_only);
/* Marks it finished. */
void tr_ledger_seal(void);
/* Moves it to the folder of runs. */
int tr_ledger_finish(const struct tr_config *config);
/* Keeps what tr_ledger_replace() needs. After the calibration. */
void tr_ledger_save(void);
/*
 * A process truncated the file under our mapping: a new ledger in its place,
 * at the same address. What the old file still holds stays readable in it.
 * Signal-safe. False: there is no room for a new one either.
 */
bool tr_ledger_replace(void);
/* Replaces it if the file is shorter than it should be. Signal-safe. */
void tr_ledger_watch(void);
/* Replaces it if what this thread sees of it is zeros. Slow paths only. */
void tr_ledger_heal(struct tr_thread *thread);
/* Takes an anchor for this slice, unless there is one. */
void tr_ledger_anchor(uint32_t slice);
/* Now, on the ledger's clock. */
uint64_t tr_ledger_ticks(void);

/*
 * Called by a measured thread every TR_LOOK_EVENTS entries of its log, in its
 * probe: signal-safe. NULL: not wanted.
 */
extern void (*tr_look)(void);
/*
 * The same for trials, with the number of entries since the last call; may
 * lower thread->check_after for the next one. Busy.
 */
extern void (*tr_trial_turn)(struct tr_thread *thread, uint32_t entries);
#define TR_LOOK_EVENTS 8192u
void tr_look_now(struct tr_thread *thread);
TR_INLINE void tr_look_after(struct tr_thread *thread, uint32_t events)
{
	thread->unlooked += events;
	if (TR_UNLIKELY(thread->unlooked >= thread->check_after))
		tr_look_now(thread);
}

/* ---- option.c ---------------------------------------------------------- */

/*
 * The option as it is now: set from outside, if it is one of the values that
 * it may have, or else as configured. Signal-safe.
 */
bool tr_control_bool(const char *name, bool configured);
uint64_t tr_control_u64(const char *name, uint64_t configured);
double tr_control_double(const char *name, double configured);
/* The same of a field of a struct tr_config, which has the option's name. */
#define TR_NOW_BOOL(config, option) tr_control_bool(#option, (config)->option)
#define TR_NOW_U64(config, option) tr_control_u64(#option, (config)->option)
#define TR_NOW_DOUBLE(config, option) \
	tr_control_double(#option, (config)->option)
/* `value` has TR_CONFIG_STRING bytes; what is given is it, or configured. */
const char *tr_control_text(const char *name, const char *configured,
			    char *value);

/* ---- site.c ------------------------------------------------------------ */

struct tr_site_key {
	const char *name, *unit, *source, *labels, *file;
	uint32_t line;
	uint8_t kind, type;
	uint16_t flags;
};

/* Id of the site, new or known; the kind's overflow when it is full. */
uint32_t tr_site_intern(const struct tr_site_key *key);
struct tr_site *tr_site_at(uint32_t id);
const char *tr_string_at(uint32_t off);
/*
 * A copy in the ledger, cut after `most` bytes; 0 for an empty one or where
 * there is no room.
 */
uint32_t tr_string_copy(const char *text, size_t most);
/* In a child: fills the new ledger from the parent's table. */
int tr_sites_copy(const char *parent_base);
int tr_sites_init(void);
/* Writes the overflow series into an empty ledger at `base`. */
void tr_sites_fill(char *base);

/* ---- track.c ----------------------------------------------------------- */

/* The calling thread's state, with a track, or NULL (counted). Signal-safe. */
struct tr_thread *tr_track_attach(void);
/* Empties the ring of a trace, and forgets what is not drained. */
void tr_track_rewind(struct tr_thread *thread);
/*
 * From now on every thread keeps its events, as from the end of its present
 * lap of 64; those of that lap stay where they are, and readers find them
 * there. The newest are kept. Any thread.
 */
void tr_tracing_begin(void);
/* At the end of a lap: a ring, if it is to have one. Busy. */
void tr_track_trace(struct tr_thread *thread, uint64_t lap);
/* What the kernel calls the thread, into its track. Busy. */
void tr_track_name(struct tr_thread *thread);
/* Zeroed memory on a line from the track's chunk; 0 if there is no room. */
uint32_t tr_track_alloc(struct tr_thread *thread, uint32_t bytes);
bool tr_track_rebuild(const struct tr_thread *thread, char *base);
void tr_track_forget(struct tr_thread *thread);
/* Chunk of counter slots of this thread, or NULL. */
uint64_t *tr_track_counters(struct tr_thread *thread, uint32_t slot);
/* Is the thread inside a probe? Then its track may be half changed. */
bool tr_thread_is_busy(const struct tr_thread *thread);

/* One event less: there was no room for it. Busy. */
TR_INLINE void tr_thread_lose(struct tr_thread *thread)
{
	TR_STORE(thread->own_track->lost.no_space,
		 thread->own_track->lost.no_space + 1);
}

/* The same in a handler that met its thread in a probe. */
TR_INLINE void tr_lose_busy(void)
{
	(void)TR_ADD(tr_ledger->header->lost.busy, 1);
}

/*
 * Enter and leave the part in which a signal handler must not touch the
 * track. Enter fails (false) inside such a handler.
 */
bool tr_thread_enter(struct tr_thread *thread);
void tr_thread_leave(struct tr_thread *thread);

/* Track `i` of all, or NULL: there are no more. */
TR_INLINE const struct tr_track *tr_track_at(uint64_t i)
{
	const struct tr_region *tracks = &tr_ledger->region[TR_REGION_TRACKS];
	const uint32_t *dir = (const void *)(tr_ledger->base + tracks->off);
	uint32_t off = i < tracks->cap / sizeof(*dir) ? TR_ACQUIRE(dir[i]) : 0;

	return off ? (const void *)(tr_ledger->base + off) : NULL;
}

/* ---- tree.c ------------------------------------------------------------ */

/* Child of `parent` for a site, found or made; 0 if there is no room. Busy. */
uint32_t tr_tree_child(struct tr_thread *thread, uint32_t parent,
		       uint32_t site);
/* The track's cell for a site, made if needed; 0 if there is no room. Busy. */
uint32_t tr_tree_cell(struct tr_thread *thread, uint32_t site);
/* Node that counts calls whose path found no room. Busy. */
uint32_t tr_tree_overflow(struct tr_thread *thread);
/* Root of a new track. */
bool tr_tree_init(struct tr_thread *thread);

/* The same for a function; find: 0 if there is none, and not busy. */
uint32_t tr_tree_function(struct tr_thread *thread, uint32_t parent,
			  uint64_t address);
uint32_t tr_tree_find(const struct tr_thread *thread, uint32_t parent,
		      uint64_t address);
/* Node of calls of functions that found no room on their path. Busy. */
#define TR_ADDRESS_OTHERS 0u
uint32_t tr_tree_others(struct tr_thread *thread);
/* A function's part of it. Busy. */
uint32_t tr_tree_elsewhere(struct tr_thread *thread, uint32_t others,
			   uint64_t address);

/* ---- drain.c ----------------------------------------------------------- */

/*
 * Drains what is due at `end` (= write position), wraps the log, and leaves.
 * Called where (end & thread->due) is 0. The fast path of a scope's end.
 */
void tr_drain(struct tr_thread *thread, struct tr_track *track, uint64_t end);
/*
 * One entry behind at every end, or TR_BATCH at once: for this thread and for
 * those that get a track later. False: a batch cannot begin here, try again
 * after the next entry.
 */
bool tr_drain_use(struct tr_thread *thread, bool behind);
#define TR_DUE_BATCH ((uint32_t)(TR_BATCH * sizeof(struct tr_entry)) - 1)
#define TR_DUE_BEHIND 0u
extern uint32_t tr_drain_due;	/* tr_thread.due of new threads */
extern bool tr_drain_is_chosen; /* not to be measured at the start */
/* Appends any entry. Busy. */
void tr_log_append(struct tr_thread *thread, uint64_t start, uint32_t duration,
		   uint32_t what);
/*
 * Parks an entry from a signal handler that found the track busy. `what`: a
 * site, and TR_PARKED_FAILED or TR_PARKED_VALUE. False: no room.
 */
bool tr_log_defer(struct tr_thread *thread, uint64_t start, uint32_t duration,
		  uint32_t what);
/* The entry at `deferred_at` is somewhere else from now on. Busy. */
void tr_deferred_taken(struct tr_track *track);
/* Completes what its thread did not (it is dead). Busy. */
void tr_drain_redo(struct tr_thread *thread, bool cut);

/* ---- ring.c ------------------------------------------------------------ */

/* In `keep_kinds`, beside 1u << enum tare_kind. */
#define TR_KEEP_OPERATION 1u

/* Are the last values of the site to be kept? */
bool tr_site_is_kept(const struct tr_site *site);
/* A ring for a new cell, where wanted and where there is room. Busy. */
void tr_ring_start(struct tr_thread *thread, struct tr_cell *cell);
/* A larger one for a full one, where there is room. Busy. */
void tr_ring_grow(struct tr_thread *thread, struct tr_cell *cell,
		  const struct tr_values *values);

/* ---- observe.c --------------------------------------------------------- */

/* Into the ring of last values alone, where there is one. Busy. */
void tr_observe_kept(struct tr_thread *thread, uint32_t cell, double value,
		     uint64_t ticks);
/* A value into a cell, at about `ticks`. Busy. */
void tr_observe(struct tr_thread *thread, uint32_t cell, double value,
		uint64_t ticks);

/* ---- slices.c ---------------------------------------------------------- */

/* Closes the cell's slice and starts `slice`. Busy. */
void tr_cell_turn(struct tr_thread *thread, struct tr_cell *cell,
		  uint32_t slice);
/* Ends the turns that a thread died in. Busy. */
void tr_cells_complete(struct tr_thread *thread);

/* ---- cell.c ------------------------------------------------------------ */

/* Place of a bucket outside the fast path; 0 if there is no room. Busy. */
uint32_t tr_cell_bucket(struct tr_thread *thread, struct tr_cell *cell,
			uint64_t bits);
/* No least and no largest yet; `real`: they are doubles. */
TR_INLINE void tr_cell_clear_range(struct tr_cell *cell, bool real)
{
	TR_STORE(cell->min, real ? tr_bits_of(__builtin_inf()) : UINT64_MAX);
	TR_STORE(cell->max, real ? tr_bits_of(-__builtin_inf()) : 0);
}
struct tr_extra *tr_cell_extra(struct tr_thread *thread, struct tr_cell *cell);
/* Carry slot of a bucket that passed 2^32. NULL if there is no room. */
uint32_t *tr_cell_carry(struct tr_thread *thread, struct tr_cell *cell,
			uint32_t bucket_off);

/* ---- block.c ----------------------------------------------------------- */

/*
 * A place for a record of `bytes` (a multiple of 8); NULL: it is lost and
 * counted, or none are wanted. To be written word by word with TR_STORE,
 * then committed. Busy.
 */
uint64_t *tr_block_reserve(struct tr_thread *thread, uint32_t bytes);
void tr_block_commit(uint64_t *place, uint32_t bytes);
/* Room for more records, if there is not enough. Signal-safe. */
void tr_blocks_resize(uint64_t records);

#include "ledger/write/observe.h"

#endif
