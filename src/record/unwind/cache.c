/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cache: rules by address, for all threads.
 *
 * A rule is a fact about a module's code, so it holds in a forked child, too.
 * When modules are added or removed, all rules are dropped: this is rare, and
 * each is made again in about a microsecond.
 */
#include "record/unwind/rule.h"

#include "record/unwind/cfi.h"
#include "record/unwind/list.h"
#include "record/unwind/reach.h"

#include <string.h>

struct tr_rule_entry *tr_rules;
static uint32_t has_rules; /* else no page of the table was ever used */

bool tr_rules_init(void)
{
	if (!tr_rules)
		tr_rules = tr_memory_map(TR_RULE_SETS * 2 *
					 sizeof(*tr_rules));
	return tr_rules != NULL;
}

static bool read_module(const struct tr_cfi_memory *memory, uint64_t at,
			void *to, uint32_t n)
{
	if (at >= memory->from && at <= memory->to && n <= memory->to - at) {
		memcpy(to, (const void *)(uintptr_t)at, n);
		return true;
	}
	return tr_reach_copy(at, to, n);
}

/*
 * The return address of handlers in a libc without tables for it: the call of
 * rt_sigreturn.
 */
static bool is_signal_return(uint64_t address)
{
#if defined(__x86_64__)
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00,
					0x00, 0x00, 0x0f, 0x05 };
#elif defined(__aarch64__)
	static const uint8_t code[] = { 0x68, 0x11, 0x80, 0xd2,
					0x01, 0x00, 0x00, 0xd4 };
#else
	static const uint8_t code[] = { 0 };
#endif
	uint8_t there[sizeof(code)];

	return tr_reach_copy(address, there, sizeof(there)) &&
	       memcmp(there, code, sizeof(code)) == 0;
}

/*
 * Is the address in a module that was loaded since the last look, or that
 * replaced one? It has no number yet.
 */
static bool is_news(const struct tr_code *code, uint64_t address,
		    struct tr_code *ret_code)
{
	struct tr_found found;

	if ((code && code->read_to) || !tr_find(address, &found) ||
	    (code && code->table == found.table))
		return false;
	memset(ret_code, 0, sizeof(*ret_code));
	ret_code->table = found.table;
	ret_code->module = TR_UNWIND_NO_MODULE;
	return true;
}

static uint64_t find_rule(const struct tr_code *code, uint64_t address)
{
	struct tr_cfi_memory memory = { read_module, code->read_from,
					code->read_to };
	uint64_t entry = 0;

	if (code->table)
		entry = tr_cfi_find(&memory, code->table, address);
	return entry ? tr_cfi_rule(&memory, entry, address) : 0;
}

static uint64_t choose_rule(const struct tr_code *code, uint64_t address)
{
	uint64_t rule = code ? find_rule(code, address) : 0;

	if (rule && rule != TR_RULE_BLIND)
		return rule;
	/* A return address is looked up minus 1. */
	if (is_signal_return(address) || is_signal_return(address + 1))
		return TR_RULE_SIGNAL;
	if (!code)
		return TR_RULE_STRAY;
	return rule ? rule : TR_RULE_GUESS;
}

/*
 * Stores in the free entry of a set, or in the second; the first is the older
 * one, and frequently used rules stay there.
 */
static void keep(struct tr_rule_entry *entry, uint64_t key, uint64_t rule,
		 uint32_t generation)
{
	if (!__atomic_load_n(&has_rules, __ATOMIC_RELAXED))
		__atomic_store_n(&has_rules, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&entry->rule, __ATOMIC_RELAXED))
		entry++;
	__atomic_store_n(&entry->check, key ^ rule * TR_RULE_MIX,
			 __ATOMIC_RELAXED);
	/*
	 * Sequentially consistent with tr_rules_forget(): either that comes
	 * later, or the new generation is seen here.
	 */
	__atomic_store_n(&entry->rule, rule, __ATOMIC_SEQ_CST);
	if (tr_code_generation() != generation)
		__atomic_store_n(&entry->rule, 0, __ATOMIC_RELAXED);
}

uint64_t tr_rule_make(uint64_t pc, uint64_t back, uint32_t *ret_module)
{
	uint64_t address = pc - back;
	uint32_t generation = tr_code_generation();
	const struct tr_code *code = tr_code_enter(address);
	struct tr_code news;
	uint64_t rule;

	if (is_news(code, address, &news)) {
		if (code)
			tr_code_miss(address);
		code = &news;
	}
	rule = choose_rule(code, address);
	*ret_module = code ? code->module : TR_UNWIND_NO_MODULE;
	tr_code_leave();
	if (tr_rules && address >> 48 == 0)
		keep(tr_rule_set(tr_rules, pc),
		     address << 16 | (*ret_module & 0xffff), rule,
		     generation);
	return rule;
}

void tr_rules_forget(void)
{
	/*
	 * After the new generation, for all of these loads and stores: a
	 * thread whose rule, or whose mark of a first one, comes later sees
	 * that generation.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!tr_rules || !__atomic_load_n(&has_rules, __ATOMIC_SEQ_CST))
		return;
	for (uint32_t i = 0; i < TR_RULE_SETS * 2; i++)
		__atomic_store_n(&tr_rules[i].rule, 0, __ATOMIC_RELAXED);
}
