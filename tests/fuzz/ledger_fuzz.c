/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader and any bytes at all.
 *
 * An input is a list of changes to a real ledger, made at the start: so a
 * few bytes of input reach deep, and the corpus stays small. The first byte
 * 0 says that the rest is a ledger itself.
 *
 *	offset (3 bytes), length (1), bytes
 *
 * Offsets count the bytes of lines that are not empty; with the highest bit
 * all bytes. Length 0 cuts the ledger off there.
 */
#include "reading.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

static void make_seed(void)
{
	struct tr_image image;

	tare_log_set(drop, NULL);
	reading_fill(NULL);
	if (tr_image_own(&image))
		abort();
	seed_bytes = image.size;
	seed = malloc(seed_bytes);
	memcpy(seed, image.base, seed_bytes);
	tr_image_close(&image);
	find_lines();
}

static uint64_t place_of(const uint8_t *at)
{
	uint32_t off = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;

	if (off & 0x800000)
		return (off & 0x7fffff) % seed_bytes;
	off %= n_lines * TR_LINE;
	return line[off / TR_LINE] + off % TR_LINE;
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

static void look(char *bytes, uint64_t size)
{
	struct tr_image image = { .base = bytes, .size = size };
	tare_view *view;

	if (tr_image_check(&image) || tr_view_open_image(&image, &view))
		return;
	reading_all(view);
	tare_view_close(view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t left;
	char *bytes, *exact;

	if (!seed)
		make_seed();
	if (size == 0)
		return 0;
	if (data[0] == 0) {
		left = size - 1;
		bytes = malloc(left + 1);
		memcpy(bytes, data + 1, left);
	} else {
		bytes = malloc(seed_bytes);
		memcpy(bytes, seed, seed_bytes);
		left = change(bytes, data + 1, size - 1);
	}
	/* Exactly that many, so that a sanitizer sees a read too far. */
	exact = realloc(bytes, left ? left : 1);
	look(exact, left);
	free(exact);
	return 0;
}
