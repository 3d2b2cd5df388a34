/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One clock: times of the GPU between two anchors lie on the line between
 * them. A jump of the GPU's clock shows as a line of the wrong slope: there a
 * time is placed from the anchor before it, by the usual rate, and counted as
 * uncertain.
 *
 * A clock that jumped back gives a time two places: an activity was stored
 * after the anchor whose number it has, so the search begins there and goes
 * back.
 */
#include "read/gpu/parts.h"

#include <stdlib.h>

#include "base/maths.h"
#include "read/profile.h"

#define SLOPE_MOST 1e-3	  /* 1,000 ppm: no quartz drifts so far */
#define JUMP_LEAST 20e3	  /* ns */
#define NUMBERS_MOST (UINT64_C(1) << 62)

static double ticks_between(const struct tr_gpu_anchor *a,
			    const struct tr_gpu_anchor *b)
{
	return (double)(int64_t)(b->ticks - a->ticks);
}

static double ns_between(const struct tr_gpu_anchor *a,
			 const struct tr_gpu_anchor *b)
{
	return (double)(int64_t)(b->gpu_ns - a->gpu_ns);
}

/* ns that the GPU's clock gained beyond the usual rate. */
static double gained(const struct tr_gpu_times *t, size_t i)
{
	return ns_between(&t->anchor[i], &t->anchor[i + 1]) -
	       ticks_between(&t->anchor[i], &t->anchor[i + 1]) / t->nominal;
}

static bool is_jump(const struct tr_gpu_times *t, size_t i)
{
	double ns = ticks_between(&t->anchor[i], &t->anchor[i + 1]) /
		    t->nominal;
	double off = gained(t, i);

	off = off < 0 ? -off : off;
	return off > JUMP_LEAST && off > SLOPE_MOST * ns;
}

static int by_number(const void *a, const void *b)
{
	const struct tr_gpu_anchor *x = a, *y = b;

	return TR_ORDER(x->ticket, y->ticket);
}

static int copy_anchors(struct tr_gpu_times *t)
{
	const struct tr_gpu_region *state = tr_gpu_region_of(t->image);
	const struct tr_gpu_anchor *row =
		tr_gpu_at(t->image, state->anchors,
			  TR_GPU_ANCHORS * sizeof(*row));

	t->anchor = calloc(TR_GPU_ANCHORS, sizeof(*t->anchor));
	if (!t->anchor)
		return TARE_ENOMEM;
	for (unsigned i = 0; row && i < TR_GPU_ANCHORS; i++)
		if (row[i].ticket && row[i].ticket <= state->anchor_head &&
		    row[i].ticks < NUMBERS_MOST &&
		    row[i].gpu_ns < NUMBERS_MOST)
			t->anchor[t->n++] = row[i];
	qsort(t->anchor, t->n, sizeof(*t->anchor), by_number);
	t->first = t->n ? t->anchor[0].ticket - 1 : 0;
	return 0;
}

/* How far a middle anchor is off the line of its neighbours. */
static double bend(const struct tr_gpu_times *t, size_t i)
{
	const struct tr_gpu_anchor *a = &t->anchor[i - 1];
	double whole = ns_between(a, &t->anchor[i + 1]), at, off;

	if (!(whole > 0))
		return 0;
	at = ticks_between(a, &t->anchor[i + 1]) *
	     (ns_between(a, &t->anchor[i]) / whole);
	off = (at - ticks_between(a, &t->anchor[i])) / t->nominal;
	return off < 0 ? -off : off;
}

static void judge(const struct tr_gpu_times *t, struct tr_gpu_clock *clock)
{
	double gain = 0, ns = 0, width = 0, bent = 0;

	clock->anchors = t->n;
	for (size_t i = 0; i < t->n; i++)
		width = tr_most(width, t->anchor[i].width / t->nominal);
	for (size_t i = 0; i + 1 < t->n; i++) {
		if (is_jump(t, i)) {
			clock->jumps++;
			continue;
		}
		gain += gained(t, i);
		ns += ticks_between(&t->anchor[i], &t->anchor[i + 1]) /
		      t->nominal;
		if (i && !is_jump(t, i - 1))
			bent = tr_most(bent, bend(t, i));
	}
	clock->bound_ns = width / 2 + bent;
	clock->drift_ppm = ns > 0 ? gain / ns * 1e6 : 0;
}

int tr_gpu_times_read(struct tr_gpu_times *t, const tare_view *view,
		      struct tr_gpu_clock *clock)
{
	double rate = tr_image_header(&view->image)->sec_per_tick * 1e9;
	int err;

	t->image = &view->image;
	t->nominal = rate > 1e-6 && rate < 1e6 ? 1 / rate : 1;
	err = copy_anchors(t);
	if (!err)
		judge(t, clock);
	return err;
}

void tr_gpu_times_release(struct tr_gpu_times *t)
{
	free(t->anchor);
}

/* The anchor from which a time is placed. */
static size_t anchor_of(const struct tr_gpu_times *t, uint64_t gpu_ns,
			uint32_t stored)
{
	uint64_t known = stored > t->first ? stored - t->first : 0;
	size_t i = known < t->n ? (size_t)known : t->n;

	while (i > 1 && t->anchor[i - 1].gpu_ns > gpu_ns)
		i--;
	return i ? i - 1 : 0;
}

uint64_t tr_gpu_times_ticks(const struct tr_gpu_times *t, uint64_t gpu_ns,
			    uint32_t stored, bool *ret_is_uncertain)
{
	double ahead, slope = t->nominal, ticks;
	const struct tr_gpu_anchor *a;
	size_t i;

	*ret_is_uncertain = false;
	if (!t->n)
		return 0;
	i = anchor_of(t, gpu_ns, stored);
	a = &t->anchor[i];
	ahead = (double)(int64_t)(gpu_ns - a->gpu_ns);
	if (i + 1 < t->n && is_jump(t, i))
		*ret_is_uncertain = true;
	else if (i + 1 < t->n && ns_between(a, a + 1) > 0)
		slope = ticks_between(a, a + 1) / ns_between(a, a + 1);
	else if (i && !is_jump(t, i - 1) && ns_between(a - 1, a) > 1e7)
		slope = ticks_between(a - 1, a) / ns_between(a - 1, a);
	ticks = ahead * slope;
	if (!(ticks > -4e18 && ticks < 4e18))
		return a->ticks;
	/* Ahead of the next anchor it cannot be: it came before that. */
	if (*ret_is_uncertain && ticks > ticks_between(a, a + 1))
		ticks = ticks_between(a, a + 1);
	return a->ticks + (uint64_t)(int64_t)ticks;
}
