/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus text 0.0.4 and OpenMetrics 1.0: one family after the other, a
 * series' samples together, every number read from the gathered series.
 *
 * tare_view_stats() is not asked unless there is a filter: it sorts, and it
 * finds quantiles that nobody wants here.
 */
#include "render/metrics/exposition.h"

#include "read/stats.h"
#include "render/metrics.h"

#include <math.h>
#include <stdlib.h>

#define MOST_LABELS 3072u /* longer ones leave too little room for the rest */

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

/* The text of a sample up to its value: name, labels, one label more. */
struct sample {
	char name[1024 + TR_WIDE];
	size_t len;
};

static void name_sample(struct sample *sample, const char *family,
			const char *ending)
{
	size_t a = strlen(family), b = strlen(ending);

	/* A family's name leaves room for all its endings; see family.c. */
	memcpy(sample->name, family, a);
	memcpy(sample->name + a, ending, b + 1);
	sample->len = a + b;
}

static const char *labels_of(const struct tr_exposition *x,
			     const struct tr_member *m)
{
	return m->len ? x->exporter->runs[m->run].texts.data + m->text : "";
}

/* Begins a sample that has `extra` (or "") after its labels. */
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
		tr_sink_add(x->sink, labels_of(x, m), m->len);
		at = tr_sink_begin(x->sink);
	} else {
		at = tr_put_wide(at, labels_of(x, m), m->len);
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

/* Series lie far apart: the one a few steps on is asked for in time. */
static void fetch_ahead(const struct tr_exposition *x, const struct tr_group *g,
			size_t i)
{
	const struct tr_member *m = &g->member[i + 8 < g->n ? i + 8 : i];
	const struct tr_gather *gather = x->pick[m->run].gather;

	if (gather)
		__builtin_prefetch(&gather->series[m->site].counter);
}

/* HELP and TYPE come with a family's first sample. */
static void put_head(struct tr_exposition *x, const struct tr_family *f,
		     bool *has_head)
{
	if (!*has_head)
		tr_sink_adds(x->sink, f->head[x->open]);
	*has_head = true;
}

static void put_counters(struct tr_exposition *x, const struct tr_group *g,
			 const struct tr_family *f)
{
	bool has_head = false;
	struct sample sample;

	name_sample(&sample, f->name, "_total");
	for (size_t i = 0; i < g->n; i++) {
		const struct tr_member *m = &g->member[i];
		const struct tr_series *s = tr_sample_series(x, m);
		uint64_t n;
		char *at;

		fetch_ahead(x, g, i);
		if (!s || !tr_sample_is_used(s, f->part))
			continue;
		put_head(x, f, &has_head);
		n = tr_sample_count(s, f->part);
		at = begin_sample(x, &sample, m, "");
		if (tr_sample_is_double(s, f->part) ||
		    (f->part == TR_PART_COUNT && g->unit.scale != 1))
			at = tr_put_value(at, tr_sample_counted(s, f->part) *
						      g->unit.scale);
		else
			at = tr_put_u64(at, n);
		end_sample(x, at);
		put_created(x, f, m);
	}
}

static void put_gauges(struct tr_exposition *x, const struct tr_group *g,
		       const struct tr_family *f)
{
	bool has_head = false;
	struct sample sample;

	name_sample(&sample, f->name, "");
	for (size_t i = 0; i < g->n; i++) {
		const struct tr_member *m = &g->member[i];
		const struct tr_series *s = tr_sample_series(x, m);
		char *at;

		if (!s || !s->site || !tr_sample_is_used(s, f->part) ||
		    m->site < TR_SITE_FIRST)
			continue;
		put_head(x, f, &has_head);
		at = begin_sample(x, &sample, m, "");
		end_sample(x, tr_put_value(at, tr_sample_gauge(x, g, f, m, s)));
	}
}

/* ---- histograms -------------------------------------------------------- */

struct spread {
	const struct tr_group *group;
	const struct tr_family *family;
	struct sample bucket, sum, count;
	double bound[TR_LADDER_MOST]; /* in the unit of the series */
};

static void prepare_spread(struct spread *spread, const struct tr_group *g,
			   const struct tr_family *f)
{
	spread->group = g;
	spread->family = f;
	name_sample(&spread->bucket, f->name, "_bucket");
	name_sample(&spread->sum, f->name, "_sum");
	name_sample(&spread->count, f->name, "_count");
	for (size_t i = 0; i < g->unit.ladder->n; i++)
		spread->bound[i] = g->unit.ladder->step[i].bound /
				   g->unit.scale;
}

static void put_bucket(struct tr_exposition *x, const struct spread *spread,
		       const struct tr_member *m, size_t step, uint64_t n)
{
	const struct tr_ladder *ladder = spread->group->unit.ladder;
	const char *text = step < ladder->n ? ladder->step[step].text : "+Inf";
	char le[32], *end = TR_LIT(le, "le=\"");
	char *at;

	end = tr_put(end, text, strlen(text));
	(void)TR_LIT(end, "\"\0");
	at = begin_sample(x, &spread->bucket, m, le);
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
 * A reader takes +Inf and the count for the same number, so what has no
 * bucket is in both. OpenMetrics forbids a sum that may fall, and a count
 * without a sum: where values are below zero it has neither.
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

static void put_histograms(struct tr_exposition *x, const struct tr_group *g,
			   const struct tr_family *f)
{
	bool has_head = false;
	struct spread spread;

	prepare_spread(&spread, g, f);
	for (size_t i = 0; i < g->n && !x->sink->err; i++) {
		const struct tr_series *s = tr_sample_series(x, &g->member[i]);

		if (!s || !tr_sample_is_used(s, f->part))
			continue;
		put_head(x, f, &has_head);
		put_spread(x, &spread, &g->member[i], s);
	}
}

/* ---- all --------------------------------------------------------------- */

static void put_group(struct tr_exposition *x, const struct tr_group *g)
{
	for (size_t i = 0; i < g->n_families; i++) {
		const struct tr_family *f = &g->family[i];

		if (f->type == TR_METRIC_COUNTER)
			put_counters(x, g, f);
		else if (f->type == TR_METRIC_HISTOGRAM)
			put_histograms(x, g, f);
		else
			put_gauges(x, g, f);
	}
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
