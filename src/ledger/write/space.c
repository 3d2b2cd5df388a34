/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Space: allocates parts of the ledger file, with their pages.
 *
 * A page without backing would be allocated at the first store, and on a full
 * tmpfs that store is a SIGBUS in the host. So every page is allocated by a
 * call that can fail, before a thread may write there.
 *
 * No lock: several threads and signal handlers may run this at once. Allocating
 * a page twice does no harm.
 */
#include "ledger/write.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>

#define TR_RETRY_NS 10000000 /* after a refusal, try again in 10 ms */

static bool reserve_by_file(uint64_t off, uint64_t bytes)
{
	int saved = errno;
	int err;

	if (tr_ledger->reserve_fd < 0)
		return false;
	err = posix_fallocate(tr_ledger->reserve_fd, (off_t)off,
			      (off_t)bytes);
	errno = saved;
	return err == 0;
}

static bool make_real(uint64_t off, uint64_t bytes)
{
	int err = tr_memory_reserve(tr_ledger->base + off, bytes);

	if (err == TARE_EINVAL)
		return reserve_by_file(off, bytes);
	return err == 0;
}

bool tr_space_reserve(uint64_t off, uint64_t bytes)
{
	uint64_t from = off & ~(uint64_t)(TR_PAGE - 1);
	uint64_t to = (off + bytes + TR_PAGE - 1) & ~(uint64_t)(TR_PAGE - 1);
	uint64_t before;

	if (off > tr_ledger->map_bytes ||
	    bytes > tr_ledger->map_bytes - off || to > tr_ledger->map_bytes)
		return false;
	before = TR_ADD(tr_ledger->real_bytes, to - from);
	if (before + (to - from) > tr_ledger->limit_bytes)
		goto refuse;
	if (TR_LOAD(tr_ledger->retry_at) > tr_monotonic_ns())
		goto refuse;
	if (make_real(from, to - from)) {
		TR_STORE(tr_ledger->retry_at, 0);
		TR_STORE(tr_ledger->header->real_bytes,
			 TR_LOAD(tr_ledger->real_bytes));
		return true;
	}
	TR_STORE(tr_ledger->retry_at, tr_monotonic_ns() + TR_RETRY_NS);
refuse:
	(void)TR_ADD(tr_ledger->real_bytes, from - to);
	return false;
}

/* Allocates pages up to `end`, rounded up to a size that is worth a call. */
static bool grow(struct tr_region *region, uint64_t end)
{
	uint64_t real = TR_ACQUIRE(region->real), from = real;
	uint64_t want = (end + TR_PAGE - 1) & ~(uint64_t)(TR_PAGE - 1);

	if (end <= real)
		return true;
	if (!tr_space_reserve(region->off + real, want - real))
		return false;
	while (real < want)
		if (TR_SWAP(region->real, &real, want))
			return true;
	/* Another thread was faster: the pages were counted twice. */
	(void)TR_ADD(tr_ledger->real_bytes, from - want);
	return true;
}

/* For readers: never decreases. */
static void show(enum tr_region_id id)
{
	uint64_t *shown = &tr_ledger->header->region[id].used;
	uint64_t used = TR_LOAD(tr_ledger->region[id].used);
	uint64_t before = TR_LOAD(*shown);

	while (before < used &&
	       !TR_SWAP(*shown, &before, used))
		;
}

static uint32_t take(enum tr_region_id id, uint64_t bytes, bool real)
{
	struct tr_region *region = &tr_ledger->region[id];
	uint64_t used = TR_LOAD(region->used);

	assert(id < TR_REGION_SLOTS);
	assert(bytes);
	do {
		if (used > region->cap || bytes > region->cap - used ||
		    (real && !grow(region, used + bytes)))
			return 0;
	} while (!TR_SWAP(region->used, &used, used + bytes));
	show(id);
	return (uint32_t)(region->off + used);
}

uint32_t tr_region_take(enum tr_region_id id, uint64_t bytes)
{
	return take(id, bytes, true);
}

uint32_t tr_arena_claim(uint64_t bytes)
{
	return take(TR_REGION_ARENA, bytes, false);
}

void tr_arena_unclaim(uint32_t off, uint64_t bytes)
{
	struct tr_region *arena = &tr_ledger->region[TR_REGION_ARENA];
	uint64_t before = off - arena->off, used = before + bytes;

	assert(off && bytes);
	/* If others have allocated since, it is wasted: address space. */
	(void)TR_SWAP(arena->used, &used, before);
}
