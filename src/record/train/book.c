/* SPDX-License-Identifier: Apache-2.0 */
#include "record/train/book.h"

#include <stdlib.h>
#include <string.h>

#define BOOK_TEXT 1000u /* bytes of a text at most; readers take 4,352 */
#define BOOK_SHARE 4u	/* of the ledger's limit, for all books */

struct book {
	uint32_t pid, replaced; /* ledger that it is in */
	uint32_t at;		/* struct tr_training; 0: none now */
	uint32_t page, slot;	/* place of the next row */
	uint32_t n_pages, most_pages;
	uint64_t n;		/* rows so far */
	uint32_t bytes;		/* of `head` */
	/* As in the ledger, but offsets count from the beginning. */
	struct tr_training head;
};

static char *book_base(uint32_t off)
{
	return tr_ledger->base + off;
}

static struct tr_training *book_training(const struct book *book)
{
	return (void *)book_base(book->at);
}

static struct tr_training_page *book_page(uint32_t off)
{
	return (void *)book_base(off);
}

/* Zeroed bytes of the ledger, or 0. */
static uint32_t book_take(uint32_t bytes)
{
	uint64_t before = TR_ADD(tr_ledger->training_bytes, bytes);
	uint32_t off;

	if (before + bytes > tr_ledger->limit_bytes / BOOK_SHARE)
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

/* ---- its head ----------------------------------------------------------- */

static size_t text_bytes(const char *text)
{
	return text ? strnlen(text, BOOK_TEXT) + 1 : 1;
}

static uint32_t put_text(struct book *book, const char *text)
{
	uint32_t at = book->bytes;
	size_t n = text_bytes(text);

	if (text)
		memcpy((char *)&book->head + at, text, n - 1);
	book->bytes += (uint32_t)n;
	return at;
}

static struct book *book_new(const struct tr_book_head *about)
{
	uint32_t n = about->n_pairs < TR_BOOK_PAIRS ? about->n_pairs :
						      TR_BOOK_PAIRS;
	size_t bytes = sizeof(struct tr_training) + 2 * sizeof(uint32_t) * n +
		       text_bytes(about->config) + text_bytes(about->csv) +
		       text_bytes(about->events);
	struct book *book;
	uint32_t *pairs;

	for (uint32_t i = 0; i < 2 * n; i++)
		bytes += text_bytes(about->pairs[i]);
	book = calloc(1, sizeof(*book) + bytes + TR_LINE);
	if (!book)
		return NULL;
	book->head.n_pairs = n;
	book->head.worker = about->worker;
	book->head.workers = about->workers;
	book->head.epochs = about->epochs;
	book->head.pairs = sizeof(book->head);
	book->bytes = (uint32_t)(sizeof(book->head) + 2 * sizeof(*pairs) * n);
	pairs = (void *)(&book->head + 1);
	for (uint32_t i = 0; i < 2 * n; i++)
		pairs[i] = put_text(book, about->pairs[i]);
	book->head.config = put_text(book, about->config);
	book->head.csv = put_text(book, about->csv);
	book->head.events = put_text(book, about->events);
	book->bytes = (book->bytes + TR_LINE - 1) & ~(TR_LINE - 1);
	book->head.bytes = book->bytes;
	return book;
}

/* The head in the ledger, with offsets of the ledger. */
static void put_head(const struct book *book, uint32_t off)
{
	struct tr_training head = book->head;
	const uint64_t *from = (const void *)&book->head;
	uint64_t *to = (void *)book_base(off);
	uint32_t *pairs = (void *)book_base(off + head.pairs);

	for (size_t i = sizeof(head) / 8; i < book->bytes / 8; i++)
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
	struct tr_training *head = (void *)book_base(off);
	uint32_t *newest = &tr_ledger->header->trainings;
	uint32_t before = TR_LOAD(*newest);

	do
		TR_STORE(head->next, before);
	while (!__atomic_compare_exchange_n(newest, &before, off, true,
					    __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED));
}

static void place_head(struct book *book)
{
	uint32_t off = book_take(book->bytes);

	book->at = off;
	book->page = book->n_pages = book->slot = 0;
	book->pid = tr_ledger->pid;
	book->replaced = TR_LOAD(tr_ledger->replaced);
	if (!off) {
		(void)TR_ADD(tr_ledger->header->trainings_lost, 1);
		return;
	}
	put_head(book, off);
	TR_PUBLISH(book_training(book)->ready, 1);
	link_head(off);
}

/* ---- rows --------------------------------------------------------------- */

/* The next page of the ring: a new one behind this, or the oldest. */
static bool turn_page(struct book *book)
{
	uint32_t off = book->n_pages < book->most_pages ? book_take(TR_PAGE) :
							  0;

	if (!off && !book->page)
		return false;
	book->slot = 0;
	if (!off) {
		book->page = TR_LOAD(book_page(book->page)->next);
		return book->page != 0;
	}
	book->n_pages++;
	if (book->page) {
		struct tr_training_page *page = book_page(book->page);

		TR_STORE(book_page(off)->next, TR_LOAD(page->next));
		TR_PUBLISH(page->next, off);
	} else {
		TR_STORE(book_page(off)->next, off);
		TR_PUBLISH(book_training(book)->rows, off);
	}
	book->page = off;
	TR_STORE(book_training(book)->n_pages, book->n_pages);
	return true;
}

static bool is_open(void)
{
	return tr_ledger && TR_ACQUIRE(tr_ledger->ready) && tr_ledger->base;
}

/*
 * Is there a ledger, the one of this process, that the book has a place in?
 * Measuring may begin later than the training; and somebody may truncate the
 * file, which is then another one.
 */
static bool book_is_ready(struct book *book)
{
	if (!is_open() || (book->pid && book->pid != tr_ledger->pid))
		return false;
	if (!book->pid || book->replaced != TR_LOAD(tr_ledger->replaced))
		place_head(book);
	return book->at != 0;
}

/* `end` is 0 while the row changes, and what a reader sees last. */
static void store_row(struct tr_training_row *to,
		      const struct tr_training_row *from, uint64_t number)
{
	const uint64_t *words = (const void *)from;
	uint64_t *at = (void *)to;

	TR_STORE(to->end, 0);
	/* Each by release: none may be seen before the 0. */
	for (size_t i = 1; i < sizeof(*to) / 8 - 1; i++)
		TR_PUBLISH(at[i], words[i]);
	TR_STORE(to->ticks, tr_ledger_ticks());
	TR_STORE(to->begin, number);
	TR_PUBLISH(to->end, number);
}

void tr_book_add(void *handle, const struct tr_training_row *row)
{
	__typeof__(&tr_book_add) first = TR_FIRST(tr_book_add,
						  TR_API_BOOK_ADD);
	struct book *book = handle;

	if (first) {
		first(handle, row);
		return;
	}
	if (!book)
		return;
	book->n++;
	if (!book_is_ready(book))
		return;
	if ((!book->page || book->slot == TR_TRAINING_ROWS) &&
	    !turn_page(book))
		return;
	store_row(&book_page(book->page)->row[book->slot++], row, book->n);
}

/* ---- phases ------------------------------------------------------------- */

static struct tr_training_phases *book_phases(struct book *book)
{
	uint32_t off = TR_LOAD(book_training(book)->phases);

	if (!off && (off = book_take(sizeof(struct tr_training_phases))) != 0)
		TR_PUBLISH(book_training(book)->phases, off);
	return off ? (void *)book_base(off) : NULL;
}

static void store_names(struct tr_training_phases *to,
			const struct tr_book_phases *from)
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
	/* Each by release: none may be seen before the copy's 0. */
	TR_PUBLISH(to->seconds, from->seconds);
	TR_PUBLISH(to->last_seconds, from->last_seconds);
	TR_PUBLISH(to->calls, from->calls);
}

void tr_book_phases(void *handle, const struct tr_book_phases *from)
{
	__typeof__(&tr_book_phases) first = TR_FIRST(tr_book_phases,
						     TR_API_BOOK_PHASES);
	struct book *book = handle;
	struct tr_training_phases *to;
	unsigned copy;

	if (first) {
		first(handle, from);
		return;
	}
	/* A first copy that is older has no such call, and the book is its. */
	if (TR_FIRST(tr_book_add, TR_API_BOOK_ADD) || !book ||
	    !book_is_ready(book))
		return;
	to = book_phases(book);
	if (!to)
		return;
	copy = (book->n + 1) & 1;
	TR_STORE(to->number[copy], 0);
	store_names(to, from);
	for (unsigned i = 0; i < 2 * TR_TRAINING_PARTS; i++)
		TR_PUBLISH(to->part[copy][i], tr_bits_of(from->part[i]));
	for (uint32_t i = 0; i < from->n && i < TR_TRAINING_PHASES; i++)
		store_sums(&to->phase[i].sums[copy], &from->sums[i]);
	TR_PUBLISH(to->number[copy], book->n + 1);
}

void *tr_book_open(const struct tr_book_head *head)
{
	__typeof__(&tr_book_open) first = TR_FIRST(tr_book_open,
						   TR_API_BOOK_OPEN);
	struct book *book;
	uint64_t pages;

	if (first)
		return first(head);
	book = book_new(head);
	if (!book)
		return NULL;
	pages = head->most_rows / TR_TRAINING_ROWS + 1;
	book->most_pages = pages < UINT32_MAX ? (uint32_t)pages : UINT32_MAX;
	if (tr_probe_has_ledger())
		(void)book_is_ready(book);
	return book;
}

void tr_book_close(void *handle)
{
	__typeof__(&tr_book_close) first = TR_FIRST(tr_book_close,
						    TR_API_BOOK_CLOSE);
	struct book *book = handle;

	if (first) {
		first(handle);
		return;
	}
	if (book && book_is_ready(book))
		TR_STORE(book_training(book)->closed, 1);
	free(book);
}
