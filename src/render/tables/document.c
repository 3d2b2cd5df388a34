/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON document: for every run its description, its totals, its statistics,
 * its health and all records that match the filter.
 *
 * Nearly all of it is records. A record is written with one check for room; the
 * text that depends only on its site (name and source) is cached.
 */

#include "render/output.h"
#include "render/tables.h"

#include <math.h>
#include <stdlib.h>

#define MOST_HEAD 4096u /* a longer one leaves too little room for the rest */

/* Text that all records of a site begin with: {"name":"...","source":"...", */
struct heads {
	struct tr_buf text;
	struct head {
		uint32_t off, len;
	} *at; /* by site id; len 0: not cached */
	size_t n;
};

struct document {
	struct tr_sink *sink;
	const tare_export_options *options;
	struct heads heads;
};

/* ---- parts that are also in reports ------------------------------------ */

struct totals {
	uint64_t series, calls, failures;
	uint64_t operations, failed, values;
	int64_t first_ns, last_ns;
};

static void add_up(struct totals *t, const tare_record *records, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		t->values += records[i].kind >= TARE_RECORD_VALUE;
		if (records[i].kind != TARE_RECORD_OPERATION)
			continue;
		t->operations++;
		t->failed += !records[i].ok;
	}
	if (n) {
		t->first_ns = records[0].start_ns;
		t->last_ns = records[n - 1].start_ns;
	}
}

static void put_summary(struct tr_json *j, const struct totals *t, size_t n)
{
	tr_json_object(j, "summary");
	tr_json_u64(j, "series", t->series);
	tr_json_u64(j, "calls", t->calls);
	tr_json_u64(j, "failures", t->failures);
	tr_json_double(j, "success_rate",
		       t->calls ? (double)(t->calls - t->failures) /
					  (double)t->calls :
				  NAN);
	tr_json_u64(j, "records", n);
	tr_json_u64(j, "operations", t->operations);
	tr_json_u64(j, "operations_failed", t->failed);
	tr_json_u64(j, "values", t->values);
	if (n) {
		tr_json_i64(j, "first_ns", t->first_ns);
		tr_json_i64(j, "last_ns", t->last_ns);
	}
	tr_json_end_object(j);
}

static void sum_series(struct totals *t, const tare_stats *stats, size_t n)
{
	t->series = n;
	for (size_t i = 0; i < n; i++) {
		if (stats[i].kind != TARE_KIND_SCOPE)
			continue;
		t->calls += stats[i].count;
		t->failures += stats[i].failures < stats[i].count ?
				       stats[i].failures :
				       stats[i].count;
	}
}

static void put_series(struct document *d, struct tr_json *j,
		       const tare_stats *stats, size_t n)
{
	tr_json_array(j, "series");
	for (size_t i = 0; i < n; i++) {
		tr_json_series(j, &stats[i]);
		tr_sink_take(d->sink, j->buf);
	}
	tr_json_end_array(j);
}

/* ---- records ----------------------------------------------------------- */

static void heads_release(struct heads *heads)
{
	tr_buf_release(&heads->text);
	free(heads->at);
	*heads = (struct heads){ .n = 0 };
}

static bool heads_init(struct heads *heads, const tare_view *view)
{
	/* Records with an invalid site all have the names of site 0. */
	heads->n = (size_t)tr_image_sites(&view->image) + 1;
	heads->at = calloc(heads->n, sizeof(*heads->at));
	return heads->at != NULL;
}

static void make_head(struct heads *heads, struct head *head,
		      const tare_record *r)
{
	struct tr_json json;

	head->off = (uint32_t)heads->text.len;
	tr_json_begin(&json, &heads->text);
	tr_json_object(&json, NULL);
	tr_json_str(&json, "name", r->name);
	tr_json_str(&json, "source", r->source);
	tr_buf_adds(&heads->text, ",\"thread\":");
	head->len = (uint32_t)heads->text.len - head->off;
	tr_buf_pad(&heads->text, ' ', TR_WIDE); /* copied 16 bytes at a time */
}

/* The beginning of a record; leaves room for the rest of it. */
static char *begin_record(struct document *d, const tare_record *r)
{
	struct heads *heads = &d->heads;
	struct head *head = &heads->at[r->site < heads->n ? r->site : 0];

	if (!head->len)
		make_head(heads, head, r);
	if (heads->text.failed) {
		d->sink->err = TARE_ENOMEM;
		return tr_sink_begin(d->sink);
	}
	if (head->len > MOST_HEAD)
		tr_sink_add(d->sink, heads->text.data + head->off, head->len);
	else
		return tr_put_wide(tr_sink_begin(d->sink),
				   heads->text.data + head->off, head->len);
	return tr_sink_begin(d->sink);
}

/* Keys are at most 255 bytes. */
static void put_attr(struct tr_sink *sink, const tare_attr_value *attr,
		     bool is_first)
{
	char *at = tr_sink_begin(sink);

	if (!is_first)
		*at++ = ',';
	at = tr_put_json(at, attr->key, strlen(attr->key));
	*at++ = ':';
	tr_sink_end(sink, at);
	tr_sink_attr(sink, attr);
}

static void put_attrs(struct tr_sink *sink, const tare_record *r)
{
	bool is_first = true;

	tr_sink_adds(sink, ",\"attributes\":{");
	for (size_t i = 0; i < r->n_attrs; i++) {
		if (tr_attr_is_replaced(r, i))
			continue;
		put_attr(sink, &r->attrs[i], is_first);
		is_first = false;
	}
	tr_sink_adds(sink, "}");
}

static void put_label(struct tr_sink *sink, const char *key, const char *text)
{
	if (!text[0])
		return;
	tr_sink_adds(sink, key);
	tr_sink_json(sink, text);
}

/* The rest of the record of a value. */
static void put_value(struct tr_sink *sink, char *at, const tare_record *r)
{
	at = TR_LIT(at, ",\"value\":");
	if (isfinite(r->value))
		at += tr_double_text(at, r->value);
	else
		at = TR_LIT(at, "null");
	tr_sink_end(sink, at);
	put_label(sink, ",\"kind\":", tare_record_kind_name(r->kind));
	put_label(sink, ",\"type\":", tare_type_name(r->type));
	put_label(sink, ",\"unit\":", r->unit);
	put_label(sink, ",\"labels\":", r->labels);
	tr_sink_add(sink, "}", 1);
}

static void put_record(struct document *d, const tare_record *r)
{
	struct tr_sink *sink = d->sink;
	char *at = begin_record(d, r);
	const char *kind = tare_record_kind_name(r->kind);

	at = tr_put_i64(at, r->thread);
	at = TR_LIT(at, ",\"start_ns\":");
	at = tr_put_i64(at, r->start_ns);
	if (r->kind >= TARE_RECORD_VALUE) {
		put_value(sink, at, r);
		return;
	}
	at = TR_LIT(at, ",\"duration_ns\":");
	at = tr_put_u64(at, r->duration_ns);
	at = r->ok ? TR_LIT(at, ",\"ok\":true") : TR_LIT(at, ",\"ok\":false");
	if (r->kind != TARE_RECORD_OPERATION) {
		at = TR_LIT(at, ",\"kind\":\"");
		at = tr_put(at, kind, strlen(kind));
		*at++ = '"';
	}
	if (r->truncated)
		at = TR_LIT(at, ",\"truncated\":true");
	tr_sink_end(sink, at);
	if (r->error[0]) {
		tr_sink_adds(sink, ",\"error\":");
		tr_sink_json(sink, r->error);
	}
	if (r->n_attrs)
		put_attrs(sink, r);
	tr_sink_add(sink, "}", 1);
}

static void put_records(struct document *d, const tare_record *r, size_t n)
{
	tr_sink_adds(d->sink, ",\"records\":[");
	for (size_t i = 0; i < n && !d->sink->err; i++) {
		if (i)
			tr_sink_add(d->sink, ",\n", 2);
		put_record(d, &r[i]);
	}
	tr_sink_adds(d->sink, "]");
	d->sink->rows += n;
}

/* ---- a run, and all ---------------------------------------------------- */

static int put_run(struct document *d, tare_view *view)
{
	const tare_filter *filter = d->options->filter;
	struct tr_buf buf = TR_BUF_INIT;
	const tare_record *records;
	struct totals totals = { 0 };
	const tare_stats *stats;
	size_t n, n_records;
	struct tr_json json;
	int err = tare_view_stats(view, filter, &stats, &n);

	if (!err)
		err = tare_view_records(view, filter, &records, &n_records);
	if (err)
		return err;
	sum_series(&totals, stats, n);
	add_up(&totals, records, n_records);
	tr_json_begin(&json, &buf);
	tr_json_run(&json, tare_view_run(view));
	tr_json_window(&json, tare_view_window(view));
	put_summary(&json, &totals, n_records);
	tr_json_health(&json, tare_view_health(view));
	put_series(d, &json, stats, n);
	tr_sink_take(d->sink, &buf);
	tr_buf_release(&buf);
	put_records(d, records, n_records);
	return 0;
}

int tr_export_json(struct tr_sink *sink, tare_view *const *views, size_t n,
		   const tare_export_options *options)
{
	struct document d = { .sink = sink, .options = options };
	int err = 0;

	tr_sink_adds(sink, "{\"format\":\"tare-export\",\"version\":1,"
			   "\"runs\":[");
	for (size_t i = 0; i < n && !err && !sink->err; i++) {
		tr_sink_adds(sink, i ? ",{" : "{");
		err = heads_init(&d.heads, views[i]) ?
			      put_run(&d, views[i]) :
			      TARE_ENOMEM;
		heads_release(&d.heads);
		tr_sink_adds(sink, "}");
	}
	tr_sink_adds(sink, "]}\n");
	return err;
}
