/* SPDX-License-Identifier: Apache-2.0 */
#include "summary_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "table.h"

#define SHOWN 5u

static int by_mean(const void *a, const void *b)
{
	const tare_stats *x = *(const tare_stats *const *)a;
	const tare_stats *y = *(const tare_stats *const *)b;

	/* Nothing but NAN: behind all others. */
	if ((x->mean != x->mean) != (y->mean != y->mean))
		return x->mean != x->mean ? 1 : -1;
	if (x->mean != y->mean && x->mean == x->mean)
		return x->mean < y->mean ? 1 : -1;
	if (strcmp(x->name, y->name) != 0)
		return strcmp(x->name, y->name);
	return strcmp(x->labels, y->labels);
}

bool summary_values_take(struct summary_values *values,
			 const tare_stats *stats, size_t n)
{
	values->rows = calloc(n + 1, sizeof(values->rows[0]));
	if (!values->rows)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((stats[i].kind == TARE_KIND_VALUE ||
		     stats[i].kind == TARE_KIND_GAUGE) &&
		    !tare_stats_is_monitor(&stats[i]))
			values->rows[values->n++] = &stats[i];
	qsort(values->rows, values->n, sizeof(values->rows[0]), by_mean);
	return true;
}

void summary_values_release(struct summary_values *values)
{
	free(values->rows);
	values->rows = NULL;
}

static bool is_value(const tare_record *record)
{
	return record->kind == TARE_RECORD_VALUE ||
	       record->kind == TARE_RECORD_GAUGE ||
	       record->kind == TARE_RECORD_COUNTER ||
	       record->kind == TARE_RECORD_RATIO;
}

/* The first record to show, so that up to SHOWN values follow. */
static size_t first_recent(const struct summary_values *values)
{
	size_t i = values->n_records, left = SHOWN;

	while (i > 0 && left > 0)
		left -= is_value(&values->records[--i]);
	return i;
}

static size_t n_shown(const struct summary_values *values)
{
	return values->n < SHOWN ? values->n : SHOWN;
}

/* ---- for people -------------------------------------------------------- */

static void print_top(const struct summary_values *values)
{
	static const struct column columns[] = {
		COLUMN_WIDE("VALUE"),	   COLUMN_NUMBER("COUNT", 0),
		COLUMN_NUMBER("MEAN", 0),  COLUMN_NUMBER("MIN", 2),
		COLUMN_NUMBER("MAX", 1),   COLUMN_TEXT("SOURCE", 3),
	};
	struct table table;

	table_init(&table, columns, 6);
	for (size_t i = 0; i < n_shown(values); i++) {
		const tare_stats *s = values->rows[i];

		table_add_name(&table, s->name, s->labels);
		table_add(&table, tr_as_count(s->count).text);
		table_add(&table, tr_as_value(s->mean, s->unit).text);
		table_add(&table, tr_as_value(s->min, s->unit).text);
		table_add(&table, tr_as_value(s->max, s->unit).text);
		table_add(&table, s->source);
	}
	if (table.n_cells) {
		(void)puts("\nhighest averages");
		table_end(&table, stdout);
	}
}

static void print_recent(const struct summary_values *values)
{
	static const struct column columns[] = {
		COLUMN_TEXT("RECORDED", 0), COLUMN_TEXT("NAME", 0),
		COLUMN_NUMBER("VALUE", 0),  COLUMN_TEXT("KIND", 2),
		COLUMN_TEXT("SOURCE", 1),
	};
	struct table table;

	table_init(&table, columns, 5);
	for (size_t i = first_recent(values); i < values->n_records; i++) {
		const tare_record *r = &values->records[i];

		if (!is_value(r))
			continue;
		table_add(&table, tr_as_clock(r->start_ns).text);
		table_add_name(&table, r->name, r->labels);
		table_add(&table, tr_as_value(r->value, r->unit).text);
		table_add(&table, tare_record_kind_name(r->kind));
		table_add(&table, r->source);
	}
	if (table.n_cells) {
		(void)puts("\nlast values");
		table_end(&table, stdout);
	}
}

void summary_values_print(const struct summary_values *values)
{
	print_top(values);
	print_recent(values);
}

/* ---- for programs ------------------------------------------------------ */

static void json_top(const struct summary_values *values, struct tr_json *json)
{
	tr_json_array(json, "top_by_average");
	for (size_t i = 0; i < n_shown(values); i++) {
		const tare_stats *s = values->rows[i];

		tr_json_object(json, NULL);
		tr_json_str(json, "name", s->name);
		tr_json_str(json, "source", s->source);
		tr_json_str(json, "labels", s->labels);
		tr_json_str(json, "unit", s->unit);
		tr_json_str(json, "type", tare_type_name(s->type));
		tr_json_u64(json, "count", s->count);
		tr_json_double(json, "mean", s->mean);
		tr_json_double(json, "min", s->min);
		tr_json_double(json, "max", s->max);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
}

void summary_values_json(const struct summary_values *values,
			 struct tr_json *json)
{
	json_top(values, json);
	tr_json_array(json, "recent_values");
	for (size_t i = first_recent(values); i < values->n_records; i++) {
		const tare_record *r = &values->records[i];

		if (!is_value(r))
			continue;
		tr_json_object(json, NULL);
		tr_json_str(json, "name", r->name);
		tr_json_str(json, "source", r->source);
		tr_json_str(json, "labels", r->labels);
		tr_json_str(json, "kind", tare_record_kind_name(r->kind));
		tr_json_str(json, "type", tare_type_name(r->type));
		tr_json_i64(json, "start_ns", r->start_ns);
		tr_json_double(json, "value", r->value);
		tr_json_str(json, "unit", r->unit);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
}
