/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spare: keeps the memory of the last image for the next one of the same file.
 *
 * `tare top` copies a ledger every second, and allocating new pages for it
 * costs more than the copy. Data of a file never becomes a hole again, so the
 * old bytes need not be cleared: data is read over them, and a hole was one
 * before. Not in a process that is itself measured, whose memory is not ours to
 * keep.
 */
#include "ledger/read/spare.h"
#include "ledger/read.h"

#include <string.h>

#define TR_SPARE_MOST (UINT64_C(64) << 20)

static struct {
	uint32_t taken; /* in use */
	char *base;
	uint64_t bytes;
	struct tr_file_key key;
} spare;

static bool take(void)
{
	return __atomic_exchange_n(&spare.taken, 1, __ATOMIC_ACQUIRE) == 0;
}

static void give(void)
{
	__atomic_store_n(&spare.taken, 0, __ATOMIC_RELEASE);
}

static bool is_measured(void)
{
	struct tr_own own;

	return tr_own_find(&own);
}

char *tr_spare_map(const struct tr_file_key *key, uint64_t bytes,
		   uint64_t *ret_bytes)
{
	char *base = NULL;

	if (take()) {
		if (spare.base && spare.bytes >= bytes &&
		    memcmp(&spare.key, key, sizeof(*key)) == 0) {
			base = spare.base;
			*ret_bytes = spare.bytes;
			spare.base = NULL;
		}
		give();
	}
	if (base)
		return base;
	/* A live ledger grows: some more address space costs nothing. */
	*ret_bytes = bytes + bytes / 4;
	return tr_memory_map(*ret_bytes);
}

void tr_spare_unmap(char *base, uint64_t bytes, const struct tr_file_key *key)
{
	char *old = base;
	uint64_t old_bytes = bytes;

	if (key->file && bytes <= TR_SPARE_MOST && !is_measured() && take()) {
		old = spare.base;
		old_bytes = spare.bytes;
		spare.base = base;
		spare.bytes = bytes;
		spare.key = *key;
		give();
	}
	tr_memory_unmap(old, old_bytes);
}
