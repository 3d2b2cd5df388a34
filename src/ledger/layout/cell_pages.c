/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of a cell in the order of their numbers: those of its window, and the
 * far ones, which are in a list. Used by the thread that closes a slice, and,
 * in any process, for completing an update that a kill cut short.
 */
#include "ledger/layout.h"

static const void *at(const char *base, uint64_t size, uint32_t off,
		      uint64_t bytes)
{
	return off && off % 4 == 0 && off + bytes <= size ? base + off : NULL;
}

static void far_page_after(const char *base, uint64_t size,
			   const struct tr_cell *cell, int64_t after,
			   uint32_t *number, uint32_t *page)
{
	const struct tr_extra *extra =
		at(base, size, TR_ACQUIRE(cell->extra), sizeof(*extra));
	uint32_t link = extra ? TR_ACQUIRE(extra->far) : 0;
	const struct tr_far *far;

	for (int n = 0; n < TR_FAR_LISTS; n++) {
		far = at(base, size, link, sizeof(*far));
		if (!far)
			return;
		for (uint32_t i = 0; i < TR_ACQUIRE(far->n) && i < 7; i++) {
			uint32_t x = TR_LOAD(far->number[i]);

			if ((int64_t)x > after && x < *number) {
				*number = x;
				*page = TR_LOAD(far->page[i]);
			}
		}
		link = TR_ACQUIRE(far->next);
	}
}

bool tr_cell_page_after(const char *base, uint64_t size,
			const struct tr_cell *cell, int64_t after,
			uint32_t *ret_number, uint32_t *ret_page)
{
	uint32_t number = UINT32_MAX, page = 0, first = TR_LOAD(cell->base);
	int64_t from = after + 1 > first ? after + 1 - first : 0;

	for (int64_t i = from; i < TR_CELL_PAGES; i++) {
		page = TR_ACQUIRE(cell->page[i]);
		if (page) {
			number = first + (uint32_t)i;
			break;
		}
	}
	far_page_after(base, size, cell, after, &number, &page);
	*ret_number = number;
	*ret_page = page;
	return number != UINT32_MAX;
}
