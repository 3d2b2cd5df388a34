/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus text 0.0.4 and OpenMetrics 1.0: one family after the other, the
 * samples of a series together, every number read from the gathered series.
 *
 * tare_view_stats() is called only if there is a filter: it sorts, and it
 * computes quantiles that are not exported here.
 */
#include "render/metrics/exposition.h"

#include "read/stats.h"
#include "render/metrics.h"

#include <math.h>
#include <stdlib.h>

#define MOST_LABELS 3072u /* longer labels leave too little room for the rest */

char *tr_put_value(char *at, double value)
{
	if (isnan(value))
		return TR_LIT(at, "NaN");
	if (isinf(value))
		return value > 0 ? TR_LIT(at, "+Inf") : TR_LIT(at, "-Inf");
	return at + tr_double_text(at, value);
}

/* ---- which series ------------------------------------------------------ */

static int pick_filtered(struct tr_pick *pick, tare_view *view,
			 const tare_filter *filter)
{
	const tare_stats *stats;
	size_t n;
	int err = tare_view_stats(view, filter, &stats, &n);

	if (err)
		return err;
	pick->wanted = calloc((size_t)view->all.n_series + 1, 1);
	if (!pick->wanted)
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++)
		pick->wanted[stats[i].site] = 1;
	pick->gather = view->shown;
	return 0;
}

static int pick_run(struct tr_exposition *x, size_t run)
{
	tare_view *view = (tare_view *)(uintptr_t)x->exporter->runs[run].view;
	struct tr_pick *pick = &x->pick[run];
	const tare_run *about;
	int err = 0;

	pick->view = view;
	if (!view)
		return 0;
	about = tare_view_run(view);
	pick->created_ns = about->cleared_ns ? about->cleared_ns :
					       about->start_ns;
	pick->health = tare_view_health(view);
	pick->gather = &view->all;
	if (x->filter)
		err = pick_filtered(pick, view, x->filter);
	if (!err && x->open)
		err = tr_exemplars_find(&pick->exemplars, view, x->filter);
	return err;
}

static void unpick(struct tr_exposition *x)
{
	for (size_t i = 0; x->pick && i < x->exporter->n_runs; i++) {
		free(x->pick[i].wanted);
		tr_exemplars_release(&x->pick[i].exemplars);
	}
	free(x->pick);
}

/* ---- samples ----------------------------------------------------------- */

/* The text of a sample up to its value: name, labels, one extra label. */
struct sample {
	char name[1024 + TR_WIDE];
	size_t len;
};

static void name_sample(struct sample *sample, const char *family,
			const char *ending)
{
	size_t a = strlen(family), b = strlen(ending);

	/* A family's name leaves room for all suffixes; see family.c. */
	memcpy(sample->name, family, a);
	memcpy(sample->name + a, ending, b + 1);
	sample->len = a + b;
}

/* Begins a sample with `extra` (or "") after its labels. */
static char *begin_sample(struct tr_exposition *x, const struct sample *sample,
			  const struct tr_member *m, const char *extra)
{
	char *at = tr_put_wide(tr_sink_begin(x->sink), sample->name,
			       sample->len);
	size_t len = strlen(extra);

	x->sink->rows++;
	if (!m->len && !len) {
		*at++ = ' ';
		return at;
	}
	*at++ = '{';
	if (m->len > MOST_LABELS) {
		tr_sink_end(x->sink, at);
		tr_sink_add(x->sink, tr_member_labels(x->exporter, m), m->len);
		at = tr_sink_begin(x->sink);
	} else {
		at = tr_put_wide(at, tr_member_labels(x->exporter, m), m->len);
	}
	if (m->len && len)
		*at++ = ',';
	at = tr_put(at, extra, len);
	*at++ = '}';
	*at++ = ' ';
	return at;
}

static void end_sample(struct tr_exposition *x, char *at)
{
	*at++ = '\n';
	tr_sink_end(x->sink, at);
}

static void put_created(struct tr_exposition *x, const struct tr_family *f,
			const struct tr_member *m)
{
	struct sample sample;
	char *at;

	if (!x->open)
		return;
	name_sample(&sample, f->name, "_created");
	at = begin_sample(x, &sample, m, "");
	end_sample(x, tr_put_value(at, (double)x->pick[m->run].created_ns /
					       1e9));
}

/* ---- families ---------------------------------------------------------- */

/* A family and the names of its samples. */
struct spread {
	const struct tr_group *group;
	const struct tr_family *family;
	struct sample main, sum, count; /* main: buckets of a histogram */
	double bound[TR_LADDER_MOST]; /* in the unit of the series */
};

static void prepare_spread(struct spread *spread, const struct tr_group *g,
			   const struct tr_family *f)
{
	spread->group = g;
	spread->family = f;
	if (f->type != TR_METRIC_HISTOGRAM) {
		name_sample(&spread->main, f->name,
			    f->type == TR_METRIC_COUNTER ? "_total" : "");
		return;
	}
	name_sample(&spread->main, f->name, "_bucket");
	name_sample(&spread->sum, f->name, "_sum");
	name_sample(&spread->count, f->name, "_count");
	tr_ladder_bounds(&g->unit, spread->bound);
}

static void put_counter(struct tr_exposition *x, const struct spread *spread,
			const struct tr_member *m, const struct tr_series *s)
{
	enum tr_metric_part part = spread->family->part;
	double scale = spread->group->unit.scale;
	char *at = begin_sample(x, &spread->main, m, "");

	if (tr_sample_is_double(s, part) ||
	    (part == TR_PART_COUNT && scale != 1))
		at = tr_put_value(at, tr_sample_counted(s, part) * scale);
	else
		at = tr_put_u64(at, tr_sample_count(s, part));
	end_sample(x, at);
	put_created(x, spread->family, m);
}

static void put_gauge(struct tr_exposition *x, const struct spread *spread,
		      const struct tr_member *m, const struct tr_series *s)
{
	char *at = begin_sample(x, &spread->main, m, "");

	end_sample(x, tr_put_value(at, tr_sample_gauge(x, spread->group,
						       spread->family, m, s)));
}

/* ---- histograms -------------------------------------------------------- */

static void put_bucket(struct tr_exposition *x, const struct spread *spread,
		       const struct tr_member *m, size_t step, uint64_t n)
{
	const struct tr_ladder *ladder = spread->group->unit.ladder;
	const char *text = step < ladder->n ? ladder->step[step].text : "+Inf";
	char le[32], *end = TR_LIT(le, "le=\"");
	char *at;

	end = tr_put(end, text, strlen(text));
	(void)TR_LIT(end, "\"\0");
	at = begin_sample(x, &spread->main, m, le);
	at = tr_put_u64(at, n);
	if (x->open && spread->group->kind == TARE_KIND_SCOPE) {
		tr_sink_end(x->sink, at);
		tr_exemplar_put(x->sink, &x->pick[m->run].exemplars, m->site,
				step);
		at = tr_sink_begin(x->sink);
	}
	end_sample(x, at);
}

/*
 * A scraper expects +Inf and the count to be equal, so values without a bucket
 * are in both. OpenMetrics forbids a sum that may fall, and a count without a
 * sum: series with values below zero have neither.
 */
static void put_spread(struct tr_exposition *x, const struct spread *spread,
		       const struct tr_member *m, const struct tr_series *s)
{
	const struct tr_ladder *ladder = spread->group->unit.ladder;
	uint64_t below[TR_LADDER_MOST], n;
	char *at;

	n = tr_series_cumulate(s, spread->bound, below, ladder->n);
	n += s->positive.unbucketed + s->not_finite;
	for (size_t i = 0; i < ladder->n; i++)
		put_bucket(x, spread, m, i, below[i]);
	put_bucket(x, spread, m, ladder->n, n);
	if (!x->open || !s->negative.n) {
		at = begin_sample(x, &spread->count, m, "");
		end_sample(x, tr_put_u64(at, n));
		at = begin_sample(x, &spread->sum, m, "");
		at = tr_put_value(at, tr_sample_sum(x, spread->group, m, s));
		end_sample(x, at);
	}
	put_created(x, spread->family, m);
}

/* ---- all --------------------------------------------------------------- */

/* Series are far apart in memory: prefetch the one a few steps ahead. */
static void fetch_ahead(const struct tr_exposition *x, const struct tr_group *g,
			size_t i)
{
	const struct tr_member *m = &g->member[i + 8 < g->n ? i + 8 : i];
	const struct tr_gather *gather = x->pick[m->run].gather;

	if (gather)
		__builtin_prefetch(&gather->series[m->site].counter);
}

/* HELP and TYPE are written before a family's first sample. */
static void put_family(struct tr_exposition *x, const struct tr_group *g,
		       const struct tr_family *f)
{
	bool has_head = false;
	struct spread spread;

	prepare_spread(&spread, g, f);
	for (size_t i = 0; i < g->n && !x->sink->err; i++) {
		const struct tr_member *m = &g->member[i];
		const struct tr_series *s = tr_sample_series(x, m, f);

		fetch_ahead(x, g, i);
		if (!s)
			continue;
		if (!has_head)
			tr_sink_adds(x->sink, f->head[x->open]);
		has_head = true;
		if (f->type == TR_METRIC_COUNTER)
			put_counter(x, &spread, m, s);
		else if (f->type == TR_METRIC_HISTOGRAM)
			put_spread(x, &spread, m, s);
		else
			put_gauge(x, &spread, m, s);
	}
}

static void put_group(struct tr_exposition *x, const struct tr_group *g)
{
	for (size_t i = 0; i < g->n_families; i++)
		put_family(x, g, &g->family[i]);
}

int tr_exporter_expose(tare_exporter *exporter, struct tr_sink *sink,
		       tare_view *const *views, size_t n,
		       const tare_export_options *options)
{
	struct tr_exposition x = {
		.exporter = exporter,
		.sink = sink,
		.filter = options->filter,
		.open = options->format == TARE_FORMAT_OPENMETRICS,
	};
	int err = tr_members_update(exporter, views, n);

	if (err)
		return err;
	x.pick = calloc(exporter->n_runs + 1, sizeof(*x.pick));
	if (!x.pick)
		err = TARE_ENOMEM;
	for (size_t i = 0; !err && i < exporter->n_runs; i++)
		err = pick_run(&x, i);
	if (!err && options->format == TARE_FORMAT_PROTOBUF) {
		tr_protobuf_put(&x);
	} else if (!err) {
		tr_own_put(&x);
		for (size_t i = 0; i < exporter->n_groups && !sink->err; i++)
			put_group(&x, &exporter->groups[i]);
		if (x.open)
			tr_sink_adds(sink, "# EOF\n");
	}
	unpick(&x);
	return err;
}
