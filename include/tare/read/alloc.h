/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations of a run: which stacks allocated, how much is live, and what was
 * live at the peak. The calls of the measured program are in <tare/alloc.h>.
 */
#ifndef TARE_READ_ALLOC_H
#define TARE_READ_ALLOC_H

#include <tare/alloc.h>
#include <tare/read/profile.h>
#include <tare/read/view.h>

TARE_BEGIN

/* Totals: the sums of all rows without a tag. */
TARE_API const tare_heap *tare_view_heap(tare_view *view);

/* A stack that allocated, or a tag. */
typedef struct tare_alloc {
	uint32_t row;		/* row number, the same in all snapshots */
	uint32_t stack;		/* for tare_view_alloc_frames(); 0: a tag */
	const char *tag;	/* "": a stack */
	uint64_t allocs, bytes;
	uint64_t frees, freed_bytes;
	uint64_t live, live_bytes;
	uint64_t temporary;
	uint64_t peak_allocs, peak_bytes; /* live at the peak of the total */
} tare_alloc;
TARE_ARRAY_OF_(tare_alloc)

/* Most live bytes first. The array belongs to the view. */
TARE_API TARE_MUST_CHECK int tare_view_allocs(tare_view *view,
					      const tare_alloc **ret_allocs,
					      size_t *ret_n);

/* A snapshot. The array belongs to the view. */
typedef struct tare_alloc_mark {
	const char *name;
	int64_t at_ns;		/* since 1970 */
	uint64_t live, live_bytes;
	const tare_alloc *allocs; /* most live bytes first */
	size_t n_allocs;
} tare_alloc_mark;
TARE_ARRAY_OF_(tare_alloc_mark)

/* In order of time. */
TARE_API TARE_MUST_CHECK int
tare_view_alloc_marks(tare_view *view, const tare_alloc_mark **ret_marks,
		      size_t *ret_n);

/* A frame of a stack that allocated. */
typedef struct tare_alloc_frame {
	uint32_t module;	/* index, or TARE_NO_MODULE */
	uint64_t address;	/* of the call: for tare_view_places() */
} tare_alloc_frame;

/*
 * The frames of an allocation, innermost first. Fills at most `most` and
 * returns how many there are; 0 for a tag and for lost stacks. *ret_whole (may
 * be NULL): the last frame is the start of the thread.
 */
TARE_API size_t tare_view_alloc_frames(tare_view *view,
				       const tare_alloc *alloc,
				       tare_alloc_frame *frames, size_t most,
				       bool *ret_whole);

/*
 * The place that allocated: the innermost function outside of allocators and
 * the C++ library. The place of a tag is the tag. *ret_module (may be NULL):
 * index of the module, or TARE_NO_MODULE.
 */
TARE_API void tare_view_alloc_place(tare_view *view, const tare_alloc *alloc,
				    tare_place *ret_place,
				    uint32_t *ret_module);

TARE_END
#endif
