/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cfi: what a module's .eh_frame_hdr and .eh_frame say about an address.
 *
 * The bytes are read by `read`, which refuses what is not mapped: a module may
 * be unloaded meanwhile, and tables may be damaged.
 */
#ifndef TR_RECORD_UNWIND_CFI_H
#define TR_RECORD_UNWIND_CFI_H

#include "base/platform.h"

struct tr_cfi_memory {
	bool (*read)(const struct tr_cfi_memory *memory, uint64_t at,
		     void *to, uint32_t n);
	uint64_t from, to; /* for `read`: range that needs no check */
};

/* Numbers of registers in the tables. */
#if defined(__aarch64__)
#define TR_CFI_FP 29u
#define TR_CFI_SP 31u
#define TR_CFI_RA 30u
#define TR_CFI_BX UINT32_MAX /* none */
#else
#define TR_CFI_FP 6u
#define TR_CFI_SP 7u
#define TR_CFI_RA 16u
#define TR_CFI_BX 3u /* rbx */
#endif

/* ---- table.c ----------------------------------------------------------- */

/* Address of the entry (FDE) that may contain `pc`, by the table; 0: none. */
uint64_t tr_cfi_find(const struct tr_cfi_memory *memory, uint64_t table,
		     uint64_t pc);

/* ---- cursor.c ---------------------------------------------------------- */

/* Reads bytes in sequence. After the end, or a refused read: zeros. */
struct tr_cursor {
	const struct tr_cfi_memory *memory;
	uint64_t at, end; /* addresses */
	uint32_t pos, have;
	bool is_bad;
	uint8_t window[128];
};

void tr_cursor_open(struct tr_cursor *cursor,
		    const struct tr_cfi_memory *memory, uint64_t at,
		    uint64_t end);
/* Sets an earlier end. */
void tr_cursor_limit(struct tr_cursor *cursor, uint64_t end);
bool tr_cursor_more(const struct tr_cursor *cursor);
uint8_t tr_cursor_byte(struct tr_cursor *cursor);
/* Little endian, n bytes. */
uint64_t tr_cursor_uint(struct tr_cursor *cursor, unsigned n);
uint64_t tr_cursor_uleb(struct tr_cursor *cursor);
int64_t tr_cursor_sleb(struct tr_cursor *cursor);
void tr_cursor_skip(struct tr_cursor *cursor, uint64_t n);
/* An address in a DW_EH_PE_ encoding; is_bad for an unknown one. */
uint64_t tr_cursor_pointer(struct tr_cursor *cursor, uint8_t encoding,
			   uint64_t data);

/* ---- expression.c ------------------------------------------------------ */

enum tr_base {
	TR_BASE_NONE,	/* a plain number */
	TR_BASE_SP,
	TR_BASE_FP,
	TR_BASE_BX,
	TR_BASE_AT_FP,	/* the word at fp + x */
	TR_BASE_OTHER	/* of a register that is not followed */
};

struct tr_cfi_place {
	enum tr_base base;
	int64_t x;
};

/* The place that an expression of `n` bytes gives at `pc`. */
struct tr_cfi_place tr_cfi_expression(struct tr_cursor *cursor, uint64_t n,
				  uint64_t pc);

/* ---- cfi.c ------------------------------------------------------------- */

/* The entry's rule (rule.h) for `pc`; 0: `pc` is not in the entry. */
uint64_t tr_cfi_rule(const struct tr_cfi_memory *memory, uint64_t entry,
		     uint64_t pc);

#endif
