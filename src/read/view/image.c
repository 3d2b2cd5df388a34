/* SPDX-License-Identifier: Apache-2.0 */
/* Accessors of the regions of an image: rows, sites, tracks, blocks. */
#include "read/view.h"

#include "ledger/layout.h"

const void *tr_image_rows(const struct tr_image *image, unsigned region,
			  size_t size, uint64_t *ret_n, uint64_t *damaged)
{
	const struct tr_region *r = &tr_image_header(image)->region[region];
	uint64_t n = r->used / size;
	const void *rows = tr_image_at(image, r->off, n * size,
				       size % 8 ? 4 : 8);

	if (damaged)
		*damaged += !rows && n;
	*ret_n = rows ? n : 0;
	return rows;
}

uint32_t tr_image_sites(const struct tr_image *image)
{
	uint64_t n;

	(void)tr_image_rows(image, TR_REGION_SITES, sizeof(struct tr_site),
			    &n, NULL);
	return (uint32_t)n;
}

const struct tr_site *tr_image_site(const struct tr_image *image, uint32_t id)
{
	uint64_t n;
	const struct tr_site *site = tr_image_rows(
		image, TR_REGION_SITES, sizeof(*site), &n, NULL);

	return id && id < n && site[id].ready ? &site[id] : NULL;
}

uint32_t tr_image_tracks(const struct tr_image *image)
{
	uint64_t n;

	(void)tr_image_rows(image, TR_REGION_TRACKS, sizeof(uint32_t), &n,
			    NULL);
	return n > TR_MAX_TRACKS ? 0 : (uint32_t)n;
}

uint32_t tr_image_track_off(const struct tr_image *image, uint32_t index)
{
	const struct tr_region *tracks =
		&tr_image_header(image)->region[TR_REGION_TRACKS];
	const uint32_t *dir = (const void *)(image->base + tracks->off);

	return dir[index];
}

const struct tr_track *tr_image_track(const struct tr_image *image,
				      uint32_t index)
{
	const struct tr_track *track =
		tr_image_at(image, tr_image_track_off(image, index),
			    sizeof(*track), TR_LINE);

	return track && track->magic == TR_TRACK_MAGIC ? track : NULL;
}

const struct tr_track *tr_image_next_track(const struct tr_image *image,
					   uint32_t *index)
{
	const struct tr_track *track = NULL;

	for (uint32_t n = tr_image_tracks(image); !track && *index < n;)
		track = tr_image_track(image, (*index)++);
	return track;
}

const struct tr_block *tr_image_next_block(const struct tr_image *image,
					   uint64_t *at)
{
	const struct tr_region *blocks =
		&tr_image_header(image)->region[TR_REGION_BLOCKS];
	uint64_t off = blocks->off + *at;

	*at += TR_BLOCK_BYTES;
	/* The file may end before its last block. */
	return *at <= blocks->used ?
		       tr_image_at(image, off, TR_BLOCK_BYTES, 8) :
		       NULL;
}
