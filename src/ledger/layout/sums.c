/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums: writes and checks the checksums of a finished run.
 *
 * They are computed from the copy, not from the ledger, because threads may
 * still write to the ledger during the copy. Holes are not read: the effect of
 * zeros on a checksum is computed.
 */
#include "ledger/layout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct tr_summing {
	const struct tr_crc *crc;
	int fd;
	const char *bytes; /* of the whole file, or NULL: read it */
};

/* Adds a range without holes. */
static int add_data(const struct tr_summing *from, uint32_t *sum, uint64_t at,
		    uint64_t end)
{
	char block[16384];

	if (from->bytes) {
		*sum = tr_crc_more(from->crc, *sum, from->bytes + at,
				   end - at);
		return 0;
	}
	while (at < end) {
		size_t n = end - at < sizeof(block) ? (size_t)(end - at) :
						      sizeof(block);

		if (!tr_file_read_at(from->fd, block, n, at))
			return TARE_EIO;
		*sum = tr_crc_more(from->crc, *sum, block, n);
		at += n;
	}
	return 0;
}

static int sum_of(const struct tr_summing *from, uint64_t at, uint64_t bytes,
		  uint32_t *ret_sum)
{
	uint64_t end = at + bytes;
	uint32_t sum = 0;
	int err = 0;

	while (!err && at < end) {
		off_t data = lseek(from->fd, (off_t)at, SEEK_DATA), hole;

		if (data < 0 && errno != ENXIO)
			data = (off_t)at; /* holes are not reported here */
		if (data < 0 || (uint64_t)data > end)
			data = (off_t)end;
		sum = tr_crc_zeros(sum, (uint64_t)data - at);
		at = (uint64_t)data;
		if (at == end)
			break;
		hole = lseek(from->fd, data, SEEK_HOLE);
		if (hole <= data || (uint64_t)hole > end)
			hole = (off_t)end;
		err = add_data(from, &sum, at, (uint64_t)hole);
		at = (uint64_t)hole;
	}
	*ret_sum = sum;
	return err;
}

static uint32_t own_sum(const struct tr_crc *crc, const struct tr_sums *sums)
{
	struct tr_sums copy = *sums;

	copy.own = 0;
	return tr_crc(crc, &copy, sizeof(copy));
}

/* ---- writing ----------------------------------------------------------- */

static int add_part(const struct tr_summing *from, struct tr_sums *sums,
		    uint32_t kind, uint64_t off, uint64_t bytes)
{
	struct tr_sum *to = &sums->at[sums->n];
	int err = sum_of(from, off, bytes, &to->sum);

	to->kind = kind;
	to->off = off;
	to->bytes = bytes;
	sums->n++;
	return err;
}

int tr_sums_write(int fd)
{
	struct tr_header header;
	struct tr_sums sums = { .magic = TR_SUMS_MAGIC };
	struct tr_crc crc;
	const struct tr_summing from = { &crc, fd, NULL };
	int err;

	tr_crc_init(&crc);
	if (!tr_file_read_at(fd, &header, sizeof(header), 0))
		return TARE_EIO;
	/* Formats before major 3 have no room for them. */
	if (header.magic != TR_MAGIC || header.major != TR_FORMAT_MAJOR)
		return 0;
	err = add_part(&from, &sums, TR_SUM_HEADER, 0, sizeof(header));
	if (!err)
		err = add_part(&from, &sums, TR_SUM_META, TR_META_AT,
			       TR_META_BYTES);
	for (uint32_t i = 0; !err && i < TR_REGION_SLOTS; i++)
		if (header.region[i].used)
			err = add_part(&from, &sums, i, header.region[i].off,
				       header.region[i].used);
	if (err)
		return err;
	sums.own = own_sum(&crc, &sums);
	return pwrite(fd, &sums, sizeof(sums), TR_SUMS_AT) ==
			       (ssize_t)sizeof(sums) ?
		       0 :
		       TARE_EIO;
}

/* ---- checking ---------------------------------------------------------- */

static bool is_empty(const struct tr_sums *sums)
{
	static const struct tr_sums none;

	return memcmp(sums, &none, sizeof(none)) == 0;
}

/* Sizes must fit into the file: no two parts share bytes. */
static bool sizes_fit(const struct tr_image *image, const struct tr_sums *sums)
{
	uint64_t left = image->size;

	for (uint32_t i = 0; i < sums->n; i++) {
		if (sums->at[i].bytes > left)
			return false;
		left -= sums->at[i].bytes;
	}
	return true;
}

static void check_part(const struct tr_summing *from, struct tr_image *image,
		       const struct tr_sum *sum)
{
	uint32_t now = ~sum->sum;

	if (sum->kind >= TR_SUM_KINDS)
		return; /* from a later minor */
	if (sum->off > image->size || sum->bytes > image->size - sum->off ||
	    sum_of(from, sum->off, sum->bytes, &now) || now != sum->sum)
		image->damaged |= UINT64_C(1) << sum->kind;
}

void tr_sums_check(int fd, struct tr_image *image)
{
	const struct tr_sums *sums =
		tr_image_at(image, TR_SUMS_AT, sizeof(*sums), 8);
	const struct tr_header *header = (const void *)image->base;
	struct tr_crc crc;
	const struct tr_summing from = { &crc, fd, image->base };

	if (!sums || header->major != TR_FORMAT_MAJOR || is_empty(sums))
		return;
	tr_crc_init(&crc);
	if (sums->magic != TR_SUMS_MAGIC || sums->n > TR_SUMS_MOST ||
	    own_sum(&crc, sums) != sums->own || !sizes_fit(image, sums)) {
		image->damaged = UINT64_C(1) << TR_SUM_SUMS;
		return;
	}
	image->is_summed = true;
	for (uint32_t i = 0; i < sums->n; i++)
		check_part(&from, image, &sums->at[i]);
}

const char *tr_sum_name(uint32_t kind)
{
	static const char *const name[] = {
		"sites",   "strings", "tracks",	     "gauges",	"records",
		"modules", "stacks",  "allocations", "samples", "arena",
		"values",  "prices",  "GPU",	     "code",
		[TR_SUM_HEADER] = "header",
		[TR_SUM_META] = "metadata",
		[TR_SUM_SUMS] = "checksums",
	};

	return kind < TR_SUM_KINDS && name[kind] ? name[kind] :
						   "another region";
}
