/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as RFC 4180 says: a comma between cells, CRLF after each row, quotes
 * where needed. Missing is empty, numbers are as in JSON. A text that a
 * spreadsheet would take for a formula begins with an apostrophe.
 *
 * Attributes have a column each, in the order in which the records bring
 * them; that takes a pass over the records before the first row. A record
 * nearly always has the attributes of the one before it: the place of each is
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
	bool has_more;	/* a last column, for what has none of its own */
	size_t guess[MOST_COLUMNS]; /* column of the i-th attribute */
	const char *seen[MOST_COLUMNS]; /* and the key it is the guess for */
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

#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

static size_t table_index(const char *name)
{
	size_t i = 0;

	while (i < N_TABLES && strcmp(tables[i].name, name) != 0)
		i++;
	return i;
}

const char *tr_csv_table(const char *name)
{
	size_t index = table_index(name);

	return index < N_TABLES ? tables[index].name : NULL;
}

/* ---- cells ------------------------------------------------------------- */

/* Missing is empty. Infinities are what readers of numbers take for them. */
static char *put_number(char *at, double value)
{
	return isnan(value) ? at : at + tr_double_text(at, value);
}

static char *put_bool(char *at, bool value)
{
	return value ? TR_LIT(at, "true") : TR_LIT(at, "false");
}

static void put_text(struct tr_sink *sink, const char *text)
{
	tr_sink_cell(sink, text);
	tr_sink_add(sink, ",", 1);
}

/* ---- columns of attributes --------------------------------------------- */

static const char *const fixed_columns[] = {
	"run", "pid", "start_ns", "name", "source", "thread", "duration_ns",
	"ok", "error", "truncated", "more",
};

static bool is_fixed(const char *key)
{
	for (size_t i = 0;
	     i < sizeof(fixed_columns) / sizeof(fixed_columns[0]); i++)
		if (strcmp(fixed_columns[i], key) == 0)
			return true;
	return false;
}

/* Column of the i-th attribute of a record; n_keys: none. */
static size_t column_of(struct table *t, size_t i, const char *key)
{
	size_t place = i < MOST_COLUMNS ? i : MOST_COLUMNS - 1;
	size_t *guess = &t->guess[place];

	/* The same text is mostly at the same place. */
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

static void find_columns(struct table *t, const tare_record *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < r[i].n_attrs; k++) {
			const char *key = r[i].attrs[k].key;

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

	if (t->with_run)
		tr_sink_adds(sink, "run,pid,");
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

/* Attributes without a column: k=v, one after the other. */
static void put_more(struct table *t, const tare_record *r)
{
	struct tr_buf buf = TR_BUF_INIT;
	char number[32];

	for (size_t i = 0; i < r->n_attrs; i++) {
		const tare_attr_value *attr = &r->attrs[i];

		if (column_of(t, i, attr->key) < t->n_keys)
			continue;
		tr_buf_adds(&buf, buf.len ? "; " : "");
		tr_buf_adds(&buf, attr->key);
		tr_buf_addc(&buf, '=');
		if (attr->type == TARE_ATTR_STR)
			tr_buf_adds(&buf, attr->s);
		else if (attr->type == TARE_ATTR_DOUBLE)
			tr_buf_add(&buf, number,
				   tr_double_text(number, attr->d));
		else
			tr_buf_add(&buf, number,
				   (size_t)(tr_put_i64(number, attr->i) -
					    number));
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
	/* A key given twice has its last value. */
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

/* Most records follow one of the same site: its cells are kept. */
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
		return; /* it went out meanwhile, or is long */
	t->names_len = sink->len - before;
	memcpy(t->names, sink->data + before, t->names_len);
	t->name = r->name;
	t->source = r->source;
}

static void put_record(struct table *t, const tare_record *r)
{
	struct tr_sink *sink = t->sink;
	char *at = tr_put_i64(tr_sink_begin(sink), r->start_ns);

	*at++ = ',';
	tr_sink_end(sink, at);
	put_names(t, r);
	at = tr_put_i64(tr_sink_begin(sink), r->thread);
	if (t->kind == TARE_RECORD_OPERATION) {
		*at++ = ',';
		at = tr_put_u64(at, r->duration_ns);
		*at++ = ',';
		at = put_bool(at, r->ok);
		*at++ = ',';
		tr_sink_end(sink, at);
		if (r->error[0])
			tr_sink_cell(sink, r->error);
		at = tr_sink_begin(sink);
	}
	*at++ = ',';
	at = put_bool(at, r->truncated);
	tr_sink_end(sink, at);
	put_attrs(t, r);
	tr_sink_add(sink, END, 2);
}

static void put_rows(struct table *t, const tare_run *run,
		     const tare_record *r, size_t n)
{
	for (size_t i = 0; i < n && !t->sink->err; i++) {
		put_run(t, run);
		put_record(t, &r[i]);
		t->sink->rows++;
	}
}

static int records_of(const struct table *t, tare_view *view,
		      const tare_record **ret, size_t *ret_n)
{
	tare_filter filter = { .struct_size = sizeof(filter) };

	if (t->kind != TARE_RECORD_OPERATION)
		return tare_view_readings(view, t->options->filter, t->kind,
					  ret, ret_n);
	if (t->options->filter)
		filter = *t->options->filter;
	filter.record_kinds = 1u << t->kind;
	return tare_view_records(view, &filter, ret, ret_n);
}

static int put_records(struct table *t, tare_view *const *views, size_t n)
{
	const tare_record *records;
	size_t n_records;
	int err;

	for (size_t i = 0; i < n; i++) {
		err = records_of(t, views[i], &records, &n_records);
		if (err)
			return err;
		find_columns(t, records, n_records);
	}
	put_heading(t);
	for (size_t i = 0; i < n && !t->sink->err; i++) {
		err = records_of(t, views[i], &records, &n_records);
		if (err)
			return err;
		put_rows(t, tare_view_run(views[i]), records, n_records);
	}
	return 0;
}

/* ---- rows of statistics ------------------------------------------------ */

#define STATS_COLUMNS \
	"name,source,labels,unit,kind,type,file,line,count,timed,failures," \
	"success_rate,items,items_per_s,total,own,mean,min,max,p50,p90,p95," \
	"p99,p999,net_total,net_own,net_mean,last,below_resolution" END

static char *put_counts(char *at, const tare_stats *s)
{
	const uint64_t count[] = { s->line, s->count, s->timed, s->failures };

	for (size_t i = 0; i < sizeof(count) / sizeof(count[0]); i++) {
		at = tr_put_u64(at, count[i]);
		*at++ = ',';
	}
	at = put_number(at, s->success_rate);
	*at++ = ',';
	at = tr_put_u64(at, s->items);
	*at++ = ',';
	return at;
}

static void put_stats_row(struct tr_sink *sink, const tare_stats *s)
{
	const double number[] = {
		s->items_per_s, s->total, s->own,	s->mean,
		s->min,		s->max,	  s->p50,	s->p90,
		s->p95,		s->p99,	  s->p999,	s->net_total,
		s->net_own,	s->net_mean, s->last,
	};
	char *at;

	put_text(sink, s->name);
	put_text(sink, s->source);
	put_text(sink, s->labels);
	put_text(sink, s->unit);
	put_text(sink, tr_kind_name(s->kind));
	put_text(sink, tare_type_name(s->type));
	put_text(sink, s->file);
	at = put_counts(tr_sink_begin(sink), s);
	for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
		at = put_number(at, number[i]);
		*at++ = ',';
	}
	at = put_bool(at, s->below_resolution);
	tr_sink_end(sink, TR_LIT(at, END));
}

static int put_stats(struct table *t, tare_view *const *views, size_t n)
{
	if (t->with_run)
		tr_sink_adds(t->sink, "run,pid,");
	tr_sink_adds(t->sink, STATS_COLUMNS);
	for (size_t i = 0; i < n; i++) {
		const tare_stats *stats;
		size_t n_stats;
		int err = tare_view_stats(views[i], t->options->filter, &stats,
					  &n_stats);

		if (err)
			return err;
		for (size_t k = 0; k < n_stats && !t->sink->err; k++) {
			put_run(t, tare_view_run(views[i]));
			put_stats_row(t->sink, &stats[k]);
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

	t.kind = tables[table_index(name)].kind;
	t.with_run = n > 1;
	if (t.kind == TARE_RECORD_VALUE)
		return tr_csv_metrics(sink, views, n, options->filter);
	return t.kind ? put_records(&t, views, n) : put_stats(&t, views, n);
}
