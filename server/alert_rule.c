/* SPDX-License-Identifier: Apache-2.0 */
#include "alert_rule.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OVER_NS INT64_C(60000000000)
_Static_assert(ALERT_METRIC_BYTES == 128, "a word");

#define MOST_WORDS 9
#define WORD_BYTES 128
#define MOST_NS 1e18 /* 31 years: sums of times do not overflow */

/* ---- statistics -------------------------------------------------------- */

static double rate_of(double n, int64_t window_ns)
{
	return window_ns > 0 ? n * 1e9 / (double)window_ns : NAN;
}

enum {
	STAT_COUNT, STAT_RATE, STAT_TOTAL, STAT_MEAN, STAT_MIN, STAT_MAX,
	STAT_P50, STAT_P90, STAT_P95, STAT_P99, STAT_P999, STAT_FAILURES,
	STAT_FAILURE_RATE, STAT_SUCCESS_RATE, STAT_LAST, N_STATS
};

static const char *const stat_name[N_STATS] = {
	"count", "rate", "total", "mean", "min", "max", "p50", "p90", "p95",
	"p99", "p999", "failures", "failure_rate", "success_rate", "last",
};

const char *alert_stat_name(unsigned stat)
{
	return stat < N_STATS ? stat_name[stat] : "";
}

double alert_stat_of(unsigned stat, const tare_stats *row, int64_t window_ns)
{
	const double figure[N_STATS] = {
		[STAT_COUNT] = (double)row->count,
		[STAT_RATE] = rate_of((double)row->count, window_ns),
		[STAT_TOTAL] = row->total,
		[STAT_MEAN] = row->mean,
		[STAT_MIN] = row->min,
		[STAT_MAX] = row->max,
		[STAT_P50] = row->p50,
		[STAT_P90] = row->p90,
		[STAT_P95] = row->p95,
		[STAT_P99] = row->p99,
		[STAT_P999] = row->p999,
		[STAT_FAILURES] = (double)row->failures,
		[STAT_FAILURE_RATE] = row->count ? (double)row->failures /
							   (double)row->count :
						   NAN,
		[STAT_SUCCESS_RATE] = row->count ?
					      1 - (double)row->failures /
							  (double)row->count :
					      NAN,
		[STAT_LAST] = row->last,
	};

	return stat < N_STATS ? figure[stat] : NAN;
}

/* ---- comparing --------------------------------------------------------- */

static const char *const sign[] = {
	[ALERT_ABOVE] = ">",
	[ALERT_AT_LEAST] = ">=",
	[ALERT_BELOW] = "<",
	[ALERT_AT_MOST] = "<=",
};

const char *alert_compare_sign(enum alert_compare compare)
{
	return sign[compare];
}

/* A series without a figure raises no alert. */
bool alert_holds(const struct alert_rule *rule, double value)
{
	switch (rule->compare) {
	case ALERT_ABOVE:
		return value > rule->bound;
	case ALERT_AT_LEAST:
		return value >= rule->bound;
	case ALERT_BELOW:
		return value < rule->bound;
	case ALERT_AT_MOST:
		return value <= rule->bound;
	}
	return false;
}

/* ---- units ------------------------------------------------------------- */

/* Times in ns, sizes in bytes, shares in 0..1. */
static const struct unit {
	const char *name;
	char kind; /* as in struct alert_rule */
	double scale;
} units[] = {
	{ "", 0, 1 },
	{ "%", '%', 0.01 },
	{ "ns", 't', 1 },
	{ "us", 't', 1e3 },
	{ "ms", 't', 1e6 },
	{ "s", 't', 1e9 },
	{ "m", 't', 60e9 },
	{ "h", 't', 3600e9 },
	{ "d", 't', 86400e9 },
	{ "B", 'B', 1 },
	{ "kB", 'B', 1e3 },
	{ "MB", 'B', 1e6 },
	{ "GB", 'B', 1e9 },
	{ "KiB", 'B', 1024 },
	{ "MiB", 'B', 1048576 },
	{ "GiB", 'B', 1073741824 },
};

static const struct unit *find_unit(const char *name)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	return NULL;
}

/* The unit of a series; an unknown unit fits only itself. */
static struct unit unit_of_series(const tare_stats *row)
{
	struct unit unknown = { row->unit, '?', 1 };
	const struct unit *unit = find_unit(row->unit);

	if (row->kind == TARE_KIND_SCOPE)
		return *find_unit("ns");
	if (row->kind == TARE_KIND_RATIO)
		return (struct unit){ "", '%', 1 };
	/* For such a series a bound of 10MB means 10 MB per second. */
	if (strcmp(row->unit, "B/s") == 0)
		return *find_unit("B");
	return unit ? *unit : unknown;
}

static bool is_share(unsigned stat)
{
	return stat == STAT_FAILURE_RATE || stat == STAT_SUCCESS_RATE;
}

/* Statistics without a unit, for any series. */
static bool is_number(unsigned stat)
{
	return stat == STAT_COUNT || stat == STAT_RATE ||
	       stat == STAT_FAILURES;
}

bool alert_figure_of(const struct alert_rule *rule, const tare_stats *row,
		     double *ret_value)
{
	struct unit unit = unit_of_series(row);

	*ret_value = alert_stat_of(rule->stat, row, rule->over_ns);
	if (is_number(rule->stat) || is_share(rule->stat) || !rule->unit)
		return true;
	*ret_value *= unit.scale;
	return unit.kind == rule->unit;
}

bool alert_matches(const struct alert_rule *rule, const tare_stats *row)
{
	char source[ALERT_METRIC_BYTES];

	if (fnmatch(rule->metric + rule->name_at, row->name, 0) != 0)
		return false;
	if (!rule->name_at)
		return true;
	(void)memcpy(source, rule->metric, rule->name_at - 1);
	source[rule->name_at - 1] = '\0';
	return fnmatch(source, row->source, 0) == 0;
}

/* ---- reading a line ---------------------------------------------------- */

static bool find(const char *const *list, size_t n, const char *word,
		 unsigned *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i], word) == 0) {
			*ret = (unsigned)i;
			return true;
		}
	}
	return false;
}

static bool read_number(const char *word, double *ret, const char **ret_unit)
{
	char *end;

	/* Plain numbers only: no "inf", no "0x". */
	if (strspn(word, "+-.0123456789") == 0)
		return false;
	*ret = strtod(word, &end);
	*ret_unit = end;
	return end != word && isfinite(*ret) && !strpbrk(word, "xX");
}

static bool read_bound(const char *word, struct alert_rule *rule)
{
	const struct unit *unit;
	const char *name;

	if (strlen(word) >= sizeof(rule->bound_text) ||
	    !read_number(word, &rule->bound, &name))
		return false;
	unit = find_unit(name);
	if (!unit)
		return false;
	rule->bound *= unit->scale;
	rule->unit = unit->kind;
	memcpy(rule->bound_text, word, strlen(word) + 1);
	return isfinite(rule->bound);
}

static bool read_time(const char *word, int64_t *ret_ns)
{
	const struct unit *unit;
	const char *name;
	double ns;

	if (!read_number(word, &ns, &name))
		return false;
	unit = find_unit(name);
	if (!unit || unit->kind != 't')
		return false;
	ns *= unit->scale;
	if (!(ns >= 0 && ns <= MOST_NS))
		return false;
	*ret_ns = (int64_t)ns;
	return true;
}

/* Splits into words; 0: too many, or one is too long. */
static unsigned split(const char *line, char word[][WORD_BYTES])
{
	unsigned n = 0;

	for (;;) {
		size_t len;

		line += strspn(line, " \t\r\n");
		if (!*line || *line == '#')
			return n;
		len = strcspn(line, " \t\r\n");
		if (n == MOST_WORDS || len >= WORD_BYTES)
			return 0;
		memcpy(word[n], line, len);
		word[n++][len] = '\0';
		line += len;
	}
}

static bool is_name(const char *text, size_t len)
{
	static const char may[] = "abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

	return len > 0 && len < ALERT_NAME_BYTES && strspn(text, may) >= len;
}

/* Offset after SOURCE:, or 0; std::sort is a name without a source. */
static unsigned find_name(const char *metric)
{
	const char *colon = strchr(metric, ':');

	if (!colon || colon == metric || colon[1] == ':' || !colon[1])
		return 0;
	return (unsigned)(colon + 1 - metric);
}

static const char *read_condition(char word[][WORD_BYTES],
				  struct alert_rule *rule)
{
	unsigned compare;

	memcpy(rule->metric, word[0], sizeof(rule->metric));
	rule->name_at = find_name(rule->metric);
	if (!find(stat_name, N_STATS, word[1], &rule->stat))
		return "the statistic is none of count rate total mean min "
		       "max p50 p90 p95 p99 p999 failures failure_rate "
		       "success_rate last";
	if (!find(sign, sizeof(sign) / sizeof(sign[0]), word[2], &compare))
		return "the comparison is none of > >= < <=";
	rule->compare = (enum alert_compare)compare;
	if (!read_bound(word[3], rule))
		return "the bound is not a number with a unit such as 50ms, "
		       "5% or 2GiB";
	if (is_number(rule->stat) && rule->unit)
		return "count, rate and failures are numbers without a unit";
	if (is_share(rule->stat) && rule->unit && rule->unit != '%')
		return "a rate of failures or successes is a share such as 5%";
	return NULL;
}

static const char *read_times(char word[][WORD_BYTES], unsigned n,
			      struct alert_rule *rule)
{
	for (unsigned i = 0; i < n; i += 2) {
		bool is_for = strcmp(word[i], "for") == 0;

		if (!is_for && strcmp(word[i], "over") != 0)
			return "after the bound only 'for TIME' and 'over "
			       "TIME' may follow";
		if (i + 1 == n || !read_time(word[i + 1],
					     is_for ? &rule->for_ns :
						      &rule->over_ns))
			return "'for' and 'over' need a time such as 30s or "
			       "5m";
	}
	return rule->over_ns > 0 ? NULL : "a window of no length";
}

const char *alert_rule_parse(const char *line, struct alert_rule *ret_rule)
{
	struct alert_rule rule = { .over_ns = OVER_NS };
	char word[MOST_WORDS][WORD_BYTES];
	const char *colon = strchr(line, ':'), *wrong;
	unsigned n;

	line += strspn(line, " \t");
	if (!colon || !is_name(line, (size_t)(colon - line)))
		return "a rule starts with its name and a colon; the name is "
		       "of letters, digits, _ . -";
	memcpy(rule.name, line, (size_t)(colon - line));
	n = split(colon + 1, word);
	if (n < 4)
		return "a rule is 'NAME: METRIC STATISTIC COMPARISON BOUND "
		       "[for TIME] [over TIME]'";
	wrong = read_condition(word, &rule);
	if (!wrong)
		wrong = read_times(word + 4, n - 4, &rule);
	if (!wrong)
		*ret_rule = rule;
	return wrong;
}
