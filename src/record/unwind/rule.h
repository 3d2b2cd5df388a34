/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule: how to get from a frame to its caller's, in one word.
 *
 * The CFA of unwind tables is the stack pointer before the call. Return
 * address and saved frame pointer are below it. All is in units of 8 bytes;
 * what does not fit has no rule.
 */
#ifndef TR_RECORD_UNWIND_RULE_H
#define TR_RECORD_UNWIND_RULE_H

#include "base/platform.h"

enum tr_rule_kind {
	TR_RULE_GUESS = 1,  /* no table entry: the frame pointer may help */
	TR_RULE_BLIND = 2,  /* the table entry cannot be followed */
	TR_RULE_END = 3,    /* no caller: a thread begins here */
	TR_RULE_SIGNAL = 4, /* called by the kernel: registers on the stack */
	TR_RULE_DEREF = 5,  /* CFA = the word at fp + x, and fp at fp */
	TR_RULE_BX = 6,	    /* CFA = rbx + x: the lazy binder of ld.so */
	TR_RULE_STRAY = 7,  /* in no module: JIT code, or invalid */
	TR_RULE_SP = 8,	    /* CFA = sp + x */
	TR_RULE_FP = 9	    /* CFA = fp + x */
};

#define TR_RULE_FIELD 20u
#define TR_RULE_MOST ((1u << (TR_RULE_FIELD - 1)) - 1) /* of each, in words */
#define TR_RULE_FP_LOST ((1u << TR_RULE_FIELD) - 1)

/*
 * `cfa`: x above. `fp`: where it was saved, in words below the CFA; 0:
 * unchanged; TR_RULE_FP_LOST. `other` on aarch64: the return address; 0: it is
 * in the link register. On x86-64, where that is always one word below: rbx;
 * 0: unchanged.
 */
TR_INLINE uint64_t tr_rule_pack(enum tr_rule_kind kind, int64_t cfa,
				uint32_t other, uint32_t fp)
{
	return (uint64_t)kind | (uint64_t)fp << 4 | (uint64_t)other << 24 |
	       (uint64_t)cfa << 44;
}

TR_INLINE enum tr_rule_kind tr_rule_kind(uint64_t rule)
{
	return (enum tr_rule_kind)(rule & 15);
}

/* All in bytes. The CFA is in the top bits: everything depends on it. */
TR_INLINE int64_t tr_rule_cfa(uint64_t rule)
{
	return ((int64_t)rule >> 44) * 8;
}

TR_INLINE uint64_t tr_rule_other(uint64_t rule)
{
	return rule >> 21 & (uint64_t)TR_RULE_FP_LOST << 3;
}

TR_INLINE uint64_t tr_rule_fp(uint64_t rule)
{
	return rule >> 1 & (uint64_t)TR_RULE_FP_LOST << 3;
}

TR_INLINE uint64_t tr_rule_ra(uint64_t rule)
{
#if defined(__aarch64__)
	return tr_rule_other(rule);
#else
	(void)rule;
	return 8;
#endif
}

/*
 * push %rbp; mov %rsp, %rbp: the most frequent rule with frame pointers. Any
 * `other`.
 */
TR_INLINE bool tr_rule_is_plain(uint64_t rule)
{
	return (rule & ~((uint64_t)TR_RULE_FP_LOST << 24)) ==
	       ((uint64_t)TR_RULE_FP | UINT64_C(2) << 4 | UINT64_C(2) << 44);
}

/* ---- cache.c ----------------------------------------------------------- */

/*
 * Rules by address. A set has two entries, each of two words that check each
 * other, so that a reader detects a mix of two writers.
 */
struct tr_rule_entry {
	uint64_t check; /* (address << 16 | module) ^ rule * TR_RULE_MIX */
	uint64_t rule;	/* 0: empty */
};

#define TR_RULE_SETS 8192u
#define TR_RULE_MIX UINT64_C(0x9E3779B97F4A7C15)
#define TR_RULE_NO_MODULE 0xffffu /* numbers in the cache have 16 bits */

extern struct tr_rule_entry *tr_rules; /* NULL until the first look */

/* By the lowest bits: return addresses are as random as any hash of them. */
TR_INLINE struct tr_rule_entry *tr_rule_set(struct tr_rule_entry *rules,
					    uint64_t pc)
{
	return (struct tr_rule_entry *)(void *)((char *)rules +
		((pc << 5) & ((uint64_t)(TR_RULE_SETS - 1) << 5)));
}

/* The rule, or 0. */
TR_INLINE uint64_t tr_rule_entry_get(const struct tr_rule_entry *entry,
				     uint64_t address, uint32_t *ret_module)
{
	uint64_t rule = __atomic_load_n(&entry->rule, __ATOMIC_RELAXED);
	uint64_t key = __atomic_load_n(&entry->check, __ATOMIC_RELAXED) ^
		       rule * TR_RULE_MIX;

	*ret_module = (uint32_t)(key & 0xffff);
	return key >> 16 == address ? rule : 0;
}

/* `back`: 1 if pc is a return address, and the call before it is meant. */
TR_INLINE uint64_t tr_rule_cached(struct tr_rule_entry *rules, uint64_t pc,
				  uint64_t back, uint32_t *ret_module)
{
	const struct tr_rule_entry *set = tr_rule_set(rules, pc);
	uint64_t rule = tr_rule_entry_get(&set[0], pc - back, ret_module);

	if (TR_LIKELY(rule))
		return rule;
	return tr_rule_entry_get(&set[1], pc - back, ret_module);
}

bool tr_rules_init(void);
/* Finds the rule in the tables. Signal-safe. */
uint64_t tr_rule_make(uint64_t pc, uint64_t back, uint32_t *ret_module);
/* Modules were added or removed: drops all rules. */
void tr_rules_forget(void);

#endif
