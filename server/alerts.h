/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alerts: the rules, and the state of each series that a rule watches.
 *
 *	inactive -> pending -> firing -> resolved -> pending ...
 *
 * A rule without `for` fires at once. The caller passes functions that measure
 * series and that report changes.
 */
#ifndef SERVER_ALERTS_H
#define SERVER_ALERTS_H

#include "alert_rule.h"

enum alert_state {
	ALERT_INACTIVE,
	ALERT_PENDING,
	ALERT_FIRING,
	ALERT_RESOLVED
};

#define ALERT_SERIES_BYTES 256
#define ALERT_RULES 256 /* of one file */
#define ALERT_SERIES 64 /* of one rule: a glob may match thousands */

/* One series that a rule watches. */
struct alert {
	const struct alert_rule *rule;
	char series[ALERT_SERIES_BYTES]; /* name, or name{source,labels} */
	enum alert_state state;
	double value;	     /* in the last round */
	int64_t since_ns;    /* in this state */
	int64_t started_ns;  /* since when the condition holds */
	bool seen;	     /* measured in this round */
	bool is_gone;	     /* no live program has this series */
};

struct alert_sample {
	char series[ALERT_SERIES_BYTES];
	double value;	 /* in the unit of the rule's bound */
	bool is_refused; /* the unit cannot be converted: no value */
};

/* A sample as a reader process measured it. */
struct measured {
	uint64_t rule; /* index in the list */
	struct alert_sample sample;
};

/* Fills at most `size` samples of matching series; returns their number. */
typedef size_t (*alert_measure)(void *arg, const struct alert_rule *rule,
				struct alert_sample *samples, size_t size);
/* An alert began to fire, or resolved. */
typedef void (*alert_tell)(void *arg, const struct alert *alert);

struct alerts;

/*
 * Loads the rules of a file. Invalid rules are left out, each with a line to
 * `warn`. NULL: no memory. A missing file has no rules.
 */
struct alerts *alerts_load(const char *path,
			   void (*warn)(void *arg, const char *text),
			   void *arg);
void alerts_free(struct alerts *alerts);

/* Evaluates every rule once. */
void alerts_step(struct alerts *alerts, int64_t now_ns, alert_measure measure,
		 void *measure_arg, alert_tell tell, void *tell_arg);

size_t alerts_rules(const struct alerts *alerts,
		    const struct alert_rule **ret_rules);
/* Alerts that were ever pending; valid until the next step. */
size_t alerts_list(const struct alerts *alerts, const struct alert **ret_list);
const char *alert_state_name(enum alert_state state);

#endif
