/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exposition: one export under way in a format of Prometheus.
 */
#ifndef TR_EXPOSITION_H
#define TR_EXPOSITION_H

#include "export/family.h"
#include "export/sink.h"

/*
 * Exemplars: of every bucket of a scope's histogram the newest operation that
 * fell into it and has attributes; photo_id=17 tells more than a bucket.
 */
struct tr_exemplars {
	uint32_t *of_site; /* 1 + index of `newest`, by site id */
	uint32_t n_sites;
	struct tr_newest {
		const tare_record *record[TR_LADDER_MOST + 1]; /* by step */
	} *newest;
	size_t n, cap;
};

struct tr_pick {
	tare_view *view; /* NULL: not in this export */
	const struct tr_gather *gather;
	uint8_t *wanted; /* by site id; NULL: all */
	int64_t created_ns;
	const tare_health *health; /* added up anew at each call */
	struct tr_exemplars exemplars;
};

struct tr_exposition {
	tare_exporter *exporter;
	struct tr_sink *sink;
	const tare_filter *filter;
	bool open;	      /* OpenMetrics */
	struct tr_pick *pick; /* by run of the exporter */
};

/* As Go reads it: NaN, +Inf, -Inf. */
char *tr_put_value(char *at, double value);

/* ---- exemplar.c -------------------------------------------------------- */

int tr_exemplars_find(struct tr_exemplars *exemplars, tare_view *view,
		      const tare_filter *filter);
void tr_exemplars_release(struct tr_exemplars *exemplars);
/* " # {labels} value time" of a bucket, if there is one. */
void tr_exemplar_put(struct tr_sink *sink, const struct tr_exemplars *exemplars,
		     uint32_t site, size_t step);

/* ---- own.c ------------------------------------------------------------- */

/* What tare says of itself, a family a number. */
void tr_own_put(struct tr_exposition *exposition);

#endif
