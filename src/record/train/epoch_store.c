/* SPDX-License-Identifier: Apache-2.0 */
#include "record/train/epoch_store.h"

#include <stdlib.h>
#include <string.h>

#define BOOK_TEXT 1000u /* maximum bytes of a text; readers accept 4,352 */
#define STORE_SHARE 4u	/* 1/4 of the ledger's limit, for all trainings */

struct epoch_store {
	uint32_t pid, replaced; /* identify its ledger */
	uint32_t at;		/* struct tr_training; 0: none now */
	uint32_t page, slot;	/* place of the next row */
	uint32_t n_pages, most_pages;
	uint64_t n;		/* rows so far */
	uint32_t bytes;		/* of `head` */
	/* As in the ledger, but with offsets from the beginning. */
	struct tr_training head;
};

static char *store_base(uint32_t off)
{
	return tr_ledger->base + off;
}

static struct tr_training *store_training(const struct epoch_store *store)
{
	return (void *)store_base(store->at);
}

static struct tr_training_page *store_page(uint32_t off)
{
	return (void *)store_base(off);
}

/* Zeroed bytes of the ledger, or 0. */
static uint32_t store_take(uint32_t bytes)
{
	uint64_t before = TR_ADD(tr_ledger->training_bytes, bytes);
	uint32_t off;

	if (before + bytes > tr_ledger->limit_bytes / STORE_SHARE)
		goto refuse;
	off = tr_arena_claim(bytes);
	if (!off)
		goto refuse;
	if (tr_space_reserve(off, bytes))
		return off;
	tr_arena_unclaim(off, bytes);
refuse:
	(void)TR_ADD(tr_ledger->training_bytes, -(uint64_t)bytes);
	return 0;
}

/* ---- its head ---------------------------------------------------------- */

static size_t text_bytes(const char *text)
{
	return text ? strnlen(text, BOOK_TEXT) + 1 : 1;
}

static uint32_t put_text(struct epoch_store *store, const char *text)
{
	uint32_t at = store->bytes;
	size_t n = text_bytes(text);

	if (text)
		memcpy((char *)&store->head + at, text, n - 1);
	store->bytes += (uint32_t)n;
	return at;
}

static struct epoch_store *store_new(const struct tr_epoch_store_head *about)
{
	uint32_t n = about->n_pairs < TR_EPOCH_STORE_PAIRS ? about->n_pairs :
						      TR_EPOCH_STORE_PAIRS;
	size_t bytes = sizeof(struct tr_training) + 2 * sizeof(uint32_t) * n +
		       text_bytes(about->config) + text_bytes(about->csv) +
		       text_bytes(about->events);
	struct epoch_store *store;
	uint32_t *pairs;

	for (uint32_t i = 0; i < 2 * n; i++)
		bytes += text_bytes(about->pairs[i]);
	store = calloc(1, sizeof(*store) + bytes + TR_LINE);
	if (!store)
		return NULL;
	store->head.n_pairs = n;
	store->head.worker = about->worker;
	store->head.workers = about->workers;
	store->head.epochs = about->epochs;
	store->head.pairs = sizeof(store->head);
	store->bytes = (uint32_t)(sizeof(store->head) + 2 * sizeof(*pairs) * n);
	pairs = (void *)(&store->head + 1);
	for (uint32_t i = 0; i < 2 * n; i++)
		pairs[i] = put_text(store, about->pairs[i]);
	store->head.config = put_text(store, about->config);
	store->head.csv = put_text(store, about->csv);
	store->head.events = put_text(store, about->events);
	store->bytes = (store->bytes + TR_LINE - 1) & ~(TR_LINE - 1);
	store->head.bytes = store->bytes;
	return store;
}

/* Writes the head into the ledger, with the ledger's offsets. */
static void put_head(const struct epoch_store *store, uint32_t off)
{
	struct tr_training head = store->head;
	const uint64_t *from = (const void *)&store->head;
	uint64_t *to = (void *)store_base(off);
	uint32_t *pairs = (void *)store_base(off + head.pairs);

	for (size_t i = sizeof(head) / 8; i < store->bytes / 8; i++)
		TR_STORE(to[i], from[i]);
	for (uint32_t i = 0; i < 2 * head.n_pairs; i++)
		TR_STORE(pairs[i], pairs[i] + off);
	head.config += off;
	head.csv += off;
	head.events += off;
	head.pairs += off;
	head.start = tr_ledger_ticks();
	from = (const void *)&head;
	for (size_t i = 1; i < sizeof(head) / 8; i++)
		TR_STORE(to[i], from[i]);
}

static void link_head(uint32_t off)
{
	struct tr_training *head = (void *)store_base(off);
	uint32_t *newest = &tr_ledger->header->trainings;
	uint32_t before = TR_LOAD(*newest);

	do
		TR_STORE(head->next, before);
	while (!TR_SWAP(*newest, &before, off));
}

static void place_head(struct epoch_store *store)
{
	uint32_t off = store_take(store->bytes);

	store->at = off;
	store->page = store->n_pages = store->slot = 0;
	store->pid = tr_ledger->pid;
	store->replaced = TR_LOAD(tr_ledger->replaced);
	if (!off) {
		(void)TR_ADD(tr_ledger->header->trainings_lost, 1);
		return;
	}
	put_head(store, off);
	TR_PUBLISH(store_training(store)->ready, 1);
	link_head(off);
}

/* ---- rows -------------------------------------------------------------- */

/* The next page of the ring: a new one after this, or the oldest. */
static bool turn_page(struct epoch_store *store)
{
	uint32_t off = store->n_pages < store->most_pages ?
		       store_take(TR_PAGE) :
							  0;

	if (!off && !store->page)
		return false;
	store->slot = 0;
	if (!off) {
		store->page = TR_LOAD(store_page(store->page)->next);
		return store->page != 0;
	}
	store->n_pages++;
	if (store->page) {
		struct tr_training_page *page = store_page(store->page);

		TR_STORE(store_page(off)->next, TR_LOAD(page->next));
		TR_PUBLISH(page->next, off);
	} else {
		TR_STORE(store_page(off)->next, off);
		TR_PUBLISH(store_training(store)->rows, off);
	}
	store->page = off;
	TR_STORE(store_training(store)->n_pages, store->n_pages);
	return true;
}

/*
 * Does this process have a ledger of its own with a place for the rows?
 * Measuring may begin later than the training; and a process may truncate the
 * file, which is then replaced.
 */
static bool store_is_ready(struct epoch_store *store)
{
	if (!tr_ledger_is_open() ||
	    (store->pid && store->pid != tr_ledger->pid))
		return false;
	if (!store->pid || store->replaced != TR_LOAD(tr_ledger->replaced))
		place_head(store);
	return store->at != 0;
}

/* `end` is 0 while the row changes, and is stored last. */
static void store_row(struct tr_training_row *to,
		      const struct tr_training_row *from, uint64_t number)
{
	const uint64_t *words = (const void *)from;
	uint64_t *at = (void *)to;

	TR_STORE(to->end, 0);
	/* Release stores: none may be visible before the 0. */
	for (size_t i = 1; i < sizeof(*to) / 8 - 1; i++)
		TR_PUBLISH(at[i], words[i]);
	TR_STORE(to->ticks, tr_ledger_ticks());
	TR_STORE(to->begin, number);
	TR_PUBLISH(to->end, number);
}

void tr_epoch_store_add(void *handle, const struct tr_training_row *row)
{
	struct epoch_store *store = handle;

	if (TR_FIRST(tr_epoch_store_add)) {
		TR_FIRST(tr_epoch_store_add)(handle, row);
		return;
	}
	if (!store)
		return;
	store->n++;
	if (!store_is_ready(store))
		return;
	if ((!store->page || store->slot == TR_TRAINING_ROWS) &&
	    !turn_page(store))
		return;
	store_row(&store_page(store->page)->row[store->slot++], row, store->n);
}

/* ---- phases ------------------------------------------------------------ */

static struct tr_training_phases *store_phases(struct epoch_store *store)
{
	uint32_t off = TR_LOAD(store_training(store)->phases);

	if (!off && (off = store_take(sizeof(struct tr_training_phases))) != 0)
		TR_PUBLISH(store_training(store)->phases, off);
	return off ? (void *)store_base(off) : NULL;
}

static void store_names(struct tr_training_phases *to,
			const struct tr_epoch_store_phases *from)
{
	uint32_t n = TR_LOAD(to->n);

	for (; n < from->n && n < TR_TRAINING_PHASES; n++) {
		uint64_t words[TR_TRAINING_NAME / 8];

		memcpy(words, from->name + n * TR_TRAINING_NAME,
		       TR_TRAINING_NAME);
		for (unsigned i = 0; i < TR_TRAINING_NAME / 8; i++)
			TR_STORE(to->phase[n].name[i], words[i]);
		TR_PUBLISH(to->n, n + 1);
	}
}

static void store_sums(struct tr_training_sums *to,
		       const struct tr_training_sums *from)
{
	/* Release stores: none may be visible before the copy's 0. */
	TR_PUBLISH(to->seconds, from->seconds);
	TR_PUBLISH(to->last_seconds, from->last_seconds);
	TR_PUBLISH(to->calls, from->calls);
}

void tr_epoch_store_phases(void *handle,
			   const struct tr_epoch_store_phases *from)
{
	struct epoch_store *store = handle;
	struct tr_training_phases *to;
	unsigned copy;

	if (TR_FIRST(tr_epoch_store_phases)) {
		TR_FIRST(tr_epoch_store_phases)(handle, from);
		return;
	}
	/* An older first copy lacks this call, but owns the store. */
	if (TR_FIRST(tr_epoch_store_add) || !store || !store_is_ready(store))
		return;
	to = store_phases(store);
	if (!to)
		return;
	copy = (store->n + 1) & 1;
	TR_STORE(to->number[copy], 0);
	store_names(to, from);
	for (unsigned i = 0; i < 2 * TR_TRAINING_PARTS; i++)
		TR_PUBLISH(to->part[copy][i], tr_bits_of(from->part[i]));
	for (uint32_t i = 0; i < from->n && i < TR_TRAINING_PHASES; i++)
		store_sums(&to->phase[i].sums[copy], &from->sums[i]);
	TR_PUBLISH(to->number[copy], store->n + 1);
}

void *tr_epoch_store_open(const struct tr_epoch_store_head *head)
{
	struct epoch_store *store;
	uint64_t pages;

	if (TR_FIRST(tr_epoch_store_open))
		return TR_FIRST(tr_epoch_store_open)(head);
	store = store_new(head);
	if (!store)
		return NULL;
	pages = head->most_rows / TR_TRAINING_ROWS + 1;
	store->most_pages = pages < UINT32_MAX ? (uint32_t)pages : UINT32_MAX;
	if (tr_probe_has_ledger())
		(void)store_is_ready(store);
	return store;
}

void tr_epoch_store_close(void *handle)
{
	struct epoch_store *store = handle;

	if (TR_FIRST(tr_epoch_store_close)) {
		TR_FIRST(tr_epoch_store_close)(handle);
		return;
	}
	if (store && store_is_ready(store))
		TR_STORE(store_training(store)->closed, 1);
	free(store);
}
