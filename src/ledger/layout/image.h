/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a ledger as another process sees them. None is trusted: all
 * access is by the checked offsets below.
 */
#ifndef TR_LEDGER_LAYOUT_IMAGE_H
#define TR_LEDGER_LAYOUT_IMAGE_H

#include "ledger/layout/file.h"
#include "base/platform.h"

/* Identity of a file: its number, and a time in case the number is reused. */
struct tr_file_key {
	uint64_t device, file;
	int64_t born_ns;
};

/* A reader's copy of a ledger: untrusted bytes. */
struct tr_image {
	const char *base;
	uint64_t size;
	uint64_t missing; /* bytes in the header's size that are missing */
	uint64_t mapped;  /* bytes to unmap */
	uint32_t major;	  /* of the file; the copy has the current layout */
	bool is_summed;	  /* its checksums were compared */
	uint64_t damaged; /* parts with a wrong checksum: bits by kind */
	struct tr_file_key key;
	char path[512];
};

/* Pointer to `bytes` at an aligned offset, or NULL if out of bounds. */
TR_INLINE const void *tr_image_at(const struct tr_image *image, uint64_t off,
				  uint64_t bytes, uint64_t align)
{
	if (!off || off % align || off > image->size ||
	    bytes > image->size - off)
		return NULL;
	return image->base + off;
}
TR_INLINE const struct tr_header *
tr_image_header(const struct tr_image *image)
{
	return (const struct tr_header *)(const void *)image->base;
}

/* A node by its offset in its track, or NULL. */
TR_INLINE const struct tr_node *tr_image_node(const struct tr_image *image,
					      uint64_t off)
{
	return (const struct tr_node *)tr_image_at(image, off + TR_NODE_BIAS,
						   sizeof(struct tr_node),
						   TR_LINE);
}

/* The same in the arena, whose bytes a reader may complete in its copy. */
TR_INLINE void *tr_arena_at(const struct tr_image *image, uint64_t off,
			    uint64_t bytes, uint64_t align)
{
	const struct tr_region *arena =
		&tr_image_header(image)->region[TR_REGION_ARENA];

	if (off < arena->off || off - arena->off > arena->used ||
	    bytes > arena->used - (off - arena->off))
		return NULL;
	return (void *)(uintptr_t)tr_image_at(image, off, bytes, align);
}
/* ---- older.c ----------------------------------------------------------- */

/*
 * Converts the header of a ledger of any known major to the current layout. A
 * second call does nothing. Returns 0, TARE_EFORMAT, or TARE_EVERSION for an
 * unknown major.
 */
int tr_header_upgrade(struct tr_header *header);
/* The same, read from a file: 0, TARE_EIO or as above. */
int tr_header_read(int fd, struct tr_header *header);
/* Converts the arena of an image with such a header. */
void tr_image_upgrade(struct tr_image *image);

/* ---- redo.c ------------------------------------------------------------ */

/*
 * Completes an update under way; true if there was one. `left`: the number of
 * steps allowed, which is reduced.
 */
bool tr_redo(const struct tr_image *image, const struct tr_track *track,
	     uint64_t *left);

/* ---- module_name.c ----------------------------------------------------- */

/* Does it belong to tare? "libtare.so.0", "libtare-preload.so" */
bool tr_module_name_is_own(const char *name);
/* Does it allocate for its callers, like libc and libstdc++? */
bool tr_module_allocates(const char *name);

#endif
