/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations: which code allocates, how much is live, and what was live at the
 * peak.
 *
 * `tare run --alloc` tracks the calls of malloc and its family in unmodified
 * programs. With this header a program adds what only it knows: blocks of its
 * own allocators under a tag, and snapshots to compare.
 *
 *	static tare_tag *pool;
 *
 *	pool = tare_alloc_tag("pool.small");
 *	tare_alloc_note(pool, block, bytes);
 *	...
 *	tare_free_note(pool, block);
 *
 * While allocation tracking is off, these calls do nothing and return
 * TARE_EOFF. They never allocate.
 */
#ifndef TARE_ALLOC_H
#define TARE_ALLOC_H

#include <tare/api.h>
#include <tare/error.h>

TARE_BEGIN

/* ---- in the measured program ------------------------------------------- */

/*
 * A name for blocks of the program's own allocator. The same name gives the
 * same tag. Never NULL. There are at most 255 tags; all further names share
 * one. The name is cut after 63 bytes.
 */
typedef struct tare_tag tare_tag;
TARE_API tare_tag *tare_alloc_tag(const char *name);

/*
 * Report that a block of the tag was allocated, or freed. `block` is any number
 * that is unique within the tag, usually the address; it is not dereferenced.
 * Tagged bytes are not in the totals, because the memory that they lie in
 * already is. Any thread. Returns 0, TARE_EOFF, or TARE_ENOENT for a free of an
 * unknown block.
 */
TARE_API int tare_alloc_note(tare_tag *tag, const void *block, size_t bytes);
TARE_API int tare_free_note(tare_tag *tag, const void *block);

/*
 * Stores a snapshot of the live allocations, for `tare alloc --diff`. Returns
 * 0, TARE_EOFF, TARE_EINVAL without a name, TARE_EFULL without room in the
 * ledger.
 */
TARE_API int tare_alloc_snapshot(const char *name);

/* Totals of all allocations. Sizes in bytes. */
typedef struct tare_heap {
	uint32_t struct_size;	/* set by the caller of tare_alloc_current() */
	bool was_on;
	bool is_estimate;	/* sampled: all counts are scaled up */
	uint64_t sample_bytes;	/* mean distance of samples; 0: all tracked */
	uint64_t allocs, bytes;	/* all allocations so far */
	uint64_t frees, freed_bytes;
	uint64_t live, live_bytes;
	uint64_t temporary;	/* freed before their thread allocated again */
	uint64_t peak_bytes;	/* most bytes live at one time */
	uint64_t peak_allocs;	/* live allocations at that time */
	int64_t peak_ns;	/* of the peak, ns since 1970; 0: none known */
	uint64_t unseen;	/* allocations with no room in the table */
	uint64_t foreign;	/* frees of blocks not in the table */
	uint64_t table_bytes;	/* private memory of the table of blocks */
	uint32_t threads;
} tare_heap;

/* Totals of this process now. Returns 0, TARE_EOFF or TARE_EINVAL. */
TARE_API TARE_MUST_CHECK int tare_alloc_current(tare_heap *ret_heap);

TARE_END

#endif
