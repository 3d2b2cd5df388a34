/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Older: converts ledgers of earlier majors for readers of this one.
 *
 * A copy of an older ledger is converted once, when it is opened, so that no
 * other code handles older layouts. Differences: the header has an entry for
 * every kind of region (major 3); nodes have room for the address of a function
 * (major 2). A minor only adds to the end of the header.
 *
 * tests/ledgers has ledgers of all of them.
 */
#include "ledger/layout.h"

#include <string.h>

#define TR_NODE_OLD_CELL 3u   /* words of a node before major 2 */
#define TR_NODE_OLD_DEPTH 14u

static const struct version {
	uint32_t major;
	uint32_t header_bytes;
	uint32_t regions; /* the last one is the arena */
} versions[] = {
	{ 1, 2832, 6 }, { 1, 2840, 6 },	 { 1, 2872, 6 },
	{ 1, 3128, 6 }, { 2, 3512, 10 }, { 2, 3520, 10 },
};

/* The size must also match: a damaged number must not change the layout. */
static const struct version *find(const struct tr_header *header)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].major == header->major &&
		    versions[i].header_bytes == header->header_bytes)
			return &versions[i];
	return NULL;
}

static void move_up(struct tr_header *header, const struct version *v)
{
	size_t from = offsetof(struct tr_header, region) +
		      v->regions * sizeof(struct tr_region);
	size_t to = offsetof(struct tr_header, lost);
	size_t n = v->header_bytes - from;
	struct tr_region arena = header->region[v->regions - 1];
	char *base = (char *)header;

	memmove(base + to, base + from, n);
	memset(base + to + n, 0, sizeof(*header) - to - n);
	memset(&header->region[v->regions - 1], 0,
	       (TR_REGION_SLOTS - v->regions + 1) * sizeof(arena));
	header->region[TR_REGION_ARENA] = arena;
	header->major = TR_FORMAT_MAJOR;
	header->minor = 0;
	header->header_bytes = sizeof(*header);
}

int tr_header_upgrade(struct tr_header *header)
{
	const struct version *v;

	if (header->magic != TR_MAGIC || header->endian != TR_ENDIAN)
		return TARE_EFORMAT;
	if (header->major == TR_FORMAT_MAJOR)
		return header->header_bytes == sizeof(*header) ? 0 :
								 TARE_EFORMAT;
	if (!header->major || header->major > TR_FORMAT_MAJOR)
		return TARE_EVERSION;
	v = find(header);
	if (!v)
		return TARE_EFORMAT;
	move_up(header, v);
	return 0;
}

int tr_header_read(int fd, struct tr_header *header)
{
	if (!tr_file_read_at(fd, header, sizeof(*header), 0))
		return TARE_EIO;
	return tr_header_upgrade(header);
}

/* Bounded over all lists, because one may be a cycle. */
static void upgrade_nodes(struct tr_image *image, uint32_t off,
			  uint64_t *left)
{
	for (; *left > 0; --*left) {
		uint32_t *word = tr_arena_at(image,
					     (uint64_t)off + TR_NODE_BIAS,
					     TR_LINE, TR_LINE);
		uint32_t cell;

		if (!off || !word)
			return;
		cell = word[TR_NODE_OLD_CELL];
		word[TR_NODE_OLD_CELL] = word[TR_NODE_OLD_DEPTH];
		word[TR_NODE_OLD_DEPTH] = cell;
		off = ((struct tr_node *)(void *)word)->next;
	}
}

void tr_image_upgrade(struct tr_image *image)
{
	const struct tr_header *header = (const void *)image->base;
	const struct tr_region *tracks = &header->region[TR_REGION_TRACKS];
	const uint32_t *dir = tr_image_at(image, tracks->off, tracks->used, 4);
	uint64_t n = tracks->used / sizeof(*dir);
	uint64_t left = image->size / TR_LINE;

	if (image->major != 1 || !dir || n > TR_MAX_TRACKS)
		return;
	for (uint64_t i = 0; i < n; i++) {
		const struct tr_track *track =
			tr_image_at(image, dir[i], sizeof(*track), TR_LINE);

		if (track && track->magic == TR_TRACK_MAGIC)
			upgrade_nodes(image, track->nodes, &left);
	}
}
