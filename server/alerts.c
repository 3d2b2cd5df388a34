/* SPDX-License-Identifier: Apache-2.0 */
#include "alerts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ALERTS 1024
#define LINE_BYTES 1024

struct alerts {
	struct alert_rule rule[ALERT_RULES];
	size_t n_rules;
	struct alert alert[MOST_ALERTS];
	size_t n_alerts;
};

const char *alert_state_name(enum alert_state state)
{
	static const char *const name[] = {
		[ALERT_INACTIVE] = "inactive",
		[ALERT_PENDING] = "pending",
		[ALERT_FIRING] = "firing",
		[ALERT_RESOLVED] = "resolved",
	};

	return name[state];
}

/* ---- rules ------------------------------------------------------------- */

struct reading {
	const char *path;
	unsigned line;
	void (*warn)(void *arg, const char *text);
	void *arg;
};

static void complain(const struct reading *reading, const char *what)
{
	char text[1024];

	(void)snprintf(text, sizeof(text), "%s:%u: %s, the rule is left out",
		       reading->path, reading->line, what);
	reading->warn(reading->arg, text);
}

static bool is_taken(const struct alerts *alerts, const char *name)
{
	for (size_t i = 0; i < alerts->n_rules; i++)
		if (strcmp(alerts->rule[i].name, name) == 0)
			return true;
	return false;
}

static void read_rule(struct alerts *alerts, const struct reading *reading,
		      const char *line)
{
	struct alert_rule rule;
	const char *wrong;

	line += strspn(line, " \t\r\n");
	if (!*line || *line == '#')
		return;
	wrong = alert_rule_parse(line, &rule);
	if (!wrong && is_taken(alerts, rule.name))
		wrong = "another rule has this name";
	if (!wrong && alerts->n_rules == ALERT_RULES)
		wrong = "there are 256 rules already";
	if (wrong) {
		complain(reading, wrong);
		return;
	}
	rule.line = reading->line;
	alerts->rule[alerts->n_rules++] = rule;
}

/* A line that is too long for the buffer is skipped completely. */
static bool read_line(FILE *file, char *line, bool *ret_long)
{
	int c;

	if (!fgets(line, LINE_BYTES, file))
		return false;
	*ret_long = !strchr(line, '\n') && !feof(file);
	while (*ret_long && (c = fgetc(file)) != '\n' && c != EOF)
		;
	return true;
}

static void read_rules(struct alerts *alerts, struct reading *reading,
		       FILE *file)
{
	char line[LINE_BYTES];
	bool too_long;

	while (read_line(file, line, &too_long)) {
		reading->line++;
		if (too_long)
			complain(reading, "a line of over 1023 bytes");
		else
			read_rule(alerts, reading, line);
	}
}

struct alerts *alerts_load(const char *path,
			   void (*warn)(void *arg, const char *text),
			   void *arg)
{
	struct alerts *alerts = calloc(1, sizeof(*alerts));
	struct reading reading = { .path = path, .warn = warn, .arg = arg };
	FILE *file = alerts && path ? fopen(path, "re") : NULL;
	char text[700];

	if (file) {
		read_rules(alerts, &reading, file);
		(void)fclose(file);
	} else if (alerts && path && errno != ENOENT) {
		(void)snprintf(text, sizeof(text), "cannot read '%s': %s",
			       path, strerror(errno));
		warn(arg, text);
	}
	return alerts;
}

void alerts_free(struct alerts *alerts)
{
	free(alerts);
}

size_t alerts_rules(const struct alerts *alerts,
		    const struct alert_rule **ret_rules)
{
	*ret_rules = alerts->rule;
	return alerts->n_rules;
}

size_t alerts_list(const struct alerts *alerts, const struct alert **ret_list)
{
	*ret_list = alerts->alert;
	return alerts->n_alerts;
}

/* ---- states ------------------------------------------------------------ */

struct round {
	struct alerts *alerts;
	int64_t now_ns;
	alert_tell tell;
	void *tell_arg;
};

static void enter(struct round *round, struct alert *alert,
		  enum alert_state state)
{
	bool was_firing = alert->state == ALERT_FIRING;

	alert->state = state;
	alert->since_ns = round->now_ns;
	if (state == ALERT_FIRING || (state == ALERT_RESOLVED && was_firing))
		round->tell(round->tell_arg, alert);
}

static struct alert *find(struct alerts *alerts, const struct alert_rule *rule,
			  const char *series)
{
	for (size_t i = 0; i < alerts->n_alerts; i++)
		if (alerts->alert[i].rule == rule &&
		    strcmp(alerts->alert[i].series, series) == 0)
			return &alerts->alert[i];
	return NULL;
}

/* If the table is full, reuses the slot of a resolved alert. */
static struct alert *add(struct alerts *alerts, const struct alert_rule *rule,
			 const char series[ALERT_SERIES_BYTES])
{
	struct alert *alert = NULL;

	if (alerts->n_alerts < MOST_ALERTS)
		alert = &alerts->alert[alerts->n_alerts++];
	for (size_t i = 0; !alert && i < MOST_ALERTS; i++)
		if (alerts->alert[i].state == ALERT_RESOLVED)
			alert = &alerts->alert[i];
	if (!alert)
		return NULL;
	memset(alert, 0, sizeof(*alert));
	alert->rule = rule;
	memcpy(alert->series, series, sizeof(alert->series));
	return alert;
}

static void hold(struct round *round, struct alert *alert)
{
	if (alert->state != ALERT_PENDING && alert->state != ALERT_FIRING) {
		alert->started_ns = round->now_ns;
		enter(round, alert, ALERT_PENDING);
	}
	if (alert->state == ALERT_PENDING &&
	    round->now_ns - alert->started_ns >= alert->rule->for_ns)
		enter(round, alert, ALERT_FIRING);
}

/* A pending alert that never fired becomes inactive, not resolved. */
static void release(struct round *round, struct alert *alert)
{
	if (alert->state == ALERT_FIRING)
		enter(round, alert, ALERT_RESOLVED);
	else if (alert->state == ALERT_PENDING)
		enter(round, alert, ALERT_INACTIVE);
}

static void look(struct round *round, const struct alert_rule *rule,
		 const struct alert_sample *sample)
{
	bool holds = !sample->is_refused && alert_holds(rule, sample->value);
	struct alert *alert = find(round->alerts, rule, sample->series);

	if (!alert && holds)
		alert = add(round->alerts, rule, sample->series);
	if (!alert)
		return;
	alert->seen = true;
	alert->is_gone = false;
	alert->value = sample->value;
	if (holds)
		hold(round, alert);
	else
		release(round, alert);
}

/* The condition of a series that is gone no longer holds. */
static void look_at_gone(struct round *round)
{
	struct alerts *alerts = round->alerts;

	for (size_t i = 0; i < alerts->n_alerts; i++)
		if (!alerts->alert[i].seen) {
			alerts->alert[i].is_gone = true;
			release(round, &alerts->alert[i]);
		}
}

void alerts_step(struct alerts *alerts, int64_t now_ns, alert_measure measure,
		 void *measure_arg, alert_tell tell, void *tell_arg)
{
	struct round round = { alerts, now_ns, tell, tell_arg };
	struct alert_sample sample[ALERT_SERIES];

	for (size_t i = 0; i < alerts->n_alerts; i++)
		alerts->alert[i].seen = false;
	for (size_t i = 0; i < alerts->n_rules; i++) {
		size_t n;

		memset(sample, 0, sizeof(sample));
		n = measure(measure_arg, &alerts->rule[i], sample,
			    ALERT_SERIES);

		for (size_t k = 0; k < n && k < ALERT_SERIES; k++)
			look(&round, &alerts->rule[i], &sample[k]);
	}
	look_at_gone(&round);
}
