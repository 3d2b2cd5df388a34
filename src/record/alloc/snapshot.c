/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshot: the table added up at one moment: to keep in the ledger, to return
 * to the program, or to find what grew.
 */
#include <tare/alloc.h>

#include "record/probe.h"
#include "record/alloc/alloc.h"
#include "record/alloc.h"

#include <string.h>

#define SNAPSHOT_NAME 120u

struct sums {
	struct tr_alloc *row;
	uint32_t n;
};

static int add_up(struct sums *sums)
{
	struct tr_alloc_thread *thread;

	if (!TR_LOAD(tr_alloc_mode))
		return TARE_EOFF;
	thread = tr_alloc_enter();
	if (!thread)
		return TARE_EOFF;
	tr_alloc_table_lock();
	sums->n = tr_alloc_table_rows();
	sums->row = tr_memory_map((sums->n + 1) * sizeof(*sums->row));
	if (sums->row)
		tr_alloc_table_sum(sums->row, sums->n);
	tr_alloc_table_unlock();
	tr_alloc_leave(thread);
	return sums->row ? 0 : TARE_ENOMEM;
}

static void release_sums(struct sums *sums)
{
	tr_memory_unmap(sums->row, (sums->n + 1) * sizeof(*sums->row));
}

/* ---- kept -------------------------------------------------------------- */

static bool is_used(const struct tr_alloc *row)
{
	return row->what && row->allocs;
}

static uint32_t count_used(const struct sums *sums)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sums->n; i++)
		n += is_used(&sums->row[i]);
	return n;
}

static void copy_rows(const struct sums *sums, struct tr_alloc *to)
{
	for (uint32_t i = 0; i < sums->n; i++) {
		if (!is_used(&sums->row[i]))
			continue;
		tr_alloc_table_store(to, &sums->row[i]);
		TR_STORE(to->what,
			 (uint32_t)TR_ALLOC_COPY << TR_ALLOC_SHIFT | i);
		to++;
	}
}

static int keep_sums(const struct sums *sums, const char *name)
{
	uint32_t n = count_used(sums);
	uint32_t text = tr_string_copy(name, SNAPSHOT_NAME);
	uint32_t row = text && text <= TR_ALLOC_NUMBER ?
			       tr_alloc_table_take_rows(n + 1) :
			       0;
	struct tr_alloc *mark;

	if (!row)
		return TARE_EFULL;
	mark = tr_alloc_table_at(row);
	copy_rows(sums, mark + 1);
	TR_STORE(mark->allocs, n);
	TR_STORE(mark->bytes, tr_ledger_ticks());
	TR_PUBLISH(mark->what,
		   (uint32_t)TR_ALLOC_MARK << TR_ALLOC_SHIFT | text);
	return 0;
}

TARE_API int tare_alloc_snapshot(const char *name)
{
	struct sums sums;
	int err;

	if (TR_FIRST(tare_alloc_snapshot))
		return TR_FIRST(tare_alloc_snapshot)(name);
	if (!name || !name[0])
		return TARE_EINVAL;
	err = add_up(&sums);
	if (err)
		return err;
	err = keep_sums(&sums, name);
	release_sums(&sums);
	return err;
}

/* ---- told -------------------------------------------------------------- */

static void fill_heap(const struct sums *sums, tare_heap *heap)
{
	const struct tr_alloc_state *heap_state = &tr_ledger->header->heap;
	uint64_t unit = TR_LOAD(heap_state->unit);

	for (uint32_t i = 0; i < sums->n; i++) {
		const struct tr_alloc *row = &sums->row[i];

		if (row->what >> TR_ALLOC_SHIFT != TR_ALLOC_STACK)
			continue;
		heap->allocs += row->allocs;
		heap->bytes += row->bytes;
		heap->frees += row->frees;
		heap->freed_bytes += row->freed;
		heap->temporary += row->temporary;
		heap->peak_allocs += row->peak_allocs;
	}
	unit = unit ? unit : 1; /* a truncated ledger: zeros */
	heap->live = (heap->allocs - heap->frees) / unit;
	heap->live_bytes = heap->bytes - heap->freed_bytes;
	heap->allocs /= unit;
	heap->frees /= unit;
	heap->temporary /= unit;
	heap->peak_allocs /= unit;
}

TARE_API int tare_alloc_current(tare_heap *ret_heap)
{
	tare_heap heap = { 0 };
	const struct tr_alloc_state *heap_state;
	struct sums sums;
	uint32_t size;
	int err;

	if (TR_FIRST(tare_alloc_current))
		return TR_FIRST(tare_alloc_current)(ret_heap);
	if (!ret_heap || ret_heap->struct_size < sizeof(uint32_t) ||
	    ret_heap->struct_size > TR_READING_MOST)
		return TARE_EINVAL;
	err = add_up(&sums);
	if (err)
		return err;
	fill_heap(&sums, &heap);
	release_sums(&sums);
	heap_state = &tr_ledger->header->heap;
	heap.was_on = true;
	heap.is_estimate = TR_LOAD(heap_state->mode) == TR_HEAP_SAMPLED;
	heap.sample_bytes = TR_LOAD(heap_state->mean_bytes);
	heap.peak_bytes = TR_LOAD(heap_state->peak_bytes);
	heap.unseen = TR_LOAD(heap_state->unseen);
	heap.foreign = TR_LOAD(heap_state->foreign);
	heap.table_bytes = TR_LOAD(heap_state->table_bytes);
	heap.threads = TR_LOAD(heap_state->threads);
	size = ret_heap->struct_size;
	heap.struct_size = size;
	memcpy(ret_heap, &heap, size < sizeof(heap) ? size : sizeof(heap));
	return 0;
}

/* ---- what grew --------------------------------------------------------- */

/* Live bytes by row at the last tr_alloc_mark(); used by one thread. */
static struct sums then;
static uint32_t then_pid;

void tr_alloc_mark(void)
{
	if (then.row && then_pid == tr_ledger->pid)
		release_sums(&then);
	then.row = NULL;
	if (add_up(&then))
		return;
	then_pid = tr_ledger->pid;
}

bool tr_alloc_growth(struct tr_alloc_growth *ret_growth)
{
	struct sums now;
	int64_t most = 0;
	uint32_t best = UINT32_MAX;

	if (!then.row || then_pid != tr_ledger->pid || add_up(&now))
		return false;
	for (uint32_t i = 0; i < now.n; i++) {
		const struct tr_alloc *row = &now.row[i];
		int64_t grown = (int64_t)(row->bytes - row->freed);

		if (row->what >> TR_ALLOC_SHIFT != TR_ALLOC_STACK)
			continue;
		if (i < then.n)
			grown -= (int64_t)(then.row[i].bytes -
					   then.row[i].freed);
		if (grown <= most)
			continue;
		most = grown;
		best = i;
	}
	if (best != UINT32_MAX) {
		ret_growth->stack = now.row[best].what & TR_ALLOC_NUMBER;
		ret_growth->bytes = (uint64_t)most;
	}
	release_sums(&now);
	return best != UINT32_MAX;
}
