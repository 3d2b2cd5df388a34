/* SPDX-License-Identifier: Apache-2.0 */
#include "query.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "cli/parse.h"
#include "document.h"
#include "read/view.h"
#include "render/tables.h"

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

/* The parameter being parsed, for messages. */
struct reading {
	struct query *query;
	uint32_t accepted;
	char *why;
	size_t why_size;
};

static bool wrong(const struct reading *reading, const char *format, ...)
	TARE_PRINTF(2, 3);

static bool wrong(const struct reading *reading, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	(void)vsnprintf(reading->why, reading->why_size, format, list);
	va_end(list);
	return false;
}

/* ---- values ------------------------------------------------------------ */

/* Exactly `n` digits. */
static bool read_digits(const char **text, int n, int *ret_value)
{
	int value = 0;

	for (int i = 0; i < n; i++, (*text)++) {
		if (!isdigit((unsigned char)**text))
			return false;
		value = value * 10 + (**text - '0');
	}
	*ret_value = value;
	return true;
}

static bool read_char(const char **text, const char *any)
{
	if (**text == '\0' || !strchr(any, **text))
		return false;
	(*text)++;
	return true;
}

static bool read_date(const char **text, struct tm *tm)
{
	bool ok = read_digits(text, 4, &tm->tm_year) &&
		  read_char(text, "-") && read_digits(text, 2, &tm->tm_mon) &&
		  read_char(text, "-") && read_digits(text, 2, &tm->tm_mday) &&
		  read_char(text, "Tt ") &&
		  read_digits(text, 2, &tm->tm_hour) && read_char(text, ":") &&
		  read_digits(text, 2, &tm->tm_min) && read_char(text, ":") &&
		  read_digits(text, 2, &tm->tm_sec);

	tm->tm_year -= 1900;
	tm->tm_mon -= 1;
	/* 60: a leap second. */
	return ok && tm->tm_year >= 70 && tm->tm_mon >= 0 &&
	       tm->tm_mon < 12 && tm->tm_mday >= 1 && tm->tm_mday <= 31 &&
	       tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec <= 60;
}

static int64_t read_fraction(const char **text)
{
	int64_t ns = 0, digit = NS_PER_S / 10;

	if (!read_char(text, "."))
		return 0;
	if (!isdigit((unsigned char)**text))
		return -1;
	for (; isdigit((unsigned char)**text); (*text)++, digit /= 10)
		ns += (**text - '0') * digit;
	return ns;
}

/* An unencoded + in a URL arrives as a space. */
static bool read_zone(const char **text, int64_t *ret_s)
{
	int sign = **text == '-' ? -1 : 1, hours, minutes;

	*ret_s = 0;
	if (read_char(text, "Zz"))
		return true;
	if (!read_char(text, "+- ") || !read_digits(text, 2, &hours) ||
	    !read_char(text, ":") || !read_digits(text, 2, &minutes) ||
	    hours > 23 || minutes > 59)
		return false;
	*ret_s = sign * (hours * 3600 + minutes * 60);
	return true;
}

static bool read_rfc3339(const char *text, int64_t *ret_ns)
{
	struct tm tm = { 0 }, day;
	int64_t ns, zone_s, s;

	if (!read_date(&text, &tm))
		return false;
	ns = read_fraction(&text);
	if (ns < 0 || !read_zone(&text, &zone_s) || *text)
		return false;
	/* timegm() turns 31 February into a day of March. */
	day = (struct tm){ .tm_year = tm.tm_year, .tm_mon = tm.tm_mon,
			   .tm_mday = tm.tm_mday };
	(void)timegm(&day);
	if (day.tm_mday != tm.tm_mday)
		return false;
	s = (int64_t)timegm(&tm) - zone_s;
	/* Later times do not fit in 64 bits of ns. */
	if (s < 0 || s > INT64_MAX / NS_PER_S - 1)
		return false;
	*ret_ns = s * NS_PER_S + ns;
	return true;
}

bool query_moment(const char *text, int64_t *ret_ns)
{
	uint64_t ms;

	if (text[strspn(text, "0123456789")] != '\0' || !*text)
		return read_rfc3339(text, ret_ns);
	if (!tr_parse_u64(text, &ms) || ms > (uint64_t)INT64_MAX / NS_PER_MS)
		return false;
	*ret_ns = (int64_t)ms * NS_PER_MS;
	return true;
}

/* The position of `word` in a list that ends with NULL, or -1. */
static int find_word(const char *word, const char *const *list)
{
	for (int i = 0; list[i]; i++)
		if (strcmp(word, list[i]) == 0)
			return i;
	return -1;
}

/* ---- parameters -------------------------------------------------------- */

static bool take_word(struct query_words *words, const char *value)
{
	if (words->n == QUERY_WORDS)
		return false;
	words->at[words->n++] = value;
	return true;
}

static bool take_name(struct query *query, const char *value)
{
	return take_word(&query->names, value);
}

static bool take_source(struct query *query, const char *value)
{
	return take_word(&query->sources, value);
}

static bool take_run(struct query *query, const char *value)
{
	return *value && take_word(&query->runs, value);
}

static bool take_type(struct query *query, const char *value)
{
	for (int type = TARE_TYPE_TIME; type <= TARE_TYPE_CUSTOM; type++)
		if (strcmp(value, tare_type_name((enum tare_type)type)) == 0) {
			query->types |= 1u << type;
			return true;
		}
	return false;
}

static bool take_outcome(struct query *query, const char *value)
{
	static const char *const name[] = { "any", "ok", "failed", NULL };
	int at = find_word(value, name);

	if (at < 0)
		return false;
	query->outcome = (uint32_t)at;
	return true;
}

static bool take_window(struct query *query, const char *value)
{
	return parse_duration(value, &query->window_ns) && query->window_ns;
}

static bool take_from(struct query *query, const char *value)
{
	return query_moment(value, &query->from_ns);
}

static bool take_to(struct query *query, const char *value)
{
	return query_moment(value, &query->to_ns) && query->to_ns > 0;
}

static bool take_limit(struct query *query, const char *value)
{
	return tr_parse_u64(value, &query->limit) && query->limit > 0 &&
	       query->limit <= QUERY_MAX_LIMIT;
}

static bool take_cursor(struct query *query, const char *value)
{
	query->cursor = value;
	return *value != '\0';
}

static bool take_sort(struct query *query, const char *value)
{
	static const char *const name[] = { "total",	"slowest", "average",
					    "failures", "count",   "name",
					    NULL };

	query->sort = value;
	return find_word(value, name) >= 0;
}

static bool take_table(struct query *query, const char *value)
{
	query->table = tr_csv_table(value);
	return query->table != NULL;
}

static bool take_state(struct query *query, const char *value)
{
	query->state = value;
	for (int state = TARE_RUN_LIVE; state <= TARE_RUN_KILLED; state++)
		if (strcmp(value, tr_run_state_name(
					  (enum tare_run_state)state)) == 0)
			return true;
	return false;
}

static const struct parameter {
	const char *name;
	uint32_t part;
	bool repeats;
	bool (*take)(struct query *query, const char *value);
	const char *expected;
} parameters[] = { /* the first three are bits 1, 2, 4 of `seen` */
	{ "window", QUERY_WINDOW, false, take_window,
	  "a duration such as 5m, 30s or 1h30m" },
	{ "from", QUERY_WINDOW, false, take_from,
	  "RFC 3339 or milliseconds since 1970" },
	{ "to", QUERY_WINDOW, false, take_to,
	  "RFC 3339 or milliseconds since 1970" },
	{ "name", QUERY_SERIES, true, take_name, "at most 16 globs" },
	{ "source", QUERY_SERIES, true, take_source, "at most 16 globs" },
	{ "type", QUERY_SERIES, true, take_type,
	  "time, throughput, memory, counter, ratio, percentage or custom" },
	{ "outcome", QUERY_SERIES, false, take_outcome, "any, ok or failed" },
	{ "limit", QUERY_PAGE, false, take_limit,
	  "a whole number from 1 to 10000" },
	{ "cursor", QUERY_PAGE, false, take_cursor,
	  "the 'next' of an earlier answer" },
	{ "run", QUERY_RUN, true, take_run,
	  "a run's id or its beginning, a process id, or last" },
	{ "sort", QUERY_SORT, false, take_sort,
	  "total, slowest, average, failures, count or name" },
	{ "table", QUERY_TABLE, false, take_table,
	  "processing, memory, gpu, metrics or stats" },
	{ "state", QUERY_STATE, false, take_state,
	  "live, finished or killed" },
};

#define N_PARAMETERS (sizeof(parameters) / sizeof(parameters[0]))

static bool take_parameter(const struct reading *reading, const char *name,
			   const char *value)
{
	for (size_t i = 0; i < N_PARAMETERS; i++) {
		const struct parameter *known = &parameters[i];
		uint32_t bit = UINT32_C(1) << i;

		if (strcmp(name, known->name) != 0)
			continue;
		if (!(known->part & reading->accepted))
			break;
		if ((reading->query->seen & bit) && !known->repeats)
			return wrong(reading, "parameter '%s' is given twice",
				     name);
		reading->query->seen |= bit;
		return known->take(reading->query, value) ||
		       wrong(reading, "parameter '%s' is wrong: accepted is %s",
			     name, known->expected);
	}
	return wrong(reading, "unknown parameter '%.40s'", name);
}

/* ---- text -------------------------------------------------------------- */

/* Decodes in place. False: a broken %XX, or a zero byte. */
static bool decode(char *text)
{
	char *to = text;

	for (; *text; text++, to++) {
		int high, low;

		*to = *text == '+' ? ' ' : *text;
		if (*text != '%')
			continue;
		high = document_hex_digit(text[1]);
		low = high < 0 ? -1 : document_hex_digit(text[2]);
		if (low < 0 || high + low == 0)
			return false;
		*to = (char)(high * 16 + low);
		text += 2;
	}
	*to = '\0';
	return true;
}

static bool take_pair(const struct reading *reading, char *pair)
{
	char *value = strchr(pair, '=');

	if (value)
		*value++ = '\0';
	if (!decode(pair) || (value && !decode(value)))
		return wrong(reading, "broken %% code in the query");
	return take_parameter(reading, pair,
			      value ? value : pair + strlen(pair));
}

static bool check_whole(const struct reading *reading)
{
	const struct query *query = reading->query;

	if ((query->seen & 1u) && (query->seen & 6u))
		return wrong(reading, "'window' excludes 'from' and 'to'");
	if (query->to_ns && query->to_ns <= query->from_ns)
		return wrong(reading, "empty window: 'to' is not after "
				      "'from'");
	return true;
}

bool query_parse(struct query *query, const char *raw, uint32_t accepted,
		 char *why, size_t why_size)
{
	const struct reading reading = { query, accepted, why, why_size };
	char *pair = query->text, *next;

	(void)memset(query, 0, offsetof(struct query, text));
	query->limit = QUERY_LIMIT;
	query->text[0] = '\0';
	if (!raw)
		return true;
	if (strlen(raw) >= sizeof(query->text))
		return wrong(&reading, "the query is too long");
	(void)strcpy(query->text, raw);
	for (; pair; pair = next) {
		next = strchr(pair, '&');
		if (next)
			*next++ = '\0';
		if (*pair && !take_pair(&reading, pair))
			return false;
	}
	return check_whole(&reading);
}

tare_filter query_filter(const struct query *query, int64_t now_ns)
{
	tare_filter filter = {
		.struct_size = sizeof(filter),
		.types = query->types,
		.names = query->names.at,
		.n_names = query->names.n,
		.sources = query->sources.at,
		.n_sources = query->sources.n,
		.from_ns = query->from_ns,
		.to_ns = query->to_ns,
		.outcome = query->outcome,
	};

	if (query->window_ns && query->window_ns < (uint64_t)now_ns)
		filter.from_ns = now_ns - (int64_t)query->window_ns;
	return filter;
}
