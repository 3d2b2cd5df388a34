/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any changes at all to a real ledger, for the fuzzers that read one.
 *
 * An input is a list of changes to a real ledger, made at the start: so a
 * few bytes of input reach deep, and the corpus stays small. The ledger is a
 * small one, and one input is read in one way, so that thousands are read a
 * second. The first byte is for the fuzzer, which chooses the way by it; 0:
 * the rest is a ledger itself.
 *
 *	place (3 bytes), length (1), bytes
 *
 * The upper two bits of a place: 0 counts the bytes of lines that are not
 * empty, 1 those of the first track, 2 all bytes, 3 those of the header.
 * Length 0 cuts the ledger off there.
 *
 * Include it once, after a definition of read_view().
 */
#ifndef TESTS_FUZZ_CHANGED_LEDGER_H
#define TESTS_FUZZ_CHANGED_LEDGER_H

#include "reading.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the fuzzer: the view as it is read, in the way of the first byte. */
static void read_view(tare_view *view, uint8_t way);

#define READING_FEW 4 /* rounds of what is measured */

static char *seed;
static uint64_t seed_bytes;
static uint32_t *line; /* offsets of lines with something in them */
static uint32_t n_lines;

static void drop(void *arg, enum tare_level level, const char *text)
{
	(void)arg;
	(void)level;
	(void)text;
}

static void find_lines(void)
{
	static const char empty[TR_LINE];

	line = malloc((seed_bytes / TR_LINE + 1) * sizeof(*line));
	for (uint32_t at = 0; at + TR_LINE <= seed_bytes; at += TR_LINE)
		if (memcmp(seed + at, empty, TR_LINE) != 0)
			line[n_lines++] = at;
}

static uint32_t track_at; /* the first track */
static char *work;	  /* what is changed and read */

static void make_seed(void)
{
	const struct tr_header *header;
	struct tr_image image;

	tare_log_set(drop, NULL);
	reading_fill_some(NULL, READING_FEW);
	if (tr_image_own(&image))
		abort();
	seed_bytes = image.size;
	seed = malloc(seed_bytes);
	work = malloc(seed_bytes);
	memcpy(seed, image.base, seed_bytes);
	header = (const void *)seed;
	memcpy(&track_at, seed + header->region[TR_REGION_TRACKS].off, 4);
	tr_image_close(&image);
	find_lines();
}

static uint64_t place_of(const uint8_t *at)
{
	uint32_t off = at[0] | (uint32_t)at[1] << 8 |
		       (uint32_t)(at[2] & 0x3f) << 16;

	switch (at[2] >> 6) {
	case 0:
		off %= n_lines * TR_LINE;
		return line[off / TR_LINE] + off % TR_LINE;
	case 1:
		return track_at + off % sizeof(struct tr_track);
	case 2:
		return off % seed_bytes;
	default:
		return off % sizeof(struct tr_header);
	}
}

/* Returns the size that is left. */
static uint64_t change(char *bytes, const uint8_t *data, size_t size)
{
	uint64_t left = seed_bytes;

	while (size > 4) {
		uint64_t place = place_of(data);
		size_t n = data[3];

		data += 4;
		size -= 4;
		if (n == 0)
			left = place;
		if (n > size)
			n = size;
		if (n > seed_bytes - place)
			n = (size_t)(seed_bytes - place);
		memcpy(bytes + place, data, n);
		data += n;
		size -= n;
	}
	return left;
}

static void look(char *bytes, uint64_t size, uint8_t way)
{
	struct tr_image image = { .base = bytes, .size = size };
	tare_view *view;

	if (tr_image_check(&image) || tr_view_open_image(&image, &view))
		return;
	read_view(view, way);
	tare_view_close(view);
}

/* Exactly that many, so that a sanitizer sees a read too far. */
static void look_exact(const char *bytes, uint64_t size, uint8_t way)
{
	char *exact = malloc(size ? size : 1);

	memcpy(exact, bytes, size);
	look(exact, size, way);
	free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t left;

	if (!seed)
		make_seed();
	if (size == 0)
		return 0;
	if (data[0] == 0) {
		look_exact((const char *)data + 1, size - 1, 0);
		return 0;
	}
	memcpy(work, seed, seed_bytes);
	left = change(work, data + 1, size - 1);
	if (left == seed_bytes)
		look(work, left, data[0]);
	else
		look_exact(work, left, data[0]);
	return 0;
}

#endif
