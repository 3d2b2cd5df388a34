/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings as records: those of operations, and between them the monitor's,
 * made from the points of its series. A job of the monitor writes all its
 * gauges within a moment. So points of different series within ROUND_NS are one
 * reading.
 */
#include "read/timeline.h"
#include "read/readings.h"

#include <stdlib.h>
#include <string.h>

/* Longest duration of one round of the monitor. */
#define ROUND_NS INT64_C(50000000)
/* The quantities, and for a GPU its number and whether it is available. */
#define ROW_ATTRS (TR_READING_KEYS + 2u)

struct quantity_row {
	const char *source, *series, *key;
};

static const struct quantity_row of_memory[TR_READING_KEYS] = {
	{ "process", "rss", "rss_bytes" },
	{ "process", "vm", "vm_bytes" },
	{ "system", "memory.total", "total_bytes" },
	{ "system", "memory.used", "used_bytes" },
	{ "system", "memory.available", "available_bytes" },
	{ "system", "memory.percent", "used_percent" },
};

static const struct quantity_row of_gpus[TR_READING_KEYS] = {
	{ "gpu", "load", "load_percent" },
	{ "gpu", "memory.used", "memory_used_bytes" },
	{ "gpu", "memory.total", "memory_total_bytes" },
	{ "gpu", "memory.percent", "memory_percent" },
	{ "gpu", "temperature", "temperature" },
	{ "gpu", "power", "power_w" },
};

static const struct quantity_row *rows_of(enum tare_record_kind kind)
{
	return kind == TARE_RECORD_GPU ? of_gpus : of_memory;
}

int tr_reading_index(enum tare_record_kind kind, const char *source,
		     const char *name)
{
	const struct quantity_row *row = rows_of(kind);

	for (unsigned i = 0; i < TR_READING_KEYS; i++)
		if (strcmp(row[i].series, name) == 0 &&
		    strcmp(row[i].source, source) == 0)
			return (int)i;
	return -1;
}

const char *tr_reading_key(enum tare_record_kind kind, int index)
{
	return rows_of(kind)[index].key;
}

const char *tr_reading_source(enum tare_record_kind kind)
{
	return kind == TARE_RECORD_GPU ? "gpu" : "system";
}

int tr_reading_gpu(const char *labels)
{
	int gpu = 0;

	if (strncmp(labels, "gpu=\"", 5) != 0)
		return -1;
	for (labels += 5; *labels >= '0' && *labels <= '9'; labels++) {
		gpu = gpu * 10 + (*labels - '0');
		if (gpu >= TR_READING_GPUS)
			return -1;
	}
	return strcmp(labels, "\"") == 0 ? gpu : -1;
}

bool tr_reading_has_monitor(const tare_filter *filter,
			    enum tare_record_kind kind)
{
	/* The types of records of each kind, see probe/sample.c. */
	unsigned type = kind == TARE_RECORD_GPU ? TARE_TYPE_PERCENTAGE :
						  TARE_TYPE_MEMORY;

	if (!filter)
		return true;
	if (filter->types && !(filter->types >> type & 1))
		return false;
	return tr_filter_has_outcome(filter, false) &&
	       tr_filter_matches(filter->names, filter->n_names,
				 TARE_READINGS_MONITOR) &&
	       tr_filter_matches(filter->sources, filter->n_sources,
				 tr_reading_source(kind));
}

/* ---- readings of the monitor ------------------------------------------- */

struct rows {
	tare_view *view;
	enum tare_record_kind kind;
	tare_record *row;
	tare_attr_value *attr; /* ROW_ATTRS of each row */
	size_t n;
	/* Row + 1 that is being built, of each GPU; memory is 0. */
	size_t open[TR_READING_GPUS];
	uint32_t has[TR_READING_GPUS]; /* its quantities so far, as bits */
};

static void add_attr(tare_record *row, tare_attr_value *attr, const char *key,
		     double value, bool is_whole)
{
	attr += row->n_attrs++;
	attr->key = key;
	attr->type = is_whole ? TARE_ATTR_INT : TARE_ATTR_DOUBLE;
	if (is_whole)
		attr->i = (int64_t)(value + 0.5);
	else
		attr->d = value;
}

static void begin_row(struct rows *rows, int gpu, int64_t at_ns)
{
	tare_attr_value *attr = rows->attr + rows->n * ROW_ATTRS;
	tare_record *row = &rows->row[rows->n];

	*row = (tare_record){
		.name = TARE_READINGS_MONITOR,
		.source = tr_reading_source(rows->kind),
		.start_ns = at_ns,
		.ok = true,
		.error = "",
		.attrs = attr,
		.kind = rows->kind,
	};
	if (rows->kind == TARE_RECORD_GPU) {
		add_attr(row, attr, "gpu", gpu, true);
		add_attr(row, attr, "available", 1, true);
	}
	rows->open[gpu] = ++rows->n;
	rows->has[gpu] = 0;
}

static void add_point(struct rows *rows, const struct tr_point *point,
		      int index, int gpu)
{
	const char *key = tr_reading_key(rows->kind, index);
	size_t len = strlen(key), at = rows->open[gpu];
	bool is_whole = len > 6 && strcmp(key + len - 6, "_bytes") == 0 &&
			point->value >= 0 && point->value < 9e18;

	if (!at || rows->has[gpu] >> index & 1 ||
	    (int64_t)((uint64_t)point->at_ns -
		      (uint64_t)rows->row[at - 1].start_ns) > ROUND_NS) {
		begin_row(rows, gpu, point->at_ns);
		at = rows->n;
	}
	rows->has[gpu] |= 1u << index;
	add_attr(&rows->row[at - 1], rows->attr + (at - 1) * ROW_ATTRS, key,
		 point->value, is_whole);
}

static void add_points(struct rows *rows, const tare_filter *filter,
		       const struct tr_point *point, size_t n)
{
	const struct tr_image *image = &rows->view->image;

	for (size_t i = 0; i < n; i++) {
		const struct tr_site *site = tr_image_site(image,
							   point[i].site);
		int index, gpu = 0;

		if (!site || !tr_filter_has_time(filter, point[i].at_ns) ||
		    point[i].at_ns < rows->view->run.cleared_ns)
			continue;
		index = tr_reading_index(rows->kind,
					 tr_image_string(image, site->source),
					 tr_image_string(image, site->name));
		if (index >= 0 && rows->kind == TARE_RECORD_GPU)
			gpu = tr_reading_gpu(tr_image_string(image,
							     site->labels));
		if (index >= 0 && gpu >= 0)
			add_point(rows, &point[i], index, gpu);
	}
}

/* ---- merging ----------------------------------------------------------- */

static int oldest_first(const void *a, const void *b)
{
	const tare_record *x = a, *y = b;

	return TR_ORDER(x->start_ns, y->start_ns);
}

static int fill(struct rows *rows, const tare_filter *filter,
		const struct tr_point *points, size_t n_points)
{
	const tare_record *records;
	size_t n;
	int err = tare_view_records(rows->view, filter, &records, &n);

	if (err)
		return err;
	rows->row = calloc(n + n_points + 1, sizeof(*rows->row));
	rows->attr = calloc(n_points + 1, ROW_ATTRS * sizeof(*rows->attr));
	if (!rows->row || !rows->attr) {
		free(rows->row);
		free(rows->attr);
		return TARE_ENOMEM;
	}
	add_points(rows, filter, points, n_points);
	for (size_t i = 0; i < n; i++)
		if (records[i].kind == rows->kind)
			rows->row[rows->n++] = records[i];
	qsort(rows->row, rows->n, sizeof(*rows->row), oldest_first);
	return 0;
}

TARE_API int tare_view_readings(tare_view *view, const tare_filter *filter,
				enum tare_record_kind kind,
				const tare_record **ret_records, size_t *ret_n)
{
	struct rows rows = { .view = view, .kind = kind };
	tare_filter any = { .struct_size = sizeof(any) }, own;
	struct tr_point *points = NULL;
	size_t n = 0, most = 0;
	int err = 0;

	if (!view || !ret_records || !ret_n ||
	    !tr_filter_take(&filter, &own) ||
	    (kind != TARE_RECORD_MEMORY && kind != TARE_RECORD_GPU))
		return TARE_EINVAL;
	if (filter)
		any = *filter;
	most = (size_t)any.most_records;
	any.most_records = 0;
	if (tr_reading_has_monitor(&any, kind))
		err = tr_view_points(view, false, &points, &n);
	if (!err)
		err = fill(&rows, &any, points, n);
	free(points);
	if (err)
		return err;
	free(view->readings);
	free(view->reading_attrs);
	view->readings = rows.row;
	view->reading_attrs = rows.attr;
	*ret_n = most && most < rows.n ? most : rows.n;
	*ret_records = rows.row + rows.n - *ret_n;
	return 0;
}
