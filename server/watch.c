/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/event.h>

#include <tare/control.h>

#include "alerts.h"
#include "base/platform.h"
#include "base/text.h"
#include "cli/message.h"
#include "cli/table.h"
#include "handlers.h"
#include "notify.h"
#include "reply.h"

struct watch {
	struct event *timer;
	struct server *server;
	struct alerts *alerts;
	struct notify *notify;
	char path[600]; /* of the rules file */
	bool is_asking; /* the previous round is not finished */
	/* The first series of each rule whose unit does not fit the bound. */
	char (*refused)[ALERT_SERIES_BYTES];
};

static void warn(void *arg, const char *text)
{
	(void)arg;
	message("%s", text);
}

/* ---- notifications ----------------------------------------------------- */

/* In the unit of the rule's bound. */
static struct tr_text figure(const struct alert_rule *rule, double value)
{
	struct tr_text text;

	if (rule->unit == 't')
		return tr_as_duration(value);
	if (rule->unit == 'B')
		return tr_as_bytes(value);
	if (rule->unit == '%')
		return tr_as_share(value);
	(void)snprintf(text.text, sizeof(text.text), "%.6g", value);
	return text;
}

static void write_rule(const struct alert_rule *rule, struct tr_json *json)
{
	tr_json_str(json, "rule", rule->name);
	tr_json_str(json, "metric", rule->metric);
	tr_json_str(json, "statistic", alert_stat_name(rule->stat));
	tr_json_str(json, "comparison", alert_compare_sign(rule->compare));
	tr_json_double(json, "bound", rule->bound);
	tr_json_double(json, "for_s", (double)rule->for_ns / 1e9);
	tr_json_double(json, "over_s", (double)rule->over_ns / 1e9);
}

static void write_alert(const struct alert *alert, struct tr_json *json)
{
	tr_json_object(json, NULL);
	write_rule(alert->rule, json);
	tr_json_str(json, "series", alert->series);
	tr_json_str(json, "state", alert_state_name(alert->state));
	tr_json_double(json, "value", alert->value);
	tr_json_bool(json, "gone", alert->is_gone);
	tr_json_i64(json, "since_ns", alert->since_ns);
	tr_json_i64(json, "started_ns", alert->started_ns);
	tr_json_end_object(json);
}

/* Gives (release) one line; `failed` is set if memory ran out. */
static struct tr_buf document_of(const struct alert *alert)
{
	struct tr_buf text = TR_BUF_INIT;
	struct tr_json json;

	tr_json_begin(&json, &text);
	write_alert(alert, &json);
	tr_buf_addc(&text, '\n');
	return text;
}

static void tell(void *arg, const struct alert *alert)
{
	struct watch *watch = arg;
	char name[80], state[40], series[320], value[64], bound[64];
	const char *const variables[] = { name, state, series, value, bound,
					  NULL };
	struct tr_buf document = document_of(alert);

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
	message("alert %s: %s: %s of %s %s %s, bound %s%s",
		alert_state_name(alert->state), alert->rule->name,
		alert_stat_name(alert->rule->stat), alert->series,
		alert->is_gone ? "was" : "is",
		figure(alert->rule, alert->value).text,
		alert->rule->bound_text,
		alert->is_gone ? "; the series is gone: no live "
				 "program has values of it" :
				 "");
	if (!document.failed)
		notify_send(watch->notify, document.data, variables);
	tr_buf_release(&document);
}

/* ---- the round --------------------------------------------------------- */

/* The samples that a reader sent, in the order of the rules. */
struct round {
	struct watch *watch;
	const struct alert_rule *rules;
	struct evbuffer *samples;
};

static void refuse(struct watch *watch, size_t at,
		   const struct alert_rule *rule, const char *series)
{
	if (watch->refused[at][0])
		return;
	(void)snprintf(watch->refused[at], ALERT_SERIES_BYTES, "%s", series);
	message("%s:%u: the bound %s of '%s' does not fit the unit of %s, "
		"which is not watched",
		watch->path, rule->line, rule->bound_text, rule->name,
		series);
}

static size_t take_samples(void *arg, const struct alert_rule *rule,
			   struct alert_sample *samples, size_t size)
{
	const struct round *round = arg;
	size_t at = (size_t)(rule - round->rules), n = 0;
	struct measured measured;

	while (n < size &&
	       evbuffer_copyout(round->samples, &measured,
				sizeof(measured)) == sizeof(measured) &&
	       measured.rule <= at) {
		(void)evbuffer_drain(round->samples, sizeof(measured));
		if (measured.rule < at)
			continue;
		samples[n] = measured.sample;
		samples[n].series[ALERT_SERIES_BYTES - 1] = '\0';
		if (samples[n].is_refused)
			refuse(round->watch, at, rule, samples[n].series);
		n++;
	}
	return n;
}

static void on_samples(void *arg, struct evbuffer *body)
{
	struct watch *watch = arg;
	struct round round = { .watch = watch, .samples = body };

	watch->is_asking = false;
	/* A round that could not be read changes no state. */
	if (!body)
		return;
	(void)alerts_rules(watch->alerts, &round.rules);
	alerts_step(watch->alerts, tr_realtime_ns(), take_samples, &round, tell,
		    watch);
}

static void on_second(evutil_socket_t fd, short what, void *arg)
{
	struct watch *watch = arg;
	const struct alert_rule *rules;
	size_t n = alerts_rules(watch->alerts, &rules);

	(void)fd;
	(void)what;
	if (watch->is_asking)
		return;
	watch->is_asking = true;
	if (!readers_ask(watch->server, "measure", rules, n * sizeof(*rules),
			 on_samples, watch))
		watch->is_asking = false;
}

/* Beside tare.conf: in the working folder, or in the settings folder. */
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

	(void)!tare_option_get("alert_command", command, sizeof(command));
	(void)!tare_option_get("alert_webhook", webhook, sizeof(webhook));
	return notify_new(base, command, webhook);
}

struct watch *watch_start(struct server *server)
{
	const struct timeval second = { 1, 0 };
	struct watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->server = server;
	find_rules(watch->path, sizeof(watch->path));
	watch->alerts = alerts_load(watch->path, warn, NULL);
	watch->notify = start_notify(server->base);
	watch->timer = event_new(server->base, -1, EV_PERSIST, on_second,
				 watch);
	watch->refused = calloc(ALERT_RULES, sizeof(*watch->refused));
	if (!watch->refused || !watch->alerts || !watch->notify ||
	    !watch->timer) {
		watch_stop(watch);
		return NULL;
	}
	/* Without rules there is no timer. */
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
	free(watch->refused);
	free(watch);
}

static void write_all(const struct watch *watch, struct tr_json *json)
{
	const struct alert_rule *rules;
	const struct alert *list;
	size_t n = alerts_rules(watch->alerts, &rules);

	tr_json_str(json, "file", watch->path);
	tr_json_array(json, "rules");
	for (size_t i = 0; i < n; i++) {
		tr_json_object(json, NULL);
		write_rule(&rules[i], json);
		tr_json_str(json, "refused", watch->refused[i][0] ?
						     watch->refused[i] :
						     NULL);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
	n = alerts_list(watch->alerts, &list);
	tr_json_array(json, "alerts");
	for (size_t i = 0; i < n; i++)
		write_alert(&list[i], json);
	tr_json_end_array(json);
}

/* ---- text -------------------------------------------------------------- */

static void add_row(struct table *table, const struct alert_rule *rule,
		    const struct alert *alert, bool is_refused)
{
	char condition[200];

	(void)snprintf(condition, sizeof(condition), "%s %s %s %s",
		       rule->metric, alert_stat_name(rule->stat),
		       alert_compare_sign(rule->compare),
		       rule->bound_text);
	table_add(table, alert	    ? alert_state_name(alert->state) :
			 is_refused ? "refused" :
				      "inactive");
	table_add(table, rule->name);
	table_add(table, condition);
	table_add(table, alert ? alert->series : "");
	table_add(table, !alert		? "" :
			 alert->is_gone ? "gone" :
					  figure(rule, alert->value).text);
	table_add(table, alert ? tr_as_date(alert->since_ns).text : "");
}

static bool was_seen(const struct alert *list, size_t n,
		     const struct alert_rule *rule)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].rule == rule)
			return true;
	return false;
}

static void print(const struct watch *watch, FILE *stream)
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
		add_row(&table, list[i].rule, &list[i], false);
	for (size_t i = 0; i < n_rules; i++)
		if (!was_seen(list, n, &rules[i]))
			add_row(&table, &rules[i], NULL,
				watch->refused[i][0] != '\0');
	table_print(&table, stream, 0, false);
	table_release(&table);
	for (size_t i = 0; i < n_rules; i++)
		if (watch->refused[i][0]) {
			(void)fprintf(stream, "refused: the bound %s of '%s' "
				      "does not fit the unit of ",
				      rules[i].bound_text, rules[i].name);
			terminal_safe(stream, watch->refused[i]);
			(void)fputc('\n', stream);
		}
}

/* ---- the route /api/alerts: JSON, or a table for `tare alerts` ---------- */

static void send_table(struct exchange *ex)
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);

	if (!stream) {
		problem(ex, 503, "memory is out");
		return;
	}
	print(ex->server->watch, stream);
	if (fclose(stream) == 0)
		reply_bytes(ex, 200, "text/plain; charset=utf-8", text, len);
	else
		problem(ex, 503, "memory is out");
	free(text);
}

void handle_alerts(struct exchange *ex)
{
	const char *accept = exchange_header(ex, "Accept");
	struct tr_json *json;

	if (accept && strncmp(accept, "text/plain", 10) == 0) {
		send_table(ex);
		return;
	}
	json = reply_json(ex);
	tr_json_object(json, NULL);
	write_all(ex->server->watch, json);
	tr_json_end_object(json);
	reply_json_end(ex, 200);
}
