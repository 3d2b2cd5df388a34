/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module's unwind table with anything in it: every read is asked for, and
 * what comes out is a rule, or none. The first four bytes say which address
 * is looked up, from the table's on.
 */
#include "record/unwind/cfi.h"
#include "record/unwind/rule.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE UINT64_C(0x10000000)

static const uint8_t *bytes;
static uint64_t n_bytes;
static uint64_t n_read;

static bool read_bytes(const struct tr_cfi_memory *memory, uint64_t at,
		       void *to, uint32_t n)
{
	(void)memory;
	if (at < BASE || at - BASE > n_bytes || n > n_bytes - (at - BASE))
		return false;
	memcpy(to, bytes + (at - BASE), n);
	n_read += n;
	return true;
}

static void check_rule(uint64_t rule)
{
	uint32_t kind = (uint32_t)tr_rule_kind(rule);

	if (!rule)
		return;
	if (kind < TR_RULE_BLIND || kind == TR_RULE_STRAY ||
	    kind > TR_RULE_FP)
		__builtin_trap();
	/* Those without places have none. */
	if (kind <= TR_RULE_SIGNAL && rule != kind)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tr_cfi_memory memory = { read_bytes, 0, 0 };
	int32_t offset;
	uint64_t pc, entry, again;

	if (size < sizeof(offset))
		return 0;
	memcpy(&offset, data, sizeof(offset));
	bytes = data + sizeof(offset);
	n_bytes = size - sizeof(offset);
	n_read = 0;
	pc = BASE + (uint64_t)(int64_t)offset;
	entry = tr_cfi_find(&memory, BASE, pc);
	again = tr_cfi_rule(&memory, entry, pc);
	check_rule(again);
	if (again != tr_cfi_rule(&memory, entry, pc))
		__builtin_trap();
	/* Without the table's help. */
	check_rule(tr_cfi_rule(&memory, BASE + n_bytes / 2, pc));
	check_rule(tr_cfi_rule(&memory, BASE, BASE));
	/* Windows of 128 bytes: not more than some times all there is. */
	if (n_read > 64 * n_bytes + 65536)
		__builtin_trap();
	return 0;
}
