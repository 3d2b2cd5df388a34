/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cell: the parts of a histogram that the fast path does not reach.
 *
 * A cell's window covers 32 octaves. Times outside (beyond 0.7 s) and
 * values of another magnitude have their pages in a list, and so have carries
 * of buckets that passed 2^32.
 */
#include "ledger/write.h"

#include <assert.h>


struct tr_extra *tr_cell_extra(struct tr_thread *thread, struct tr_cell *cell)
{
	uint32_t off = TR_LOAD(cell->extra);

	assert(tr_thread_is_busy(thread));
	if (!off) {
		off = tr_track_alloc(thread, sizeof(struct tr_extra));
		if (!off)
			return NULL;
		TR_PUBLISH(cell->extra, off);
	}
	return (struct tr_extra *)(void *)(thread->base + off);
}

static uint32_t new_page(struct tr_thread *thread)
{
	return tr_track_alloc(thread, TR_PAGE_BUCKETS * sizeof(uint32_t));
}

static uint32_t far_page(struct tr_thread *thread, struct tr_cell *cell,
			 uint32_t number)
{
	struct tr_extra *extra = tr_cell_extra(thread, cell);
	uint32_t *link = extra ? &extra->far : NULL, page, n;
	struct tr_far *far = NULL;
	int lists = 0;

	for (; link && (page = TR_LOAD(*link)); lists++) {
		far = (struct tr_far *)(void *)(thread->base + page);
		for (uint32_t i = 0; i < far->n && i < 7; i++)
			if (far->number[i] == number)
				return far->page[i];
		link = &far->next;
	}
	/* More octaves than a program measures: counted without a bucket. */
	if (!link || (lists == TR_FAR_LISTS && far->n == 7))
		return 0;
	if (!far || far->n == 7) {
		uint32_t off = tr_track_alloc(thread, sizeof(*far));

		if (!off)
			return 0;
		TR_PUBLISH(*link, off);
		far = (struct tr_far *)(void *)(thread->base + off);
	}
	page = new_page(thread);
	if (!page)
		return 0;
	n = TR_LOAD(far->n) % 7;
	TR_STORE(far->number[n], number);
	TR_STORE(far->page[n], page);
	TR_PUBLISH(far->n, n + 1);
	return page;
}

uint32_t tr_cell_bucket(struct tr_thread *thread, struct tr_cell *cell,
			uint64_t bits)
{
	uint32_t number = (uint32_t)tr_bucket_page(bits), page;
	uint32_t place = number - cell->base;

	assert(tr_thread_is_busy(thread));
	if (place < TR_CELL_PAGES) {
		page = cell->page[place];
		if (!page) {
			page = new_page(thread);
			TR_PUBLISH(cell->page[place], page);
		}
	} else {
		page = far_page(thread, cell, number);
	}
	return page ? page + (uint32_t)tr_bucket_offset(bits) : 0;
}

uint32_t *tr_cell_carry(struct tr_thread *thread, struct tr_cell *cell,
			uint32_t bucket)
{
	struct tr_extra *extra = tr_cell_extra(thread, cell);
	uint32_t *link = extra ? &extra->carry : NULL;
	struct tr_carry *carry = NULL;
	uint32_t off, n;

	assert(tr_thread_is_busy(thread));
	assert(bucket);
	while (link && (off = TR_LOAD(*link))) {
		carry = (struct tr_carry *)(void *)(thread->base + off);
		for (uint32_t i = 0; i < carry->n && i < 7; i++)
			if (carry->bucket[i] == bucket)
				return &carry->high[i];
		link = &carry->next;
	}
	if (!link)
		return NULL;
	if (!carry || carry->n == 7) {
		off = tr_track_alloc(thread, sizeof(*carry));
		if (!off)
			return NULL;
		TR_PUBLISH(*link, off);
		carry = (struct tr_carry *)(void *)(thread->base + off);
	}
	n = TR_LOAD(carry->n) % 7;
	TR_STORE(carry->bucket[n], bucket);
	TR_PUBLISH(carry->n, n + 1);
	return &carry->high[n];
}
