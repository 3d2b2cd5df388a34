/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites: the table of names in the ledger, each series once.
 *
 * Strings are copied, because a library with names in its .rodata may be
 * unloaded. A hash of the table is in private memory and has no lock: an entry
 * is written completely, then stored in a free place by compare-and-swap. Two
 * threads that register the same name at once may both write an entry; one
 * wins, and the other entry stays unused. Signal handlers may run this code.
 *
 * Beyond max_sites every new name gets the overflow series of its kind.
 */
#include "ledger/write.h"

#include <assert.h>
#include <string.h>

#define TR_NAME_MOST 255u /* longer names are cut */

/* A fork does not wipe these: ids stay the same in a child. */
static uint32_t *table;
static uint32_t table_mask;

static uint32_t hash_text(uint32_t hash, const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; c && *c; c++)
		hash = (hash ^ *c) * 16777619u;
	return (hash ^ 0xffu) * 16777619u;
}

static uint32_t hash_key(const struct tr_site_key *key)
{
	uint32_t hash = 2166136261u ^ key->kind;

	hash = hash_text(hash, key->name);
	hash = hash_text(hash, key->source);
	hash = hash_text(hash, key->unit);
	return hash_text(hash, key->labels);
}

struct tr_site *tr_site_at(uint32_t id)
{
	struct tr_region *sites = &tr_ledger->region[TR_REGION_SITES];

	return (struct tr_site *)(void *)(tr_ledger->base + sites->off +
					  (uint64_t)id *
						  sizeof(struct tr_site));
}

const char *tr_string_at(uint32_t off)
{
	return off ? tr_ledger->base + off : "";
}

uint32_t tr_string_copy(const char *text, size_t most)
{
	size_t len = text ? strlen(text) : 0;
	uint32_t off;

	if (!len)
		return 0;
	if (len > most)
		for (len = most; ((unsigned char)text[len] & 0xc0) == 0x80;
		     len--)
			; /* not inside a character */
	off = tr_region_take(TR_REGION_STRINGS, (len + 8) & ~(size_t)7);
	if (off)
		memcpy(tr_ledger->base + off, text, len);
	return off;
}

static uint32_t copy_string(const char *text)
{
	return tr_string_copy(text, TR_NAME_MOST);
}

static bool same_text(uint32_t off, const char *text)
{
	if (!text)
		text = "";
	if (strlen(text) > TR_NAME_MOST)
		return off && strncmp(tr_string_at(off), text,
				      strlen(tr_string_at(off))) == 0;
	return strcmp(tr_string_at(off), text) == 0;
}

static bool same_site(const struct tr_site *site, uint32_t hash,
		      const struct tr_site_key *key)
{
	return site->hash == hash && site->kind == key->kind &&
	       !((TR_LOAD(site->flags) ^ key->flags) & TARE_SITE_DOUBLE) &&
	       same_text(site->name, key->name) &&
	       same_text(site->source, key->source) &&
	       same_text(site->unit, key->unit) &&
	       same_text(site->labels, key->labels);
}

/* Sites of a file are usually adjacent: its path is stored once. */
static uint32_t copy_file(const char *file)
{
	static uint32_t last;
	uint32_t off = TR_ACQUIRE(last);

	if (!file)
		return 0;
	if (off && tr_ledger->base && same_text(off, file))
		return off;
	off = copy_string(file);
	TR_PUBLISH(last, off); /* the text before its offset */
	return off;
}

static uint32_t take_slots(uint8_t kind)
{
	struct tr_header *header = tr_ledger->header;
	uint32_t most = TR_COUNTER_CHUNKS * TR_COUNTER_SLOTS, slot;
	uint32_t n = kind == TARE_KIND_RATIO ? 2 : 1;

	if (kind == TARE_KIND_GAUGE) {
		slot = TR_ADD(tr_ledger->next_gauge, 1);
		(void)TR_ADD(header->next_gauge, 1);
		return slot < tr_ledger->region[TR_REGION_GAUGES].cap / 8 &&
				       tr_region_take(TR_REGION_GAUGES, 8) ?
			       slot :
			       0;
	}
	if (kind != TARE_KIND_COUNTER && kind != TARE_KIND_RATIO)
		return 0;
	slot = TR_ADD(tr_ledger->next_counter, n);
	/* For a child. An addition: the last store might not be the highest. */
	(void)TR_ADD(header->next_counter, n);
	return slot + 1 < most ? slot : 0;
}

static uint32_t add_site(const struct tr_site_key *key, uint32_t hash)
{
	struct tr_region *sites = &tr_ledger->region[TR_REGION_SITES];
	uint32_t off = tr_region_take(TR_REGION_SITES, sizeof(struct tr_site));
	struct tr_site *site;

	if (!off)
		return 0;
	site = (struct tr_site *)(void *)(tr_ledger->base + off);
	site->hash = hash;
	site->name = copy_string(key->name);
	site->unit = copy_string(key->unit);
	site->source = copy_string(key->source);
	site->labels = copy_string(key->labels);
	site->file = copy_file(key->file);
	site->line = key->line;
	site->kind = key->kind;
	site->type = key->type;
	site->flags = key->flags;
	site->slot = take_slots(key->kind);
	site->born = tr_ledger_ticks();
	if (!site->name && key->name && key->name[0])
		return 0;
	if (!site->slot && (key->kind == TARE_KIND_COUNTER ||
			    key->kind == TARE_KIND_RATIO ||
			    key->kind == TARE_KIND_GAUGE))
		return 0;
	TR_PUBLISH(site->ready, 1);
	return (uint32_t)((off - sites->off) / sizeof(struct tr_site));
}

/* Searches from place `at` on; *ret_place is where the key would go. */
static uint32_t look_up(const struct tr_site_key *key, uint32_t hash,
			uint32_t *ret_place)
{
	uint32_t at = hash & table_mask;

	for (uint32_t n = 0; n <= table_mask; n++, at = (at + 1) & table_mask) {
		uint32_t id = TR_ACQUIRE(table[at]);

		if (!id) {
			*ret_place = at;
			return 0;
		}
		if (same_site(tr_site_at(id), hash, key))
			return id;
	}
	*ret_place = UINT32_MAX;
	return 0;
}

/* Of several places with one name, only some may be stages. */
static uint32_t also(uint32_t id, const struct tr_site_key *key)
{
	struct tr_site *site = tr_site_at(id);
	uint16_t missing = key->flags & TR_SITE_STAGES &
			   (uint16_t)~TR_LOAD(site->flags);

	if (missing)
		(void)__atomic_fetch_or(&site->flags, missing,
					__ATOMIC_RELAXED);
	return id;
}

static uint32_t overflow(uint8_t kind)
{
	(void)TR_ADD(tr_ledger->header->lost.overflow_sites, 1);
	return kind && kind < TR_SITE_FIRST ? kind : TARE_KIND_VALUE;
}

uint32_t tr_site_intern(const struct tr_site_key *key)
{
	uint32_t hash = hash_key(key), place, id = look_up(key, hash, &place);
	uint32_t mine = 0;

	assert(key->name);
	while (!id && place != UINT32_MAX) {
		uint32_t empty = 0;

		if (!mine)
			mine = add_site(key, hash);
		if (!mine)
			return overflow(key->kind);
		if (TR_SWAP(table[place], &empty, mine))
			return mine;
		id = look_up(key, hash, &place);
	}
	/* Another thread was faster: readers skip a site that is not ready. */
	if (mine)
		TR_PUBLISH(tr_site_at(mine)->ready, 0);
	return id ? also(id, key) : overflow(key->kind);
}

void tr_sites_fill(char *base)
{
	static const uint8_t type[TR_SITE_FIRST] = {
		[TARE_KIND_SCOPE] = TARE_TYPE_TIME,
		[TARE_KIND_COUNTER] = TARE_TYPE_COUNTER,
		[TARE_KIND_GAUGE] = TARE_TYPE_CUSTOM,
		[TARE_KIND_VALUE] = TARE_TYPE_CUSTOM,
		[TARE_KIND_RATIO] = TARE_TYPE_RATIO,
	};
	uint32_t name = (uint32_t)tr_ledger->region[TR_REGION_STRINGS].off + 8;
	struct tr_site *site =
		(void *)(base + tr_ledger->region[TR_REGION_SITES].off);

	memcpy(base + name, "(overflow)", 11);
	for (uint8_t kind = TARE_KIND_SCOPE; kind < TR_SITE_FIRST; kind++) {
		site[kind].name = name;
		site[kind].kind = kind;
		site[kind].type = type[kind];
		site[kind].slot = kind == TARE_KIND_RATIO; /* 1 and 2 */
		TR_PUBLISH(site[kind].ready, 1);
	}
}

int tr_sites_init(void)
{
	struct tr_region *sites = &tr_ledger->region[TR_REGION_SITES];
	uint64_t most = sites->cap / sizeof(struct tr_site), size = 64;

	while (size < most * 2)
		size *= 2;
	if (!table) {
		table = tr_memory_map(size * sizeof(*table));
		table_mask = (uint32_t)size - 1;
	}
	/* Id 0 means none; the string at 0 is empty. */
	if (!table ||
	    !tr_region_take(TR_REGION_SITES,
			    TR_SITE_FIRST * sizeof(struct tr_site)) ||
	    !tr_region_take(TR_REGION_STRINGS, 8 + 16) ||
	    !tr_region_take(TR_REGION_GAUGES, 8))
		return TARE_EFULL;
	tr_sites_fill(tr_ledger->base);
	return 0;
}

static int copy_region(enum tr_region_id id, const char *parent,
		       const struct tr_header *theirs)
{
	struct tr_region *mine = &tr_ledger->region[id];
	const struct tr_region *from = &theirs->region[id];
	uint64_t used = TR_LOAD(from->used);

	if (from->off != mine->off || used < mine->used)
		return TARE_EFORMAT;
	if (used > mine->used && !tr_region_take(id, used - mine->used))
		return TARE_EFULL;
	memcpy(tr_ledger->base + mine->off, parent + from->off, used);
	return 0;
}

/* What the parent's governor did, and calls of the parent. */
static void forget_calls(void)
{
	uint64_t n = tr_ledger->region[TR_REGION_SITES].used /
		     sizeof(struct tr_site);

	for (uint32_t id = 0; id < n; id++) {
		tr_site_at(id)->missed = 0;
		tr_site_at(id)->level = tr_site_at(id)->worst = 0;
	}
}

int tr_sites_copy(const char *parent)
{
	const struct tr_header *theirs = (const void *)parent;
	int err = copy_region(TR_REGION_STRINGS, parent, theirs);

	if (!err)
		err = copy_region(TR_REGION_SITES, parent, theirs);
	if (!err)
		forget_calls();
	tr_ledger->next_counter = TR_LOAD(theirs->next_counter);
	tr_ledger->next_gauge = TR_LOAD(theirs->next_gauge);
	tr_ledger->header->next_counter = tr_ledger->next_counter;
	tr_ledger->header->next_gauge = tr_ledger->next_gauge;
	if (!err && TR_LOAD(theirs->region[TR_REGION_GAUGES].used) > 8 &&
	    !tr_region_take(TR_REGION_GAUGES,
			    TR_LOAD(theirs->region[TR_REGION_GAUGES].used) -
				    8))
		err = TARE_EFULL;
	return err;
}
