/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdict: does a series grow, and will it continue to grow?
 *
 * The first third of the run is warm-up and is ignored. The rest is divided
 * into blocks, in three widths. Each block has a level (a mean without the
 * extremes, the best estimate in noise) and a low (what the program returns
 * to, however high its teeth are); if there are few falls, their feet are
 * used, too. A line is fitted to each, and the most significant one decides.
 * Widths with autocorrelated residuals are left out: there the blocks are
 * shorter than the patterns in them, and the scatter says nothing about the
 * line.
 *
 * A significant line is a leak only if it
 *  - is large: against the level, the teeth, and a few pages,
 *  - is seen by the other kind, too: level and low,
 *  - is spread: no single step and no fall makes up half of it,
 *  - continues in the later half: an unfinished warm-up slows down.
 *
 * The later half of the run is checked as well, for a leak that a long warm-up
 * hides. Growth that has not ended yet cannot be distinguished from a leak.
 */
#include "record/step/leak.h"

#include <string.h>

#define LEAST_SAMPLES 32u
#define LEAST_BINS 16u /* in a checked stretch */
#define LEAST_GROWTH 0.01 /* of the level, in the checked time */
/* Teeth that blocks cut unevenly shift levels, but hardly lows. */
#define LEAST_OF_TEETH(kind) ((kind) == LEVEL ? 0.3 : 0.1)
#define LEAST_AGREEMENT 0.3
#define MOST_AT_ONCE 0.5
#define LEAST_GOING_ON 0.5
#define MOST_REPEAT 0.25
#define GROUPS 8u
#define FEET 4u

enum measure { LEVEL, LOW };

/* The part of a series that is checked: bins [first, end). */
struct stretch {
	const struct tr_bin *bin;
	unsigned n;
};

struct candidate {
	enum measure kind;
	struct tr_points points;
	struct tr_line line;
	double score; /* 1 or more: significant */
};

/* ---- blocks ------------------------------------------------------------ */

/* Mean of the middle half of the bins: robust to spikes. */
static double level_of(const struct tr_bin *bin, unsigned n)
{
	double v[TR_BINS], sum = 0;
	unsigned cut = n / 4;

	for (unsigned i = 0; i < n; i++) {
		double one = bin[i].sum / bin[i].n;
		unsigned at = i;

		for (; at > 0 && v[at - 1] > one; at--)
			v[at] = v[at - 1];
		v[at] = one;
	}
	for (unsigned i = cut; i < n - cut; i++)
		sum += v[i];
	return sum / (n - 2 * cut);
}

static double low_of(const struct tr_bin *bin, unsigned n)
{
	double low = bin[0].least;

	for (unsigned i = 1; i < n; i++)
		if (bin[i].least < low)
			low = bin[i].least;
	return low;
}

static double place_of(const struct tr_bin *bin, unsigned n)
{
	double at = 0, samples = 0;

	for (unsigned i = 0; i < n; i++) {
		at += bin[i].at;
		samples += bin[i].n;
	}
	return at / samples;
}

static void cut_blocks(const struct stretch *in, enum measure kind,
		       unsigned blocks, struct tr_points *p)
{
	p->n = blocks < in->n ? blocks : in->n;
	for (unsigned i = 0; i < p->n; i++) {
		unsigned from = in->n * i / p->n;
		unsigned n = in->n * (i + 1) / p->n - from;

		p->x[i] = place_of(in->bin + from, n);
		p->y[i] = kind == LEVEL ? level_of(in->bin + from, n) :
					  low_of(in->bin + from, n);
	}
}

/*
 * The feet of the falls: bins lower than the previous one by at least half of
 * the largest such fall. For teeth as long as the blocks or longer.
 */
static void find_feet(const struct stretch *in, struct tr_points *p)
{
	double most = 0;

	p->n = 0;
	for (unsigned i = 1; i < in->n; i++)
		if (in->bin[i - 1].least - in->bin[i].least > most)
			most = in->bin[i - 1].least - in->bin[i].least;
	for (unsigned i = 1; i < in->n && most > 0; i++) {
		if (in->bin[i - 1].least - in->bin[i].least < most / 2)
			continue;
		if (p->n == TR_BLOCKS) {
			p->n = 0; /* many: each block has several */
			return;
		}
		p->x[p->n] = place_of(in->bin + i, 1);
		p->y[p->n++] = in->bin[i].least;
	}
}

/* Combines points into a few groups of equal size. */
static void group(const struct tr_points *from, struct tr_points *to)
{
	to->n = from->n < GROUPS ? from->n : GROUPS;
	for (unsigned i = 0; i < to->n; i++) {
		unsigned first = from->n * i / to->n;
		unsigned n = from->n * (i + 1) / to->n - first;

		to->x[i] = to->y[i] = 0;
		for (unsigned j = first; j < first + n; j++) {
			to->x[i] += from->x[j] / n;
			to->y[i] += from->y[j] / n;
		}
	}
}

/* ---- lines that stand out ---------------------------------------------- */

static bool only_rises(const struct tr_points *p)
{
	for (unsigned i = 1; i < p->n; i++)
		if (p->y[i] <= p->y[i - 1])
			return false;
	return true;
}

/*
 * Slope over its error, divided by what chance alone reaches once in ten
 * thousand (with four points: in a thousand). 16 points that only rise do not
 * do so by chance, though they may follow a curve.
 */
static double score_of(const struct candidate *c)
{
	double free = (double)c->points.n - 2, t;

	if (c->points.n >= 16 && only_rises(&c->points))
		return 100;
	if (!(c->line.error > 0))
		return c->line.slope > 0 ? 100 : c->line.slope < 0 ? -100 : 0;
	t = c->line.slope / c->line.error;
	t /= 4 + 14 / free + 70 / (free * free * free);
	return t > 100 ? 100 : t < -100 ? -100 : t;
}

static void weigh(struct candidate *c, struct candidate *best)
{
	c->line = tr_line_fit(&c->points);
	c->score = score_of(c);
	if (c->score > best[c->kind].score)
		best[c->kind] = *c;
}

static bool follows_itself(const struct candidate *c)
{
	return c->points.n > GROUPS && c->line.repeat > MOST_REPEAT &&
	       !only_rises(&c->points);
}

/* The best line of each kind. */
static void find_lines(const struct stretch *in, struct candidate *best)
{
	struct candidate c;

	best[LEVEL].score = best[LOW].score = -1e9;
	for (unsigned blocks = TR_BLOCKS; blocks >= GROUPS; blocks /= 2)
		for (c.kind = LEVEL; c.kind <= LOW; c.kind++) {
			cut_blocks(in, c.kind, blocks, &c.points);
			c.line = tr_line_fit(&c.points);
			if (!follows_itself(&c))
				weigh(&c, best);
		}
	c.kind = LOW;
	find_feet(in, &c.points);
	if (c.points.n >= FEET)
		weigh(&c, best);
}

/* ---- is it a leak? ----------------------------------------------------- */

/* Height of the teeth or the noise: levels above lows. */
static double teeth_of(const struct stretch *in)
{
	struct tr_points level, low;
	double sum = 0;

	cut_blocks(in, LEVEL, GROUPS, &level);
	cut_blocks(in, LOW, GROUPS, &low);
	for (unsigned i = 0; i < level.n; i++)
		sum += level.y[i] - low.y[i];
	return sum / level.n;
}

static bool is_large(const struct stretch *in, const struct candidate *c,
		     double least)
{
	const struct tr_points *p = &c->points;
	double growth = c->line.slope * (p->x[p->n - 1] - p->x[0]);
	double level = level_of(in->bin, in->n);

	return growth > 0 && growth >= least &&
	       growth >= LEAST_GROWTH * (level < 0 ? -level : level) &&
	       growth >= LEAST_OF_TEETH(c->kind) * teeth_of(in);
}

/* Rises are relative: growth by a percentage is largest at the end. */
static bool is_spread(const struct tr_points *p)
{
	double all = 0, most = 0, fall = 0, top = p->y[0];

	for (unsigned i = 1; i < p->n; i++) {
		double rise = p->y[i] - p->y[i - 1];
		double middle = (p->y[i] + p->y[i - 1]) / 2;

		rise = middle > 0 ? rise / middle : rise;
		all += rise;
		most = rise > most ? rise : most;
		top = p->y[i] > top ? p->y[i] : top;
		fall = top - p->y[i] > fall ? top - p->y[i] : fall;
	}
	return p->y[p->n - 1] > p->y[0] && most <= MOST_AT_ONCE * all &&
	       fall <= MOST_AT_ONCE * (p->y[p->n - 1] - p->y[0]);
}

/* Is the line of the later half steep enough, or may it be? */
static bool goes_on(const struct candidate *c)
{
	unsigned first = c->points.n / 2;
	struct tr_points later = { .n = c->points.n - first };
	struct tr_line line;

	memcpy(later.x, c->points.x + first, later.n * sizeof(double));
	memcpy(later.y, c->points.y + first, later.n * sizeof(double));
	if (later.n < 3)
		return later.y[1] > later.y[0];
	line = tr_line_fit(&later);
	return line.slope + 1.5 * line.error >=
	       LEAST_GOING_ON * c->line.slope;
}

static bool judge_stretch(const struct stretch *in, double least,
			  tare_leak *leak)
{
	struct candidate best[2], *c;
	struct tr_points groups;
	struct tr_slopes slopes;

	find_lines(in, best);
	c = best[LOW].score > best[LEVEL].score ? &best[LOW] : &best[LEVEL];
	slopes = tr_line_slopes(&c->points);
	leak->growth = slopes.median;
	leak->growth_low = slopes.low;
	leak->growth_high = slopes.high;
	/* A score of 1 is 3.72 standard deviations: one in ten thousand. */
	leak->confidence = tr_normal_below(3.72 * c->score);
	group(&c->points, &groups);
	leak->is_leak = c->score >= 1 && is_large(in, c, least) &&
			best[!c->kind].line.slope >=
				LEAST_AGREEMENT * c->line.slope &&
			is_spread(&groups) && goes_on(c);
	return leak->is_leak;
}

/* The stretch after a part of the steps: samples may become ever rarer. */
static struct stretch after(const tare_leak_series *series, double part)
{
	const struct tr_bin *bin = series->bin;
	unsigned n = series->n_bins, first = 0;
	double from = place_of(bin, 1), to = place_of(bin + n - 1, 1);

	while (place_of(bin + first, 1) < from + part * (to - from))
		first++;
	return (struct stretch){ bin + first, n - first };
}

void tr_leak_judge(const tare_leak_series *series, tare_leak *ret_leak)
{
	tare_leak leak = { .what = series->what, .samples = series->samples };
	tare_leak later = leak;
	struct stretch in;

	*ret_leak = leak;
	if (series->n_bins < LEAST_SAMPLES)
		return;
	in = after(series, 1.0 / 3);
	if (in.n < LEAST_BINS)
		return;
	if (!judge_stretch(&in, series->least_growth, &leak)) {
		in = after(series, 0.5);
		if (in.n >= LEAST_BINS &&
		    judge_stretch(&in, series->least_growth, &later))
			leak = later;
	}
	*ret_leak = leak;
}
