/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites: the places in the program that blocks come from, with their sums.
 *
 * A site is an instruction of a code object, or a stack of them. Lines are
 * found when a snapshot is made. A site keeps its code objects alive, so an
 * address stands for one code object only.
 *
 * A thread without the interpreter's lock must not touch a reference count:
 * its sites are copies of file name and line instead.
 */
#ifndef TR_PY_SITES_H
#define TR_PY_SITES_H

#include "frames.h"

#define TR_MOST_FRAMES 128u
#define TR_NO_FRAME 0u	  /* the site of blocks without a Python frame */
#define TR_OTHER_SITE 1u  /* when there are too many sites */

struct tr_place {
	PyCodeObject *code;
	int offset;
};

struct tr_site {
	uint64_t key;
	uint64_t total_bytes, n_total; /* n_...: in units of a weight */
	uint64_t live_bytes, n_live;   /* by tr_book_count() */
	struct tr_place *places; /* innermost first; NULL: none, or copied */
	const char *copied_file; /* a site made without the lock */
	int copied_line;
	uint32_t n_places;
	uint32_t n_frames; /* the stack may be longer than n_places */
};

struct tr_text_block {
	struct tr_text_block *next;
	char text[(64u << 10) - sizeof(void *)];
};

struct tr_sites {
	struct tr_site *site;
	uint32_t n_sites;
	uint32_t *slot; /* hash table, a power of 2; 0 is free */
	uint32_t n_slots;
	struct tr_text_block *text_blocks; /* the newest first */
	char *text; /* free part of the newest */
	size_t n_text;
	bool is_crowded; /* no memory, or too many sites */
};

/*
 * The site of the calling thread's stack. `state`: its thread state or NULL.
 * `has_lock`: it holds the interpreter's lock.
 */
uint32_t tr_sites_find(struct tr_sites *sites, PyThreadState *state,
		       unsigned max_frames, bool has_lock);
uint32_t tr_sites_make(struct tr_sites *sites, uint64_t key,
		       tr_frame *frame, bool has_lock);
bool tr_sites_init(struct tr_sites *sites);
/* With the lock. Sums go, too. */
void tr_sites_release(struct tr_sites *sites);

static inline uint64_t tr_place_key(tr_frame *frame)
{
#if PY_VERSION_HEX < 0x030b0000
	return (uintptr_t)PyBytes_AS_STRING(frame->f_code->co_code) +
	       (uint64_t)(int64_t)tr_frame_offset(frame);
#else
	/* Inside the code object's own memory, so no other has it. */
	return tr_frame_place(frame);
#endif
}

static inline uint32_t tr_sites_slot(const struct tr_sites *sites,
				     uint64_t key)
{
	return (uint32_t)(key * 0x9E3779B97F4A7C15u >> 32) &
	       (sites->n_slots - 1);
}

/* The site with this key, or 0. */
static inline uint32_t tr_sites_lookup(const struct tr_sites *sites,
				       uint64_t key)
{
	uint32_t i = tr_sites_slot(sites, key), site;

	while ((site = sites->slot[i]) != 0) {
		if (sites->site[site].key == key)
			return site;
		i = (i + 1) & (sites->n_slots - 1);
	}
	return 0;
}

/* As tr_sites_find() for the innermost frame alone, with the lock. */
static inline uint32_t tr_sites_line(struct tr_sites *sites,
				     PyThreadState *state)
{
	tr_frame *frame = state ? tr_innermost_frame(state) : NULL;
	uint32_t site;
	uint64_t key;

	if (TR_UNLIKELY(!frame))
		return TR_NO_FRAME;
	key = tr_place_key(frame);
	site = tr_sites_lookup(sites, key);
	return TR_LIKELY(site) ? site : tr_sites_make(sites, key, frame, true);
}

#endif
