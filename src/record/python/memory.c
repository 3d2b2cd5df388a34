/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: which pages of the interpreter may be read.
 *
 * A sample may come when a frame is half built, so a pointer may be anything.
 * The kernel is asked once for each page that a sample reads (150 ns): a thread
 * does not unmap what its own frames are in while it is in a signal handler.
 * Nothing is kept for the next sample, when that may have happened. A handler
 * for SIGSEGV would not be enough: a program may install its own (faulthandler
 * does).
 */
#include "record/python/python.h"

/* The page that was used last is the first one. */
bool tr_python_page_slow(struct tr_python_pages *pages, uint64_t page)
{
	uint64_t first = pages->page[0];

	if (!page)
		return false;
	for (uint32_t i = 1; i < TR_PYTHON_PAGES; i++)
		if (pages->page[i] == page) {
			pages->page[i] = first;
			pages->page[0] = page;
			return true;
		}
	if (!tr_unwind_can_read(page << 12))
		return false;
	pages->next = pages->next % (TR_PYTHON_PAGES - 1) + 1;
	pages->page[pages->next] = first;
	pages->page[0] = page;
	return true;
}

bool tr_python_can_read_all(struct tr_python_pages *pages, uint64_t at,
			    uint64_t bytes)
{
	if (!bytes)
		return true;
	if (at + bytes < at)
		return false;
	for (uint64_t page = at >> 12; page <= (at + bytes - 1) >> 12; page++)
		if (!tr_python_can_read(pages, page << 12))
			return false;
	return true;
}
