/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speedup, efficiency and the serial fraction of each configuration.
 *
 * Karp and Flatt: a program with the serial fraction (1/S - 1/p) / (1 - 1/p)
 * has the speedup S on p workers. If that fraction grows with p, the limit is
 * not the serial part but the coordination of the workers.
 */

#include <math.h>
#include <stdlib.h>

#include "read/judge.h"

double tr_compared_scale(const tare_comparison *c,
			 const tare_compared_config *config)
{
	return (double)config->workers /
	       (double)c->config[c->result.baseline].workers;
}

static void fill_means(tare_comparison *c, size_t index, double *room)
{
	tare_compared_config *config = &c->config[index];
	tare_estimate *const of[TR_FIGURES] = {
		[TR_FIGURE_COMM_SHARE] = &config->comm_share,
		[TR_FIGURE_TO_LOSS] = &config->to_loss,
		[TR_FIGURE_TO_F1] = &config->to_f1,
		[TR_FIGURE_MEMORY] = &config->peak_memory_mb,
		[TR_FIGURE_WORKER_MEMORY] = &config->worker_memory_mb,
		[TR_FIGURE_LOSS] = &config->loss,
		[TR_FIGURE_TRAIN_ACC] = &config->train_acc,
		[TR_FIGURE_VAL_F1] = &config->val_f1,
		[TR_FIGURE_TEST_F1] = &config->test_f1,
	};

	for (unsigned i = 0; i < TR_FIGURES; i++) {
		size_t n = tr_compared_values(c, index, i, room);

		*(i < TARE_TIMES ? &config->time[i] : of[i]) =
			tr_estimate_of(room, n);
	}
}

static void fill_ratios(tare_comparison *c, size_t index, double *room)
{
	tare_compared_config *config = &c->config[index];
	double *base = room + c->n_runs;

	for (unsigned i = 0; i < TARE_TIMES; i++) {
		size_t n = tr_compared_values(c, index, i, room);
		size_t n_base = tr_compared_values(c, c->result.baseline, i,
						   base);

		config->speedup_of[i] = c->result.n_configs > 1 ?
			tr_estimate_ratio(base, n_base, room, n) :
			tr_estimate_none();
		/* The baseline by itself is 1, however uncertain it is. */
		if (config->is_baseline)
			config->speedup_of[i].low =
				config->speedup_of[i].high = NAN;
	}
}

static double karp_flatt(double speedup, double p)
{
	return (1 / speedup - 1 / p) / (1 - 1 / p);
}

static void fill_serial(tare_comparison *c, tare_compared_config *config)
{
	double p = tr_compared_scale(c, config);
	const tare_estimate *s = &config->speedup;

	config->efficiency = tr_estimate_scaled(*s, 1 / p);
	config->serial = tr_estimate_none();
	if (!(p > 1) || !(s->mean > 0))
		return;
	/* The fraction falls as the speedup grows: low and high are swapped. */
	config->serial = (tare_estimate){ karp_flatt(s->mean, p),
					  karp_flatt(s->high, p),
					  karp_flatt(s->low, p), s->n };
}

/* All have epochs, but different numbers of them. */
static bool is_uneven(const tare_comparison *c)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (size_t i = 0; i < c->result.n_configs; i++) {
		/* A run without epochs has only a total time. */
		if (!c->config[i].epochs_least)
			return false;
		if (c->config[i].epochs_least < least)
			least = c->config[i].epochs_least;
		if (c->config[i].epochs_most > most)
			most = c->config[i].epochs_most;
	}
	return least != most;
}

static size_t count_times(const tare_comparison *c, unsigned time)
{
	size_t n = 0;

	for (size_t i = 0; i < c->result.n_configs; i++)
		n += c->config[i].time[time].mean > 0;
	return n;
}

int tr_compared_speedups(tare_comparison *c)
{
	double *room = calloc(2 * c->n_runs, sizeof(*room));
	unsigned time;

	if (!room)
		return TARE_ENOMEM;
	c->result.by = c->options.by;
	if (!c->result.by)
		c->result.by = is_uneven(c) ? TARE_COMPARE_BY_EPOCH :
					      TARE_COMPARE_BY_TOTAL;
	time = c->result.by == TARE_COMPARE_BY_TOTAL ? TARE_TIME_TOTAL :
						       TARE_TIME_EPOCH;
	for (size_t i = 0; i < c->result.n_configs; i++)
		fill_means(c, i, room);
	for (size_t i = 0; i < c->result.n_configs; i++) {
		fill_ratios(c, i, room);
		c->config[i].speedup = c->config[i].speedup_of[time];
		fill_serial(c, &c->config[i]);
	}
	c->result.has_common = count_times(c, time) > 1;
	free(room);
	return 0;
}
