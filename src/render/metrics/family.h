/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Families: which series stand under which metric name, and their labels as
 * text; what an exporter keeps from one export to the next.
 *
 * A group is all series of one name, kind and unit, over all runs. It has up
 * to three families, which share its members and their labels. Two groups
 * never share a family: names that become the same get _2, _3 and so on, so
 * that no series can be there twice and none stands between those of another.
 *
 * Sites of a ledger only ever become more, and a site stays what it is. A run
 * that was seen before costs nothing but its new sites.
 */
#ifndef TR_RENDER_METRICS_FAMILY_H
#define TR_RENDER_METRICS_FAMILY_H

#include <tare/read/export.h>

#include "render/metrics/metric.h"

#define TR_GROUP_FAMILIES 3

struct tr_family {
	char *name;	/* without _total */
	char *head[2];	/* HELP, TYPE, UNIT: of 0.0.4 and of 1.0 */
	enum tr_metric_type type;
	enum tr_metric_part part;
};

struct tr_member {
	uint32_t run;	/* index in `runs` */
	uint32_t site;
	uint32_t text;	/* in the run's texts */
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
	struct tr_buf about; /* labels of the run, where members have them */
	uint8_t *is_known; /* by site id */
	uint32_t n_known;
	uint32_t last_hash;  /* of the last site: is it still the same run? */
	uint32_t last_site;
	bool with_run;	     /* texts have the labels of the run */
	unsigned unused;     /* exports in a row without it */
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
	char **names;		    /* samples that families own */
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
/* Takes a name with all its samples; false: one of them is taken. */
bool tr_family_claim(tare_exporter *exporter, const char *name,
		     enum tr_metric_type type);
/* "_total" and so on, of samples and of families in Prometheus. */
const char *tr_metric_ending(enum tr_metric_type type);
/* From the end of HELP on: TYPE and, of OpenMetrics, UNIT if it has one. */
void tr_metric_head(struct tr_buf *buf, const char *name,
		    enum tr_metric_type type, const char *unit, bool open);
/* The group of a site, made if needed; 1 + its index, or 0 if that failed. */
uint32_t tr_group_of(tare_exporter *exporter, const struct tr_image *image,
		     const struct tr_site *site);

uint32_t tr_hash_bytes(uint32_t hash, const char *text, size_t len);
/* Room for one more; `hash_of` gives the hash of an entry, counted from 1. */
bool tr_index_room(struct tr_index *index, const void *owner,
		   uint32_t (*hash_of)(const void *owner, uint32_t entry));
void tr_index_put(struct tr_index *index, uint32_t hash, uint32_t entry);
/* An array with room for one more element, or NULL. */
void *tr_grow(void *array, size_t n, size_t *cap, size_t size);

/* The labels of a member as text, `len` bytes of it. */
TR_INLINE const char *tr_member_labels(const tare_exporter *exporter,
				       const struct tr_member *m)
{
	return m->len ? exporter->runs[m->run].texts.data + m->text : "";
}

/* In functions that return whether all went well. */
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

/* Takes in what these views have that is new; 0 or TARE_ENOMEM. After a
 * failure the exporter is empty. */
int tr_members_update(tare_exporter *exporter, tare_view *const *views,
		      size_t n);

/* ---- own.c ------------------------------------------------------------- */

/* Takes the names of what tare says of itself. */
bool tr_own_claim(tare_exporter *exporter);

#endif
