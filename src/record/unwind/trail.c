/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trail: the words of a stack that determined a walk.
 *
 * The walk is repeated, by the rules of its frames, and each word that the
 * rules read is stored: return addresses, and saved frame pointers if one was
 * used later. An unused frame pointer may have any value, and is left out.
 */
#include "record/unwind.h"

#include "record/unwind/reach.h"
#include "record/unwind/rule.h"

struct trace {
	uint64_t sp, fp;
	uint64_t fp_at; /* where it was read; 0: the first frame's */
	uint64_t bx_at; /* where rbx was saved; 0: it was not */
	bool is_fp_noted;
	struct tr_unwind_trail *trail;
};

static void note_word(struct tr_unwind_trail *trail, uint64_t at,
		      uint64_t value)
{
	if (trail->n < trail->most)
		trail->word[trail->n] = (struct tr_unwind_word){ at, value };
	trail->n++;
}

static uint64_t use_fp(struct trace *trace)
{
	if (trace->is_fp_noted)
		return trace->fp;
	trace->is_fp_noted = true;
	if (trace->fp_at)
		note_word(trace->trail, trace->fp_at, trace->fp);
	else
		trace->trail->uses_fp = true;
	return trace->fp;
}

static void load_fp(struct trace *trace, uint64_t at)
{
	trace->fp_at = at;
	trace->fp = tr_unwind_load(at);
	trace->is_fp_noted = false;
}

/* By a frame pointer, for code without a table. */
static void trace_guess(struct trace *trace)
{
	uint64_t fp = use_fp(trace);

	note_word(trace->trail, fp + 8, tr_unwind_load(fp + 8));
	load_fp(trace, fp);
	trace->sp = fp + 16;
	trace->bx_at = 0;
}

static bool trace_cfa(struct trace *trace, uint64_t rule, uint64_t *ret_cfa)
{
	uint64_t from;

	if (tr_rule_kind(rule) == TR_RULE_SP) {
		from = trace->sp;
	} else if (tr_rule_kind(rule) == TR_RULE_FP) {
		from = use_fp(trace);
	} else if (tr_rule_kind(rule) == TR_RULE_BX && trace->bx_at) {
		from = tr_unwind_load(trace->bx_at);
		note_word(trace->trail, trace->bx_at, from);
	} else {
		return false;
	}
	*ret_cfa = from + (uint64_t)tr_rule_cfa(rule);
	return true;
}

/* One frame further; false: it is not known how the walk passed it. */
static bool trace_frame(struct trace *trace, uint64_t rule)
{
	uint64_t cfa, ra_at, fp_below = tr_rule_fp(rule);

	if (tr_rule_kind(rule) == TR_RULE_GUESS ||
	    tr_rule_kind(rule) == TR_RULE_BLIND) {
		trace_guess(trace);
		return true;
	}
	if (!tr_rule_ra(rule) || !trace_cfa(trace, rule, &cfa))
		return false;
	ra_at = cfa - tr_rule_ra(rule);
	note_word(trace->trail, ra_at, tr_unwind_load(ra_at));
	if (fp_below == (uint64_t)TR_RULE_FP_LOST << 3)
		trace->fp = 1;
	else if (fp_below)
		load_fp(trace, cfa - fp_below);
#if defined(__x86_64__)
	if (tr_rule_other(rule))
		trace->bx_at = cfa - tr_rule_other(rule);
#endif
	trace->sp = cfa;
	return true;
}

static uint64_t rule_of(const struct tr_unwind_frame *frame)
{
	uint32_t module;
	uint64_t rule = 0;

	if (tr_rules)
		rule = tr_rule_cached(tr_rules, frame->pc, 1, &module);
	return rule ? rule : tr_rule_make(frame->pc, 1, &module);
}

/* For the last frame: the words that showed that it is the last. */
static bool trace_end(struct trace *trace, uint64_t rule)
{
	if (tr_rule_kind(rule) == TR_RULE_END)
		return true;
	if (tr_rule_kind(rule) == TR_RULE_GUESS && !trace->fp) {
		(void)use_fp(trace);
		return true;
	}
	return trace_frame(trace, rule); /* a return address of 0 */
}

static bool trace_all(const struct tr_unwind_at *at,
		      const struct tr_unwind_frame *frames, uint32_t n,
		      bool is_whole, struct tr_unwind_trail *trail)
{
	struct trace trace = { .sp = at->sp, .fp = at->fp, .trail = trail };
	uint64_t rule = rule_of(&frames[0]);

	trail->is_first_by_fp = tr_rule_kind(rule) != TR_RULE_SP;
	for (uint32_t i = 0; i < n - 1; i++) {
		if (!trace_frame(&trace, rule))
			return false;
		rule = rule_of(&frames[i + 1]);
	}
	return !is_whole || trace_end(&trace, rule);
}

uint32_t tr_unwind_with_trail(const struct tr_unwind_at *at,
			      struct tr_unwind_frame *frames, uint32_t most,
			      bool *ret_whole, struct tr_unwind_trail *trail)
{
	uint32_t n = tr_unwind_until(at, trail->until, frames, most, ret_whole);

	trail->n = 0;
	trail->uses_fp = false;
	if (!n || !at->is_return || (!*ret_whole && n < most) ||
	    !trace_all(at, frames, n, *ret_whole, trail) ||
	    trail->n > trail->most)
		trail->n = 0;
	return n;
}
