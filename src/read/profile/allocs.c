/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocs: rows of allocations, added up.
 *
 * The total of a stack is its row plus the cached rows of all threads. A row
 * that was being moved out of a cache when the image was taken is where the
 * header says. Cached sums may be negative; only the total of a stack is
 * checked.
 */
#include "read/profile/allocs.h"
#include "read/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/maths.h"

/* More is damage: a million years of allocations. */
#define ALLOCS_MOST (UINT64_C(1) << 60)

struct alloc_table {
	tare_view *view;
	const struct tr_alloc_state *heap;
	const struct tr_alloc *row; /* in the image */
	uint32_t n;
	struct tr_alloc *sum; /* by number; `what`: of the row; 0: none */
	uint64_t unit;
};

static uint32_t kind_of(const struct tr_alloc *row)
{
	return row->what >> TR_ALLOC_SHIFT;
}

static bool find_rows(struct alloc_table *table)
{
	uint64_t *damaged = &table->view->profile.damaged, n;

	table->heap = &tr_view_header(table->view)->heap;
	table->row = tr_image_rows(&table->view->image, TR_REGION_ALLOCS,
				   sizeof(struct tr_alloc), &n, damaged);
	table->unit = table->heap->unit;
	if (n && n <= TR_ALLOC_NUMBER && table->unit &&
	    table->unit <= TR_SAMPLED_MOST)
		table->n = (uint32_t)n;
	*damaged += n && !table->n;
	return table->n > 0;
}

/* ---- sums -------------------------------------------------------------- */

static void add_alloc(struct tr_alloc *to, const struct tr_alloc *from,
		      uint32_t epoch)
{
	bool is_kept = from->epoch == epoch;

	to->allocs += from->allocs;
	to->bytes += from->bytes;
	to->frees += from->frees;
	to->freed += from->freed;
	to->temporary += from->temporary;
	to->peak_allocs += is_kept ? from->peak_allocs :
				     from->allocs - from->frees;
	to->peak_bytes += is_kept ? from->peak_bytes :
				    from->bytes - from->freed;
}

/* The row after the move that was under way. */
static struct tr_alloc row_after(const struct alloc_table *table, uint32_t i)
{
	const struct tr_alloc_state *heap = table->heap;
	struct tr_alloc row = table->row[i];

	if (!(heap->moves & 1))
		return row;
	if (i == heap->move_from)
		memset(&row, 0, sizeof(row));
	if (i == heap->move_to) {
		uint32_t what = row.what;

		row = heap->moved;
		row.what = what;
	}
	return row;
}

static void add_rows(struct alloc_table *table)
{
	for (uint32_t i = 0; i < table->n; i++) {
		struct tr_alloc row = row_after(table, i);
		uint32_t to = i;

		switch (kind_of(&row)) {
		case TR_ALLOC_CACHED:
			to = row.what & TR_ALLOC_NUMBER;
			break;
		case TR_ALLOC_STACK:
		case TR_ALLOC_TAG:
			table->sum[i].what = row.what;
			break;
		default:
			continue;
		}
		if (to < table->n)
			add_alloc(&table->sum[to], &row, table->heap->epoch);
		else
			table->view->profile.damaged++;
	}
}

/* In a live run the parts may be from different times. */
static uint64_t no_less(tare_view *view, uint64_t n, uint64_t *damage)
{
	if ((int64_t)n < 0) {
		*damage += !view->live;
		return 0;
	}
	return n;
}

static bool fill_alloc(struct alloc_table *table, const struct tr_alloc *sum,
		       uint32_t number, tare_alloc *alloc)
{
	tare_view *view = table->view;
	uint64_t damage = 0, unit = table->unit;

	if (sum->allocs > ALLOCS_MOST || sum->bytes > ALLOCS_MOST ||
	    sum->frees > ALLOCS_MOST || sum->freed > ALLOCS_MOST ||
	    sum->temporary > ALLOCS_MOST) {
		view->profile.damaged++;
		return false;
	}
	*alloc = (tare_alloc){
		.row = number,
		.tag = "",
		.allocs = sum->allocs / unit,
		.bytes = sum->bytes,
		.frees = sum->frees / unit,
		.freed_bytes = sum->freed,
		.live = no_less(view, sum->allocs - sum->frees, &damage) /
			unit,
		.live_bytes = no_less(view, sum->bytes - sum->freed, &damage),
		.temporary = sum->temporary / unit,
		.peak_allocs = no_less(view, sum->peak_allocs, &damage) /
			       unit,
		.peak_bytes = no_less(view, sum->peak_bytes, &damage),
	};
	view->profile.damaged += damage > 0;
	if (kind_of(sum) == TR_ALLOC_TAG)
		alloc->tag = tr_image_string(&view->image,
					     sum->what & TR_ALLOC_NUMBER);
	else
		alloc->stack = sum->what & TR_ALLOC_NUMBER;
	return true;
}

static int most_live_first(const void *a, const void *b)
{
	const tare_alloc *x = a, *y = b;
	int order = TR_ORDER(y->live_bytes, x->live_bytes);

	if (!order)
		order = TR_ORDER(y->bytes, x->bytes);
	return order ? order : TR_ORDER(x->row, y->row);
}

static int fill_allocs(struct alloc_table *table)
{
	struct tr_allocs *a = &table->view->profile.allocs;
	size_t n = 0;

	for (uint32_t i = 0; i < table->n; i++)
		n += table->sum[i].what && table->sum[i].allocs;
	a->at = calloc(n + 1, sizeof(*a->at));
	if (!a->at)
		return TARE_ENOMEM;
	for (uint32_t i = 0; i < table->n; i++)
		if (table->sum[i].what && table->sum[i].allocs &&
		    fill_alloc(table, &table->sum[i], i, &a->at[a->n]))
			a->n++;
	qsort(a->at, a->n, sizeof(*a->at), most_live_first);
	return 0;
}

/* ---- snapshots --------------------------------------------------------- */

static void fill_mark(struct alloc_table *table, uint32_t at,
		      tare_alloc_mark *mark)
{
	const struct tr_alloc *row = &table->row[at];
	struct tr_allocs *a = &table->view->profile.allocs;
	tare_alloc *to = a->copies + a->n_copies;

	mark->name = tr_image_string(&table->view->image,
				     row->what & TR_ALLOC_NUMBER);
	mark->at_ns = tr_time_real(&table->view->image, row->bytes);
	mark->allocs = to;
	for (uint64_t i = 1; i <= row->allocs; i++) {
		struct tr_alloc copy = row[i];
		uint32_t of = copy.what & TR_ALLOC_NUMBER;

		if (kind_of(&copy) != TR_ALLOC_COPY || of >= table->n ||
		    !table->sum[of].what) {
			table->view->profile.damaged++;
			continue;
		}
		copy.what = table->sum[of].what;
		if (!fill_alloc(table, &copy, of, to))
			continue;
		if (!to->tag[0]) {
			mark->live += to->live;
			mark->live_bytes += to->live_bytes;
		}
		to++;
	}
	mark->n_allocs = (size_t)(to - mark->allocs);
	a->n_copies += mark->n_allocs;
	qsort(a->copies + a->n_copies - mark->n_allocs, mark->n_allocs,
	      sizeof(*to), most_live_first);
}

/* Does the rest of the table have room for its rows? */
static bool is_mark(const struct alloc_table *table, uint32_t i)
{
	return kind_of(&table->row[i]) == TR_ALLOC_MARK &&
	       table->row[i].allocs < table->n - i;
}

static int fill_marks(struct alloc_table *table)
{
	struct tr_allocs *a = &table->view->profile.allocs;
	size_t n = 0, copies = 0;

	for (uint32_t i = 0; i < table->n; i++) {
		if (!is_mark(table, i)) {
			table->view->profile.damaged +=
				kind_of(&table->row[i]) == TR_ALLOC_MARK;
			continue;
		}
		n++;
		copies += table->row[i].allocs;
		i += (uint32_t)table->row[i].allocs;
	}
	a->marks = calloc(n + 1, sizeof(*a->marks));
	a->copies = calloc(copies + 1, sizeof(*a->copies));
	if (!a->marks || !a->copies)
		return TARE_ENOMEM;
	for (uint32_t i = 0; i < table->n; i++) {
		if (!is_mark(table, i))
			continue;
		fill_mark(table, i, &a->marks[a->n_marks++]);
		i += (uint32_t)table->row[i].allocs;
	}
	return 0;
}

/* ---- totals ------------------------------------------------------------ */

static void fill_totals(struct alloc_table *table)
{
	struct tr_allocs *a = &table->view->profile.allocs;
	const struct tr_alloc_state *heap = table->heap;
	tare_heap *h = &a->heap;

	h->was_on = heap->mode == TR_HEAP_EXACT ||
		    heap->mode == TR_HEAP_SAMPLED;
	h->is_estimate = heap->mode == TR_HEAP_SAMPLED;
	h->sample_bytes = heap->mean_bytes;
	h->peak_bytes = heap->peak_bytes;
	h->peak_ns = heap->peak_ticks ? tr_time_real(&table->view->image,
						     heap->peak_ticks) :
					0;
	h->unseen = heap->unseen;
	h->foreign = heap->foreign;
	h->table_bytes = heap->table_bytes;
	h->threads = heap->threads;
	for (size_t i = 0; i < a->n; i++) {
		const tare_alloc *row = &a->at[i];

		if (row->tag[0])
			continue;
		h->allocs += row->allocs;
		h->bytes += row->bytes;
		h->frees += row->frees;
		h->freed_bytes += row->freed_bytes;
		h->live += row->live;
		h->live_bytes += row->live_bytes;
		h->temporary += row->temporary;
		h->peak_allocs += row->peak_allocs;
	}
}

/*
 * A new peak is noted when it is larger by a part. So the end may have more
 * than the noted one: then it is the peak.
 */
static void raise_peak(struct tr_allocs *a)
{
	if (a->heap.live_bytes <= a->heap.peak_bytes)
		return;
	a->heap.peak_bytes = a->heap.live_bytes;
	a->heap.peak_allocs = a->heap.live;
	for (size_t i = 0; i < a->n; i++) {
		a->at[i].peak_bytes = a->at[i].live_bytes;
		a->at[i].peak_allocs = a->at[i].live;
	}
}

static int read_table(struct alloc_table *table)
{
	int err;

	table->sum = calloc(table->n, sizeof(*table->sum));
	if (!table->sum)
		return TARE_ENOMEM;
	add_rows(table);
	err = fill_allocs(table);
	if (!err)
		err = fill_marks(table);
	if (!err) {
		fill_totals(table);
		raise_peak(&table->view->profile.allocs);
	}
	free(table->sum);
	return err;
}

int tr_view_allocs(tare_view *view)
{
	struct alloc_table table = { .view = view };
	struct tr_allocs *a = &view->profile.allocs;
	int err = 0;

	if (a->is_read)
		return 0;
	a->heap.struct_size = sizeof(a->heap);
	if (find_rows(&table))
		err = read_table(&table);
	if (err)
		tr_allocs_release(a);
	a->is_read = !err;
	return err;
}

/*
 * Half the width of an interval that holds 95 % of the time. The variance of a
 * sum of bytes is at most the sum times the mean distance of samples: a block
 * of s bytes, sampled with the chance p = 1 - exp(-s / mean), adds
 * s * s * (1 - p) / p, which is at most s * mean. Without any sample there may
 * still have been three times the distance: -log(0.05).
 */
double tr_heap_error(const tare_heap *heap, uint64_t bytes)
{
	double mean = (double)heap->sample_bytes;

	if (!(mean > 0))
		return 0;
	return mean * (1 + 1.96 * tr_maths_sqrt((double)bytes / mean + 1));
}

/* ---- public ------------------------------------------------------------ */

TARE_API const tare_heap *tare_view_heap(tare_view *view)
{
	(void)tr_view_allocs(view);
	return &view->profile.allocs.heap;
}

TARE_API int tare_view_allocs(tare_view *view, const tare_alloc **ret_allocs,
			      size_t *ret_n)
{
	int err = view && ret_allocs && ret_n ? tr_view_allocs(view) :
						TARE_EINVAL;

	if (err)
		return err;
	*ret_allocs = view->profile.allocs.at;
	*ret_n = view->profile.allocs.n;
	return 0;
}

TARE_API int tare_view_alloc_marks(tare_view *view,
				   const tare_alloc_mark **ret_marks,
				   size_t *ret_n)
{
	int err = view && ret_marks && ret_n ? tr_view_allocs(view) :
					       TARE_EINVAL;

	if (err)
		return err;
	*ret_marks = view->profile.allocs.marks;
	*ret_n = view->profile.allocs.n_marks;
	return 0;
}
