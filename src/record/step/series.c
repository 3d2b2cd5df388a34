/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series: numbers over steps, in at most TR_BINS bins.
 *
 * When all are full, pairs are merged and each bin takes twice as many
 * samples, so the series covers the whole run in constant memory. Keeping
 * every second sample instead was refused: a sawtooth sampled at about its
 * period seems to rise slowly.
 */
#include "record/step/leak.h"

#include <stdio.h>

void tr_series_clear(tare_leak_series *series)
{
	series->samples = 0;
	series->n_bins = 0;
	series->width = 1;
}

static void join(struct tr_bin *to, const struct tr_bin *a,
		 const struct tr_bin *b)
{
	struct tr_bin joined = {
		.least = a->least < b->least ? a->least : b->least,
		.sum = a->sum + b->sum,
		.at = a->at + b->at,
		.n = a->n + b->n,
	};

	*to = joined;
}

static void join_all(tare_leak_series *series)
{
	for (uint32_t i = 0; i < TR_BINS / 2; i++)
		join(&series->bin[i], &series->bin[2 * i],
		     &series->bin[2 * i + 1]);
	series->n_bins = TR_BINS / 2;
	series->width *= 2;
}

void tr_series_add(tare_leak_series *series, double at, double bytes)
{
	const struct tr_bin one = { bytes, bytes, at, 1 };
	struct tr_bin *last = series->bin + series->n_bins - 1;

	series->samples++;
	/* Widths beyond 2^31 would need more samples than ever occur. */
	if (series->n_bins == TR_BINS && last->n >= series->width)
		join_all(series);
	last = series->bin + series->n_bins - 1;
	if (series->n_bins && last->n < series->width)
		join(last, last, &one);
	else
		series->bin[series->n_bins++] = one;
}

/* ---- public ------------------------------------------------------------ */

TARE_API tare_leak_series *tare_leak_series_new(const char *what)
{
	tare_leak_series *series = tr_memory_map(sizeof(*series));

	if (!series)
		return NULL;
	(void)snprintf(series->what, sizeof(series->what), "%s",
		       what ? what : "");
	tr_series_clear(series);
	return series;
}

TARE_API void tare_leak_series_free(tare_leak_series *series)
{
	tr_memory_unmap(series, sizeof(*series));
}

TARE_API void tare_leak_series_add(tare_leak_series *series, double bytes)
{
	/* A value that is not a number is ignored, but its step counts. */
	if (!series)
		return;
	if (bytes - bytes == 0)
		tr_series_add(series, (double)series->samples, bytes);
	else
		series->samples++;
}

TARE_API int tare_leak_series_look(const tare_leak_series *series,
				   tare_leak *ret_leak)
{
	if (!series || !ret_leak)
		return TARE_EINVAL;
	tr_leak_judge(series, ret_leak);
	return 0;
}
