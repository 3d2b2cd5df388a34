/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Families: which series belong to which metric name, and their labels as text;
 * what an exporter keeps from one export to the next.
 *
 * A group is all series of one name, kind and unit, over all runs. It has up to
 * three families, which share its members and their labels. Two groups never
 * share a family: names that become equal get _2, _3 and so on, so that no
 * series appears twice and the samples of a family stay together.
 *
 * Sites are only added to a ledger, and a site never changes. For a run that is
 * already known, an export only adds its new sites.
 */
#ifndef TR_RENDER_METRICS_FAMILY_H
#define TR_RENDER_METRICS_FAMILY_H

#include <tare/read/export.h>

#include "render/metrics/metric.h"

#define TR_GROUP_FAMILIES 3

struct tr_family {
	char *name;	/* without _total */
	char *head[2];	/* HELP, TYPE, UNIT: for 0.0.4 and for 1.0 */
	enum tr_metric_type type;
	enum tr_metric_part part;
};

struct tr_member {
	uint32_t run;	/* index in `runs` */
	uint32_t site;
	uint32_t text;	/* offset in the run's texts */
	uint32_t len;
};

struct tr_group {
	char *name;	/* as the program gave it */
	const char *prefix; /* of the monitor's series; "" */
	char *raw_unit;
	enum tare_kind kind;
	struct tr_unit unit;
	struct tr_family family[TR_GROUP_FAMILIES];
	size_t n_families;
	struct tr_member *member;
	size_t n, cap;
	uint32_t hash;
};

struct tr_known_run {
	char id[64];
	struct tr_buf texts;
	struct tr_buf about; /* labels of the run, if members have them */
	uint8_t *is_known; /* by site id */
	uint32_t n_known;
	uint32_t last_hash;  /* of the last site: detects a different run */
	uint32_t last_site;
	bool with_run;	     /* texts have the labels of the run */
	unsigned unused;     /* consecutive exports without this run */
	const tare_view *view; /* in the export under way */
};

/* Open addressing; 0 is empty. */
struct tr_index {
	uint32_t *at;
	uint32_t mask, n;
};

struct tare_exporter {
	struct tr_group *groups;
	size_t n_groups, cap_groups;
	struct tr_index by_name;    /* groups */
	char **names;		    /* samples that families have claimed */
	size_t n_names, cap_names;
	struct tr_index by_sample;  /* names */
	struct tr_twin {
		uint32_t group, member, hash;
	} *twins;		    /* members by their text */
	size_t n_twins, cap_twins;
	struct tr_index by_text;
	struct tr_known_run *runs;
	size_t n_runs, cap_runs;
	uint32_t last_group;	    /* a guess; counted from 1 */
	bool failed;		    /* out of memory */
};

/* ---- family.c ---------------------------------------------------------- */

void tr_families_reset(tare_exporter *exporter);
/* Claims a name and all its sample names; false: one of them is taken. */
bool tr_family_claim(tare_exporter *exporter, const char *name,
		     enum tr_metric_type type);
/* Suffix such as "_total", of samples and of families in Prometheus. */
const char *tr_metric_ending(enum tr_metric_type type);
/* The lines after HELP: TYPE and, for OpenMetrics, UNIT if there is one. */
void tr_metric_head(struct tr_buf *buf, const char *name,
		    enum tr_metric_type type, const char *unit, bool open);
/* The group of a site, created if needed: 1 + its index, or 0 on failure. */
uint32_t tr_group_of(tare_exporter *exporter, const struct tr_image *image,
		     const struct tr_site *site);

uint32_t tr_hash_bytes(uint32_t hash, const char *text, size_t len);
/* Makes room for one more; hash_of(i) hashes entry i, counted from 1. */
bool tr_index_room(struct tr_index *index, const void *owner,
		   uint32_t (*hash_of)(const void *owner, uint32_t entry));
void tr_index_put(struct tr_index *index, uint32_t hash, uint32_t entry);
/* Returns an array with room for one more element, or NULL. */
void *tr_grow(void *array, size_t n, size_t *cap, size_t size);

/* The labels of a member as text of `len` bytes. */
TR_INLINE const char *tr_member_labels(const tare_exporter *exporter,
				       const struct tr_member *m)
{
	return m->len ? exporter->runs[m->run].texts.data + m->text : "";
}

/* For functions that return false on failure. */
#define TR_GROW(e, array, n, cap) \
	do { \
		void *more_ = tr_grow((array), (n), &(cap), \
				      sizeof(*(array))); \
		if (!more_) { \
			(e)->failed = true; \
			return false; \
		} \
		(array) = more_; \
	} while (0)

/* ---- member.c ---------------------------------------------------------- */

/* Adds new sites; 0 or TARE_ENOMEM. After a failure `exporter` is empty. */
int tr_members_update(tare_exporter *exporter, tare_view *const *views,
		      size_t n);

/* ---- own.c ------------------------------------------------------------- */

/* Claims the names of the metrics about tare itself. */
bool tr_own_claim(tare_exporter *exporter);

#endif
