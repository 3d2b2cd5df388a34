/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wire: the pieces that protobuf messages are made of. In the header, since
 * a scrape is little else.
 */
#ifndef TR_WIRE_H
#define TR_WIRE_H

#include "export/sink.h"
#include "text/text.h"

enum tr_wire { TR_WIRE_VARINT = 0, TR_WIRE_DOUBLE = 1, TR_WIRE_BYTES = 2 };

static inline void tr_wire_varint(struct tr_buf *out, uint64_t value)
{
	char text[10];
	size_t n = 0;

	do {
		text[n++] = (char)((value & 127) | (value > 127 ? 128 : 0));
		value >>= 7;
	} while (value);
	tr_buf_add(out, text, n);
}

static inline void tr_wire_tag(struct tr_buf *out, unsigned field,
			       enum tr_wire wire)
{
	tr_wire_varint(out, field << 3 | wire);
}

static inline void tr_wire_u64(struct tr_buf *out, unsigned field,
			       uint64_t value)
{
	tr_wire_tag(out, field, TR_WIRE_VARINT);
	tr_wire_varint(out, value);
}

static inline void tr_wire_bytes(struct tr_buf *out, unsigned field,
				 const void *data, size_t len)
{
	tr_wire_tag(out, field, TR_WIRE_BYTES);
	tr_wire_varint(out, len);
	if (len)
		tr_buf_add(out, data, len);
}

/* ---- gzip.c ------------------------------------------------------------ */

void tr_sink_gzip(struct tr_sink *sink, const char *data, size_t len);

#endif
