/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading EXIF. No number in the file is trusted: each offset is checked
 * against the length before it is used, and there are at most two directories,
 * never chained, so no file can cause an endless loop.
 */
#include "exif.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "exif_tags.h"

struct reader {
	const unsigned char *tiff;
	size_t len;
	bool is_big_endian;
	struct exif exif;
	uint32_t second; /* offset of the second directory, or 0 */
};

struct entry {
	unsigned tag, type;
	uint32_t count;
	const unsigned char *value; /* `count` values, all inside the file */
};

static unsigned get16(const struct reader *reader, const unsigned char *at)
{
	return reader->is_big_endian ? (unsigned)(at[0] << 8 | at[1])
				     : (unsigned)(at[1] << 8 | at[0]);
}

static uint32_t get32(const struct reader *reader, const unsigned char *at)
{
	uint32_t first = get16(reader, at), second = get16(reader, at + 2);

	return reader->is_big_endian ? first << 16 | second
				     : second << 16 | first;
}

static bool is_inside(const struct reader *reader, uint32_t offset,
		      uint64_t bytes)
{
	return offset <= reader->len && bytes <= reader->len - offset;
}

static size_t size_of_type(unsigned type)
{
	switch (type) {
	case TYPE_SHORT:
		return 2;
	case TYPE_LONG:
		return 4;
	case TYPE_RATIONAL:
		return 8;
	default:
		return 1; /* also for types that are not read here */
	}
}

static int entry_at(const struct reader *reader, const unsigned char *at,
		    struct entry *ret_entry, struct fault *fault)
{
	struct entry entry = { get16(reader, at), get16(reader, at + 2),
			       get32(reader, at + 4), at + 8 };
	uint64_t bytes = (uint64_t)entry.count * size_of_type(entry.type);
	uint32_t offset = get32(reader, at + 8);

	if (bytes > 4) {
		if (!is_inside(reader, offset, bytes))
			return fault_set(fault,
				"damaged EXIF: a value outside the segment");
		entry.value = reader->tiff + offset;
	}
	*ret_entry = entry;
	return 0;
}

static void take_text(const struct entry *entry, char *text, size_t size)
{
	size_t len = entry->count < size - 1 ? entry->count : size - 1;

	if (entry->type != TYPE_ASCII)
		return;
	memcpy(text, entry->value, len);
	text[len] = '\0';
}

static void take_short(const struct reader *reader, const struct entry *entry,
		       unsigned *v)
{
	if (entry->type == TYPE_SHORT && entry->count > 0)
		*v = get16(reader, entry->value);
}

static void take_rational(const struct reader *reader,
			  const struct entry *entry, double *v)
{
	uint32_t whole;

	if (entry->type != TYPE_RATIONAL || entry->count == 0)
		return;
	whole = get32(reader, entry->value + 4);
	if (whole > 0)
		*v = (double)get32(reader, entry->value) / whole;
}

static void take(struct reader *reader, const struct entry *entry)
{
	struct exif *exif = &reader->exif;

	switch (entry->tag) {
	case TAG_MAKE:
		take_text(entry, exif->make, sizeof(exif->make));
		break;
	case TAG_MODEL:
		take_text(entry, exif->model, sizeof(exif->model));
		break;
	case TAG_TAKEN:
		take_text(entry, exif->taken, sizeof(exif->taken));
		break;
	case TAG_ORIENTATION:
		take_short(reader, entry, &exif->orientation);
		break;
	case TAG_ISO:
		take_short(reader, entry, &exif->iso);
		break;
	case TAG_EXPOSURE:
		take_rational(reader, entry, &exif->exposure_s);
		break;
	case TAG_F_NUMBER:
		take_rational(reader, entry, &exif->f_number);
		break;
	case TAG_FOCAL:
		take_rational(reader, entry, &exif->focal_mm);
		break;
	case TAG_EXIF:
		if (entry->type == TYPE_LONG && entry->count > 0)
			reader->second = get32(reader, entry->value);
		break;
	default:
		break;
	}
}

static int read_directory(struct reader *reader, uint32_t offset,
			  struct fault *fault)
{
	const unsigned char *at;
	struct entry entry;
	unsigned n;

	if (!is_inside(reader, offset, 2))
		return fault_set(fault,
			"damaged EXIF: a directory outside the segment");
	at = reader->tiff + offset;
	n = get16(reader, at);
	if (!is_inside(reader, offset, 2 + (uint64_t)n * 12))
		return fault_set(fault, "damaged EXIF: a directory too long");
	for (unsigned i = 0; i < n; i++) {
		if (entry_at(reader, at + 2 + i * 12, &entry, fault) != 0)
			return -1;
		take(reader, &entry);
	}
	return 0;
}

static int read_tiff(struct reader *reader, struct fault *fault)
{
	if (reader->len < 8)
		return fault_set(fault, "damaged EXIF: too short");
	if (memcmp(reader->tiff, "MM", 2) == 0)
		reader->is_big_endian = true;
	else if (memcmp(reader->tiff, "II", 2) != 0)
		return fault_set(fault, "damaged EXIF: no byte order");
	if (get16(reader, reader->tiff + 2) != 42)
		return fault_set(fault, "damaged EXIF: not a TIFF file");
	if (read_directory(reader, get32(reader, reader->tiff + 4), fault) != 0)
		return -1;
	return reader->second ? read_directory(reader, reader->second, fault)
			      : 0;
}

/* Walks the segments up to the first one with pixels. */
static int find_segment(const unsigned char *jpeg, size_t len,
			struct reader *reader, struct fault *fault)
{
	size_t at = 2;

	if (len < 2 || jpeg[0] != 0xff || jpeg[1] != 0xd8)
		return fault_set(fault, "not a JPEG");
	while (len - at >= 4 && jpeg[at] == 0xff && jpeg[at + 1] != 0xda) {
		size_t size = (size_t)jpeg[at + 2] << 8 | jpeg[at + 3];

		if (size < 2 || size > len - at - 2)
			return fault_set(fault, "a segment beyond the end");
		if (jpeg[at + 1] == 0xe1 && size >= SEGMENT_HEAD - 2 &&
		    memcmp(jpeg + at + 4, "Exif\0", 6) == 0) {
			reader->tiff = jpeg + at + SEGMENT_HEAD;
			reader->len = size - (SEGMENT_HEAD - 2);
			return 0;
		}
		at += 2 + size;
	}
	return fault_set(fault, "no EXIF");
}

int exif_read(const unsigned char *jpeg, size_t len, struct exif *ret_exif,
	      struct fault *fault)
{
	struct reader reader = { .exif = exif_unknown };

	if (find_segment(jpeg, len, &reader, fault) != 0 ||
	    read_tiff(&reader, fault) != 0)
		return -1;
	*ret_exif = reader.exif;
	return 0;
}
