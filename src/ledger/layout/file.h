/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layout: the bytes of a ledger file. docs/formats/ledger.md describes them for
 * other readers.
 *
 *	header | metadata | checksums | sites | strings | track directory |
 *	gauges | history blocks | modules | stacks | allocations | samples |
 *	regions of later minors | arena (tracks, nodes, cells, pages, rings)
 *
 * The file is sparse: regions have room for their configured maximum and are
 * allocated page by page. References are byte offsets from the start of the
 * file (never pointers), 32 bits wide, so a ledger is smaller than 4 GiB.
 * Offset 0 means "none".
 *
 * One thread writes a track; any process may read it at any time. All shared
 * fields are read and written by TR_LOAD and TR_STORE (relaxed), and become
 * reachable by TR_PUBLISH (release).
 */
#ifndef TR_LEDGER_LAYOUT_FILE_H
#define TR_LEDGER_LAYOUT_FILE_H

#include <tare/api.h>

#include "ledger/layout/code.h"

#define TR_LOAD(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define TR_STORE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define TR_PUBLISH(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)
#define TR_ACQUIRE(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define TR_ADD(x, n) __atomic_fetch_add(&(x), (n), __ATOMIC_RELAXED)

/*
 * Orders a thread's own stores for its signal handlers, and for a reader after
 * kill -9: the kernel stops a thread between instructions, so only the compiler
 * must be restrained.
 */
#define TR_FENCE() __atomic_signal_fence(__ATOMIC_SEQ_CST)

#define TR_MAGIC UINT64_C(0x314745444c455254) /* "TRELEDG1", little endian */
#define TR_FORMAT_MAJOR 3u
#define TR_FORMAT_MINOR 3u
#define TR_ENDIAN 0x01020304u

#define TR_PAGE 4096u
#define TR_LINE 64u

/* A build for fuzzing has fewer: a small ledger is read faster. */
#ifndef TR_MAX_TRACKS
#define TR_MAX_TRACKS 16384u
#define TR_MAX_MODULES 4096u
#define TR_MORE_STRINGS 65536u /* bytes in addition to those of sites */
#endif
#define TR_TRACK_BYTES 32768u /* of address space; one page is real at first */
#define TR_RING_INLINE 64u    /* entries of the log inside a track */
#define TR_FRAMES_AT 3072u    /* frames run from here to the track's end */
#define TR_MAX_FRAMES ((TR_TRACK_BYTES - TR_FRAMES_AT) / 16u)
#define TR_DEFERRED 16u	      /* entries that signal handlers may park */
#define TR_COUNTER_CHUNKS 128u
#define TR_COUNTER_SLOTS 128u

#define TR_PAGE_BUCKETS 16u /* buckets per histogram page */
#define TR_CELL_PAGES 64u   /* pages in a cell's window: 32 octaves */

/*
 * Ids 1 to 5: the series for names beyond max_sites, one for each enum
 * tare_kind, with its number as id. Id 1 also counts paths beyond max_nodes.
 */
#define TR_SITE_OVERFLOW 1u
#define TR_SITE_FIRST 6u /* id of the first name */
#define TR_SITE_INTERNAL (1u << 15) /* flag: the library's own, not shown */
/* flag: its times overlap those of scopes, and are not busy time of a thread */
#define TR_SITE_OVERLAP (1u << 14)
/* flag: internal, but its last values are kept: the cost of a value */
#define TR_SITE_KEPT (1u << 13)
/*
 * flag: its values are not shown as records: a series of the monitor, or of a
 * resource scope, whose record has the same figures as attributes
 */
#define TR_SITE_UNLISTED (1u << 12)
#define TR_SITE_NOTED (1u << 11) /* flag: some of its calls have a record */
/* flags: mark a site as part of a pipeline, see enum tare_site_flags */
#define TR_SITE_STAGES 0x3cu

/* Last values that a stage always keeps. A power of two: no division. */
#define TR_STAGE_VALUES 128u

/* A region of the file, filled from its beginning. */
struct tr_region {
	uint64_t off;
	uint64_t cap;
	uint64_t used;	/* bytes allocated */
	uint64_t real;	/* bytes from `off` whose pages exist */
};

/*
 * The number of a region is its kind, and its index in the header. A kind keeps
 * its number for ever. Readers skip unknown kinds: a new kind is a new minor. A
 * region without room has a `cap` of 0.
 */
enum tr_region_id {
	TR_REGION_SITES,
	TR_REGION_STRINGS,
	TR_REGION_TRACKS,
	TR_REGION_GAUGES,
	TR_REGION_BLOCKS,
	TR_REGION_MODULES,
	TR_REGION_STACKS,
	TR_REGION_ALLOCS,
	TR_REGION_SAMPLES,
	TR_REGION_ARENA,  /* the last in the file, whatever its number */
	TR_REGION_KEPT,	  /* single values of every kind of measurement */
	TR_REGION_PRICES, /* cost of a probe, as intervals */
	TR_REGION_GPU,	  /* tracks of GPU activities */
	TR_REGION_CODE,	  /* code without an address: frames of interpreters */
	TR_REGIONS
};

#define TR_REGION_SLOTS 20u /* entries for kinds in the header */

/* The same instant on three clocks; two reads of the first enclose the next. */
struct tr_anchor {
	uint64_t ticks;
	int64_t mono_ns;
	int64_t real_ns;
	uint64_t width; /* ticks between the enclosing reads */
};

#define TR_ANCHORS 64u

enum tr_ledger_state {
	TR_STATE_LIVE = 1,
	TR_STATE_FINISHED = 2
};

enum tr_clock_kind {
	TR_CLOCK_KIND_TSC = 1,
	TR_CLOCK_KIND_CNTVCT = 2,
	TR_CLOCK_KIND_MONOTONIC = 3
};

/* Losses that belong to no track, and the sums of those of tracks. */
struct tr_losses {
	uint64_t no_track;
	uint64_t no_space;
	uint64_t busy;
	uint64_t damage;
	uint64_t records;
	uint64_t overflow_sites;
	uint64_t overflow_nodes;
	uint64_t repairs;
	uint64_t stray_ends;
	uint64_t clock_steps;
	uint64_t unbucketed;
	/* Of a track, by the governor: cost of measuring, CPU time. */
	uint64_t cost_ns, cpu_ns;
	uint64_t reserved[3];
};

/*
 * How much of a site is measured. At level n, from 1 to TR_LEVEL_RAREST, one
 * call of 2^n is timed. From TR_LEVEL_PAUSED on the site is off for a part of
 * the time, and the rest of the number is the level while it is on.
 */
enum tr_level {
	TR_LEVEL_FULL = 0,
	TR_LEVEL_RAREST = 15,
	TR_LEVEL_COUNTED = 63,
	TR_LEVEL_PAUSED = 64
};

/*
 * The time that a probe adds to a program that computes for this many ticks
 * between two probes.
 */
#define TR_WORKS 4u

struct tr_added {
	double between[TR_WORKS]; /* ascending */
	double ticks[TR_WORKS];
};

/* State of the governor, its only writer. Times in ns. */
struct tr_governed {
	double limit;	     /* share of the CPU time; 0: never acts */
	double share;	     /* of measuring, at the last check */
	double thread_share; /* of measuring, in the most affected thread */
	double cost_ns;	     /* total of all checks */
	double cpu_ns;
	uint64_t looks;
	uint64_t actions;
	uint32_t level; /* highest in force; TR_GOVERNED_OFF: all is off */
	uint32_t sites; /* sites not measured in full */
};

#define TR_GOVERNED_OFF 128u

/* Method and results of stack sampling. */
struct tr_sampling {
	uint32_t clock;	    /* enum tr_sampling_clock; 0: never on */
	uint32_t signal;    /* signal of the timers */
	double asked_hz;
	uint64_t samples;   /* taken */
	uint64_t weight_ns; /* CPU time (wall: time) of the samples */
	uint64_t whole;	    /* samples with a complete stack */
	uint64_t whole_ns;
	uint64_t lost;	    /* samples with no room in the table of stacks */
	uint64_t threads;   /* threads with a timer */
	uint64_t unfollowed; /* threads without */
	uint64_t cost_ns;   /* time in the handler, and around it */
	uint64_t head;	    /* samples ever put into the ring */
};

enum tr_sampling_clock {
	TR_SAMPLING_CPU = 1,  /* a timer on each thread's CPU clock */
	TR_SAMPLING_PERF = 2, /* the kernel's cpu-clock event */
	TR_SAMPLING_WALL = 3  /* a timer on wall-clock time: waiting counts */
};

/*
 * ---- allocations ---------------------------------------------------------
 *
 * Allocations: a region of rows. Each stack that allocates, and each tag, has a
 * row. A thread does not write there at each allocation, or threads with the
 * same stacks would wait for each other. It has a cache of TR_ALLOC_CACHE_ROWS
 * rows in the same region, and adds a cached row to its row when it needs the
 * place. So the total of a stack is its row plus all cached rows for it.
 */
#define TR_ALLOC_CACHE_ROWS 64u

enum tr_alloc_kind {
	TR_ALLOC_EMPTY = 0,
	TR_ALLOC_STACK = 1, /* of the stack with this number */
	TR_ALLOC_TAG = 2,   /* of the tag with the string at this offset */
	TR_ALLOC_CACHED = 3,  /* in a cache, for the row with this number */
	TR_ALLOC_MARK = 4,  /* a snapshot, named by the string at this offset:
			     * `allocs` rows follow; `bytes`: ticks */
	TR_ALLOC_COPY = 5   /* copy of the row with this number, in a
			     * snapshot */
};

/*
 * A row. Counts are in parts of an allocation, tr_alloc_state.unit to one.
 * Those of a cache may be negative, for blocks that another thread allocated.
 */
struct tr_alloc {
	uint32_t what;	/* enum tr_alloc_kind << TR_ALLOC_SHIFT | number */
	uint32_t epoch; /* peak that the last two fields belong to */
	uint64_t allocs, bytes;
	uint64_t frees, freed;
	uint64_t temporary; /* freed before their thread allocated again */
	uint64_t peak_allocs, peak_bytes; /* live at that peak */
};

#define TR_ALLOC_SHIFT 28u
#define TR_ALLOC_NUMBER ((1u << TR_ALLOC_SHIFT) - 1)

_Static_assert(sizeof(struct tr_alloc) == TR_LINE, "one line");

enum tr_heap_mode {
	TR_HEAP_EXACT = 1,
	TR_HEAP_SAMPLED = 2
};

/*
 * Totals of allocations. If a row's epoch is the one here, its peak fields say
 * what was live at the peak. Else the row has not changed since, and what is
 * live in it now was live then.
 */
struct tr_alloc_state {
	uint32_t mode;	     /* enum tr_heap_mode; 0: never on */
	uint32_t unit;	     /* parts per allocation in counts */
	uint64_t mean_bytes; /* between two samples; 0 in exact mode */
	uint64_t peak_bytes; /* most bytes live at one time */
	uint64_t peak_ticks; /* about the time of the peak */
	uint32_t epoch;	     /* number of the peak */
	uint32_t threads;    /* caches in use */
	uint64_t unseen;     /* allocations that are in no row */
	uint64_t foreign;    /* frees of blocks that are in no row */
	uint64_t table_bytes; /* private memory of the table of live blocks */
	/*
	 * A row that is being moved from a cache to its row: while `moves` is
	 * odd, a reader uses `moved` for row `move_to`, and takes row
	 * `move_from` as empty.
	 */
	uint64_t moves;
	uint32_t move_from, move_to;
	struct tr_alloc moved;
};

/*
 * The first two cache lines are reserved for threads that run while the file is
 * truncated and reads as zeros. A log position of 0 makes a thread write into
 * the first line again and again. A node reference of 0 is the second line,
 * which is its own parent. So such a thread writes nowhere else. A cell
 * reference of 0 is also the header: its slice field has a value that no time
 * has, or the words after it would be used as its pages.
 */
struct tr_header {
	uint64_t sink[8];
	uint64_t no_node[8];
	uint64_t magic;
	uint32_t major, minor;
	uint32_t endian;
	uint32_t header_bytes;
	uint32_t site_bytes, track_bytes, node_bytes, cell_bytes;
	uint64_t map_bytes;
	uint64_t limit_bytes;
	uint64_t real_bytes;	/* allocated so far, all regions */

	uint32_t state;		/* enum tr_ledger_state */
	uint32_t pid;
	uint64_t start_time;	/* of the process, from /proc/PID/stat */
	uint64_t pid_ns;	/* inode of its pid namespace */
	char boot_id[40];

	uint32_t clock;		/* enum tr_clock_kind */
	uint32_t slice_shift;	/* a time slice is 1 << this many ticks */
	double sec_per_tick;	/* fixed: histograms are indexed with it */
	double resolution_ticks;
	double inside_ticks;	/* cost of a scope inside its interval */
	double outside_ticks;	/* and outside */
	double counter_ticks;	/* of a counter or a value */
	double value_ticks;

	struct tr_anchor start;
	struct tr_anchor end;	/* zero until finished */
	uint32_t anchor_slice;	/* of the newest anchor; its setter writes it */
	uint32_t anchor_count;
	struct tr_anchor anchor[TR_ANCHORS];

	struct tr_region region[TR_REGION_SLOTS];
	struct tr_losses lost;

	uint64_t records_taken;	/* tickets of the ring of record blocks */
	uint64_t records_trimmed;
	uint32_t block_count;
	uint32_t track_hint;
	uint64_t max_history;
	uint32_t next_counter;	/* slots allocated to counters and ratios */
	uint32_t next_gauge;
	uint64_t window_used;	/* bytes of closed slices */

	uint64_t owner_abi;	/* address of the owner's table there */
	uint64_t base_address;	/* of the mapping in the writing process */
	char version[16];
	uint64_t max_history_age; /* seconds; 0: no limit */
	uint64_t monitor_ns;	/* CPU time of the monitor thread */
	uint64_t rss_start, rss_end; /* bytes; 0: not read */
	uint64_t rss_peak;
	struct tr_added added_scope;   /* of a scope */
	struct tr_added added_untimed; /* of a scope that is only counted */
	struct tr_added added_value;
	struct tr_governed governed;
	uint64_t cpu_user_ns, cpu_system_ns; /* of the process, as last read */
	uint64_t stacks_lost; /* stacks beyond max_stacks */
	struct tr_sampling sampling;
	struct tr_alloc_state heap;
	uint32_t trainings;	 /* newest struct tr_training, offset */
	uint32_t trainings_lost; /* trainings with no room */
	double counted_ticks;	 /* cost of a counted scope in an empty loop */
	struct tr_python_state python;
	uint32_t exit_status;	 /* of the process, plus 1; 0: not known */
	uint32_t exit_reserved;
	uint64_t short_ns;	 /* CPU time of threads that had no sample */
	uint64_t reserved[26];	 /* for later minors */
};

_Static_assert(sizeof(struct tr_header) == TR_PAGE, "header is one page");

#define TR_META_AT TR_PAGE
#define TR_META_BYTES TR_PAGE
#define TR_SUMS_AT (2u * TR_PAGE) /* a hole until the run is moved */
#define TR_REGIONS_AT (3u * TR_PAGE)

#define TR_COUNTER_FIRST 64u /* so that readers know what a call adds */
#define TR_COUNTER_CALLS_SHIFT 48u
#define TR_COUNTER_SUM ((UINT64_C(1) << TR_COUNTER_CALLS_SHIFT) - 1)

/* A site as registered. Published by `ready`. Strings: offset into file. */
struct tr_site {
	uint32_t ready;
	uint32_t hash;
	uint32_t name, unit, source, labels, file;
	uint32_t line;
	uint8_t kind, type;
	uint16_t flags;
	uint32_t slot;	/* counters, ratios (two slots) and gauges */
	uint64_t missed; /* calls while it was paused, estimated; of a counter:
			  * its first calls, and what they added, see above */
	uint32_t level;	 /* enum tr_level now; the governor writes it */
	uint32_t worst;	 /* and the highest ever */
	uint64_t born;	 /* ticks when it was registered: its first use */
};

_Static_assert(sizeof(struct tr_site) == TR_LINE, "one line a site");

/*
 * An entry of a track's log: a completed scope, value or remark. One complete
 * entry, not begin and end: half the bytes, and overwriting old entries cannot
 * leave an end without its begin.
 */
struct tr_entry {
	uint64_t start;	/* ticks; a count */
	uint32_t duration;	/* ticks */
	uint32_t what;	/* node | enum tr_entry_flags */
};

/* Nodes are aligned to cache lines, so six bits of a reference are free. */
enum tr_entry_flags {
	TR_ENTRY_FAILED = 1,
	TR_ENTRY_LONG = 2,	 /* start: duration of 64 bits; the previous
				  * entry, UNTIMED | LONG, has the start */
	TR_ENTRY_CALL = 4,	 /* the node is a function */
	TR_ENTRY_ITEMS = 8,	 /* start: items of the node */
	TR_ENTRY_UNTIMED = 16,	 /* start: calls counted without a time */
	TR_ENTRY_OWNER = 32,	 /* start: ticks, duration: tid; the node's
				  * bits: TR_ENTRY_FLAGS + 1 times the previous
				  * owner */
	TR_ENTRY_FLAGS = 63
};

struct tr_frame {
	uint64_t start; /* ticks; TR_FRAME_ASIDE: see `aside` */
	uint64_t aside; /* then: ticks | TR_FRAME_FAILED */
};

/* So far from any time that a duration from it does not fit into 32 bits. */
#define TR_FRAME_ASIDE (UINT64_C(1) << 63)
#define TR_FRAME_FAILED (UINT64_C(1) << 62)
#define TR_FRAME_UNTIMED (UINT64_C(1) << 61) /* a number, not ticks */

/*
 * In `aside` of a function's frame, whose `start` has ticks only if TIMED. The
 * other bits are for its thread: the position of the stack.
 */
enum tr_call_frame {
	TR_CALL_TIMED = 1,
	TR_CALL_DRAWN = 2, /* one call timed for several */
	TR_CALL_LEFT = 2,  /* alone: it ended, but scopes in it are open */
	TR_CALL_FLAGS = 15
};

/*
 * A path of the call tree. Site, parent and depth never change. References to
 * nodes (here, in tracks and in entries) are offsets minus TR_NODE_BIAS: 0 is
 * the header's no_node.
 */
#define TR_NODE_BIAS 64u

/*
 * In place of a site: the node is a function, reported by the hooks of
 * -finstrument-functions. `items` is its address. `untimed` minus `cell` is the
 * number of calls that began: `cell` is not a cell here, but the calls until
 * the next timed one. Address 0: calls with no room for their own path, with a
 * child for each function; `back` is the node to return to.
 */
#define TR_NODE_FUNCTION 0x80000000u
/* And, for its thread: the hook's call site; not every call is timed. */
#define TR_NODE_HERE 0xffffu
#define TR_NODE_RARE 0x10000u

struct tr_node {
	uint32_t site;
	uint32_t parent; /* the root is its own parent */
	uint32_t last;	 /* last child found: a guess */
	uint32_t depth;
	uint64_t calls;	 /* timed ones */
	uint64_t sum;	 /* ticks of these calls */
	uint64_t items;
	union {
		uint64_t failures;
		struct { /* for a function */
			uint32_t back;	 /* see above */
			uint32_t within; /* bits of a float: about the ticks of
					  * its callees */
		};
	};
	uint64_t untimed; /* repaired or counted without a time */
	uint32_t cell;	  /* the site's cell in this track */
	uint32_t next;	  /* node created before this one */
};

_Static_assert(sizeof(struct tr_node) == TR_LINE, "one line a node");

/*
 * A track's aggregate of one site in the current time slice. Closed slices are
 * in `closed`. Times: sum, min and max in ticks. Values: bits of doubles.
 */
struct tr_cell {
	uint64_t sum;
	uint64_t min;
	uint64_t max;
	uint32_t slice;	    /* slice of this content */
	uint32_t base;	    /* first page number of the window */
	uint32_t closed;    /* offset of struct tr_closed */
	uint32_t turning;   /* closed slice that replaces the fields, or 0 */
	uint32_t extra;	    /* offset of struct tr_extra */
	uint32_t failures;
	uint32_t site;
	uint32_t next;	    /* cell created before this one */
	uint32_t values;    /* ring of last values, offset */
	uint32_t first;	    /* oldest slice in here; normally `slice` */
	uint32_t page[TR_CELL_PAGES];
};

_Static_assert(sizeof(struct tr_cell) == 5 * TR_LINE, "five lines a cell");

/* Rarely needed parts of a cell: zeros, negatives, far pages, carries. */
struct tr_extra {
	uint64_t zeros;	     /* current slice */
	uint64_t not_finite; /* NaN and infinities, all time */
	uint64_t unbucketed; /* current slice */
	uint32_t negative;   /* cell of the absolute values of negatives */
	uint32_t far;	     /* offset of struct tr_far */
	uint32_t carry;	     /* offset of struct tr_carry */
	uint32_t reserved[7];
};

_Static_assert(sizeof(struct tr_extra) == TR_LINE, "one line");

/* Pages outside a cell's window. */
struct tr_far {
	uint32_t next;
	uint32_t n;
	uint32_t number[7];
	uint32_t page[7];
};

_Static_assert(sizeof(struct tr_far) == TR_LINE, "one line");

/* Buckets that passed 2^32, `high` times. */
struct tr_carry {
	uint32_t next;
	uint32_t n;
	uint32_t bucket[7]; /* offset of the bucket's 32 bits */
	uint32_t high[7];
};

_Static_assert(sizeof(struct tr_carry) == TR_LINE, "one line");

/* The word of the header's sink that a cell has its slice in. */
#define TR_SINK_SLICE (offsetof(struct tr_cell, slice) / 8)

/*
 * Closed slices of a cell, finest first: four tiers of records and one record
 * of everything older. A record of a tier spans eight of the tier below.
 * `marks` has head and tail of all tiers, so that one store moves eight records
 * up or adds one.
 */
#define TR_TIERS 4u
#define TR_TIER_SLOTS 64u /* of which at most TR_TIER_KEEP are in use */
#define TR_TIER_KEEP 60u
#define TR_TIER_MERGE 8u

struct tr_closed {
	uint64_t marks;	    /* byte 2t: head of tier t, byte 2t+1: its tail */
	uint32_t oldest;    /* everything dropped from the last tier; includes
			     * the records in tiers that end before it */
	uint32_t reserved[13];
	uint32_t slot[TR_TIERS][TR_TIER_SLOTS];
};

/* A closed slice, or several merged. Followed by `bytes` of buckets. */
struct tr_slice {
	uint32_t from, to; /* slices, both included */
	uint64_t sum, min, max;
	uint64_t count;
	uint64_t failures;
	uint64_t zeros;
	uint64_t unbucketed;
	uint32_t bytes;
	uint32_t class_; /* size class of its memory */
};

_Static_assert(sizeof(struct tr_slice) == 72, "packed by itself");

/*
 * The update under way. It is written before the fields that it changes, with
 * their old values. A reader that finds one stores the new values, which is
 * right however far the writer got.
 */
struct tr_intent {
	uint64_t stage; /* lap << 32 | entry offset, + 1 while under way */
	uint64_t calls, sum, cell_sum;
	uint32_t bucket; /* old count of the bucket */
	uint32_t cell_failures;
	uint64_t failures;
	uint64_t other; /* items, untimed, zeros, unbucketed, carries */
};

/* The same for values, which go to their cell without a log entry. */
struct tr_value_intent {
	union {
		struct {
			uint32_t cell;	 /* offset; 0: none under way */
			uint32_t bucket; /* old count */
		};
		uint64_t place; /* both, in one store */
	};
	uint64_t value;	 /* bits */
	uint64_t cell_sum;
	uint64_t other; /* zeros, unbucketed, carries or not finite */
};

struct tr_ring_place {
	uint32_t off;
	uint32_t bytes;
};

/*
 * The part of the ledger that one thread writes. Its first page has all that a
 * thread needs at first.
 */
struct tr_track {
	/* written at every scope */
	uint32_t current; /* node of the innermost open scope */
	uint32_t trace_owner; /* thread at the end of a full ring */
	uint64_t write;	  /* lap << 32 | offset of the next entry */
	struct tr_intent intent;
	struct tr_value_intent value; /* written at every value */

	/* written rarely */
	uint32_t magic;
	uint32_t index;
	uint32_t owner; /* thread id; 0: free */
	uint32_t owners; /* number of threads that ever owned it */
	uint32_t root;	/* offset of the root node */
	uint32_t nodes;	/* newest node */
	uint32_t cells;	/* newest cell */
	uint32_t n_nodes;
	uint32_t n_cells;
	uint32_t frames_real; /* frames whose pages are allocated */
	struct tr_ring_place log;   /* where entries go now */
	struct tr_ring_place trace; /* where they are kept while tracing */
	uint64_t trace_discarded;   /* entries after a full ring */
	uint64_t deferred_at;	    /* deferred entry being stored: old `write`
				     * or TR_DEFERRED_VALUE, | index; 0: none */
	uint32_t chunk, chunk_left; /* small objects are allocated from here */
	uint32_t block;		    /* record block being filled */
	uint32_t deferred_read;
	uint32_t deferred_write;
	uint32_t claimed;	    /* chunk without pages: no space so far */
	uint32_t free_slice[8];	    /* recycled slice records by size class */
	struct tr_losses lost;
	uint32_t counters[TR_COUNTER_CHUNKS]; /* offsets of chunks */
	struct tr_entry deferred[TR_DEFERRED];
	uint64_t name[2];    /* the owner's: 16 bytes, ended by NUL */
	uint32_t trace_lap;  /* lap of `write` at which `trace` began */
	uint32_t reserved;
	_Alignas(TR_LINE) struct tr_entry log_inline[TR_RING_INLINE];
};

#define TR_TRACK_MAGIC 0x4b435254u /* "TRCK" */

/* In `what` of a deferred entry, beside the site. */
#define TR_PARKED 0x80000000u /* the entry is complete */
#define TR_PARKED_FAILED 0x40000000u
#define TR_PARKED_VALUE 0x20000000u /* start: bits, duration: slice */
#define TR_PARKED_CALL 0x10000000u /* start: address of a function */
#define TR_PARKED_SITE 0x0fffffffu
#define TR_DEFERRED_VALUE (UINT64_C(1) << 63)

_Static_assert(TR_DEFERRED <= sizeof(struct tr_entry),
	       "a place fits into the low bits of a position");

_Static_assert(sizeof(struct tr_track) <= TR_FRAMES_AT, "frames follow");

/*
 * Block of records of one track, one after the other. `used` grows by whole
 * records (release). A reused block gets its new ticket first.
 */
#define TR_BLOCK_BYTES 1024u

struct tr_block {
	uint64_t ticket; /* 0: never used */
	uint32_t owner;	 /* track index + 1 while it is filled */
	uint32_t used;	 /* bytes after this header */
	uint32_t records;
	uint32_t reserved;
};

/* A record in a block: this, then attributes and error text. */
struct tr_record {
	uint64_t start;
	uint64_t duration;
	uint32_t site;
	uint32_t thread;
	uint16_t bytes; /* of the whole record, a multiple of 8 */
	uint8_t failed;
	uint8_t truncated;
	uint8_t n_attrs;
	uint8_t kind; /* enum tare_record_kind; 0 is an operation */
	uint16_t error_bytes;
};

_Static_assert(sizeof(struct tr_record) == 32, "half a line");

/*
 * ---- profiles ------------------------------------------------------------
 *
 * Code is stored as addresses; readers find the names. For that, the ledger has
 * the modules (program, libraries) that were mapped, also unmapped ones.
 */
struct tr_module {
	uint32_t ready;	     /* 1: all below is in place */
	uint32_t path;	     /* string; "" if it has none (vdso: [vdso]) */
	uint64_t from, to;   /* address range of its code */
	uint64_t bias;	     /* address minus the address in the file */
	uint64_t came, gone; /* ticks; gone is 0 while it is mapped */
	uint32_t id_bytes;   /* of its build id; 0: none */
	uint8_t id[20];
	uint32_t reserved[2];
};

/*
 * A stack is identified by its innermost frame: a node of one tree for all
 * threads. Numbers are indices in the region. The first nodes are no code, and
 * always exist. The address of a frame is where it continues: the instruction
 * itself in the innermost frame of a sample, else a return address.
 */
enum tr_stack_root {
	TR_STACK_NONE = 0,
	TR_STACK_WHOLE = 1,   /* complete stacks */
	TR_STACK_CUT = 2,     /* stacks with missing outer callers */
	TR_STACK_LOST = 3,    /* stacks beyond max_stacks */
	TR_STACK_FIRST = 4
};

struct tr_stack {
	uint64_t address;
	uint32_t parent; /* of the caller */
	uint32_t module; /* number + 1; 0: none */
	uint32_t flags;	 /* enum tr_stack_flags */
	uint32_t alloc;	 /* row of its region + 1; 0: none */
	/* Samples that end here. Any thread adds to them. */
	uint64_t samples;
	uint64_t weight_ns;
	uint64_t square_us2; /* sum of squared weights; 0: not known */
	uint64_t reserved[2];
};

/* Address of a frame without a module: the kernel's code, in a system call. */
#define TR_STACK_KERNEL UINT64_MAX

_Static_assert(sizeof(struct tr_stack) == TR_LINE, "one line");

/* A sample on the timeline. A ring, indexed by `head` of tr_sampling. */
struct tr_sample {
	uint64_t ticket; /* head + 1, written last; 0: never used */
	uint64_t ticks;
	uint32_t thread;
	uint32_t stack;
	uint32_t node;	 /* of the innermost open scope; 0: none */
	uint32_t weight_us;
};

_Static_assert(sizeof(struct tr_sample) == TR_LINE / 2, "half a line");

/* Ring of the last values of a cell. Its size is a power of two. */
struct tr_values {
	uint64_t written;
	uint32_t size;
	uint32_t keep; /* most values that are shown; 0: all */
	struct {
		uint64_t ticks;
		uint64_t value; /* ticks, or bits of a double */
	} at[];
};

/*
 * The control page: a separate file, the only part that other processes may
 * write. `generation` changes at every change and is never 0. The gate of a
 * site that is off under generation g points at sleep[g % n], which is 0 until
 * the next change sets it to 1.
 */
#define TR_CONTROL_MAGIC UINT64_C(0x314c525443455254) /* "TRECTRL1" */
#define TR_CONTROL_MAJOR 2u
#define TR_CONTROL_SLEEP 512u
#define TR_CONTROL_TEXT 1536u

struct tr_control {
	uint64_t magic;
	uint32_t major;
	uint32_t pid;
	uint64_t start_time;
	uint32_t generation;
	uint32_t enabled;
	uint64_t cleared_ticks;
	int64_t cleared_ns;
	uint32_t text_bytes; /* of `text`: option lines set from outside */
	uint32_t wake;	     /* the monitor thread sleeps on it (futex) */
	uint32_t pause;	     /* gate of paused sites: 0 while they are */
	uint32_t monitored;  /* parts that the process monitors */
	uint32_t reserved[2];
	uint32_t sleep[TR_CONTROL_SLEEP];
	char text[TR_CONTROL_TEXT];
};

_Static_assert(sizeof(struct tr_control) <= TR_PAGE, "control is one page");

#endif
