/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Image: a reader's private copy of a ledger, taken once.
 *
 * A copy, not a mapping: the file of a live process may be truncated under a
 * mapping (SIGBUS), and a reader that returns to shared pages sees them change.
 * Nothing in it is trusted: every offset is checked before it is followed.
 */
#include "ledger/read/spare.h"
#include "ledger/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TR_IMAGE_MOST (UINT64_C(4) << 30)
#define TR_TEXT_MOST 4352u /* longer than any text in a ledger */
#define TR_GROWTHS 4

const char *tr_image_string(const struct tr_image *image, uint32_t off)
{
	uint64_t room = off < image->size ? image->size - off : 0;

	if (room > TR_TEXT_MOST)
		room = TR_TEXT_MOST;
	if (!off || !room || !memchr(image->base + off, '\0', room))
		return "";
	return image->base + off;
}

static int read_extent(int fd, char *to, off_t at, off_t end)
{
	/* All pages at once: one by one they cost more than the copy. */
	if (at % TR_PAGE == 0)
		(void)tr_memory_reserve(to + at, (size_t)(end - at));
	/* The file may be truncated meanwhile: zeros remain. */
	return tr_file_read_some(fd, to + at, (size_t)(end - at),
				 (uint64_t)at) < 0 ?
		       TARE_EIO :
		       0;
}

static int read_sparse(int fd, char *to, off_t at, off_t size)
{
	int err = 0;

	while (!err && at < size) {
		off_t data = lseek(fd, at, SEEK_DATA), end;

		if (data < 0)
			return errno == ENXIO ? 0 : read_extent(fd, to, at,
								size);
		end = lseek(fd, data, SEEK_HOLE);
		if (end < 0 || end > size)
			end = size;
		err = read_extent(fd, to, data, end);
		at = end;
	}
	return err;
}

/* End of the file's content: a live ledger is mostly unused address space. */
static off_t content_end(int fd, off_t size, struct tr_image *image)
{
	struct tr_header header;
	const struct tr_region *arena = &header.region[TR_REGION_ARENA];

	if (tr_header_read(fd, &header) || arena->off > TR_IMAGE_MOST ||
	    arena->used > TR_IMAGE_MOST)
		return size;
	image->key.born_ns = header.start.mono_ns;
	if (arena->off + arena->used < (uint64_t)size)
		return (off_t)(arena->off + arena->used);
	image->missing = arena->off + arena->used - (uint64_t)size;
	return size;
}

/*
 * A live ledger grows while it is copied, and parts that are copied late refer
 * to places beyond the end that was read first. Space is claimed before
 * anything refers to it, so the end that is read after the copy is enough.
 */
static int read_growth(int fd, struct tr_image *image)
{
	struct stat st;
	uint64_t end;
	int err = 0;

	for (int i = 0; i < TR_GROWTHS && !err; i++) {
		if (fstat(fd, &st))
			return TARE_EIO;
		end = (uint64_t)content_end(fd, st.st_size, image);
		if (end > image->mapped - 8)
			end = image->mapped - 8;
		if (end <= image->size)
			break;
		err = read_sparse(fd, (char *)(uintptr_t)image->base,
				  (off_t)image->size, (off_t)end);
		image->size = end;
	}
	return err;
}

/* Nodes of the log's entries; drained by now, but maybe not when copied. */
static void read_nodes(int fd, const struct tr_image *image,
		       const struct tr_track *track)
{
	uint64_t at = track->intent.stage & ~UINT64_C(1);

	if (track->write - at > TR_RING_INLINE * sizeof(struct tr_entry))
		return;
	for (; at < track->write; at += sizeof(struct tr_entry)) {
		const struct tr_entry *entry =
			tr_image_at(image, (uint32_t)at, sizeof(*entry), 8);
		uint64_t off = entry ? (entry->what & ~TR_ENTRY_FLAGS) +
					       (uint64_t)TR_NODE_BIAS :
				       0;
		struct tr_node *node = (struct tr_node *)(uintptr_t)
			tr_image_at(image, off, sizeof(*node), TR_LINE);

		if (node && !tr_file_read_at(fd, node, sizeof(*node), off))
			return;
	}
}

/*
 * `now` is the track after the copy. If its thread went on, entries of its log
 * are in its nodes, and the intent is out of date. So a count is never below
 * what it was when the copy began, and a later copy never has less.
 */
static void compare(int fd, const struct tr_image *image,
		    struct tr_track *track, const struct tr_track *now)
{
	if (memcmp(&now->value, &track->value, sizeof(now->value)) != 0)
		track->value.cell = 0;
	/* Stored in a field that only the owner uses. */
	track->claimed = now->intent.stage != track->intent.stage;
	if (track->claimed)
		read_nodes(fd, image, track);
}

/* Reads the stages of all tracks again, to see which threads went on. */
static void read_again(int fd, struct tr_image *image)
{
	const struct tr_header *header = tr_image_header(image);
	const struct tr_region *tracks = &header->region[TR_REGION_TRACKS];
	uint64_t n = tracks->used / 4;
	const uint32_t *dir = tr_image_at(image, tracks->off, tracks->used, 4);

	if (!dir || header->state != TR_STATE_LIVE || n > TR_MAX_TRACKS)
		return;
	for (uint64_t i = 0; i < n; i++) {
		struct tr_track *track = (struct tr_track *)(uintptr_t)
			tr_image_at(image, dir[i], sizeof(*track), TR_LINE);
		struct tr_track now;
		size_t bytes = offsetof(struct tr_track, magic);

		if (track &&
		    tr_file_read_at(fd, &now, bytes, dir[i]))
			compare(fd, image, track, &now);
	}
}

/*
 * Allocations: rows move from caches to others while they are copied, and would
 * be counted twice or not at all. So all are read again until none was moving.
 * After some tries they are used as they are.
 */
static void read_allocs(int fd, struct tr_image *image)
{
	struct tr_header *header = (struct tr_header *)(uintptr_t)image->base;
	const struct tr_region *rows = &header->region[TR_REGION_ALLOCS];
	char *to = (char *)(uintptr_t)image->base + rows->off;
	struct tr_header now;

	if (header->state != TR_STATE_LIVE || !header->heap.mode ||
	    !tr_image_at(image, rows->off, rows->used, 8))
		return;
	for (int i = 0; i < TR_GROWTHS; i++) {
		if (tr_header_read(fd, &now) ||
		    now.heap.moves == header->heap.moves)
			return;
		header->heap = now.heap;
		if (!tr_file_read_at(fd, to, rows->used, rows->off))
			return;
	}
}

/* Reads again what changed while the rest was copied. */
static int read_live(int fd, struct tr_image *image)
{
	int err = read_growth(fd, image);

	if (err)
		return err;
	read_again(fd, image);
	read_allocs(fd, image);
	return 0;
}

static int open_fd(const char *path, struct tr_image *image)
{
	struct stat st;
	int fd = tr_file_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);

	if (fd < 0)
		return errno == ENOENT ? TARE_ENOENT :
		       errno == EACCES ? TARE_EPERM :
					 TARE_EIO;
	if (fstat(fd, &st)) {
		(void)close(fd);
		return TARE_EIO;
	}
	if (!S_ISREG(st.st_mode) ||
	    st.st_size < (off_t)sizeof(struct tr_header) ||
	    (uint64_t)st.st_size > TR_IMAGE_MOST) {
		(void)close(fd);
		return TARE_EFORMAT;
	}
	image->key.device = st.st_dev;
	image->key.file = st.st_ino;
	image->size = (uint64_t)content_end(fd, st.st_size, image);
	return fd;
}

int tr_image_open(const char *path, struct tr_image *image)
{
	int fd, err;
	char *base;

	memset(image, 0, sizeof(*image));
	fd = open_fd(path, image);
	if (fd < 0)
		return fd;
	if (image->size < sizeof(struct tr_header))
		image->size = sizeof(struct tr_header);
	base = tr_spare_map(&image->key, image->size + 8, &image->mapped);
	if (!base) {
		(void)close(fd);
		return TARE_ENOMEM;
	}
	image->base = base;
	(void)snprintf(image->path, sizeof(image->path), "%s", path);
	err = read_sparse(fd, base, 0, (off_t)image->size);
	if (!err)
		tr_sums_check(fd, image);
	if (!err)
		err = tr_image_check(image);
	/* A converted layout must not be mixed with newly read bytes. */
	if (!err && image->major != 1)
		err = read_live(fd, image);
	(void)close(fd);
	if (err)
		tr_image_close(image);
	return err;
}

/* Copies the existing pages of our own unnamed ledger; the rest are zeros. */
static int copy_memory(const char *ledger, struct tr_image *image)
{
	const struct tr_header *header = (const void *)ledger;
	const struct tr_region *arena = &header->region[TR_REGION_ARENA];
	uint64_t size = arena->off + TR_LOAD(arena->used);
	unsigned char there;
	char *base;

	base = tr_memory_map(size + 8);
	if (!base)
		return TARE_ENOMEM;
	for (uint64_t at = 0; at < size; at += TR_PAGE) {
		uint64_t *to = (void *)(base + at);
		const uint64_t *from = (const void *)(ledger + at);

		if (mincore((void *)(uintptr_t)from, TR_PAGE, &there) ||
		    !(there & 1))
			continue;
		for (unsigned i = 0; i < TR_PAGE / 8; i++)
			to[i] = TR_LOAD(from[i]);
	}
	image->base = base;
	image->size = size;
	image->mapped = size + 8;
	return tr_image_check(image);
}

int tr_image_own(struct tr_image *image)
{
	struct tr_own own;

	memset(image, 0, sizeof(*image));
	if (!tr_own_find(&own))
		return TARE_EOFF;
	return own.path ? tr_image_open(own.path, image) :
			  copy_memory(own.base, image);
}

void tr_image_close(struct tr_image *image)
{
	if (image->mapped)
		tr_spare_unmap((char *)(uintptr_t)image->base, image->mapped,
			       &image->key);
	memset(image, 0, sizeof(*image));
}

static bool regions_fit(const struct tr_image *image)
{
	const struct tr_header *header = tr_image_header(image);

	for (unsigned i = 0; i < TR_REGION_SLOTS; i++) {
		const struct tr_region *r = &header->region[i];

		if (r->off % 8 || r->off > header->map_bytes ||
		    r->cap > header->map_bytes - r->off || r->used > r->cap)
			return false;
	}
	return true;
}

int tr_image_recheck(const struct tr_image *image)
{
	const struct tr_header *header = tr_image_header(image);

	if (header->site_bytes != sizeof(struct tr_site) ||
	    header->node_bytes != sizeof(struct tr_node) ||
	    header->cell_bytes != sizeof(struct tr_cell) ||
	    header->track_bytes != TR_TRACK_BYTES)
		return TARE_EFORMAT;
	if (header->map_bytes > TR_IMAGE_MOST || !regions_fit(image))
		return TARE_EFORMAT;
	if (!(header->sec_per_tick > 0) || header->sec_per_tick > 1 ||
	    header->slice_shift > 62)
		return TARE_EFORMAT;
	return 0;
}

int tr_image_check(struct tr_image *image)
{
	struct tr_header *header = (struct tr_header *)(uintptr_t)image->base;
	int err;

	if (image->size < sizeof(*header))
		return TARE_EFORMAT;
	image->major = header->major;
	err = tr_header_upgrade(header);
	if (!err)
		err = tr_image_recheck(image);
	if (!err && image->major != TR_FORMAT_MAJOR)
		tr_image_upgrade(image);
	return err;
}
