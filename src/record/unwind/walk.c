/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walk: from frame to frame.
 *
 * A stack may be damaged, and a register may have any value. So every address
 * is checked before it is read, the stack pointer must grow with each frame
 * (except at a signal's frame, which may have been on its own stack), and
 * there are at most as many frames as there is room for.
 *
 * walk_cached() handles frames whose rule is in the cache, on a part of the
 * stack that is known to be mapped; walk_one() handles every case.
 */

#include "record/unwind/module.h"
#include "record/unwind/reach.h"
#include "record/unwind/rule.h"

#include <string.h>
#include <ucontext.h>

struct walk {
	uint64_t pc, sp, fp;
	uint64_t bx_at;	 /* where rbx was saved; 0: never */
	uint64_t bx, link;
	uint64_t back;	 /* 1: pc is a return address; 0: an instruction */
	uint64_t until;	 /* no frame that ends above it */
	bool has_others; /* link and bx are this frame's; bx: until saved */
	struct tr_reach reach;
};

enum step { STEP_ON, STEP_CUT, STEP_WHOLE };

static bool walk_load(struct walk *walk, uint64_t at, uint64_t *ret_value)
{
	if (at & 7)
		return false;
	if ((at < walk->reach.lo || at >= walk->reach.hi) &&
	    !tr_reach_more(&walk->reach, at))
		return false;
	*ret_value = tr_unwind_load(at);
	return true;
}

/* Without its signature, if pointers are signed. */
TR_INLINE uint64_t bare_address(uint64_t address)
{
#if defined(__aarch64__)
	register uint64_t x30 __asm__("x30") = address;

	__asm__("hint #7" : "+r"(x30)); /* xpaclri */
	return x30;
#else
	return address;
#endif
}

/* ---- one step, in all its forms ---------------------------------------- */

#if defined(__x86_64__)
/*
 * x86-64: an interrupted function without a table that is about to store its
 * caller's frame pointer: the frame pointer is still the caller's, and the
 * caller would be left out.
 */
static bool step_entry(struct walk *walk)
{
	static const uint8_t entry[] = { 0x55, 0x48, 0x89, 0xe5 };
	uint8_t code[sizeof(entry)];
	bool is_stored;
	uint64_t ra, fp = walk->fp;

	if (walk->back || !tr_reach_copy(walk->pc, code, sizeof(code)))
		return false;
	is_stored = memcmp(code, entry + 1, sizeof(entry) - 1) == 0;
	if (!is_stored && memcmp(code, entry, sizeof(entry)) != 0)
		return false;
	if ((is_stored && !walk_load(walk, walk->sp, &fp)) ||
	    !walk_load(walk, walk->sp + (is_stored ? 8 : 0), &ra))
		return false;
	walk->pc = ra;
	walk->fp = fp;
	walk->sp += is_stored ? 16 : 8;
	walk->back = 1;
	walk->bx_at = 0;
	walk->has_others = false;
	return true;
}
#endif

/*
 * aarch64: if tables say nothing, the innermost function is a PLT entry or
 * hand-written, and its return address is in the link register. If it has
 * called another function, that address leads back into itself, and on from
 * there.
 */
static bool step_leaf(struct walk *walk)
{
#if defined(__aarch64__)
	const struct tr_code *code;

	if (!walk->has_others)
		return false;
	walk->has_others = false;
	code = tr_code_enter(walk->link - 1);
	tr_code_leave();
	if (!code)
		return false;
	walk->pc = walk->link;
	walk->back = 1;
	return true;
#elif defined(__x86_64__)
	return step_entry(walk);
#else
	(void)walk;
	return false;
#endif
}

/*
 * Code without a table: tries its frame pointer. The ABI has 0 in the
 * outermost frame.
 */
static enum step step_guess(struct walk *walk, bool is_end_known)
{
	uint64_t fp = walk->fp, next, ra;

	if (step_leaf(walk))
		return STEP_ON;
	if (!fp && is_end_known)
		return STEP_WHOLE;
	if (fp < walk->sp || !walk_load(walk, fp, &next) ||
	    !walk_load(walk, fp + 8, &ra))
		return STEP_CUT;
	walk->fp = next;
	walk->sp = fp + 16;
	walk->pc = bare_address(ra);
	walk->back = 1;
	walk->has_others = false;
	walk->bx_at = 0;
	return STEP_ON;
}

/* The kernel's frame: a ucontext with all registers. */
static enum step step_signal(struct walk *walk)
{
	const ucontext_t *context = (const void *)(uintptr_t)walk->sp;
	const void *pc = NULL, *sp = NULL, *fp = NULL, *bx = NULL;
	const void *link = NULL;

#if defined(__x86_64__)
	pc = &context->uc_mcontext.gregs[REG_RIP];
	sp = &context->uc_mcontext.gregs[REG_RSP];
	fp = &context->uc_mcontext.gregs[REG_RBP];
	bx = link = &context->uc_mcontext.gregs[REG_RBX];
#elif defined(__aarch64__)
	/* A siginfo_t comes first. */
	context = (const void *)(uintptr_t)(walk->sp + 128);
	pc = &context->uc_mcontext.pc;
	sp = &context->uc_mcontext.sp;
	fp = &context->uc_mcontext.regs[29];
	bx = link = &context->uc_mcontext.regs[30];
#else
	(void)context;
	return STEP_CUT;
#endif
	if (!walk_load(walk, (uint64_t)(uintptr_t)pc, &walk->pc) ||
	    !walk_load(walk, (uint64_t)(uintptr_t)fp, &walk->fp) ||
	    !walk_load(walk, (uint64_t)(uintptr_t)bx, &walk->bx) ||
	    !walk_load(walk, (uint64_t)(uintptr_t)link, &walk->link) ||
	    !walk_load(walk, (uint64_t)(uintptr_t)sp, &walk->sp))
		return STEP_CUT;
	walk->link = bare_address(walk->link);
	walk->back = 0;
	walk->bx_at = 0;
	walk->has_others = true;
	walk->reach = tr_reach_of(walk->sp);
	return walk->pc ? STEP_ON : STEP_CUT;
}

static bool find_cfa(struct walk *walk, uint64_t rule, uint64_t *ret_cfa)
{
	uint64_t x = (uint64_t)tr_rule_cfa(rule), bx = walk->bx;

	switch (tr_rule_kind(rule)) {
	case TR_RULE_SP:
		*ret_cfa = walk->sp + x;
		return true;
	case TR_RULE_FP:
		*ret_cfa = walk->fp + x;
		return true;
	case TR_RULE_DEREF:
		return walk_load(walk, walk->fp + x, ret_cfa);
	case TR_RULE_BX:
		if (walk->bx_at ? !walk_load(walk, walk->bx_at, &bx) :
				  !walk->has_others)
			return false;
		*ret_cfa = bx + x;
		return true;
	default:
		return false;
	}
}

static bool find_fp(struct walk *walk, uint64_t rule, uint64_t cfa)
{
	uint64_t below = tr_rule_fp(rule);

	if (below == (uint64_t)TR_RULE_FP_LOST << 3) {
		walk->fp = 1; /* no address: its use ends the walk */
		return true;
	}
	if (tr_rule_kind(rule) == TR_RULE_DEREF)
		return walk_load(walk, walk->fp, &walk->fp);
	return !below || walk_load(walk, cfa - below, &walk->fp);
}

static enum step step_by(struct walk *walk, uint64_t rule)
{
	uint64_t below = tr_rule_ra(rule), ra = walk->link, cfa;

	if (!find_cfa(walk, rule, &cfa))
		return STEP_CUT;
	if (below) {
		if (cfa <= walk->sp || !walk_load(walk, cfa - below, &ra))
			return STEP_CUT;
	} else if (!walk->has_others || cfa < walk->sp) {
		return STEP_CUT; /* link register of a frame that made a call */
	}
	if (!find_fp(walk, rule, cfa))
		return STEP_CUT;
#if defined(__x86_64__)
	if (tr_rule_other(rule))
		walk->bx_at = cfa - tr_rule_other(rule);
#else
	walk->has_others = false;
#endif
	walk->pc = bare_address(ra);
	walk->sp = cfa;
	walk->back = 1;
	return STEP_ON;
}

static enum step step_once(struct walk *walk, uint64_t rule)
{
	switch (tr_rule_kind(rule)) {
	case TR_RULE_END:
		return STEP_WHOLE;
	case TR_RULE_SIGNAL:
		return step_signal(walk);
	case TR_RULE_GUESS:
		return step_guess(walk, true);
	case TR_RULE_BLIND:
	case TR_RULE_STRAY:
		return step_guess(walk, false);
	default:
		return step_by(walk, rule);
	}
}

/* Adds the present frame, and moves on to the next. */
static TR_NOINLINE enum step walk_one(struct walk *walk,
				      struct tr_unwind_frame *frames,
				      uint32_t *n)
{
	uint64_t rule = 0;
	uint32_t module = TR_RULE_NO_MODULE;
	enum step step;

	if (!walk->pc)
		return STEP_WHOLE; /* a return address of 0 */
	if (tr_rules)
		rule = tr_rule_cached(tr_rules, walk->pc, walk->back, &module);
	if (!rule)
		rule = tr_rule_make(walk->pc, walk->back, &module);
	if (module >= TR_RULE_NO_MODULE)
		module = TR_UNWIND_NO_MODULE;
	frames[*n].pc = walk->pc;
	frames[*n].module = module;
	step = step_once(walk, rule);
	if (step == STEP_ON && walk->sp > walk->until)
		return STEP_WHOLE; /* without it */
	/* Neither code nor a frame: the previous step was wrong. */
	if (rule != TR_RULE_STRAY || step != STEP_CUT || !*n)
		++*n;
	return step;
}

/* ---- many steps, quickly ----------------------------------------------- */

/*
 * Stops at the first frame that needs more than this. Returns the number of
 * frames. All values are in registers; a `pc` of 0 and lost registers fail a
 * check. sp is never below lo, so addresses above sp are not compared with lo.
 */
TR_INLINE uint32_t walk_cached(struct walk *walk,
			       struct tr_unwind_frame *frames, uint32_t n,
			       uint32_t most)
{
	const uint64_t lo = walk->reach.lo, hi = walk->reach.hi;
	/* fp + 8 might wrap; frames above `until` are not for here. */
	const uint64_t top = hi < walk->until ? hi : walk->until;
	const uint64_t bound = top > 16 ? top - 15 : 0; /* of fp; 0: none */
	uint64_t pc = walk->pc, sp = walk->sp, fp = walk->fp;
	uint64_t back = walk->back, bx_at = walk->bx_at;
	struct tr_rule_entry *const rules = tr_rules;
	const uint32_t first = n;

	while (n < most) {
		uint32_t module;
		uint64_t rule = tr_rule_cached(rules, pc, back, &module);
		uint64_t cfa = sp, below = tr_rule_ra(rule), fp_at;

		if (tr_rule_is_plain(rule)) {
			/* Nothing here depends on the rule. */
			if (fp < sp || fp & 7 || fp >= bound)
				break;
			frames[n].pc = pc;
			frames[n++].module = module;
			pc = tr_unwind_load(fp + 8);
			sp = fp + 16;
			fp = tr_unwind_load(fp);
			if (tr_rule_other(rule))
				bx_at = sp - tr_rule_other(rule);
			back = 1;
			continue;
		}
		if (tr_rule_kind(rule) == TR_RULE_FP) {
			cfa = fp;
			__asm__("" : "+r"(cfa)); /* a branch: predicted */
		} else if (tr_rule_kind(rule) != TR_RULE_SP) {
			break;
		}
		cfa += (uint64_t)tr_rule_cfa(rule);
		if (cfa <= sp || cfa & 7 || cfa > top || !below ||
		    (below > 8 && cfa - below < lo))
			break;
		fp_at = cfa - tr_rule_fp(rule);
		if (fp_at != cfa) {
			if (fp_at < lo)
				break;
			fp = tr_unwind_load(fp_at);
		}
		frames[n].pc = pc;
		frames[n++].module = module;
#if defined(__x86_64__)
		if (tr_rule_other(rule))
			bx_at = cfa - tr_rule_other(rule);
#endif
		pc = bare_address(tr_unwind_load(cfa - below));
		sp = cfa;
		back = 1;
	}
	walk->pc = pc;
	walk->sp = sp;
	walk->fp = fp;
	walk->back = back;
	walk->bx_at = bx_at;
#if !defined(__x86_64__)
	if (n > first)
		walk->has_others = false;
#endif
	(void)first;
	return n;
}

uint32_t tr_unwind(const struct tr_unwind_at *at,
		   struct tr_unwind_frame *frames, uint32_t most,
		   bool *ret_whole)
{
	return tr_unwind_until(at, UINT64_MAX, frames, most, ret_whole);
}

uint32_t tr_unwind_until(const struct tr_unwind_at *at, uint64_t until,
			 struct tr_unwind_frame *frames, uint32_t most,
			 bool *ret_whole)
{
	struct walk walk = { .pc = at->pc, .sp = at->sp, .fp = at->fp,
			     .bx = at->bx, .link = at->link,
			     .back = at->is_return, .until = until,
			     .has_others = !at->is_return };
	enum step step = STEP_ON;
	uint32_t n = 0;

	walk.reach = tr_reach_of(walk.sp);
	while (n < most && step == STEP_ON) {
		if (TR_LIKELY(tr_rules))
			n = walk_cached(&walk, frames, n, most);
		if (n < most)
			step = walk_one(&walk, frames, &n);
	}
	*ret_whole = step == STEP_WHOLE;
	return n;
}

void tr_unwind_from_context(const void *ucontext, struct tr_unwind_at *at)
{
	const ucontext_t *context = ucontext;

	at->link = 0;
	at->bx = 0;
	at->is_return = false;
#if defined(__x86_64__)
	at->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	at->sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
	at->fp = (uint64_t)context->uc_mcontext.gregs[REG_RBP];
	at->bx = (uint64_t)context->uc_mcontext.gregs[REG_RBX];
#elif defined(__aarch64__)
	at->pc = context->uc_mcontext.pc;
	at->sp = context->uc_mcontext.sp;
	at->fp = context->uc_mcontext.regs[29];
	at->link = bare_address(context->uc_mcontext.regs[30]);
#else
	at->pc = at->sp = at->fp = 0;
	(void)context;
#endif
}
