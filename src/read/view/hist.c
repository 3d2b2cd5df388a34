/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms of a series: sparse pages, quantiles, buckets.
 */
#include "read/view.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool grow(struct tr_pool *pool, struct tr_hist *hist)
{
	uint32_t cap = hist->cap ? hist->cap * 2 : 4;
	struct tr_hist_page *more = tr_pool_take(pool, cap * sizeof(*more));

	if (!more)
		return false;
	if (hist->n)
		memcpy(more, hist->page, hist->n * sizeof(*more));
	hist->page = more;
	hist->cap = cap;
	return true;
}

struct tr_hist_page *tr_hist_page(struct tr_pool *pool, struct tr_hist *hist,
				  uint32_t number)
{
	uint32_t low = 0, high = hist->n, next = hist->next;

	/* Pages of a cell are in order, and mostly those of the last one. */
	if (next < hist->n && hist->page[next].number == number) {
		hist->next = next + 1;
		return &hist->page[next];
	}

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (hist->page[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	hist->next = low + 1;
	if (low < hist->n && hist->page[low].number == number)
		return &hist->page[low];
	if (hist->n == hist->cap && !grow(pool, hist))
		return NULL;
	memmove(&hist->page[low + 1], &hist->page[low],
		(hist->n - low) * sizeof(*hist->page));
	memset(&hist->page[low], 0, sizeof(*hist->page));
	hist->page[low].number = number;
	hist->n++;
	return &hist->page[low];
}

bool tr_hist_merge(struct tr_pool *pool, struct tr_hist *to,
		   const struct tr_hist *from)
{
	to->zeros += from->zeros;
	to->unbucketed += from->unbucketed;
	for (uint32_t i = 0; i < from->n; i++) {
		struct tr_hist_page *page =
			tr_hist_page(pool, to, from->page[i].number);

		if (!page)
			return false;
		for (unsigned k = 0; k < TR_PAGE_BUCKETS; k++)
			page->count[k] += from->page[i].count[k];
	}
	return true;
}

bool tr_hist_add_one(struct tr_pool *pool, struct tr_hist *hist, uint64_t bits,
		     int sign)
{
	struct tr_hist_page *page =
		tr_hist_page(pool, hist, (uint32_t)tr_bucket_page(bits));

	assert(sign == 1 || sign == -1);
	if (!page)
		return false;
	page->count[tr_bucket_in_page(bits)] += (uint64_t)(int64_t)sign;
	return true;
}

static uint64_t page_total(const struct tr_hist_page *page)
{
	uint64_t n = 0;

	for (unsigned k = 0; k < TR_PAGE_BUCKETS; k++)
		n += page->count[k];
	return n;
}

static uint64_t total_of(const struct tr_hist *hist)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < hist->n; i++)
		n += page_total(&hist->page[i]);
	return n;
}

uint64_t tr_series_timed(const struct tr_series *series)
{
	return total_of(&series->positive) + total_of(&series->negative) +
	       series->positive.zeros;
}

static uint32_t bucket_number(const struct tr_hist_page *page, unsigned k)
{
	return page->number * TR_PAGE_BUCKETS + k;
}

/*
 * Middle of a bucket with the least relative error: 2ul / (u + l). Computed
 * from one bound, because the product of two may overflow a double.
 */
static double bucket_value(uint32_t bucket)
{
	double lower = bucket ? tr_bucket_upper(bucket - 1) : 0;

	return lower * 0x1.02c5c14532e9cp+0; /* 2 / (1 + 2^(-1/32)) */
}

/* Requested ranks, ascending, and the values found for them. */
struct ranks {
	const uint64_t *rank; /* from 0 */
	double *value;
	size_t n, done;
	uint64_t seen;
};

/* `count` more values, all equal to `value`. False: all ranks are found. */
static bool pass(struct ranks *ranks, uint64_t count, double value)
{
	ranks->seen += count;
	while (ranks->done < ranks->n &&
	       ranks->rank[ranks->done] < ranks->seen)
		ranks->value[ranks->done++] = value;
	return ranks->done < ranks->n;
}

static bool pass_bucket(struct ranks *ranks, const struct tr_hist_page *page,
			unsigned k, int sign)
{
	uint64_t count = page->count[k];

	if (ranks->seen + count <= ranks->rank[ranks->done]) {
		ranks->seen += count; /* most buckets: no value is needed */
		return true;
	}
	return pass(ranks, count, sign * bucket_value(bucket_number(page, k)));
}

/* Up (1) or down (-1) a page. Most pages contain no rank. */
static bool pass_page(struct ranks *ranks, const struct tr_hist_page *page,
		      int step)
{
	uint64_t total = page_total(page);
	unsigned k = step > 0 ? 0 : TR_PAGE_BUCKETS - 1;

	if (ranks->seen + total <= ranks->rank[ranks->done]) {
		ranks->seen += total;
		return true;
	}
	for (unsigned i = 0; i < TR_PAGE_BUCKETS; i++, k += (unsigned)step)
		if (!pass_bucket(ranks, page, k, step))
			return false;
	return true;
}

/* Ascending: negatives, zeros, positives. */
static void find_ranks(const struct tr_series *series, struct ranks *ranks)
{
	const struct tr_hist *hist = &series->negative;

	for (uint32_t i = hist->n; i-- > 0;)
		if (!pass_page(ranks, &hist->page[i], -1))
			return;
	hist = &series->positive;
	if (!pass(ranks, hist->zeros, 0))
		return;
	for (uint32_t i = 0; i < hist->n; i++)
		if (!pass_page(ranks, &hist->page[i], 1))
			return;
}

static uint64_t rank_of(double q, uint64_t n)
{
	uint64_t rank = (uint64_t)(q * (double)n);

	assert(q >= 0 && q <= 1);
	if ((double)rank < q * (double)n)
		rank++;
	if (rank > n)
		rank = n;
	return rank ? rank - 1 : 0;
}

void tr_series_quantiles(const struct tr_series *series, uint64_t timed,
			 const double *q, double *value, size_t n)
{
	uint64_t rank[TR_QUANTILES];
	struct ranks ranks = { rank, value, n, 0, 0 };

	assert(n <= TR_QUANTILES);
	for (size_t i = 0; i < n; i++) {
		value[i] = NAN;
		rank[i] = rank_of(q[i], timed);
	}
	if (timed && n)
		find_ranks(series, &ranks);
}

double tr_series_quantile(const struct tr_series *series, double q)
{
	double value;

	if (!(q >= 0) || q > 1)
		return NAN;
	tr_series_quantiles(series, tr_series_timed(series), &q, &value, 1);
	return value;
}

size_t tr_series_buckets(const struct tr_series *series, tare_bucket *buckets,
			 size_t size, double scale)
{
	const struct tr_hist *hist = &series->negative;
	size_t n = 0;

#define TR_PUT(lo, hi, c) \
	do { \
		if (n < size) \
			buckets[n] = (tare_bucket){ (lo) * scale, \
						    (hi) * scale, (c) }; \
		n++; \
	} while (0)
	for (uint32_t i = hist->n; i-- > 0;)
		for (unsigned k = TR_PAGE_BUCKETS; k-- > 0;) {
			uint32_t b = bucket_number(&hist->page[i], k);

			if (hist->page[i].count[k])
				TR_PUT(-tr_bucket_upper(b),
				       -tr_bucket_upper(b - 1),
				       hist->page[i].count[k]);
		}
	hist = &series->positive;
	if (hist->zeros)
		TR_PUT(0.0, 0.0, hist->zeros);
	for (uint32_t i = 0; i < hist->n; i++)
		for (unsigned k = 0; k < TR_PAGE_BUCKETS; k++) {
			uint32_t b = bucket_number(&hist->page[i], k);

			if (hist->page[i].count[k])
				TR_PUT(tr_bucket_upper(b - 1),
				       tr_bucket_upper(b),
				       hist->page[i].count[k]);
		}
#undef TR_PUT
	return n;
}
