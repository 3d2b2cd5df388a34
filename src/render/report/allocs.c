/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations in a report: totals, and the largest places at the peak. `tare
 * alloc` shows more.
 */
#include "render/report.h"

#include <tare/read/alloc.h>

#include <stdlib.h>
#include <string.h>

#include "read/profile.h"

#define ALLOC_ROWS 10u /* default */

struct alloc_place {
	tare_place place;
	tare_alloc sum;
};

static int by_place(const void *a, const void *b)
{
	const struct alloc_place *x = a, *y = b;
	int order = strcmp(x->place.function, y->place.function);

	if (!order)
		order = strcmp(x->place.file, y->place.file);
	if (order)
		return order;
	return x->place.line < y->place.line ? -1 :
					       x->place.line > y->place.line;
}

static int by_peak(const void *a, const void *b)
{
	const struct alloc_place *x = a, *y = b;

	if (x->sum.peak_bytes != y->sum.peak_bytes)
		return x->sum.peak_bytes > y->sum.peak_bytes ? -1 : 1;
	if (x->sum.bytes != y->sum.bytes)
		return x->sum.bytes > y->sum.bytes ? -1 : 1;
	return by_place(a, b);
}

static void add_sum(tare_alloc *to, const tare_alloc *from)
{
	to->allocs += from->allocs;
	to->bytes += from->bytes;
	to->live += from->live;
	to->live_bytes += from->live_bytes;
	to->peak_allocs += from->peak_allocs;
	to->peak_bytes += from->peak_bytes;
	to->temporary += from->temporary;
}

/* Merges rows of the same place. */
static size_t merge_places(struct alloc_place *at, size_t n)
{
	size_t used = 0;

	qsort(at, n, sizeof(*at), by_place);
	for (size_t i = 0; i < n; i++) {
		if (used && by_place(&at[used - 1], &at[i]) == 0)
			add_sum(&at[used - 1].sum, &at[i].sum);
		else
			at[used++] = at[i];
	}
	return used;
}

/* Largest at the peak first. Gives; NULL: out of memory. */
static struct alloc_place *places_of(tare_view *view, size_t *ret_n)
{
	struct alloc_place *at;
	const tare_alloc *rows;
	size_t n;

	if (tare_view_allocs(view, &rows, &n))
		return NULL;
	at = calloc(n + 1, sizeof(*at));
	if (!at)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		at[i].sum = rows[i];
		tare_view_alloc_place(view, &rows[i], &at[i].place, NULL);
	}
	n = merge_places(at, n);
	qsort(at, n, sizeof(*at), by_peak);
	*ret_n = n;
	return at;
}

/* ---- text -------------------------------------------------------------- */

static void amount(struct tr_report *r, const char *what, uint64_t bytes,
		   uint64_t n)
{
	tr_buf_addf(r->buf, "%s %s in %s, ", what,
		    tr_as_bytes((double)bytes).text, tr_as_count(n).text);
}

static void alloc_lines(struct tr_report *r, const tare_heap *h)
{
	tr_buf_adds(r->buf, "\nallocations  ");
	amount(r, "all", h->bytes, h->allocs);
	amount(r, "live", h->live_bytes, h->live);
	amount(r, "peak", h->peak_bytes, h->peak_allocs);
	tr_buf_addf(r->buf, "temporary %s\n", tr_as_count(h->temporary).text);
	if (h->is_estimate)
		tr_buf_addf(r->buf, "             estimated from samples: all "
			    "\xc2\xb1 %s, live \xc2\xb1 %s, peak \xc2\xb1 %s "
			    "(95 %%)\n",
			    tr_as_bytes(tr_heap_error(h, h->bytes)).text,
			    tr_as_bytes(tr_heap_error(h, h->live_bytes)).text,
			    tr_as_bytes(tr_heap_error(h, h->peak_bytes)).text);
	if (h->unseen)
		tr_buf_addf(r->buf, "%s allocations are untracked\n",
			    tr_as_count(h->unseen).text);
}

static void size_cell(struct tr_report *r, uint64_t bytes)
{
	tr_report_cell(r, tr_as_bytes((double)bytes).text, 10);
}

static void alloc_row(struct tr_report *r, const struct alloc_place *p)
{
	size_cell(r, p->sum.peak_bytes);
	size_cell(r, p->sum.live_bytes);
	size_cell(r, p->sum.bytes);
	tr_report_count(r, p->sum.allocs, 12);
	tr_buf_adds(r->buf, "  ");
	tr_report_text(r, p->place.function, 60);
	tr_report_place(r, p->place.file, p->place.line);
	tr_buf_addc(r->buf, '\n');
}

int tr_report_allocs(struct tr_report *r)
{
	static const struct tr_report_title titles[] = {
		{ "at peak", 10 }, { "live", 10 },    { "bytes", 10 },
		{ "count", 12 },   { " place", 6 },   { NULL, 0 },
	};
	const tare_heap *heap = tare_view_heap(r->view);
	size_t n, most = r->options.top ? r->options.top : ALLOC_ROWS;
	struct alloc_place *at;

	if (!heap->was_on)
		return 0;
	at = places_of(r->view, &n);
	if (!at)
		return TARE_ENOMEM;
	alloc_lines(r, heap);
	if (n)
		tr_report_titles(r, NULL, 0, titles);
	for (size_t i = 0; i < n && i < most; i++)
		alloc_row(r, &at[i]);
	if (n > most)
		tr_buf_addf(r->buf, "... and %llu more places: tare alloc\n",
			    (unsigned long long)(n - most));
	free(at);
	return 0;
}

/* ---- JSON -------------------------------------------------------------- */

#define HEAP(field) TR_FIELD(tare_heap, #field, field)

static const struct tr_field heap_fields[] = {
	HEAP(is_estimate), HEAP(sample_bytes), HEAP(allocs), HEAP(bytes),
	HEAP(frees), HEAP(freed_bytes), HEAP(live), HEAP(live_bytes),
	HEAP(peak_allocs), HEAP(peak_bytes), HEAP(temporary), HEAP(unseen),
	HEAP(foreign),
};

#define PLACE(field) TR_FIELD(struct alloc_place, #field, place.field)
#define SUM(field) TR_FIELD(struct alloc_place, #field, sum.field)

static const struct tr_field place_fields[] = {
	PLACE(function), PLACE(file), PLACE(line), SUM(tag), SUM(allocs),
	SUM(bytes), SUM(live), SUM(live_bytes), SUM(peak_allocs),
	SUM(peak_bytes), SUM(temporary),
};

int tr_json_allocs(struct tr_json *j, struct tr_report *r)
{
	const tare_heap *heap = tare_view_heap(r->view);
	struct alloc_place *at;
	size_t n;

	if (!heap->was_on)
		return 0;
	at = places_of(r->view, &n);
	if (!at)
		return TARE_ENOMEM;
	tr_json_object(j, "allocations");
	tr_json_fields(j, TR_ALL(heap_fields), heap);
	tr_json_array(j, "places");
	for (size_t i = 0; i < n; i++)
		tr_json_struct(j, NULL, TR_ALL(place_fields), &at[i]);
	tr_json_end_array(j);
	tr_json_end_object(j);
	free(at);
	return 0;
}
