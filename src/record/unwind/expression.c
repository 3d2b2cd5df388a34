/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expression: a place that a table gives as a small program.
 *
 * Linkers emit them for PLT entries, whose CFA depends on the instruction, and
 * compilers for functions that align their stack. These need sums of a
 * register and numbers, comparisons of numbers, and a load from the frame. The
 * instruction's address is a constant here, since a rule is for one address.
 */
#include "record/unwind/cfi.h"

#define TR_EXPRESSION_DEEP 8u

struct expression {
	struct tr_cfi_place stack[TR_EXPRESSION_DEEP];
	unsigned n;
	bool is_bad;
};

static void expr_push(struct expression *expr, enum tr_base base, int64_t x)
{
	if (expr->n == TR_EXPRESSION_DEEP) {
		expr->is_bad = true;
		return;
	}
	expr->stack[expr->n].base = base;
	expr->stack[expr->n++].x = x;
}

static struct tr_cfi_place expr_pop(struct expression *expr)
{
	struct tr_cfi_place none = { TR_BASE_OTHER, 0 };

	if (!expr->n) {
		expr->is_bad = true;
		return none;
	}
	return expr->stack[--expr->n];
}

static void expr_register(struct expression *expr, unsigned number,
			  int64_t x, uint64_t pc)
{
	if (number == TR_CFI_SP)
		expr_push(expr, TR_BASE_SP, x);
	else if (number == TR_CFI_FP)
		expr_push(expr, TR_BASE_FP, x);
#if defined(__x86_64__)
	else if (number == TR_CFI_RA) /* rip */
		expr_push(expr, TR_BASE_NONE, (int64_t)(pc + (uint64_t)x));
#endif
	else
		expr_push(expr, TR_BASE_OTHER, 0);
	(void)pc;
}

static void expr_load(struct expression *expr)
{
	struct tr_cfi_place place = expr_pop(expr);

	expr_push(expr,
		  place.base == TR_BASE_FP ? TR_BASE_AT_FP : TR_BASE_OTHER,
		  place.x);
}

/* In a sum, one side may be a register. */
static void expr_add(struct expression *expr)
{
	struct tr_cfi_place b = expr_pop(expr), a = expr_pop(expr);
	int64_t x = (int64_t)((uint64_t)a.x + (uint64_t)b.x);

	if (b.base == TR_BASE_NONE && a.base != TR_BASE_AT_FP)
		expr_push(expr, a.base, x);
	else if (a.base == TR_BASE_NONE && b.base != TR_BASE_AT_FP)
		expr_push(expr, b.base, x);
	else
		expr_push(expr, TR_BASE_OTHER, 0);
}

static int64_t expr_of_two(uint8_t op, int64_t a, int64_t b, bool *ret_bad)
{
	switch (op) {
	case 0x1a:
		return a & b;
	case 0x1c:
		return (int64_t)((uint64_t)a - (uint64_t)b);
	case 0x21:
		return a | b;
	case 0x24:
		return (int64_t)((uint64_t)a << ((uint64_t)b & 63));
	case 0x25:
		return (int64_t)((uint64_t)a >> ((uint64_t)b & 63));
	case 0x29:
		return a == b;
	case 0x2a:
		return a >= b;
	case 0x2b:
		return a > b;
	case 0x2c:
		return a <= b;
	case 0x2d:
		return a < b;
	case 0x2e:
		return a != b;
	default:
		*ret_bad = true;
		return 0;
	}
}

static void expr_numbers(struct expression *expr, uint8_t op)
{
	struct tr_cfi_place b = expr_pop(expr), a = expr_pop(expr);
	int64_t x = expr_of_two(op, a.x, b.x, &expr->is_bad);
	bool is_number = a.base == TR_BASE_NONE && b.base == TR_BASE_NONE;

	expr_push(expr, is_number ? TR_BASE_NONE : TR_BASE_OTHER, x);
}

static void expr_constant(struct expression *expr, struct tr_cursor *cursor,
			  uint8_t op)
{
	static const uint8_t bytes[] = { 1, 1, 2, 2, 4, 4, 8, 8 };
	unsigned n;
	uint64_t x;

	if (op == 0x10 || op == 0x11) {
		expr_push(expr, TR_BASE_NONE,
			  op == 0x10 ? (int64_t)tr_cursor_uleb(cursor) :
				       tr_cursor_sleb(cursor));
		return;
	}
	n = bytes[op - 0x08];
	x = tr_cursor_uint(cursor, n);
	if (op & 1 && n < 8 && x >> (8 * n - 1)) /* a negative number */
		x |= UINT64_MAX << (8 * n);
	expr_push(expr, TR_BASE_NONE, (int64_t)x);
}

static void expr_run(struct expression *expr, struct tr_cursor *cursor,
		     uint8_t op, uint64_t pc)
{
	if (op >= 0x70 && op <= 0x8f) { /* a register plus a number */
		expr_register(expr, op - 0x70u, tr_cursor_sleb(cursor), pc);
	} else if (op >= 0x30 && op <= 0x4f) {
		expr_push(expr, TR_BASE_NONE, op - 0x30);
	} else if (op >= 0x08 && op <= 0x11) {
		expr_constant(expr, cursor, op);
	} else if (op == 0x06) {
		expr_load(expr);
	} else if (op == 0x22) {
		expr_add(expr);
	} else if (op == 0x23) { /* plus the number that follows */
		expr_push(expr, TR_BASE_NONE,
			  (int64_t)tr_cursor_uleb(cursor));
		expr_add(expr);
	} else {
		expr_numbers(expr, op);
	}
}

struct tr_cfi_place tr_cfi_expression(struct tr_cursor *cursor, uint64_t n,
				  uint64_t pc)
{
	struct tr_cfi_place none = { TR_BASE_OTHER, 0 };
	struct expression expr = { .n = 0, .is_bad = false };
	uint64_t end = cursor->at + n;

	if (n > cursor->end - cursor->at) {
		cursor->is_bad = true;
		return none;
	}
	while (cursor->at < end && !cursor->is_bad && !expr.is_bad)
		expr_run(&expr, cursor, tr_cursor_byte(cursor), pc);
	if (cursor->at < end)
		tr_cursor_skip(cursor, end - cursor->at);
	else if (cursor->at > end)
		cursor->is_bad = true;
	return expr.is_bad || expr.n != 1 ? none : expr.stack[0];
}
