/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tags: blocks of a program's own allocators, in the same table.
 *
 * A block's key is a mix of tag and block with the lowest bit set, which no
 * address has: a pool may give out the first byte of a block that it got from
 * malloc, and two pools may use the same number.
 */
#include <tare/alloc.h>

#include "record/probe.h"
#include "record/alloc/alloc.h"
#include "record/alloc.h"

#include <string.h>

#define TR_TAGS 256u
#define TR_TAG_NAME 64u

struct tare_tag {
	uint32_t ready;
	char name[TR_TAG_NAME];
};

/* A tag is permanent, also in children; its row belongs to one ledger. */
static tare_tag all_tags[TR_TAGS];
/* Row and its ledger: pid << 32 | row, and the number of replaced ledgers. */
static uint64_t tag_rows[TR_TAGS];
static uint32_t tag_replaced[TR_TAGS];

static bool tag_has_name(const tare_tag *tag, const char *name)
{
	return strncmp(tag->name, name, TR_TAG_NAME - 1) == 0;
}

TARE_API tare_tag *tare_alloc_tag(const char *name)
{
	if (TR_FIRST(tare_alloc_tag))
		return TR_FIRST(tare_alloc_tag)(name);
	if (!name || !name[0])
		name = "(no name)";
	for (uint32_t i = 0; i < TR_TAGS - 1; i++) {
		uint32_t none = 0;

		if (!TR_ACQUIRE(all_tags[i].ready) &&
		    TR_SWAP(all_tags[i].ready, &none, 2)) {
			memcpy(all_tags[i].name, name,
			       strnlen(name, TR_TAG_NAME - 1));
			TR_PUBLISH(all_tags[i].ready, 1);
			return &all_tags[i];
		}
		/*
		 * 2: the name is being written, perhaps by the code this
		 * handler interrupted
		 */
		if (TR_ACQUIRE(all_tags[i].ready) == 1 &&
		    tag_has_name(&all_tags[i], name))
			return &all_tags[i];
	}
	memcpy(all_tags[TR_TAGS - 1].name, "(other tags)", 13);
	return &all_tags[TR_TAGS - 1];
}

/* 0: there is no room for its row. */
static uint32_t tag_row(const tare_tag *tag)
{
	size_t i = (size_t)(tag - all_tags);
	uint64_t known = TR_LOAD(tag_rows[i]);
	uint32_t row, text;

	if (known >> 32 == tr_ledger->pid && (uint32_t)known &&
	    TR_LOAD(tag_replaced[i]) == TR_LOAD(tr_ledger->replaced))
		return (uint32_t)known;
	text = tr_string_copy(tag->name, TR_TAG_NAME);
	if (!text || text > TR_ALLOC_NUMBER)
		return 0;
	row = tr_alloc_table_new_row((uint32_t)TR_ALLOC_TAG << TR_ALLOC_SHIFT |
				     text);
	if (!row || row > TR_BLOCK_ROW)
		return 0;
	TR_STORE(tag_replaced[i], TR_LOAD(tr_ledger->replaced));
	TR_STORE(tag_rows[i], (uint64_t)tr_ledger->pid << 32 | row);
	return row;
}

static uint64_t tag_key(const tare_tag *tag, const void *block)
{
	uint64_t key = (uint64_t)(uintptr_t)block +
		       (uint64_t)(tag - all_tags + 1) *
			       UINT64_C(0xC2B2AE3D27D4EB4F);

	key ^= key >> 31;
	key *= UINT64_C(0x9E3779B97F4A7C15);
	return key | 1;
}

TARE_API int tare_alloc_note(tare_tag *tag, const void *block, size_t bytes)
{
	struct tr_alloc_thread *thread;
	uint32_t row;

	if (TR_FIRST(tare_alloc_note))
		return TR_FIRST(tare_alloc_note)(tag, block, bytes);
	if (!tag)
		return TARE_EINVAL;
	if (!TR_LOAD(tr_alloc_mode))
		return TARE_EOFF;
	thread = tr_alloc_enter();
	if (!thread)
		return TARE_EOFF;
	row = tag_row(tag);
	tr_alloc_leave(thread);
	if (!row)
		return TARE_EFULL;
	return tr_alloc_tagged(tag_key(tag, block), bytes, row);
}

TARE_API int tare_free_note(tare_tag *tag, const void *block)
{
	if (TR_FIRST(tare_free_note))
		return TR_FIRST(tare_free_note)(tag, block);
	if (!tag)
		return TARE_EINVAL;
	if (!TR_LOAD(tr_alloc_mode))
		return TARE_EOFF;
	return tr_alloc_untagged(tag_key(tag, block));
}
