/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wire: encoders for the parts of protobuf messages. In a header, because a
 * scrape is mainly this. A part of text.h.
 */
#ifndef TR_BASE_TEXT_WIRE_H
#define TR_BASE_TEXT_WIRE_H

#include "base/text.h"

enum tr_wire {
	TR_WIRE_VARINT = 0,
	TR_WIRE_DOUBLE = 1,
	TR_WIRE_BYTES = 2,
	TR_WIRE_FLOAT = 5
};

#define TR_WIRE_TAG(field, wire) ((unsigned)(field) << 3 | (unsigned)(wire))

/* At most 10 bytes. Returns the end. */
static inline char *tr_wire_put_varint(char *at, uint64_t value)
{
	for (; value > 127; value >>= 7)
		*at++ = (char)(value | 128);
	*at++ = (char)value;
	return at;
}

static inline void tr_wire_varint(struct tr_buf *out, uint64_t value)
{
	char text[10];

	tr_buf_add(out, text, (size_t)(tr_wire_put_varint(text, value) -
				       text));
}

static inline void tr_wire_tag(struct tr_buf *out, unsigned field,
			       enum tr_wire wire)
{
	tr_wire_varint(out, TR_WIRE_TAG(field, wire));
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

/* Little-endian, like all platforms of tare. */
static inline void tr_wire_double(struct tr_buf *out, unsigned field,
				  double value)
{
	tr_wire_tag(out, field, TR_WIRE_DOUBLE);
	tr_buf_add(out, &value, sizeof(value));
}

static inline void tr_wire_float(struct tr_buf *out, unsigned field,
				 float value)
{
	tr_wire_tag(out, field, TR_WIRE_FLOAT);
	tr_buf_add(out, &value, sizeof(value));
}

#endif
