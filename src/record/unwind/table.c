/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table: .eh_frame_hdr, the sorted list of functions that linkers make.
 *
 * Rows are pairs of 32-bit offsets from the table's own address: where a
 * function begins, and where its entry is. A table in another format is
 * ignored.
 */
#include "record/unwind/cfi.h"

#define TR_HDR_UDATA4 0x03u
#define TR_HDR_ROWS 0x3bu /* relative to the table, signed 32 bits */
#define TR_HDR_BLOCK 32u  /* rows read at once */

struct hdr_row {
	int32_t begin, entry;
};

/* Address of the first row and the number of rows. */
static bool hdr_open(const struct tr_cfi_memory *memory, uint64_t table,
		     uint64_t *ret_rows, uint32_t *ret_n)
{
	struct tr_cursor cursor;
	uint8_t version, frame, count, rows;

	tr_cursor_open(&cursor, memory, table, table + 20);
	version = tr_cursor_byte(&cursor);
	frame = tr_cursor_byte(&cursor);
	count = tr_cursor_byte(&cursor);
	rows = tr_cursor_byte(&cursor);
	if (version != 1 || count != TR_HDR_UDATA4 || rows != TR_HDR_ROWS)
		return false;
	(void)tr_cursor_pointer(&cursor, frame, table);
	*ret_n = (uint32_t)tr_cursor_uint(&cursor, 4);
	*ret_rows = cursor.at;
	return !cursor.is_bad && *ret_n > 0;
}

/* The last of the rows [low, high) that begins at or before `want`. */
static uint64_t hdr_choose(const struct tr_cfi_memory *memory, uint64_t table,
			   uint64_t rows, uint32_t n, int64_t want)
{
	struct hdr_row row[TR_HDR_BLOCK];
	uint32_t i = 0;

	if (!memory->read(memory, rows, row, n * (uint32_t)sizeof(row[0])))
		return 0;
	while (i < n && row[i].begin <= want)
		i++;
	return i ? table + (uint64_t)(int64_t)row[i - 1].entry : 0;
}

uint64_t tr_cfi_find(const struct tr_cfi_memory *memory, uint64_t table,
		     uint64_t pc)
{
	int64_t want = (int64_t)(pc - table);
	uint32_t low = 0, n;
	struct hdr_row row;
	uint64_t rows;

	if (!hdr_open(memory, table, &rows, &n))
		return 0;
	/* The wanted row is in [low, low + n). */
	while (n > TR_HDR_BLOCK) {
		uint32_t half = n / 2;

		if (!memory->read(memory, rows + (uint64_t)(low + half) * 8,
				  &row, sizeof(row)))
			return 0;
		if (row.begin <= want) {
			low += half;
			n -= half;
		} else {
			n = half;
		}
	}
	return hdr_choose(memory, table, rows + (uint64_t)low * 8, n, want);
}
