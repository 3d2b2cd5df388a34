/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slice: the buckets of a closed time slice as bytes.
 *
 * For each page with counts: its number and a mask of its 16 buckets, two bytes
 * each, then one varint per set bit. Ascending by page.
 */
#include "ledger/layout.h"

static unsigned varint_bytes(uint64_t value)
{
	unsigned n = 1;

	for (; value >= 128; value >>= 7)
		n++;
	return n;
}

/* Atomic: a reader may still read the record that was here before. */
static void put_byte(uint8_t **at, uint8_t byte)
{
	TR_STORE(**at, byte);
	++*at;
}

static uint8_t *put_varint(uint8_t *at, uint64_t value)
{
	for (; value >= 128; value >>= 7)
		put_byte(&at, (uint8_t)(value | 128));
	put_byte(&at, (uint8_t)value);
	return at;
}

unsigned tr_slice_page_bytes(const uint64_t *count)
{
	unsigned n = 4;

	for (unsigned i = 0; i < TR_PAGE_BUCKETS; i++)
		if (count[i])
			n += varint_bytes(count[i]);
	return n;
}

uint8_t *tr_slice_put_page(uint8_t *at, uint32_t number, const uint64_t *count)
{
	unsigned mask = 0;

	for (unsigned i = 0; i < TR_PAGE_BUCKETS; i++)
		mask |= count[i] ? 1u << i : 0;
	put_byte(&at, (uint8_t)number);
	put_byte(&at, (uint8_t)(number >> 8));
	put_byte(&at, (uint8_t)mask);
	put_byte(&at, (uint8_t)(mask >> 8));
	for (unsigned i = 0; i < TR_PAGE_BUCKETS; i++)
		if (count[i])
			at = put_varint(at, count[i]);
	return at;
}

static bool take_varint(struct tr_slice_cursor *cursor, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (cursor->at == cursor->end)
			return false;
		byte = TR_LOAD(*cursor->at);
		cursor->at++;
		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128) {
			*ret = value;
			return true;
		}
	}
	return false;
}

bool tr_slice_next(struct tr_slice_cursor *cursor)
{
	uint32_t number, mask;

	if (cursor->end - cursor->at < 4)
		goto end;
	number = TR_LOAD(cursor->at[0]) | (uint32_t)TR_LOAD(cursor->at[1]) << 8;
	mask = TR_LOAD(cursor->at[2]) | (uint32_t)TR_LOAD(cursor->at[3]) << 8;
	cursor->at += 4;
	/* Not ascending is damage, and could make an endless loop. */
	if (cursor->number != UINT32_MAX && number <= cursor->number)
		goto end;
	for (unsigned i = 0; i < TR_PAGE_BUCKETS; i++) {
		cursor->count[i] = 0;
		if (mask >> i & 1 && !take_varint(cursor, &cursor->count[i]))
			goto end;
	}
	cursor->number = number;
	return true;
end:
	cursor->number = UINT32_MAX;
	cursor->at = cursor->end;
	return false;
}

bool tr_slice_first(struct tr_slice_cursor *cursor, const uint8_t *bytes,
		    size_t n)
{
	cursor->at = bytes;
	cursor->end = bytes + n;
	cursor->number = UINT32_MAX;
	return tr_slice_next(cursor);
}
