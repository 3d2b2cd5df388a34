/* SPDX-License-Identifier: Apache-2.0 */
/* tare records: the records of a run, with their attributes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "group_view.h"
#include "base/text.h"
#include "message.h"
#include "output.h"
#include "runs.h"
#include "selection.h"
#include "table.h"

static bool as_json;

static const struct option_spec options[] = {
	SELECTION_SERIES,
	SELECTION_OUTCOME,
	SELECTION_TIME,
	SELECTION_LIMIT,
	OPTION_JSON(&as_json),
	OPTION_PROCESS,
	OPTION_END
};

/* Quoted if the end of the value would be unclear. */
static void write_word(FILE *stream, const char *text)
{
	if (!strpbrk(text, " \t\"\\")) {
		(void)fputs(text, stream);
		return;
	}
	(void)fputc('"', stream);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			(void)fputc('\\', stream);
		(void)fputc(*text, stream);
	}
	(void)fputc('"', stream);
}

/* "photo_id=17 route=/x" */
static void write_attrs(FILE *stream, const tare_record *record)
{
	for (size_t i = 0; i < record->n_attrs; i++) {
		const tare_attr_value *attr = &record->attrs[i];

		(void)fprintf(stream, "%s%s=", i ? " " : "", attr->key);
		if (attr->type == TARE_ATTR_INT)
			(void)fprintf(stream, "%" PRId64, attr->i);
		else if (attr->type == TARE_ATTR_DOUBLE)
			(void)fprintf(stream, "%g", attr->d);
		else
			write_word(stream, attr->s);
	}
	if (record->truncated)
		(void)fputs(" ...", stream);
}

static void add_attrs(struct table *table, const tare_record *record)
{
	char *text = NULL;
	size_t len;
	FILE *stream = open_memstream(&text, &len);

	if (!stream) {
		table_add(table, "?");
		return;
	}
	if (record->error[0])
		(void)fprintf(stream, "%s%s", record->error,
			      record->n_attrs ? "; " : "");
	write_attrs(stream, record);
	if (fclose(stream) == 0)
		table_add(table, text);
	free(text);
}

/* The measured number: a duration, a value with its unit, or the kind. */
static void add_measured(struct table *table, const tare_record *record)
{
	if (record->kind == TARE_RECORD_OPERATION ||
	    record->kind == TARE_RECORD_SCOPE)
		table_add(table,
			  tr_as_duration((double)record->duration_ns).text);
	else if (record->value == record->value)
		table_add(table,
			  tr_as_value(record->value, record->unit).text);
	else
		table_add(table, tare_record_kind_name(record->kind));
}

static void add_record(struct table *table, const tare_record *record)
{
	table_add(table, tr_as_clock(record->start_ns).text);
	table_addf(table, "%" PRId64, record->thread);
	table_add(table, record->name);
	add_measured(table, record);
	table_add_tinted(table, record->ok ? "ok" : "failed",
			 record->ok ? TINT_NONE : TINT_RED);
	add_attrs(table, record);
}

static void print_records(const tare_record *records, size_t n)
{
	static const struct column columns[] = {
		COLUMN_TEXT("STARTED", 2),  COLUMN_NUMBER("THREAD", 1),
		COLUMN_TEXT("OPERATION", 0), COLUMN_NUMBER("DURATION", 0),
		COLUMN_TEXT("OUTCOME", 0), COLUMN_WIDE("DETAILS"),
	};
	struct table table;

	table_init(&table, columns, 6);
	for (size_t i = 0; i < n; i++)
		add_record(&table, &records[i]);
	if (table.n_cells)
		table_end(&table, stdout);
	else
		message("no %s in the history",
			selection.failed ? "failed operation" : "operation");
}

static void json_record(struct tr_json *json, const tare_record *record)
{
	tr_json_object(json, NULL);
	tr_json_str(json, "name", record->name);
	tr_json_str(json, "source", record->source);
	tr_json_str(json, "kind", tare_record_kind_name(record->kind));
	tr_json_str(json, "type", tare_type_name(record->type));
	tr_json_i64(json, "thread", record->thread);
	tr_json_i64(json, "start_ns", record->start_ns);
	tr_json_u64(json, "duration_ns", record->duration_ns);
	tr_json_double(json, "value", record->value);
	tr_json_str(json, "unit", record->unit);
	tr_json_str(json, "labels", record->labels);
	tr_json_bool(json, "ok", record->ok);
	tr_json_str(json, "error", record->error[0] ? record->error : NULL);
	tr_json_bool(json, "truncated", record->truncated);
	tr_json_object(json, "attributes");
	for (size_t i = 0; i < record->n_attrs; i++)
		attribute_json(json, &record->attrs[i]);
	tr_json_end_object(json);
	tr_json_end_object(json);
}

static void json_records(const tare_record *records, size_t n)
{
	struct tr_json *json = output_json_begin();

	tr_json_array(json, NULL);
	for (size_t i = 0; i < n; i++)
		json_record(json, &records[i]);
	tr_json_end_array(json);
	output_json(json, stdout);
}

static int show(tare_view *view, const char *which)
{
	const tare_record *records;
	tare_filter filter;
	size_t n;
	int code = selection_apply(tare_view_run(view), &filter), err;

	if (code)
		return code;
	err = tare_view_records(view, &filter, &records, &n);
	if (err)
		return message_error("read the records of", which, err);
	if (as_json)
		json_records(records, n);
	else
		print_records(records, n);
	return selection_result(n);
}

const struct command cmd_records = {
	.name = "records",
	.usage = "[RUN] [options]",
	.summary = "list operations, with outcome and attributes",
	.examples =
		"  tare records --limit 20           the last 20 records of "
		"the newest run\n"
		"  tare records --failed --last 5m   failures of the last "
		"five minutes\n"
		"  tare records 12345 --name 'db.*'  records of a live run, "
		"by name\n",
	.notes = NOTE_RUN,
	.options = options,
	.max_operands = 1,
	.show = show,
};
