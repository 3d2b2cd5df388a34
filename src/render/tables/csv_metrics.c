/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table "metrics": a row for each single measurement of the history,
 * operations and kept values alike, in order of time.
 */

#include "render/output.h"
#include "render/tables.h"

#include <math.h>

#define END "\r\n"
#define COLUMNS \
	"start_ns,name,value,unit,type,source,labels,kind,thread,ok,error" END

/* All that have a value: samples of memory and GPUs are tables of theirs. */
#define KINDS \
	(1u << TARE_RECORD_OPERATION | 1u << TARE_RECORD_VALUE | \
	 1u << TARE_RECORD_GAUGE | 1u << TARE_RECORD_COUNTER | \
	 1u << TARE_RECORD_RATIO | 1u << TARE_RECORD_SCOPE)

static void put_cell(struct tr_sink *sink, const char *text)
{
	if (text[0])
		tr_sink_cell(sink, text);
	tr_sink_add(sink, ",", 1);
}

static void put_row(struct tr_sink *sink, const tare_record *r)
{
	char *at = tr_put_i64(tr_sink_begin(sink), r->start_ns);

	*at++ = ',';
	tr_sink_end(sink, at);
	put_cell(sink, r->name);
	at = tr_sink_begin(sink);
	if (!isnan(r->value))
		at += tr_double_text(at, r->value);
	*at++ = ',';
	tr_sink_end(sink, at);
	put_cell(sink, r->unit);
	put_cell(sink, tare_type_name(r->type));
	put_cell(sink, r->source);
	put_cell(sink, r->labels);
	put_cell(sink, tare_record_kind_name(r->kind));
	at = tr_put_i64(tr_sink_begin(sink), r->thread);
	at = r->ok ? TR_LIT(at, ",true,") : TR_LIT(at, ",false,");
	tr_sink_end(sink, at);
	if (r->error[0])
		tr_sink_cell(sink, r->error);
	tr_sink_add(sink, END, 2);
	sink->rows++;
}

static void put_run(struct tr_sink *sink, const tare_run *run)
{
	char *at;

	put_cell(sink, run->id);
	at = tr_put_i64(tr_sink_begin(sink), run->pid);
	*at++ = ',';
	tr_sink_end(sink, at);
}

int tr_csv_metrics(struct tr_sink *sink, tare_view *const *views, size_t n,
		   const tare_filter *asked)
{
	tare_filter filter = { .struct_size = sizeof(filter) };

	if (asked)
		filter = *asked;
	filter.record_kinds = filter.record_kinds ?
				      filter.record_kinds & KINDS :
				      KINDS;
	tr_sink_adds(sink, n > 1 ? "run,pid," COLUMNS : COLUMNS);
	for (size_t i = 0; i < n && filter.record_kinds; i++) {
		const tare_record *records;
		size_t n_records;
		int err = tare_view_records(views[i], &filter, &records,
					    &n_records);

		if (err)
			return err;
		for (size_t k = 0; k < n_records && !sink->err; k++) {
			if (n > 1)
				put_run(sink, tare_view_run(views[i]));
			put_row(sink, &records[k]);
		}
	}
	return 0;
}
