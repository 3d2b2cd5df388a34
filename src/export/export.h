/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of export/: a view as text for people and as JSON for programs.
 */
#ifndef TR_EXPORT_H
#define TR_EXPORT_H

#include "text/text.h"
#include "view/view.h"

/* What the caller asked for, every field set. */
struct tr_report {
	tare_view *view;
	struct tr_buf *buf;
	tare_report_options options;
};

/* Defaults for what is 0; 0 or TARE_EINVAL. */
int tr_report_prepare(struct tr_report *report,
		      const tare_report_options *options);
/* Rows of the last tare_view_stats() in the order of options.sort. Gives. */
const tare_stats **tr_report_sorted(const struct tr_report *report,
				    const tare_stats *stats, size_t n);

void tr_report_head(struct tr_report *report);
int tr_report_tree(struct tr_report *report);
int tr_report_flat(struct tr_report *report);
void tr_report_health(struct tr_report *report);

/* ---- monitored.c ------------------------------------------------------- */

/* A series of the monitor. Of a total (type COUNTER) the change is NAN. */
struct tr_monitored {
	tare_stats stats;
	double change; /* of its mean, last minute against the one before */
	double per_s;  /* of a total: what it grew by */
};

/*
 * Those among the rows of the last tare_view_stats(), which must be of
 * `filter`; replaces its array. Gives (free).
 */
int tr_monitored_take(tare_view *view, const tare_filter *filter,
		      const tare_stats *stats, size_t n,
		      struct tr_monitored **ret_rows, size_t *ret_n);

/* ---- json.c: parts of a report that an export has too ------------------ */

void tr_json_run(struct tr_json *json, const tare_run *run);
void tr_json_window(struct tr_json *json, const tare_window *window);
void tr_json_series(struct tr_json *json, const tare_stats *stats);
void tr_json_health(struct tr_json *json, const tare_health *health);
const char *tr_kind_name(enum tare_kind kind);
const char *tr_type_name(enum tare_type type);

#endif
