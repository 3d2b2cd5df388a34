/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip (RFC 1952) without compression: pprof readers require the format, and
 * the library depends only on libc.
 */
#include "render/output.h"

#define BLOCK_MOST 65535u

static uint32_t crc_of(const unsigned char *data, size_t len)
{
	uint32_t table[256], crc = ~0u;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^
				   (table[i] & 1 ? 0xedb88320u : 0);
	}
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *data++) & 255];
	return ~crc;
}

static char *put_u16(char *at, unsigned value)
{
	*at++ = (char)(value & 255);
	*at++ = (char)(value >> 8 & 255);
	return at;
}

static char *put_u32(char *at, uint32_t value)
{
	return put_u16(put_u16(at, value & 65535), value >> 16);
}

void tr_sink_gzip(struct tr_sink *sink, const char *data, size_t len)
{
	static const unsigned char head[10] = { 0x1f, 0x8b, 8, 0, 0,
						0,    0,    0, 0, 255 };
	size_t left = len;
	const char *from = data;
	char *at;

	tr_sink_add(sink, head, sizeof(head));
	do {
		unsigned n = left < BLOCK_MOST ? (unsigned)left : BLOCK_MOST;

		at = tr_sink_begin(sink);
		*at++ = n == left; /* the last block; stored */
		at = put_u16(at, n);
		tr_sink_end(sink, put_u16(at, ~n));
		tr_sink_add(sink, from, n);
		from += n;
		left -= n;
	} while (left);
	at = put_u32(tr_sink_begin(sink),
		     crc_of((const unsigned char *)data, len));
	tr_sink_end(sink, put_u32(at, (uint32_t)len));
}
