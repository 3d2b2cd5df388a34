/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing. Offsets in a TIFF file count from its first byte, and values of more
 * than four bytes are after the directory that names them. So the writer lays
 * out both directories first and then fills in the values.
 */
#include "exif.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exif_tags.h"

const struct exif exif_unknown = {
	.make = "",
	.model = "",
	.taken = "",
	.orientation = 1,
	.iso = 100,
	.exposure_s = 0.01,
	.f_number = 8,
	.focal_mm = 35,
};

#define DENOMINATOR 1000000u /* of every rational written */

struct writer {
	unsigned char *tiff;
	size_t entry; /* where the next entry of the directory goes */
	size_t value; /* where the next long value goes */
};

static void put16(unsigned char *at, unsigned v)
{
	at[0] = (unsigned char)(v & 0xff);
	at[1] = (unsigned char)(v >> 8);
}

static void put32(unsigned char *at, uint32_t v)
{
	put16(at, v & 0xffff);
	put16(at + 2, v >> 16);
}

/* A directory: its count, room for the entries, and no next directory. */
static void directory(struct writer *writer, unsigned n_entries)
{
	put16(writer->tiff + writer->value, n_entries);
	writer->entry = writer->value + 2;
	writer->value = writer->entry + n_entries * 12 + 4;
	put32(writer->tiff + writer->value - 4, 0);
}

/* Where the value goes: inside the entry if it fits. */
static unsigned char *entry(struct writer *writer, unsigned tag, unsigned type,
			    uint32_t count, size_t bytes)
{
	unsigned char *at = writer->tiff + writer->entry;

	writer->entry += 12;
	put16(at, tag);
	put16(at + 2, type);
	put32(at + 4, count);
	put32(at + 8, 0);
	if (bytes <= 4)
		return at + 8;
	put32(at + 8, (uint32_t)writer->value);
	at = writer->tiff + writer->value;
	writer->value += bytes + (bytes & 1);
	return at;
}

static void put_text(struct writer *writer, unsigned tag, const char *text)
{
	size_t len = strlen(text) + 1;

	memcpy(entry(writer, tag, TYPE_ASCII, (uint32_t)len, len), text, len);
}

static void put_short(struct writer *writer, unsigned tag, unsigned v)
{
	put16(entry(writer, tag, TYPE_SHORT, 1, 2), v);
}

static void put_rational(struct writer *writer, unsigned tag, double v)
{
	unsigned char *at = entry(writer, tag, TYPE_RATIONAL, 1, 8);

	put32(at, (uint32_t)lround(v * DENOMINATOR));
	put32(at + 4, DENOMINATOR);
}

size_t exif_write(const struct exif *exif,
		  unsigned char segment[EXIF_SEGMENT_MAX])
{
	static const unsigned char head[] = { 0xff, 0xe1, 0,   0, 'E', 'x',
					      'i',  'f',  0,   0, 'I', 'I',
					      42,   0,	  8,   0, 0,   0 };
	struct writer writer = { segment + SEGMENT_HEAD, 0, 8 };
	size_t len;

	memset(segment, 0, EXIF_SEGMENT_MAX);
	memcpy(segment, head, sizeof(head));
	directory(&writer, 5);
	put_text(&writer, TAG_MAKE, exif->make);
	put_text(&writer, TAG_MODEL, exif->model);
	put_short(&writer, TAG_ORIENTATION, exif->orientation);
	put_text(&writer, TAG_TAKEN, exif->taken);
	/* The second directory follows; its offset is known here. */
	put32(entry(&writer, TAG_EXIF, TYPE_LONG, 1, 4),
	      (uint32_t)writer.value);

	directory(&writer, 4);
	put_rational(&writer, TAG_EXPOSURE, exif->exposure_s);
	put_rational(&writer, TAG_F_NUMBER, exif->f_number);
	put_short(&writer, TAG_ISO, exif->iso);
	put_rational(&writer, TAG_FOCAL, exif->focal_mm);

	len = SEGMENT_HEAD + writer.value;
	/* The length excludes the marker's own two bytes; big endian. */
	segment[2] = (unsigned char)((len - 2) >> 8);
	segment[3] = (unsigned char)((len - 2) & 0xff);
	return len;
}

int exif_insert(const struct exif *exif, const unsigned char *jpeg, size_t len,
		unsigned char **ret_jpeg, size_t *ret_len, struct fault *fault)
{
	unsigned char segment[EXIF_SEGMENT_MAX];
	size_t more = exif_write(exif, segment);
	unsigned char *whole;

	if (len < 2)
		return fault_set(fault, "not a JPEG");
	whole = malloc(len + more);
	if (!whole)
		return fault_set(fault, "out of memory");
	memcpy(whole, jpeg, 2);
	memcpy(whole + 2, segment, more);
	memcpy(whole + 2 + more, jpeg + 2, len - 2);
	*ret_jpeg = whole;
	*ret_len = len + more;
	return 0;
}
