/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables in the form of RFC 4180: a comma between cells, CRLF after each row,
 * quotes where needed. Missing values are empty, numbers are as in JSON. A text
 * that a spreadsheet would treat as a formula begins with an apostrophe.
 *
 * Each attribute has a column, in the order in which attributes first occur;
 * this takes a pass over the records before the first row. A record nearly
 * always has the same attributes as the previous one, so the column of each is
 * a guess and a comparison.
 */

#include "render/output.h"
#include "render/tables.h"

#include <math.h>
#include <stdlib.h>

#include <tare/read/readings.h>

#define END "\r\n"
#define MOST_COLUMNS 128u /* of attributes; further ones share the last */

#define NAMES_BYTES 256u

struct table {
	struct tr_sink *sink;
	const tare_export_options *options;
	enum tare_record_kind kind; /* 0: statistics */
	bool with_run;
	const char *key[MOST_COLUMNS]; /* borrows from the views */
	size_t n_keys;
	bool has_more;	/* a last column for attributes without a column */
	size_t guess[MOST_COLUMNS]; /* column of the i-th attribute */
	const char *seen[MOST_COLUMNS]; /* the key for which this guess holds */
	/* Name and source of the last record, and their cells. */
	const char *name, *source;
	char names[NAMES_BYTES + TR_WIDE];
	size_t names_len;
};

static const struct {
	const char *name;
	enum tare_record_kind kind;
} tables[] = {
	{ "processing", TARE_RECORD_OPERATION },
	{ "memory", TARE_RECORD_MEMORY },
	{ "gpu", TARE_RECORD_GPU },
	{ "metrics", TARE_RECORD_VALUE },
	{ "stats", 0 },
};

static size_t table_index(const char *name)
{
	size_t i = 0;

	while (i < TR_N_OF(tables) && strcmp(tables[i].name, name) != 0)
		i++;
	return i;
}

const char *tr_csv_table(const char *name)
{
	size_t index = table_index(name);

	return index < TR_N_OF(tables) ? tables[index].name : NULL;
}

/* ---- cells ------------------------------------------------------------- */

/* Missing is empty. Infinities are written as readers of numbers expect. */
static char *put_number(char *at, double value)
{
	return isnan(value) ? at : at + tr_double_text(at, value);
}

static void put_text(struct tr_sink *sink, const char *text)
{
	tr_sink_cell(sink, text);
	tr_sink_add(sink, ",", 1);
}

static void put_columns(struct table *t, const struct tr_field *field,
			size_t n)
{
	tr_sink_adds(t->sink, t->with_run ? "run,pid," : "");
	tr_sink_keys(t->sink, field, n);
	tr_sink_add(t->sink, END, 2);
}

static void put_run(struct table *t, const tare_run *run)
{
	char *at;

	if (!t->with_run)
		return;
	put_text(t->sink, run->id);
	at = tr_put_i64(tr_sink_begin(t->sink), run->pid);
	*at++ = ',';
	tr_sink_end(t->sink, at);
}

/* ---- columns of attributes --------------------------------------------- */

static const char *const fixed_columns[] = {
	"run", "pid", "start_ns", "name", "source", "thread", "duration_ns",
	"ok", "error", "truncated", "more",
};

static bool is_fixed(const char *key)
{
	for (size_t i = 0; i < TR_N_OF(fixed_columns); i++)
		if (strcmp(fixed_columns[i], key) == 0)
			return true;
	return false;
}

/* Column of the i-th attribute of a record; n_keys: no column. */
static size_t column_of(struct table *t, size_t i, const char *key)
{
	size_t place = i < MOST_COLUMNS ? i : MOST_COLUMNS - 1;
	size_t *guess = &t->guess[place];

	/* An equal pointer is the same key, mostly at the same position. */
	if (t->seen[place] == key)
		return *guess;
	for (size_t k = 0; k < t->n_keys; k++) {
		if (strcmp(t->key[k], key) != 0)
			continue;
		t->seen[place] = key;
		return *guess = k;
	}
	return t->n_keys;
}

/* Adds columns for attributes that have none yet. */
static void find_columns(struct table *t, const tare_run *run,
			 const tare_record *r)
{
	(void)run;
	for (size_t k = 0; k < r->n_attrs; k++) {
		const char *key = r->attrs[k].key;

		if (column_of(t, k, key) < t->n_keys)
			continue;
		if (t->n_keys < MOST_COLUMNS)
			t->key[t->n_keys++] = key;
		else
			t->has_more = true;
	}
}

static void put_heading(struct table *t)
{
	struct tr_sink *sink = t->sink;

	tr_sink_adds(sink, t->with_run ? "run,pid," : "");
	tr_sink_adds(sink, "start_ns,name,source,thread");
	if (t->kind == TARE_RECORD_OPERATION)
		tr_sink_adds(sink, ",duration_ns,ok,error");
	tr_sink_adds(sink, ",truncated");
	for (size_t i = 0; i < t->n_keys; i++) {
		char name[300];
		size_t len = strlen(t->key[i]);

		/* A key of a ledger is at most 255 bytes. */
		memcpy(name, "attribute.", 10);
		memcpy(name + 10, t->key[i], len + 1);
		tr_sink_add(sink, ",", 1);
		tr_sink_cell(sink, is_fixed(t->key[i]) ? name : name + 10);
	}
	tr_sink_adds(sink, t->has_more ? ",more" END : END);
}

/* ---- rows of records --------------------------------------------------- */

/* Attributes without a column: k=v, separated by "; ". */
static void put_more(struct table *t, const tare_record *r)
{
	struct tr_buf buf = TR_BUF_INIT;
	char number[32];

	for (size_t i = 0; i < r->n_attrs; i++) {
		const tare_attr_value *attr = &r->attrs[i];

		if (column_of(t, i, attr->key) < t->n_keys)
			continue;
		tr_buf_addf(&buf, "%s%s=", buf.len ? "; " : "", attr->key);
		if (attr->type == TARE_ATTR_STR)
			tr_buf_adds(&buf, attr->s);
		else if (attr->type == TARE_ATTR_DOUBLE)
			tr_buf_add(&buf, number,
				   tr_double_text(number, attr->d));
		else
			tr_buf_addf(&buf, "%lld", (long long)attr->i);
	}
	tr_sink_add(t->sink, ",", 1);
	if (buf.failed)
		t->sink->err = TARE_ENOMEM;
	else if (buf.len)
		tr_sink_cell(t->sink, buf.data);
	tr_buf_release(&buf);
}

static void put_attr(struct tr_sink *sink, const tare_attr_value *attr)
{
	char *at;

	if (attr && attr->type == TARE_ATTR_STR) {
		tr_sink_add(sink, ",", 1);
		tr_sink_cell(sink, attr->s);
		return;
	}
	at = tr_sink_begin(sink);
	*at++ = ',';
	if (attr && attr->type == TARE_ATTR_INT)
		at = tr_put_i64(at, attr->i);
	else if (attr)
		at = put_number(at, attr->d);
	tr_sink_end(sink, at);
}

static void put_attrs(struct table *t, const tare_record *r)
{
	const tare_attr_value *cell[MOST_COLUMNS];

	memset(cell, 0, t->n_keys * sizeof(cell[0]));
	/* If a key occurs twice, its last value is used. */
	for (size_t i = 0; i < r->n_attrs; i++) {
		size_t column = column_of(t, i, r->attrs[i].key);

		if (column < t->n_keys)
			cell[column] = &r->attrs[i];
	}
	for (size_t i = 0; i < t->n_keys; i++)
		put_attr(t->sink, cell[i]);
	if (t->has_more)
		put_more(t, r);
}

/* Most records have the site of the previous one: its cells are cached. */
static void put_names(struct table *t, const tare_record *r)
{
	struct tr_sink *sink = t->sink;
	char *at = tr_sink_begin(sink);
	size_t before = sink->len;

	if (r->name == t->name && r->source == t->source) {
		tr_sink_end(sink, tr_put_wide(at, t->names, t->names_len));
		return;
	}
	put_text(sink, r->name);
	put_text(sink, r->source);
	t->name = NULL;
	if (sink->len < before || sink->len - before > NAMES_BYTES)
		return; /* already written out, or too long */
	t->names_len = sink->len - before;
	memcpy(t->names, sink->data + before, t->names_len);
	t->name = r->name;
	t->source = r->source;
}

static void put_record(struct table *t, const tare_run *run,
		       const tare_record *r)
{
	struct tr_sink *sink = t->sink;
	char *at;

	put_run(t, run);
	at = tr_put_i64(tr_sink_begin(sink), r->start_ns);
	*at++ = ',';
	tr_sink_end(sink, at);
	put_names(t, r);
	at = tr_put_i64(tr_sink_begin(sink), r->thread);
	if (t->kind == TARE_RECORD_OPERATION) {
		*at++ = ',';
		at = tr_put_u64(at, r->duration_ns);
		at = r->ok ? TR_LIT(at, ",true,") : TR_LIT(at, ",false,");
		tr_sink_end(sink, at);
		if (r->error[0])
			tr_sink_cell(sink, r->error);
		at = tr_sink_begin(sink);
	}
	at = r->truncated ? TR_LIT(at, ",true") : TR_LIT(at, ",false");
	tr_sink_end(sink, at);
	put_attrs(t, r);
	tr_sink_add(sink, END, 2);
	sink->rows++;
}

/* ---- rows of single measurements --------------------------------------- */

/* All kinds with a value: memory and GPU samples have their own tables. */
#define VALUE_KINDS \
	(1u << TARE_RECORD_OPERATION | 1u << TARE_RECORD_VALUE | \
	 1u << TARE_RECORD_GAUGE | 1u << TARE_RECORD_COUNTER | \
	 1u << TARE_RECORD_RATIO | 1u << TARE_RECORD_SCOPE)

#define RECORD(field) TR_FIELD(tare_record, #field, field)

static const struct tr_field value_fields[] = {
	RECORD(start_ns), RECORD(name), RECORD(value), RECORD(unit),
	TR_FIELD_NAMED(tare_record, "type", type, tare_type_name),
	RECORD(source), RECORD(labels),
	TR_FIELD_NAMED(tare_record, "kind", kind, tare_record_kind_name),
	RECORD(thread), RECORD(ok), RECORD(error),
};

static void put_value(struct table *t, const tare_run *run,
		      const tare_record *r)
{
	put_run(t, run);
	tr_sink_cells(t->sink, TR_ALL(value_fields), r);
	tr_sink_add(t->sink, END, 2);
	t->sink->rows++;
}

/* ---- views ------------------------------------------------------------- */

static int records_of(const struct table *t, tare_view *view,
		      const tare_record **ret, size_t *ret_n)
{
	tare_filter filter = { .struct_size = sizeof(filter) };

	if (t->kind == TARE_RECORD_MEMORY || t->kind == TARE_RECORD_GPU)
		return tare_view_readings(view, t->options->filter, t->kind,
					  ret, ret_n);
	if (t->options->filter)
		filter = *t->options->filter;
	if (t->kind == TARE_RECORD_OPERATION)
		filter.record_kinds = 1u << t->kind;
	else
		filter.record_kinds = filter.record_kinds ?
					      filter.record_kinds &
						      VALUE_KINDS :
					      VALUE_KINDS;
	*ret_n = 0;
	return filter.record_kinds ?
		       tare_view_records(view, &filter, ret, ret_n) :
		       0;
}

/* Passes every record of all views to `put`. */
static int each_record(struct table *t, tare_view *const *views, size_t n,
		       void (*put)(struct table *t, const tare_run *run,
				   const tare_record *r))
{
	for (size_t i = 0; i < n && !t->sink->err; i++) {
		const tare_run *run = tare_view_run(views[i]);
		const tare_record *records;
		size_t n_records;
		int err = records_of(t, views[i], &records, &n_records);

		if (err)
			return err;
		for (size_t k = 0; k < n_records && !t->sink->err; k++)
			put(t, run, &records[k]);
	}
	return 0;
}

/* Estimates and missed calls are only in JSON. */
#define CSV_SERIES_FIELDS (TR_SERIES_FIELDS - 4)

static int put_stats(struct table *t, tare_view *const *views, size_t n)
{
	put_columns(t, tr_series_fields, CSV_SERIES_FIELDS);
	for (size_t i = 0; i < n; i++) {
		const tare_stats *stats;
		size_t n_stats;
		int err = tare_view_stats(views[i], t->options->filter, &stats,
					  &n_stats);

		if (err)
			return err;
		for (size_t k = 0; k < n_stats && !t->sink->err; k++) {
			put_run(t, tare_view_run(views[i]));
			tr_sink_cells(t->sink, tr_series_fields,
				      CSV_SERIES_FIELDS, &stats[k]);
			tr_sink_add(t->sink, END, 2);
		}
		t->sink->rows += n_stats;
	}
	return 0;
}

int tr_export_csv(struct tr_sink *sink, tare_view *const *views, size_t n,
		  const tare_export_options *options)
{
	const char *name = options->table ? options->table : "processing";
	struct table t = { .sink = sink, .options = options };
	int err;

	t.kind = tables[table_index(name)].kind;
	t.with_run = n > 1;
	if (!t.kind)
		return put_stats(&t, views, n);
	if (t.kind == TARE_RECORD_VALUE) {
		put_columns(&t, TR_ALL(value_fields));
		return each_record(&t, views, n, put_value);
	}
	err = each_record(&t, views, n, find_columns);
	if (err)
		return err;
	put_heading(&t);
	return each_record(&t, views, n, put_record);
}
