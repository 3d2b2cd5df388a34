/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Price: the results of trials, a row per site in the ledger.
 *
 * Interrupts, other guests of the machine and the program's own phases
 * disturb some trials, and by far more than the cost that is looked for. So
 * trials are grouped, and of each group the middle half counts.
 */
#include "record/price/price.h"

#include <assert.h>

static struct tr_price *row_at(uint32_t i)
{
	const struct tr_region *region = &tr_ledger->region[TR_REGION_PRICES];

	return (struct tr_price *)(void *)(tr_ledger->base + region->off) + i;
}

static uint32_t n_rows(void)
{
	return (uint32_t)(TR_LOAD(tr_ledger->region[TR_REGION_PRICES].used) /
			  sizeof(struct tr_price));
}

static struct tr_price *find(uint32_t site)
{
	uint32_t n = n_rows();

	for (uint32_t i = 0; i < n; i++)
		if (TR_ACQUIRE(row_at(i)->site) == site)
			return row_at(i);
	return NULL;
}

static struct tr_price *add(uint32_t site)
{
	uint32_t off = tr_region_take(TR_REGION_PRICES,
				      sizeof(struct tr_price));
	struct tr_price *row;

	if (!off)
		return NULL;
	row = (struct tr_price *)(void *)(tr_ledger->base + off);
	TR_PUBLISH(row->site, site);
	return row;
}

static void sort(double *value, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		for (unsigned j = i; j && value[j] < value[j - 1]; j--) {
			double lower = value[j];

			value[j] = value[j - 1];
			value[j - 1] = lower;
		}
}

/* Mean of the middle half. */
static double middle(const double *values)
{
	double sorted[TR_PRICE_BATCH], sum = 0;

	for (unsigned i = 0; i < TR_PRICE_BATCH; i++)
		sorted[i] = values[i];
	sort(sorted, TR_PRICE_BATCH);
	for (unsigned i = TR_PRICE_BATCH / 4; i < 3 * TR_PRICE_BATCH / 4; i++)
		sum += sorted[i];
	return sum / (TR_PRICE_BATCH / 2);
}

static void add_sample(struct tr_price_sums *sums, double ticks)
{
	uint64_t n = sums->samples;
	double mean;

	tr_price_store(&sums->recent[n % TR_PRICE_BATCH], ticks);
	TR_STORE(sums->samples, n + 1);
	if ((n + 1) % TR_PRICE_BATCH)
		return;
	mean = middle(sums->recent);
	/* Release, each: a reader sees the sample, then sums, then batch. */
	tr_price_store(&sums->sum, sums->sum + mean);
	tr_price_store(&sums->squares, sums->squares + mean * mean);
	TR_PUBLISH(sums->batches, sums->batches + 1);
}

/*
 * The samples of a row's next batch of calls with twice the work. Private: the
 * row has no room for them. A child has another ledger.
 */
static struct twice {
	uint32_t pid, n;
	double recent[TR_PRICE_BATCH];
} twice[TR_PRICE_ROWS];

static void add_twice(struct tr_price *row, double ticks)
{
	struct twice *to = &twice[(uint32_t)(row - row_at(0)) % TR_PRICE_ROWS];
	double mean;

	if (to->pid != tr_ledger->pid)
		*to = (struct twice){ .pid = tr_ledger->pid };
	to->recent[to->n++] = ticks;
	if (to->n < TR_PRICE_BATCH)
		return;
	to->n = 0;
	mean = middle(to->recent);
	tr_price_store(&row->twice_sum, row->twice_sum + mean);
	tr_price_store(&row->twice_squares, row->twice_squares + mean * mean);
	TR_PUBLISH(row->twice_batches, row->twice_batches + 1);
}

bool tr_price_prepare(uint32_t site)
{
	return find(site) || add(site);
}

void tr_price_add(uint32_t site, const struct tr_trial_result *result)
{
	struct tr_price *row = find(site);

	/* Another thread, or the one that a signal interrupted: one less. */
	if (!row || __atomic_exchange_n(&row->busy, 1, __ATOMIC_ACQUIRE))
		return;
	TR_STORE(row->untimed, row->untimed + result->untimed);
	if (result->is_usable && result->kind == TR_TRIAL_TWICE)
		add_twice(row, result->ticks);
	else if (result->is_usable)
		add_sample(result->kind == TR_TRIAL_LIGHT ? &row->light :
							    &row->counted,
			   result->ticks);
	__atomic_store_n(&row->busy, 0, __ATOMIC_RELEASE);
}

void tr_price_missed(uint32_t site, const struct tr_missed *missed)
{
	struct tr_price *row = find(site);

	if (!row)
		row = add(site);
	if (!row)
		return;
	row->missed_low += missed->low;
	row->missed_high += missed->high;
	row->missed_variance += missed->variance;
}

uint32_t tr_price_at(uint32_t row, struct tr_price_figures *ret_figures)
{
	double tight = tr_ledger->header->counted_ticks;

	if (row >= n_rows())
		return 0;
	if (!tr_price_figures(row_at(row), tight, ret_figures) ||
	    !ret_figures->is_exact)
		*ret_figures = (struct tr_price_figures){ 0 };
	return TR_ACQUIRE(row_at(row)->site);
}
