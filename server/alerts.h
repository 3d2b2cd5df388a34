/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alerts: the rules, and where each series that one of them watches stands.
 *
 *	inactive -> pending -> firing -> resolved -> pending ...
 *
 * A rule without `for` fires at once. Knows nothing of where figures come
 * from or who is told: both are functions of the caller.
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
	double value;	     /* when last looked at */
	int64_t since_ns;    /* in this state */
	int64_t started_ns;  /* when the condition began to hold */
	bool seen;	     /* in this round */
	bool is_gone;	     /* no live program has values of it */
};

struct alert_sample {
	char series[ALERT_SERIES_BYTES];
	double value;	 /* in the unit of the rule's bound */
	bool is_refused; /* the series' unit is another: no value */
};

/* A sample as a reader process measured it. */
struct measured {
	uint64_t rule; /* its place in the list */
	struct alert_sample sample;
};

/* Fills at most `size` samples of the series that match; how many. */
typedef size_t (*alert_measure)(void *arg, const struct alert_rule *rule,
				struct alert_sample *samples, size_t size);
/* An alert began to fire, or resolved. */
typedef void (*alert_tell)(void *arg, const struct alert *alert);

struct alerts;

/*
 * Rules of a file; wrong ones are left out, each with a line to `warn`.
 * NULL: no memory. A file that is not there has no rules.
 */
struct alerts *alerts_load(const char *path,
			   void (*warn)(void *arg, const char *text),
			   void *arg);
void alerts_free(struct alerts *alerts);

/* Looks at every rule once. */
void alerts_step(struct alerts *alerts, int64_t now_ns, alert_measure measure,
		 void *measure_arg, alert_tell tell, void *tell_arg);

size_t alerts_rules(const struct alerts *alerts,
		    const struct alert_rule **ret_rules);
/* Those that were ever pending; belongs to `alerts` until the next step. */
size_t alerts_list(const struct alerts *alerts, const struct alert **ret_list);
const char *alert_state_name(enum alert_state state);

#endif
