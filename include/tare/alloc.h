/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations: who allocates, how much of it is live, and what was at the
 * peak.
 *
 * `tare run --alloc` notes the calls of malloc and its family; the program
 * need not know. With this header a program adds what only it knows: blocks
 * of its own allocators under a tag, and snapshots to compare.
 *
 *	static tare_tag *pool;
 *
 *	pool = tare_alloc_tag("pool.small");
 *	tare_alloc_note(pool, block, bytes);
 *	...
 *	tare_free_note(pool, block);
 *
 * Off, all of these return TARE_EOFF and do nothing. They never allocate.
 */
#ifndef TARE_ALLOC_H
#define TARE_ALLOC_H

#include <tare/api.h>
#include <tare/error.h>

TARE_BEGIN

/* ---- in the measured program ------------------------------------------- */

/*
 * A place that allocates, named by the program. The same name is the same
 * tag. Never NULL; at most 255 of them, further ones are one. The name is cut
 * after 63 bytes.
 */
typedef struct tare_tag tare_tag;
TARE_API tare_tag *tare_alloc_tag(const char *name);

/*
 * A block of the tag came, and went. `block` is any number that tells it from
 * the tag's others, most often its address; it is not looked at. What a tag
 * has is not in the totals: it lies in memory that is. Any thread. Returns 0,
 * TARE_EOFF; TARE_ENOENT for a free of a block that is not known.
 */
TARE_API int tare_alloc_note(tare_tag *tag, const void *block, size_t bytes);
TARE_API int tare_free_note(tare_tag *tag, const void *block);

/*
 * Keeps a copy of the books as they are, for `tare alloc --diff`. 0, TARE_EOFF,
 * TARE_EINVAL without a name, TARE_EFULL if there is no room in the ledger.
 */
TARE_API int tare_alloc_snapshot(const char *name);

/* What all rows have in common. Sizes in bytes. */
typedef struct tare_heap {
	uint32_t struct_size;	/* set by the caller of tare_alloc_current() */
	bool was_on;
	bool is_estimate;	/* sampled: all counts are scaled up */
	uint64_t sample_bytes;	/* between two samples; 0: every one is noted */
	uint64_t allocs, bytes;	/* all that were made */
	uint64_t frees, freed_bytes;
	uint64_t live, live_bytes;
	uint64_t temporary;	/* freed before their thread allocated again */
	uint64_t peak_bytes;	/* most that was live at a time */
	uint64_t peak_allocs;	/* and how many then */
	int64_t peak_ns;	/* when: ns since 1970; 0: never, not known */
	uint64_t unseen;	/* that found no room in the books */
	uint64_t foreign;	/* frees of blocks that are not in them */
	uint64_t table_bytes;	/* private memory of the table of blocks */
	uint32_t threads;
} tare_heap;

/* Of this process, now. 0, TARE_EOFF, or TARE_EINVAL. */
TARE_API TARE_MUST_CHECK int tare_alloc_current(tare_heap *ret_heap);

TARE_END

#endif
