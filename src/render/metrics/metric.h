/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metric: the Prometheus name of a series.
 *
 *	scope "db.query"       db_query_seconds (histogram),
 *	                       db_query_failures_total, db_query_items_total
 *	counter "requests"     requests_total
 *	value "size", KiB      size_bytes (histogram)
 *	gauge "load", "%"      load_ratio
 *	ratio "cache.hits"     cache_hits_ratio, cache_hits_part_total,
 *	                       cache_hits_whole_total
 *
 * No prefix: users search for the names that they chose. Metrics about tare
 * itself begin with tare_.
 */
#ifndef TR_RENDER_METRICS_METRIC_H
#define TR_RENDER_METRICS_METRIC_H

#include "base/text.h"
#include "read/view.h"

enum tr_metric_type {
	TR_METRIC_COUNTER,
	TR_METRIC_GAUGE,
	TR_METRIC_HISTOGRAM,
	TR_METRIC_INFO
};

/* The number of a series that a family shows. */
enum tr_metric_part {
	TR_PART_COUNT,	  /* of a counter */
	TR_PART_GAUGE,
	TR_PART_SPREAD,	  /* times or values, as a histogram */
	TR_PART_FAILURES,
	TR_PART_ITEMS,
	TR_PART_RATIO,
	TR_PART_PART,
	TR_PART_WHOLE,
	TR_PART_OWN	  /* about tare itself */
};

/* Upper bounds of a histogram's buckets, with their texts. */
#define TR_LADDER_MOST 32u
struct tr_ladder {
	size_t n;
	struct tr_step {
		double bound;
		const char *text; /* as Go writes it, with a point */
	} step[TR_LADDER_MOST];
};

extern const struct tr_ladder tr_ladder_seconds, tr_ladder_bytes,
	tr_ladder_ratio, tr_ladder_any;

/* A unit of Prometheus: the base unit, and the factor to convert to it. */
struct tr_unit {
	char name[24];	/* "" for none */
	double scale;
	const struct tr_ladder *ladder;
};

/* The bounds of the unit's ladder, converted to the unit of a series. */
void tr_ladder_bounds(const struct tr_unit *unit, double *bounds);
void tr_unit_of(const char *unit, enum tare_kind kind, struct tr_unit *ret);

/* Letters, digits and single underscores, no leading digit; never empty. */
void tr_metric_name(const char *name, struct tr_buf *out);
/* The same without a suffix that repeats the unit or "total". */
void tr_metric_base(const char *name, const struct tr_unit *unit,
		    struct tr_buf *out);

/*
 * The labels of a series, k="v",k="v", in valid form. Invalid characters are
 * replaced; keys that are taken or reserved get the prefix exported_. True: the
 * labels changed, so that two series might now have equal labels.
 */
bool tr_metric_labels(const char *source, const char *labels,
		      struct tr_buf *out);
/* The labels of a run: its id, its process, its program. */
void tr_metric_run_labels(struct tr_buf *out, const tare_run *run);
/* key="value", after a comma unless it is the first label. */
void tr_metric_label(struct tr_buf *out, size_t from, const char *key,
		     const char *value);
/* Is `key` one of labels[0..len)? */
bool tr_label_is_there(const char *labels, size_t len, const char *key);
/* A text with \ and newline escaped, and optionally quotes. */
bool tr_metric_text(struct tr_buf *out, const char *text, size_t len,
		    bool quotes);

#endif
