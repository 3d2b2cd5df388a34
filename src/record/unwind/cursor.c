/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/cfi.h"

#define TR_PE_DATAREL 0x30u
#define TR_PE_PCREL 0x10u

void tr_cursor_open(struct tr_cursor *cursor,
		    const struct tr_cfi_memory *memory, uint64_t at,
		    uint64_t end)
{
	cursor->memory = memory;
	cursor->at = at;
	cursor->end = end;
	cursor->pos = 0;
	cursor->have = 0;
	cursor->is_bad = end < at;
}

void tr_cursor_limit(struct tr_cursor *cursor, uint64_t end)
{
	uint32_t left = cursor->have - cursor->pos;

	cursor->end = end;
	if (end < cursor->at)
		cursor->is_bad = true;
	else if (left > end - cursor->at)
		cursor->have = cursor->pos + (uint32_t)(end - cursor->at);
}

bool tr_cursor_more(const struct tr_cursor *cursor)
{
	return !cursor->is_bad && cursor->at < cursor->end;
}

static bool cursor_fill(struct tr_cursor *cursor)
{
	uint64_t n = cursor->end - cursor->at;

	if (cursor->is_bad || !n)
		return false;
	if (n > sizeof(cursor->window))
		n = sizeof(cursor->window);
	/* The mapping may end before the cursor does: try less. */
	while (!cursor->memory->read(cursor->memory, cursor->at,
				     cursor->window, (uint32_t)n)) {
		n /= 8;
		if (!n)
			return false;
	}
	cursor->pos = 0;
	cursor->have = (uint32_t)n;
	return true;
}

uint8_t tr_cursor_byte(struct tr_cursor *cursor)
{
	if (cursor->pos == cursor->have && !cursor_fill(cursor)) {
		cursor->is_bad = true;
		return 0;
	}
	cursor->at++;
	return cursor->window[cursor->pos++];
}

uint64_t tr_cursor_uint(struct tr_cursor *cursor, unsigned n)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < n; i++)
		value |= (uint64_t)tr_cursor_byte(cursor) << (8 * i);
	return value;
}

static uint64_t cursor_leb(struct tr_cursor *cursor, bool is_signed)
{
	uint64_t value = 0;
	uint8_t byte;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		byte = tr_cursor_byte(cursor);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (is_signed && byte & 0x40 && shift + 7 < 64)
			value |= UINT64_MAX << (shift + 7);
		return value;
	}
	cursor->is_bad = true;
	return 0;
}

uint64_t tr_cursor_uleb(struct tr_cursor *cursor)
{
	return cursor_leb(cursor, false);
}

int64_t tr_cursor_sleb(struct tr_cursor *cursor)
{
	return (int64_t)cursor_leb(cursor, true);
}

void tr_cursor_skip(struct tr_cursor *cursor, uint64_t n)
{
	uint32_t left = cursor->have - cursor->pos;

	if (n > cursor->end - cursor->at) {
		cursor->is_bad = true;
		return;
	}
	cursor->at += n;
	if (n <= left)
		cursor->pos += (uint32_t)n;
	else
		cursor->pos = cursor->have = 0;
}

/* The number itself, by the lower half of the encoding. */
static uint64_t cursor_encoded(struct tr_cursor *cursor, uint8_t form)
{
	switch (form) {
	case 0x00: /* an address */
	case 0x04:
	case 0x0c:
		return tr_cursor_uint(cursor, 8);
	case 0x01:
		return tr_cursor_uleb(cursor);
	case 0x02:
		return tr_cursor_uint(cursor, 2);
	case 0x03:
		return tr_cursor_uint(cursor, 4);
	case 0x09:
		return (uint64_t)tr_cursor_sleb(cursor);
	case 0x0a:
		return (uint64_t)(int64_t)(int16_t)tr_cursor_uint(cursor, 2);
	case 0x0b:
		return (uint64_t)(int64_t)(int32_t)tr_cursor_uint(cursor, 4);
	default:
		cursor->is_bad = true;
		return 0;
	}
}

uint64_t tr_cursor_pointer(struct tr_cursor *cursor, uint8_t encoding,
			   uint64_t data)
{
	uint64_t at = cursor->at;
	uint64_t value = cursor_encoded(cursor, encoding & 0x0f);

	switch (encoding & 0x70) {
	case 0:
		return value;
	case TR_PE_PCREL:
		return value + at;
	case TR_PE_DATAREL:
		return value + data;
	default:
		cursor->is_bad = true;
		return 0;
	}
}
