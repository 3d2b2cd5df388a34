/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sample: the value of a member of a family, in any format.
 */
#include "render/metrics/exposition.h"
#include "read/stats.h"

static bool is_used(const struct tr_series *s, enum tr_metric_part part)
{
	switch (part) {
	case TR_PART_COUNT:
		return s->counter != 0 || s->real_counter > 0;
	case TR_PART_ITEMS:
		return s->items != 0;
	case TR_PART_RATIO:
	case TR_PART_PART:
	case TR_PART_WHOLE:
		return s->whole != 0;
	case TR_PART_FAILURES:
	case TR_PART_SPREAD:
		return s->positive.n || s->negative.n || s->positive.zeros ||
		       s->positive.unbucketed || s->not_finite;
	default:
		return true;
	}
}

const struct tr_series *tr_sample_series(const struct tr_exposition *x,
					 const struct tr_member *m,
					 const struct tr_family *f)
{
	const struct tr_pick *pick = &x->pick[m->run];
	const struct tr_series *s;

	if (!pick->view || m->site >= pick->gather->n_series ||
	    (pick->wanted && !pick->wanted[m->site]))
		return NULL;
	s = &pick->gather->series[m->site];
	if (f->type == TR_METRIC_GAUGE &&
	    (!s->site || m->site < TR_SITE_FIRST))
		return NULL;
	return is_used(s, f->part) ? s : NULL;
}

uint64_t tr_sample_count(const struct tr_series *s, enum tr_metric_part part)
{
	switch (part) {
	case TR_PART_FAILURES:
		return s->failures;
	case TR_PART_ITEMS:
		return s->items;
	case TR_PART_WHOLE:
		return s->whole;
	default:
		return s->counter;
	}
}

bool tr_sample_is_double(const struct tr_series *s, enum tr_metric_part part)
{
	return part == TR_PART_COUNT && s->site &&
	       s->site->flags & TARE_SITE_DOUBLE;
}

double tr_sample_counted(const struct tr_series *s, enum tr_metric_part part)
{
	return tr_sample_is_double(s, part) ? s->real_counter :
					      (double)tr_sample_count(s, part);
}

double tr_sample_gauge(const struct tr_exposition *x, const struct tr_group *g,
		       const struct tr_family *f, const struct tr_member *m,
		       const struct tr_series *s)
{
	if (f->part == TR_PART_RATIO)
		return (double)s->counter / (double)s->whole;
	return tr_gauge_now(x->pick[m->run].view, s->site) * g->unit.scale;
}

double tr_sample_sum(const struct tr_exposition *x, const struct tr_group *g,
		     const struct tr_member *m, const struct tr_series *s)
{
	if (g->kind == TARE_KIND_SCOPE)
		return tr_view_ns(x->pick[m->run].view, s->sum) / 1e9;
	return s->sum * g->unit.scale;
}
