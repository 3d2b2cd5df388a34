/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cfi: executes the instructions of an .eh_frame entry up to an address.
 *
 * Only the registers that lead to the caller are followed: stack pointer,
 * frame pointer, return address.
 */
#include "record/unwind/cfi.h"

#include "record/unwind/rule.h"

#include <string.h>

#define TR_CFI_REMEMBERED 8u
#define TR_CFI_LONGEST (1u << 20) /* maximum size of an entry */

enum cfi_saved {
	CFI_SAME,	/* unchanged; return address: in its register */
	CFI_AT_CFA,	/* at CFA + x */
	CFI_AT_FP,	/* at fp + x */
	CFI_UNDEFINED,
	CFI_OTHER	/* in a way that is not followed */
};

struct cfi_where {
	enum cfi_saved how;
	int64_t x;
};

struct cfi_row {
	struct tr_cfi_place cfa;
	struct cfi_where ra, fp, bx;
};

/* What a common entry (CIE) defines for the entries that refer to it. */
struct cfi_common {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;	   /* column */
	uint8_t encoding;
	bool has_augmentation;
	bool is_signal;
};

struct cfi_run {
	const struct cfi_common *common;
	uint64_t at, pc; /* start of the present row; the wanted address */
	struct cfi_row row, first, remembered[TR_CFI_REMEMBERED];
	unsigned n_remembered;
	bool is_bad;
	bool is_done;
};

/* ---- entries ----------------------------------------------------------- */

/* Opens an entry after its length, which has four bytes. */
static bool cfi_open(struct tr_cursor *cursor,
		     const struct tr_cfi_memory *memory, uint64_t entry)
{
	uint64_t length;

	/* The length is in the entry: one read for both, if it is short. */
	tr_cursor_open(cursor, memory, entry, entry + 4 + TR_CFI_LONGEST);
	length = tr_cursor_uint(cursor, 4);
	if (cursor->is_bad || !length || length > TR_CFI_LONGEST)
		return false; /* also 64-bit lengths, which no compiler emits */
	tr_cursor_limit(cursor, entry + 4 + length);
	return true;
}

static void cfi_augmentation(struct tr_cursor *cursor, const char *text,
			     struct cfi_common *common)
{
	for (const char *c = text + 1; *c; c++) {
		if (*c == 'R') {
			common->encoding = tr_cursor_byte(cursor);
		} else if (*c == 'L') {
			(void)tr_cursor_byte(cursor);
		} else if (*c == 'P') {
			uint8_t encoding = tr_cursor_byte(cursor);

			(void)tr_cursor_pointer(cursor, encoding & 0x0f, 0);
		} else if (*c == 'S') {
			common->is_signal = true;
		} else if (*c != 'B' && *c != 'G') {
			return;
		}
	}
}

static bool cfi_text(struct tr_cursor *cursor, char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		text[i] = (char)tr_cursor_byte(cursor);
		if (!text[i])
			return !cursor->is_bad;
	}
	return false;
}

/* Leaves the cursor at the instructions. */
static bool cfi_read_common(const struct tr_cfi_memory *memory,
			    uint64_t entry, struct tr_cursor *cursor,
			    struct cfi_common *common)
{
	uint64_t length, end;
	char text[8];
	uint8_t version;

	memset(common, 0, sizeof(*common));
	if (!cfi_open(cursor, memory, entry) || tr_cursor_uint(cursor, 4) != 0)
		return false;
	version = tr_cursor_byte(cursor);
	if ((version != 1 && version != 3) ||
	    !cfi_text(cursor, text, sizeof(text)) || text[0] == 'e')
		return false;
	common->code_align = tr_cursor_uleb(cursor);
	common->data_align = tr_cursor_sleb(cursor);
	common->ra = version == 1 ? tr_cursor_byte(cursor) :
				    tr_cursor_uleb(cursor);
	if (text[0] == 'z') {
		length = tr_cursor_uleb(cursor);
		end = cursor->at + length;
		if (length > cursor->end - cursor->at)
			return false;
		cfi_augmentation(cursor, text, common);
		if (cursor->at > end)
			return false;
		tr_cursor_skip(cursor, end - cursor->at);
		common->has_augmentation = true;
	} else if (text[0]) {
		return false;
	}
	return !cursor->is_bad;
}

/* ---- instructions ------------------------------------------------------ */

static struct cfi_where *cfi_column(struct cfi_run *run, struct cfi_row *row,
				    uint64_t number)
{
	if (number == run->common->ra)
		return &row->ra;
	if (number == TR_CFI_BX)
		return &row->bx;
	return number == TR_CFI_FP ? &row->fp : NULL;
}

static void cfi_set(struct cfi_run *run, uint64_t number, enum cfi_saved how,
		    int64_t x)
{
	struct cfi_where *where = cfi_column(run, &run->row, number);

	if (where) {
		where->how = how;
		where->x = x;
	}
}

static void cfi_restore(struct cfi_run *run, uint64_t number)
{
	struct cfi_where *to = cfi_column(run, &run->row, number);
	struct cfi_where *from = cfi_column(run, &run->first, number);

	if (to && from)
		*to = *from;
}

static void cfi_base(struct cfi_run *run, uint64_t number)
{
	run->row.cfa.base = number == TR_CFI_SP ? TR_BASE_SP :
			    number == TR_CFI_FP ? TR_BASE_FP :
			    number == TR_CFI_BX ? TR_BASE_BX :
						  TR_BASE_OTHER;
}

static int64_t cfi_factored(const struct cfi_run *run, uint64_t x)
{
	return (int64_t)(x * (uint64_t)run->common->data_align);
}

static void cfi_advance(struct cfi_run *run, uint64_t delta)
{
	run->at += delta * run->common->code_align;
	if (run->at > run->pc)
		run->is_done = true;
}

/* A register saved where an expression says. */
static void cfi_set_by_expression(struct cfi_run *run,
				  struct tr_cursor *cursor)
{
	uint64_t number = tr_cursor_uleb(cursor);
	uint64_t n = tr_cursor_uleb(cursor);
	struct tr_cfi_place place = tr_cfi_expression(cursor, n, run->pc);

	if (place.base == TR_BASE_FP)
		cfi_set(run, number, CFI_AT_FP, place.x);
	else
		cfi_set(run, number, CFI_OTHER, 0);
}

static void cfi_remember(struct cfi_run *run)
{
	if (run->n_remembered == TR_CFI_REMEMBERED)
		run->is_bad = true;
	else
		run->remembered[run->n_remembered++] = run->row;
}

static void cfi_recall(struct cfi_run *run)
{
	if (!run->n_remembered)
		run->is_bad = true;
	else
		run->row = run->remembered[--run->n_remembered];
}

/* Instructions about the CFA. */
static bool cfi_run_cfa(struct cfi_run *run, struct tr_cursor *cursor,
			uint8_t op)
{
	switch (op) {
	case 0x0c: /* register and offset */
	case 0x12:
	case 0x0d: /* register alone */
		cfi_base(run, tr_cursor_uleb(cursor));
		break;
	case 0x0e: /* offset alone */
	case 0x13:
		break;
	case 0x0f:
		run->row.cfa = tr_cfi_expression(
			cursor, tr_cursor_uleb(cursor), run->pc);
		return true;
	default:
		return false;
	}
	if (op == 0x0c || op == 0x0e)
		run->row.cfa.x = (int64_t)tr_cursor_uleb(cursor);
	else if (op != 0x0d)
		run->row.cfa.x = cfi_factored(
			run, (uint64_t)tr_cursor_sleb(cursor));
	return true;
}

/* Instructions about a register. */
static bool cfi_run_register(struct cfi_run *run, struct tr_cursor *cursor,
			     uint8_t op)
{
	uint64_t number, x;

	if (op < 0x05 || op == 0x0a || op == 0x0b || op > 0x2f)
		return false;
	if (op == 0x10) {
		cfi_set_by_expression(run, cursor);
		return true;
	}
	number = tr_cursor_uleb(cursor);
	switch (op) {
	case 0x06:
		cfi_restore(run, number);
		return true;
	case 0x07:
		cfi_set(run, number, CFI_UNDEFINED, 0);
		return true;
	case 0x08:
		cfi_set(run, number, CFI_SAME, 0);
		return true;
	case 0x09: /* in another register */
	case 0x14: /* a value, not a place */
	case 0x15:
		(void)tr_cursor_uleb(cursor);
		cfi_set(run, number, CFI_OTHER, 0);
		return true;
	case 0x16:
		tr_cursor_skip(cursor, tr_cursor_uleb(cursor));
		cfi_set(run, number, CFI_OTHER, 0);
		return true;
	case 0x05:
	case 0x11:
	case 0x2f:
		x = op == 0x11 ? (uint64_t)tr_cursor_sleb(cursor) :
				 tr_cursor_uleb(cursor);
		cfi_set(run, number, CFI_AT_CFA,
			cfi_factored(run, op == 0x2f ? 0 - x : x));
		return true;
	case 0x2e: /* bytes of arguments: not needed */
		return true;
	default:
		run->is_bad = true;
		return true;
	}
}

static void cfi_run_other(struct cfi_run *run, struct tr_cursor *cursor,
			  uint8_t op)
{
	switch (op) {
	case 0x00:
	case 0x2c: /* the return address is signed from here on, or not */
	case 0x2d:
		return;
	case 0x01:
		run->at = tr_cursor_pointer(cursor, run->common->encoding, 0);
		run->is_done = run->at > run->pc;
		return;
	case 0x02: /* by a number of 1, 2, 4 bytes */
	case 0x03:
	case 0x04:
		cfi_advance(run, tr_cursor_uint(cursor, 1u << (op - 2)));
		return;
	case 0x0a:
		cfi_remember(run);
		return;
	case 0x0b:
		cfi_recall(run);
		return;
	default:
		if (!cfi_run_cfa(run, cursor, op) &&
		    !cfi_run_register(run, cursor, op))
			run->is_bad = true;
	}
}

static bool cfi_run(struct cfi_run *run, struct tr_cursor *cursor)
{
	while (tr_cursor_more(cursor) && !run->is_bad && !run->is_done) {
		uint8_t op = tr_cursor_byte(cursor), low = op & 0x3f;

		switch (op >> 6) {
		case 1:
			cfi_advance(run, low);
			break;
		case 2:
			cfi_set(run, low, CFI_AT_CFA,
				cfi_factored(run, tr_cursor_uleb(cursor)));
			break;
		case 3:
			cfi_restore(run, low);
			break;
		default:
			cfi_run_other(run, cursor, op);
		}
	}
	return !run->is_bad && !cursor->is_bad;
}

/* ---- the rule ---------------------------------------------------------- */

/* Words below the CFA; false: too large for a rule. */
static bool cfi_words(int64_t x, uint32_t *ret_words)
{
	if (x >= 0 || x % 8 || x < -(int64_t)TR_RULE_MOST * 8)
		return false;
	*ret_words = (uint32_t)(-x / 8);
	return true;
}

static uint32_t cfi_fp(const struct cfi_row *row)
{
	uint32_t words;

	if (row->cfa.base == TR_BASE_AT_FP)
		return row->fp.how == CFI_AT_FP && row->fp.x == 0 ?
			       0 :
			       TR_RULE_FP_LOST;
	if (row->fp.how == CFI_SAME)
		return 0;
	if (row->fp.how == CFI_AT_CFA && cfi_words(row->fp.x, &words))
		return words;
	return TR_RULE_FP_LOST;
}

/* The field that differs between processors; false: there is no rule. */
static bool cfi_other(const struct cfi_row *row, uint32_t *ret_words)
{
	*ret_words = 0;
#if defined(__aarch64__)
	return row->ra.how == CFI_SAME ||
	       (row->ra.how == CFI_AT_CFA && cfi_words(row->ra.x, ret_words));
#else
	if (row->ra.how != CFI_AT_CFA || row->ra.x != -8)
		return false;
	/* If rbx is lost, a rule that needs it fails its checks. */
	if (row->bx.how == CFI_AT_CFA)
		(void)cfi_words(row->bx.x, ret_words);
	return true;
#endif
}

static uint64_t cfi_rule_of(const struct cfi_row *row)
{
	static const enum tr_rule_kind kinds[] = {
		[TR_BASE_NONE] = TR_RULE_BLIND,
		[TR_BASE_SP] = TR_RULE_SP,
		[TR_BASE_FP] = TR_RULE_FP,
		[TR_BASE_BX] = TR_RULE_BX,
		[TR_BASE_AT_FP] = TR_RULE_DEREF,
		[TR_BASE_OTHER] = TR_RULE_BLIND,
	};
	enum tr_rule_kind kind = kinds[row->cfa.base];
	int64_t x = row->cfa.x;
	uint32_t other;

	if (row->ra.how == CFI_UNDEFINED)
		return TR_RULE_END;
	if (kind == TR_RULE_BLIND || x % 8 ||
	    x / 8 > (int64_t)TR_RULE_MOST ||
	    x / 8 < -(int64_t)TR_RULE_MOST || !cfi_other(row, &other))
		return TR_RULE_BLIND;
	return tr_rule_pack(kind, x / 8, other, cfi_fp(row));
}

/* The state at the beginning of every entry. */
static bool cfi_begin(struct cfi_run *run, struct tr_cursor *cursor)
{
	uint64_t at = run->at;

	run->row.cfa.base = TR_BASE_OTHER;
	if (!cfi_run(run, cursor))
		return false;
	run->first = run->row;
	run->at = at;
	run->is_done = false;
	return true;
}

uint64_t tr_cfi_rule(const struct tr_cfi_memory *memory, uint64_t entry,
		     uint64_t pc)
{
	struct cfi_common common;
	struct cfi_run run = { .common = &common, .pc = pc };
	struct tr_cursor cursor, common_cursor;
	uint64_t back, bytes;

	if (!cfi_open(&cursor, memory, entry))
		return 0;
	back = tr_cursor_uint(&cursor, 4);
	if (!back ||
	    !cfi_read_common(memory, entry + 4 - back, &common_cursor,
			     &common))
		return 0;
	run.at = tr_cursor_pointer(&cursor, common.encoding, 0);
	bytes = tr_cursor_pointer(&cursor, common.encoding & 0x0f, 0);
	if (cursor.is_bad || pc < run.at || pc - run.at >= bytes)
		return 0;
	if (common.is_signal)
		return TR_RULE_SIGNAL;
	if (common.has_augmentation)
		tr_cursor_skip(&cursor, tr_cursor_uleb(&cursor));
	if (!cfi_begin(&run, &common_cursor) || !cfi_run(&run, &cursor))
		return TR_RULE_BLIND;
	return cfi_rule_of(&run.row);
}
