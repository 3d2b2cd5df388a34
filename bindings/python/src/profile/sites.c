/* SPDX-License-Identifier: Apache-2.0 */
#include "sites.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MOST_SITES (1u << 20) /* address space; pages come with use */
#define FIRST_SLOTS (1u << 12)
#define COPIED (UINT64_C(1) << 63) /* no address has this bit */

static void *map_zeros(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

bool tr_sites_init(struct tr_sites *sites)
{
	*sites = (struct tr_sites){ 0 };
	sites->site = map_zeros(MOST_SITES * sizeof(*sites->site));
	sites->slot = map_zeros(FIRST_SLOTS * sizeof(*sites->slot));
	if (!sites->site || !sites->slot) {
		tr_sites_release(sites);
		return false;
	}
	sites->n_slots = FIRST_SLOTS;
	sites->n_sites = TR_OTHER_SITE + 1;
	return true;
}

static void insert(struct tr_sites *sites, uint32_t site)
{
	uint32_t i = tr_sites_slot(sites, sites->site[site].key);

	while (sites->slot[i])
		i = (i + 1) & (sites->n_slots - 1);
	sites->slot[i] = site;
}

static bool grow_slots(struct tr_sites *sites)
{
	uint32_t *old = sites->slot, n_old = sites->n_slots;

	if (sites->n_sites * 2 < n_old)
		return true;
	sites->slot = map_zeros((size_t)n_old * 2 * sizeof(*sites->slot));
	if (!sites->slot) {
		sites->slot = old;
		return false;
	}
	sites->n_slots = n_old * 2;
	for (uint32_t i = 0; i < n_old; i++)
		if (old[i])
			insert(sites, old[i]);
	(void)munmap(old, n_old * sizeof(*old));
	return true;
}

/* A new site, or NULL: there are too many. */
static struct tr_site *take_site(struct tr_sites *sites, uint64_t key)
{
	struct tr_site *site;

	if (sites->n_sites == MOST_SITES || !grow_slots(sites)) {
		sites->is_crowded = true;
		return NULL;
	}
	site = &sites->site[sites->n_sites];
	site->key = key;
	insert(sites, sites->n_sites++);
	return site;
}

/* ---- with the lock: code objects --------------------------------------- */

static uint32_t count_frames(tr_frame *frame)
{
	uint32_t n = 0;

	for (; frame; frame = tr_outer_frame(frame))
		n++;
	return n;
}

static uint32_t make_site(struct tr_sites *sites, uint64_t key,
			  tr_frame *frame, unsigned max_frames)
{
	uint32_t n_frames = count_frames(frame);
	uint32_t n = n_frames < max_frames ? n_frames : max_frames;
	struct tr_place *places = malloc(n * sizeof(*places));
	struct tr_site *site = places ? take_site(sites, key) : NULL;

	if (!site) {
		free(places);
		return TR_OTHER_SITE;
	}
	for (uint32_t i = 0; i < n; i++, frame = tr_outer_frame(frame)) {
		places[i].code = tr_frame_code(frame);
		places[i].offset = tr_frame_offset(frame);
		Py_INCREF(places[i].code);
	}
	site->places = places;
	site->n_places = n;
	site->n_frames = n_frames;
	return (uint32_t)(site - sites->site);
}

/* ---- without the lock: copies ------------------------------------------ */

/* Copies a file name, as ASCII: this cannot fail and allocates nothing. */
static size_t copy_name(PyObject *name, char *to, size_t size)
{
	Py_ssize_t n = PyUnicode_GET_LENGTH(name), i;
	int kind = (int)PyUnicode_KIND(name);
	const void *data = PyUnicode_DATA(name);

	for (i = 0; i < n && (size_t)i + 1 < size; i++) {
		Py_UCS4 letter = PyUnicode_READ(kind, data, i);

		to[i] = letter < 128 ? (char)letter : '?';
	}
	to[i] = '\0';
	return (size_t)i;
}

static const char *keep_text(struct tr_sites *sites, const char *text,
			     size_t n)
{
	char *kept;

	if (sites->n_text < n + 1) {
		struct tr_text_block *block = map_zeros(sizeof(*block));

		if (!block)
			return NULL;
		block->next = sites->text_blocks;
		sites->text_blocks = block;
		sites->text = block->text;
		sites->n_text = sizeof(block->text);
	}
	kept = sites->text;
	memcpy(kept, text, n + 1);
	sites->text += n + 1;
	sites->n_text -= n + 1;
	return kept;
}

static uint64_t text_key(const char *text, size_t n, int line)
{
	uint64_t hash = (uint64_t)(unsigned)line * 0xC2B2AE3D27D4EB4Fu;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001B3u;
	return hash | COPIED;
}

static uint32_t copied_site(struct tr_sites *sites, tr_frame *frame)
{
	PyCodeObject *code = tr_frame_code(frame);
	int line = PyCode_Addr2Line(code, tr_frame_offset(frame));
	char name[4096];
	size_t n = copy_name(code->co_filename, name, sizeof(name));
	uint64_t key = text_key(name, n, line);
	uint32_t known = tr_sites_lookup(sites, key);
	const char *kept;
	struct tr_site *site;

	if (known)
		return known;
	kept = keep_text(sites, name, n);
	site = kept ? take_site(sites, key) : NULL;
	if (!site)
		return TR_OTHER_SITE;
	site->copied_file = kept;
	site->copied_line = line > 0 ? line : 0;
	site->n_frames = count_frames(frame);
	return (uint32_t)(site - sites->site);
}

/* ---- both -------------------------------------------------------------- */

uint32_t tr_sites_make(struct tr_sites *sites, uint64_t key, tr_frame *frame,
		       bool has_lock)
{
	return has_lock ? make_site(sites, key, frame, 1)
			: copied_site(sites, frame);
}

/* One key for a stack: a mix of those of its frames, never 0. */
static uint64_t stack_key(tr_frame *frame, unsigned max_frames)
{
	uint64_t key = 0x51ED270B1D2D1A55u;

	for (unsigned n = 0; frame && n < max_frames; n++) {
		key = (key ^ tr_place_key(frame)) * 0x9E3779B97F4A7C15u;
		key ^= key >> 32;
		frame = tr_outer_frame(frame);
	}
	return (key & ~COPIED) | 1;
}

uint32_t tr_sites_find(struct tr_sites *sites, PyThreadState *state,
		       unsigned max_frames, bool has_lock)
{
	tr_frame *frame = state ? tr_innermost_frame(state) : NULL;
	uint32_t site;
	uint64_t key;

	if (!frame)
		return TR_NO_FRAME;
	key = max_frames > 1 ? stack_key(frame, max_frames)
			     : tr_place_key(frame);
	site = tr_sites_lookup(sites, key);
	if (site)
		return site;
	return has_lock ? make_site(sites, key, frame, max_frames)
			: copied_site(sites, frame);
}

void tr_sites_release(struct tr_sites *sites)
{
	struct tr_text_block *block = sites->text_blocks, *next;
	struct tr_site *site = sites->site;
	uint32_t n_sites = sites->n_sites;

	for (; block; block = next) {
		next = block->next;
		(void)munmap(block, sizeof(*block));
	}
	if (sites->slot)
		(void)munmap(sites->slot,
			     sites->n_slots * sizeof(*sites->slot));
	*sites = (struct tr_sites){ 0 };
	if (!site)
		return;
	for (uint32_t i = 0; i < n_sites; i++) {
		for (uint32_t k = 0; k < site[i].n_places; k++)
			Py_DECREF(site[i].places[k].code);
		free(site[i].places);
	}
	(void)munmap(site, MOST_SITES * sizeof(*site));
}
