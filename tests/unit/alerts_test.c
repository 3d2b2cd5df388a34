/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../server/alerts.h"

#define S INT64_C(1000000000)

/* ---- rules ------------------------------------------------------------- */

static struct alert_rule parsed(const char *line)
{
	struct alert_rule rule = { .name = "" };
	const char *wrong = alert_rule_parse(line, &rule);

	CHECK(!wrong);
	if (wrong)
		printf("# '%s': %s\n", line, wrong);
	return rule;
}

TEST(a_rule_says_all)
{
	struct alert_rule rule =
		parsed("  slow_db: db.* p95 > 50ms for 30s over 5m # why\n");

	CHECK_STR(rule.name, "slow_db");
	CHECK_STR(rule.metric, "db.*");
	CHECK_STR(alert_stat_name(rule.stat), "p95");
	CHECK_STR(alert_compare_sign(rule.compare), ">");
	CHECK(rule.bound == 50e6);
	CHECK_STR(rule.bound_text, "50ms");
	CHECK_INT(rule.unit, 't');
	CHECK_INT(rule.for_ns, 30 * S);
	CHECK_INT(rule.over_ns, 300 * S);
}

TEST(a_rule_has_sane_defaults)
{
	struct alert_rule rule = parsed("q: queue.length last >= 1000");

	CHECK(rule.bound == 1000);
	CHECK_INT(rule.for_ns, 0);
	CHECK_INT(rule.over_ns, 60 * S);
}

TEST(bounds_have_units)
{
	CHECK(parsed("a: x failure_rate > 5%").bound == 0.05);
	CHECK(parsed("a: x mean < 2GiB").bound == 2147483648.0);
	CHECK_INT(parsed("a: x mean < 2GiB").unit, 'B');
	CHECK_INT(parsed("a: x failure_rate > 5%").unit, '%');
	CHECK_INT(parsed("a: x last > 5").unit, 0);
	CHECK(parsed("a: x mean < 1.5us").bound == 1500);
	CHECK(parsed("a: x last <= -3.25").bound == -3.25);
}

TEST(a_wrong_rule_is_refused_with_a_reason)
{
	static const char *const wrong[] = {
		"",
		"no colon here",
		": x mean > 1",
		"bad name: x mean > 1",
		"a:",
		"a: x",
		"a: x mean",
		"a: x mean >",
		"a: x average > 1",
		"a: x mean => 1",
		"a: x mean > fast",
		"a: x mean > inf",
		"a: x mean > nan",
		"a: x mean > 0x10",
		"a: x mean > 1e999",
		"a: x mean > 5parsec",
		"a: x count > 5ms",
		"a: x rate > 5%",
		"a: x failures > 5MB",
		"a: x failure_rate > 5ms",
		"a: x mean > 1 for",
		"a: x mean > 1 for 5",
		"a: x mean > 1 for 5%",
		"a: x mean > 1 for -5s",
		"a: x mean > 1 over 0s",
		"a: x mean > 1 since 5s",
		"a: x mean > 1 for 1s over 2s for 3s over 4s",
	};
	struct alert_rule rule = { .name = "untouched" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *why = alert_rule_parse(wrong[i], &rule);

		if (!CHECK(why && strlen(why) > 10))
			printf("# '%s'\n", wrong[i]);
		CHECK_STR(rule.name, "untouched");
	}
}

TEST(figures_come_from_the_row)
{
	tare_stats row = { .count = 20, .failures = 5, .mean = 7, .p99 = 9,
			   .last = NAN, .total = 140 };

	CHECK(alert_stat_of(parsed("a: x mean > 1").stat, &row, S) == 7);
	CHECK(alert_stat_of(parsed("a: x p99 > 1").stat, &row, S) == 9);
	CHECK(alert_stat_of(parsed("a: x rate > 1").stat, &row, 10 * S) == 2);
	CHECK(alert_stat_of(parsed("a: x failure_rate > 1").stat, &row, S) ==
	      0.25);
	CHECK(alert_stat_of(parsed("a: x success_rate > 1").stat, &row, S) ==
	      0.75);
	CHECK(isnan(alert_stat_of(parsed("a: x last > 1").stat, &row, S)));
	row.count = 0;
	CHECK(isnan(alert_stat_of(parsed("a: x failure_rate > 1").stat, &row,
				  S)));
}

/* Does the rule hold for a gauge of this unit and value? -1: refused. */
static int holds_for(const char *line, const char *unit, double value)
{
	tare_stats row = { .kind = TARE_KIND_GAUGE, .name = "x", .source = "",
			   .unit = unit, .count = 1, .last = value,
			   .mean = value };
	struct alert_rule rule = parsed(line);
	double figure;

	if (!alert_figure_of(&rule, &row, &figure))
		return -1;
	return alert_holds(&rule, figure);
}

TEST(a_bound_is_converted_to_the_unit_of_the_series)
{
	CHECK_INT(holds_for("a: x last > 90%", "%", 1.9), 0);
	CHECK_INT(holds_for("a: x last > 90%", "%", 90.5), 1);
	CHECK_INT(holds_for("a: x last > 90", "%", 90.5), 1);
	CHECK_INT(holds_for("a: x mean > 50ms", "ms", 49), 0);
	CHECK_INT(holds_for("a: x mean > 50ms", "ms", 51), 1);
	CHECK_INT(holds_for("a: x mean > 50ms", "s", 0.051), 1);
	CHECK_INT(holds_for("a: x mean > 50ms", "us", 49000), 0);
	CHECK_INT(holds_for("a: x last > 1GiB", "MiB", 1025), 1);
	CHECK_INT(holds_for("a: x last > 1GiB", "B", 1e6), 0);
	CHECK_INT(holds_for("a: x last > 10MB", "B/s", 2e7), 1);
	CHECK_INT(holds_for("a: x count > 0", "%", 1), 1);
}

TEST(a_bound_of_another_unit_is_refused)
{
	tare_stats scope = { .kind = TARE_KIND_SCOPE, .name = "x",
			     .source = "", .unit = "", .count = 1, .mean = 5 };
	struct alert_rule rule = parsed("a: x mean > 5%");
	double figure;

	CHECK_INT(holds_for("a: x last > 90%", "B", 91), -1);
	CHECK_INT(holds_for("a: x last > 90%", "", 91), -1);
	CHECK_INT(holds_for("a: x last > 50ms", "%", 91), -1);
	CHECK_INT(holds_for("a: x last > 5MB", "rows", 91), -1);
	CHECK(!alert_figure_of(&rule, &scope, &figure));
	rule = parsed("a: x mean > 2ns");
	CHECK(alert_figure_of(&rule, &scope, &figure) &&
	      alert_holds(&rule, figure));
	scope.kind = TARE_KIND_RATIO;
	rule = parsed("a: x mean > 5%");
	scope.mean = 0.06;
	CHECK(alert_figure_of(&rule, &scope, &figure) &&
	      alert_holds(&rule, figure));
}

TEST(a_rule_can_name_a_source)
{
	tare_stats row = { .name = "memory.percent", .source = "system" };
	struct alert_rule rule;

	rule = parsed("a: system:memory.percent last > 90%");
	CHECK_STR(rule.metric, "system:memory.percent");
	CHECK(alert_matches(&rule, &row));
	row.source = "gpu";
	CHECK(!alert_matches(&rule, &row));
	rule = parsed("a: memory.* last > 90%");
	CHECK(alert_matches(&rule, &row));
	rule = parsed("a: g*:memory.* last > 90%");
	CHECK(alert_matches(&rule, &row));
	row.name = "std::sort";
	rule = parsed("a: std::sort mean > 1ms");
	CHECK(alert_matches(&rule, &row));
}

TEST(no_figure_never_holds)
{
	struct alert_rule above = parsed("a: x mean > 1");
	struct alert_rule below = parsed("a: x mean <= 1");

	CHECK(!alert_holds(&above, NAN) && !alert_holds(&below, NAN));
	CHECK(alert_holds(&above, 1.5) && !alert_holds(&above, 1));
	CHECK(alert_holds(&below, 1) && !alert_holds(&below, 1.5));
}

/* ---- files ------------------------------------------------------------- */

static char told[4096];

static void remember(void *arg, const char *text)
{
	(void)arg;
	(void)strncat(told, text, sizeof(told) - strlen(told) - 2);
	(void)strcat(told, "\n");
}

static struct alerts *loaded(const char *text)
{
	char path[] = "/tmp/tare-alerts-XXXXXX";
	int fd = mkstemp(path);
	struct alerts *alerts;

	told[0] = '\0';
	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
	alerts = alerts_load(path, remember, NULL);
	(void)unlink(path);
	return alerts;
}

TEST(wrong_lines_cost_only_themselves)
{
	static char text[4096];
	const struct alert_rule *rules;
	struct alerts *alerts;

	(void)snprintf(text, sizeof(text),
		       "# rules\n\na: x mean > 1\nnonsense\na: y mean > 1\n"
		       "%02000d\nb: y mean > 1", 0);
	alerts = loaded(text);
	CHECK_INT(alerts_rules(alerts, &rules), 2);
	CHECK_STR(rules[1].name, "b");
	CHECK_INT(rules[1].line, 7);
	CHECK(strstr(told, ":4: ") && strstr(told, ":5: another rule") &&
	      strstr(told, ":6: a line of over"));
	alerts_free(alerts);
}

TEST(a_file_that_is_not_there_has_no_rules)
{
	const struct alert_rule *rules;
	struct alerts *alerts;

	told[0] = '\0';
	alerts = alerts_load("/nonexistent/alerts.conf", remember, NULL);
	CHECK_INT(alerts_rules(alerts, &rules), 0);
	CHECK_STR(told, "");
	alerts_free(alerts);
	alerts = alerts_load("/", remember, NULL);
	CHECK_INT(alerts_rules(alerts, &rules), 0);
	alerts_free(alerts);
}

/* ---- states ------------------------------------------------------------ */

static double now_value; /* NAN: the series is gone */
static unsigned n_told;
static enum alert_state last_told;

static size_t measure(void *arg, const struct alert_rule *rule,
		      struct alert_sample *samples, size_t size)
{
	(void)arg;
	(void)rule;
	if (isnan(now_value) || size == 0)
		return 0;
	(void)strcpy(samples[0].series, "db.read");
	samples[0].value = now_value;
	return 1;
}

static void tell(void *arg, const struct alert *alert)
{
	(void)arg;
	n_told++;
	last_told = alert->state;
}

static enum alert_state step(struct alerts *alerts, int64_t s, double value)
{
	const struct alert *list;

	now_value = value;
	alerts_step(alerts, s * S, measure, NULL, tell, NULL);
	return alerts_list(alerts, &list) ? list[0].state : ALERT_INACTIVE;
}

TEST(an_alert_fires_after_its_time_and_resolves)
{
	struct alerts *alerts = loaded("slow: db.* mean > 10 for 5s\n");

	n_told = 0;
	CHECK_INT(step(alerts, 100, 9), ALERT_INACTIVE);
	CHECK_INT(step(alerts, 101, 11), ALERT_PENDING);
	CHECK_INT(step(alerts, 105, 12), ALERT_PENDING);
	CHECK_INT(n_told, 0);
	CHECK_INT(step(alerts, 106, 12), ALERT_FIRING);
	CHECK_INT(n_told, 1);
	CHECK_INT(step(alerts, 107, 12), ALERT_FIRING);
	CHECK_INT(n_told, 1);
	CHECK_INT(step(alerts, 108, 3), ALERT_RESOLVED);
	CHECK_INT(n_told, 2);
	CHECK_INT(last_told, ALERT_RESOLVED);
	CHECK_INT(step(alerts, 109, 11), ALERT_PENDING);
	CHECK_INT(step(alerts, 114, 11), ALERT_FIRING);
	CHECK_INT(n_told, 3);
	alerts_free(alerts);
}

TEST(a_short_excess_is_no_alert)
{
	struct alerts *alerts = loaded("slow: db.* mean > 10 for 5s\n");

	n_told = 0;
	CHECK_INT(step(alerts, 100, 11), ALERT_PENDING);
	CHECK_INT(step(alerts, 104, 9), ALERT_INACTIVE);
	CHECK_INT(step(alerts, 105, 11), ALERT_PENDING);
	CHECK_INT(step(alerts, 109, 11), ALERT_PENDING);
	CHECK_INT(n_told, 0);
	alerts_free(alerts);
}

TEST(without_a_time_it_fires_at_once_and_a_lost_series_resolves)
{
	struct alerts *alerts = loaded("slow: db.* mean > 10\n");

	n_told = 0;
	CHECK_INT(step(alerts, 100, 11), ALERT_FIRING);
	CHECK_INT(step(alerts, 101, NAN), ALERT_RESOLVED);
	CHECK_INT(n_told, 2);
	alerts_free(alerts);
}

/* More series than there is room for, each new every second. */
static size_t measure_many(void *arg, const struct alert_rule *rule,
			   struct alert_sample *samples, size_t size)
{
	(void)rule;
	for (size_t i = 0; i < size; i++) {
		(void)snprintf(samples[i].series, sizeof(samples[i].series),
			       "s%d.%zu", *(int *)arg, i);
		samples[i].value = 11;
	}
	return size;
}

TEST(many_series_are_bounded)
{
	struct alerts *alerts = loaded("slow: * mean > 10\n");
	const struct alert *list;
	size_t n, firing = 0;

	n_told = 0;
	for (int s = 0; s < 100; s++)
		alerts_step(alerts, s * S, measure_many, &s, tell, NULL);
	n = alerts_list(alerts, &list);
	for (size_t i = 0; i < n; i++)
		firing += list[i].state == ALERT_FIRING;
	CHECK_INT(n, 1024);
	CHECK_INT(firing, 64);
	CHECK_INT(n_told, 100 * 64 + 99 * 64);
	alerts_free(alerts);
}
