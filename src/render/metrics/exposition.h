/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exposition: the state of one export in a Prometheus format.
 */
#ifndef TR_RENDER_METRICS_EXPOSITION_H
#define TR_RENDER_METRICS_EXPOSITION_H

#include "render/metrics/family.h"
#include "render/output.h"

/*
 * Exemplars: for every bucket of a scope's histogram, the newest operation in
 * that bucket that has attributes, such as photo_id=17.
 */
struct tr_exemplars {
	uint32_t *of_site; /* 1 + index of `newest`, by site id */
	uint32_t n_sites;
	struct tr_newest {
		const tare_record *record[TR_LADDER_MOST + 1]; /* by bucket */
	} *newest;
	size_t n, cap;
};

struct tr_pick {
	tare_view *view; /* NULL: not in this export */
	const struct tr_gather *gather;
	uint8_t *wanted; /* by site id; NULL: all */
	int64_t created_ns;
	const tare_health *health; /* recomputed at each call */
	struct tr_exemplars exemplars;
};

struct tr_exposition {
	tare_exporter *exporter;
	struct tr_sink *sink;
	const tare_filter *filter;
	bool open;	      /* OpenMetrics */
	struct tr_pick *pick; /* by run of the exporter */
};

/* Formats a number as Go does: NaN, +Inf, -Inf. */
char *tr_put_value(char *at, double value);

/* ---- sample.c ---------------------------------------------------------- */

/*
 * A member's series for this family; NULL: nothing to export. A series that was
 * never used is left out; one without failures is exported.
 */
const struct tr_series *tr_sample_series(const struct tr_exposition *x,
					 const struct tr_member *m,
					 const struct tr_family *f);
uint64_t tr_sample_count(const struct tr_series *s, enum tr_metric_part part);
/* Is this part a sum of doubles? */
bool tr_sample_is_double(const struct tr_series *s, enum tr_metric_part part);
double tr_sample_counted(const struct tr_series *s, enum tr_metric_part part);
double tr_sample_gauge(const struct tr_exposition *x, const struct tr_group *g,
		       const struct tr_family *f, const struct tr_member *m,
		       const struct tr_series *s);
double tr_sample_sum(const struct tr_exposition *x, const struct tr_group *g,
		     const struct tr_member *m, const struct tr_series *s);

/* ---- protobuf.c -------------------------------------------------------- */

/* All families as delimited messages, with native histograms. */
void tr_protobuf_put(struct tr_exposition *x);

/* ---- exemplar.c -------------------------------------------------------- */

int tr_exemplars_find(struct tr_exemplars *exemplars, tare_view *view,
		      const tare_filter *filter);
void tr_exemplars_release(struct tr_exemplars *exemplars);
/* " # {labels} value time" of a bucket, if it has an exemplar. */
void tr_exemplar_put(struct tr_sink *sink, const struct tr_exemplars *exemplars,
		     uint32_t site, size_t step);

/* ---- own.c ------------------------------------------------------------- */

/* Metrics about tare itself: one family per number, one sample per run. */
#define TR_OWN_METRICS 10
extern const struct tr_own_metric {
	const char *name; /* of the family */
	enum tr_metric_type type;
	const char *unit;
	const char *help;
	enum { TR_OWN_ONE, TR_OWN_RUN, TR_OWN_HEALTH } from; /* one: always 1 */
	struct tr_field field; /* of run or health; seconds are in ns */
} tr_own_metrics[TR_OWN_METRICS];

double tr_own_value(const struct tr_own_metric *own,
		    const struct tr_pick *pick);
void tr_own_labels(const struct tr_own_metric *own, const struct tr_pick *pick,
		   struct tr_buf *buf);
/* Writes all of them as text. */
void tr_own_put(struct tr_exposition *exposition);

#endif
