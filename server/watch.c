/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include <tare/control.h>

#include "alerts.h"
#include "cli/format.h"
#include "cli/message.h"
#include "cli/table.h"
#include "live.h"
#include "notify.h"

#define MOST_WINDOWS 16 /* different ones of all rules */

/* Statistics over one window, shared by the rules that ask for it. */
struct look {
	int64_t over_ns; /* 0: all time */
	tare_merge *merge;
};

struct watch {
	struct event *timer;
	struct pool *pool;
	struct alerts *alerts;
	struct notify *notify;
	char path[600]; /* of the rules */
	int64_t now_ns; /* of this round */
	struct look look[MOST_WINDOWS];
	size_t n_looks;
};

static void warn(void *arg, const char *text)
{
	(void)arg;
	message("%s", text);
}

/* ---- figures ----------------------------------------------------------- */

static tare_merge *merge_over(struct watch *watch, int64_t over_ns)
{
	tare_filter filter = { .struct_size = sizeof(filter) };
	tare_view *views[POOL_VIEWS];
	size_t n = live_views(watch->pool, views);
	tare_merge *merge = NULL;

	if (over_ns)
		filter.from_ns = watch->now_ns - over_ns;
	if (tare_merge_open(views, n, &filter, &merge))
		return NULL;
	return merge;
}

static const tare_stats *rows_over(struct watch *watch, int64_t over_ns,
				   size_t *ret_n)
{
	struct look *look = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < watch->n_looks && !look; i++)
		if (watch->look[i].over_ns == over_ns)
			look = &watch->look[i];
	if (!look) {
		if (watch->n_looks == MOST_WINDOWS)
			return NULL;
		look = &watch->look[watch->n_looks++];
		look->over_ns = over_ns;
		look->merge = merge_over(watch, over_ns);
	}
	return look->merge ? tare_merge_stats(look->merge, ret_n) : NULL;
}

static void forget_looks(struct watch *watch)
{
	for (size_t i = 0; i < watch->n_looks; i++)
		tare_merge_close(watch->look[i].merge);
	watch->n_looks = 0;
}

static void name_series(const tare_stats *row, char *out, size_t size)
{
	const char *source = row->source, *labels = row->labels;

	if (!*source && !*labels)
		(void)snprintf(out, size, "%s", row->name);
	else
		(void)snprintf(out, size, "%s{%s%s%s%s%s}", row->name,
			       *source ? "source=\"" : "", source,
			       *source ? "\"" : "",
			       *source && *labels ? "," : "", labels);
}

/* Counters and ratios are of all time; everything else has windows. */
static bool has_windows(const tare_stats *row)
{
	return row->kind != TARE_KIND_COUNTER && row->kind != TARE_KIND_RATIO;
}

static size_t add_samples(struct watch *watch, const struct alert_rule *rule,
			  int64_t over_ns, struct alert_sample *samples,
			  size_t n, size_t size)
{
	size_t n_rows;
	const tare_stats *row = rows_over(watch, over_ns, &n_rows);
	bool is_last = strcmp(alert_stat_name(rule->stat), "last") == 0;

	for (size_t i = 0; i < n_rows && n < size; i++, row++) {
		/* A gauge's value now is no matter of windows either. */
		bool windowed = has_windows(row) && !is_last;

		if (windowed != (over_ns != 0) ||
		    fnmatch(rule->metric, row->name, 0) != 0)
			continue;
		name_series(row, samples[n].series, sizeof(samples[n].series));
		samples[n].value = alert_stat_of(rule->stat, row,
						 rule->over_ns);
		n += !isnan(samples[n].value);
	}
	return n;
}

static size_t measure(void *arg, const struct alert_rule *rule,
		      struct alert_sample *samples, size_t size)
{
	size_t n = add_samples(arg, rule, rule->over_ns, samples, 0, size);

	return add_samples(arg, rule, 0, samples, n, size);
}

/* ---- telling ----------------------------------------------------------- */

/* In the unit that the rule's bound was given in. */
static struct text figure(const struct alert_rule *rule, double value)
{
	struct text text;

	if (rule->unit == 't')
		return format_duration(value);
	if (rule->unit == 'B')
		return format_bytes(value);
	if (rule->unit == '%')
		return format_share(value);
	(void)snprintf(text.text, sizeof(text.text), "%.6g", value);
	return text;
}

static void write_rule(const struct alert_rule *rule, struct json *json)
{
	json_text(json, "rule", rule->name);
	json_text(json, "metric", rule->metric);
	json_text(json, "statistic", alert_stat_name(rule->stat));
	json_text(json, "comparison", alert_compare_sign(rule->compare));
	json_number(json, "bound", rule->bound);
	json_number(json, "for_s", (double)rule->for_ns / 1e9);
	json_number(json, "over_s", (double)rule->over_ns / 1e9);
}

static void write_alert(const struct alert *alert, struct json *json)
{
	json_begin_object(json, NULL);
	write_rule(alert->rule, json);
	json_text(json, "series", alert->series);
	json_text(json, "state", alert_state_name(alert->state));
	json_number(json, "value", alert->value);
	json_signed(json, "since_ns", alert->since_ns);
	json_signed(json, "started_ns", alert->started_ns);
	json_end_object(json);
}

static char *document_of(const struct alert *alert)
{
	char *text = NULL;
	size_t len;
	struct json json = { .stream = open_memstream(&text, &len) };

	if (!json.stream)
		return NULL;
	write_alert(alert, &json);
	json_finish(&json);
	if (fclose(json.stream)) {
		free(text);
		return NULL;
	}
	return text;
}

static void tell(void *arg, const struct alert *alert)
{
	struct watch *watch = arg;
	char name[80], state[40], series[320], value[64], bound[64];
	const char *const variables[] = { name, state, series, value, bound,
					  NULL };
	char *document = document_of(alert);

	(void)snprintf(name, sizeof(name), "TARE_ALERT=%s",
		       alert->rule->name);
	(void)snprintf(state, sizeof(state), "TARE_ALERT_STATE=%s",
		       alert_state_name(alert->state));
	(void)snprintf(series, sizeof(series), "TARE_ALERT_SERIES=%s",
		       alert->series);
	(void)snprintf(value, sizeof(value), "TARE_ALERT_VALUE=%.9g",
		       alert->value);
	(void)snprintf(bound, sizeof(bound), "TARE_ALERT_BOUND=%.9g",
		       alert->rule->bound);
	message("alert %s: %s: %s of %s is %s, bound %s",
		alert_state_name(alert->state), alert->rule->name,
		alert_stat_name(alert->rule->stat), alert->series,
		figure(alert->rule, alert->value).text,
		alert->rule->bound_text);
	if (document)
		notify_send(watch->notify, document, variables);
	free(document);
}

/* ---- the round --------------------------------------------------------- */

static void on_second(evutil_socket_t fd, short what, void *arg)
{
	struct watch *watch = arg;

	(void)fd;
	(void)what;
	watch->now_ns = live_now_ns();
	alerts_step(watch->alerts, watch->now_ns, measure, watch, tell, watch);
	forget_looks(watch);
}

/* Beside tare.conf: in the working folder, or in that of the settings. */
static void find_rules(char *path, size_t size)
{
	const char *folder = getenv("XDG_CONFIG_HOME"), *below = "tare";

	if (tare_option_get("alert_rules", path, size) > 0)
		return;
	(void)snprintf(path, size, "alerts.conf");
	if (access(path, F_OK) == 0)
		return;
	if (!folder || *folder != '/') {
		folder = getenv("HOME");
		below = ".config/tare";
	}
	if (folder)
		(void)snprintf(path, size, "%s/%s/alerts.conf", folder, below);
}

static struct notify *start_notify(struct event_base *base)
{
	char command[256] = "", webhook[256] = "";

	(void)tare_option_get("alert_command", command, sizeof(command));
	(void)tare_option_get("alert_webhook", webhook, sizeof(webhook));
	return notify_new(base, command, webhook, warn, NULL);
}

struct watch *watch_start(struct event_base *base, struct pool *pool)
{
	const struct timeval second = { 1, 0 };
	struct watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->pool = pool;
	find_rules(watch->path, sizeof(watch->path));
	watch->alerts = alerts_load(watch->path, warn, NULL);
	watch->notify = start_notify(base);
	watch->timer = event_new(base, -1, EV_PERSIST, on_second, watch);
	if (!watch->alerts || !watch->notify || !watch->timer) {
		watch_stop(watch);
		return NULL;
	}
	/* Without a rule there is nothing to wake up for. */
	if (alerts_rules(watch->alerts, &(const struct alert_rule *){ NULL }))
		(void)event_add(watch->timer, &second);
	return watch;
}

void watch_stop(struct watch *watch)
{
	if (!watch)
		return;
	if (watch->timer)
		event_free(watch->timer);
	notify_free(watch->notify);
	alerts_free(watch->alerts);
	free(watch);
}

void watch_write(const struct watch *watch, struct json *json)
{
	const struct alert_rule *rules;
	const struct alert *list;
	size_t n = alerts_rules(watch->alerts, &rules);

	json_text(json, "file", watch->path);
	json_begin_array(json, "rules");
	for (size_t i = 0; i < n; i++) {
		json_begin_object(json, NULL);
		write_rule(&rules[i], json);
		json_end_object(json);
	}
	json_end_array(json);
	n = alerts_list(watch->alerts, &list);
	json_begin_array(json, "alerts");
	for (size_t i = 0; i < n; i++)
		write_alert(&list[i], json);
	json_end_array(json);
}

/* ---- for people -------------------------------------------------------- */

static void add_row(struct table *table, const struct alert_rule *rule,
		    const struct alert *alert)
{
	char condition[200];

	(void)snprintf(condition, sizeof(condition), "%s %s %s %s",
		       rule->metric, alert_stat_name(rule->stat),
		       alert_compare_sign(rule->compare),
		       rule->bound_text);
	table_add(table, alert ? alert_state_name(alert->state) : "inactive");
	table_add(table, rule->name);
	table_add(table, condition);
	table_add(table, alert ? alert->series : "");
	table_add(table, alert ? figure(rule, alert->value).text : "");
	table_add(table, alert ? format_time(alert->since_ns).text : "");
}

static bool was_seen(const struct alert *list, size_t n,
		     const struct alert_rule *rule)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].rule == rule)
			return true;
	return false;
}

void watch_print(const struct watch *watch, FILE *stream)
{
	static const struct column columns[] = {
		COLUMN_TEXT("STATE", 0),   COLUMN_TEXT("RULE", 0),
		COLUMN_TEXT("CONDITION", 0), COLUMN_TEXT("SERIES", 0),
		COLUMN_NUMBER("VALUE", 0), COLUMN_TEXT("SINCE", 0),
	};
	const struct alert_rule *rules;
	const struct alert *list;
	size_t n_rules = alerts_rules(watch->alerts, &rules);
	size_t n = alerts_list(watch->alerts, &list);
	struct table table;

	if (n_rules == 0) {
		(void)fprintf(stream, "no rules in %s\n", watch->path);
		return;
	}
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < n; i++)
		add_row(&table, list[i].rule, &list[i]);
	for (size_t i = 0; i < n_rules; i++)
		if (!was_seen(list, n, &rules[i]))
			add_row(&table, &rules[i], NULL);
	table_print(&table, stream, 0, false);
	table_release(&table);
}
