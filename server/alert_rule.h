/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alert rules, one per line:
 *
 *	NAME: METRIC STATISTIC COMPARISON BOUND [for TIME] [over TIME]
 *
 *	slow_db: db.* p95 > 50ms for 30s
 *	errors:  photo.export failure_rate >= 5% over 5m
 *	queue:   queue.length last > 1000
 *	memory:  system:memory.percent last > 90%
 */
#ifndef SERVER_ALERT_RULE_H
#define SERVER_ALERT_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tare/read/view.h>

#define ALERT_NAME_BYTES 48
#define ALERT_METRIC_BYTES 128

enum alert_compare { ALERT_ABOVE, ALERT_AT_LEAST, ALERT_BELOW, ALERT_AT_MOST };

struct alert_rule {
	char name[ALERT_NAME_BYTES];
	char metric[ALERT_METRIC_BYTES]; /* [SOURCE:]NAME, both globs */
	unsigned name_at;		 /* offset of NAME */
	unsigned stat;			 /* see alert_stat_name() */
	enum alert_compare compare;
	double bound;	  /* times in ns, shares 0..1, sizes in bytes */
	char bound_text[32]; /* as typed */
	char unit;	  /* its unit: 't'ime, 'B'ytes, '%', or 0 */
	int64_t for_ns;	  /* how long it must hold before firing */
	int64_t over_ns;  /* the window of the statistic */
	unsigned line;	  /* in its file */
};

/* NULL, or the error in the line: static, lower case, no full stop. */
const char *alert_rule_parse(const char *line, struct alert_rule *ret_rule);

const char *alert_stat_name(unsigned stat);
const char *alert_compare_sign(enum alert_compare compare);

/* Does the rule apply to this series? */
bool alert_matches(const struct alert_rule *rule, const tare_stats *row);
/* A statistic of a row over a window; NAN if the row does not have it. */
double alert_stat_of(unsigned stat, const tare_stats *row, int64_t window_ns);
/*
 * The same in the unit of the rule's bound: 0.9 for a value of 90 percent if
 * the bound is given in %. False: the series' unit cannot be converted.
 */
bool alert_figure_of(const struct alert_rule *rule, const tare_stats *row,
		     double *ret_value);
bool alert_holds(const struct alert_rule *rule, double value);

#endif
