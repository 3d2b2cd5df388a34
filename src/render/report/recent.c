/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The newest records of every kind, in a report.
 */
#include "render/report.h"

#include <string.h>

#define RECENT 5u
#define NAME_WIDTH 32u

static int find_recent(struct tr_report *r, const tare_record **ret_records,
		       size_t *ret_n)
{
	tare_filter filter = { .struct_size = sizeof(filter) };

	if (r->options.filter)
		filter = *r->options.filter;
	filter.most_records = RECENT;
	return tare_view_records(r->view, &filter, ret_records, ret_n);
}

static void put_measured(struct tr_report *r, const tare_record *record)
{
	if (record->kind == TARE_RECORD_OPERATION ||
	    record->kind == TARE_RECORD_SCOPE)
		tr_report_time(r, (double)record->duration_ns, 12);
	else if (record->value == record->value)
		tr_report_value(r, record->value, record->unit);
	else
		tr_report_cell(r, tare_record_kind_name(record->kind), 12);
}

static void put_row(struct tr_report *r, const tare_record *record)
{
	tr_buf_addf(r->buf, "%s  ", tr_as_date(record->start_ns).text);
	tr_report_name(r, record->name, NAME_WIDTH);
	put_measured(r, record);
	tr_buf_adds(r->buf, "  ");
	tr_report_text(r, record->ok ? "ok" :
			  record->error[0] ? record->error : "failed", 60);
	if (record->source[0]) {
		tr_buf_adds(r->buf, "  [");
		tr_report_text(r, record->source, 32);
		tr_buf_addc(r->buf, ']');
	}
	tr_buf_addc(r->buf, '\n');
}

int tr_report_recent(struct tr_report *r)
{
	const tare_record *records;
	size_t n;
	int err = find_recent(r, &records, &n);

	if (err || !n)
		return err;
	tr_report_heading(r, "recent activity", "");
	for (size_t i = n; i-- > 0;)
		put_row(r, &records[i]);
	return 0;
}

#define RECORD(field) TR_FIELD(tare_record, #field, field)

static const struct tr_field recent_fields[] = {
	RECORD(name), RECORD(source),
	TR_FIELD_NAMED(tare_record, "kind", kind, tare_record_kind_name),
	TR_FIELD_NAMED(tare_record, "type", type, tare_type_name),
	RECORD(start_ns), RECORD(value), RECORD(unit), RECORD(labels),
	RECORD(ok), RECORD(error),
};

int tr_json_recent(struct tr_json *j, struct tr_report *r)
{
	const tare_record *records;
	size_t n;
	int err = find_recent(r, &records, &n);

	if (err)
		return err;
	tr_json_array(j, "recent");
	for (size_t i = n; i-- > 0;)
		tr_json_struct(j, NULL, TR_ALL(recent_fields), &records[i]);
	tr_json_end_array(j);
	return 0;
}
