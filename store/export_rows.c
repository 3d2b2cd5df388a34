/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of an export, table by table. */
#include "export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tare/read/alloc.h>
#include <tare/read/profile.h>

#include "read/view.h"
#include "render/tables.h"

#define RUN_KEY ", run INTEGER NOT NULL REFERENCES runs (id)"

/* ---- the tables -------------------------------------------------------- */

#define RUN(field) TR_FIELD(tare_run, #field, field)
static const struct tr_field run_fields[] = {
	TR_FIELD(tare_run, "run_id", id), RUN(path), RUN(program),
	RUN(command),
	TR_FIELD_NAMED(tare_run, "state", state, tr_run_state_name),
	RUN(pid), RUN(parent), RUN(host), RUN(cpu), RUN(git), RUN(folder),
	TR_FIELD(tare_run, "run_group", group), RUN(config), RUN(version),
	RUN(start_ns), RUN(end_ns), RUN(clock), RUN(rss_peak),
	RUN(ledger_bytes),
};

#define NODE(field) TR_FIELD(tare_node, #field, field)
static const struct tr_field node_fields[] = {
	NODE(name), NODE(source), NODE(depth), NODE(calls), NODE(open),
	NODE(failures), NODE(total_ns), NODE(own_ns), NODE(net_total_ns),
	NODE(net_own_ns), NODE(share),
	TR_FIELD(tare_node, "estimate", is_estimate),
	TR_FIELD(tare_node, "function", is_function),
	NODE(timed), NODE(file), NODE(line),
};

#define FUNCTION(field) TR_FIELD(tare_function, #field, field)
static const struct tr_field function_fields[] = {
	TR_FIELD(tare_function, "name", function), FUNCTION(file),
	FUNCTION(line),
	FUNCTION(first_line), FUNCTION(module),
	TR_FIELD(tare_function, "inlined", is_inlined), FUNCTION(samples),
	TR_FIELD(tare_function, "own_ns", weight_ns),
	TR_FIELD(tare_function, "total_samples", all_samples),
	TR_FIELD(tare_function, "total_ns", all_weight_ns),
};

#define FRAME(field) TR_FIELD(tare_frame, #field, field)
static const struct tr_field frame_fields[] = {
	FRAME(depth), FRAME(function), FRAME(file), FRAME(first_line),
	FRAME(module), TR_FIELD(tare_frame, "inlined", is_inlined),
	FRAME(samples), TR_FIELD(tare_frame, "own_ns", weight),
	TR_FIELD(tare_frame, "total_samples", all_samples),
	TR_FIELD(tare_frame, "total_ns", all_weight),
};

#define RECORD(field) TR_FIELD(tare_record, #field, field)
static const struct tr_field record_fields[] = {
	TR_FIELD_NAMED(tare_record, "kind", kind, tare_record_kind_name),
	RECORD(name), RECORD(source),
	TR_FIELD_NAMED(tare_record, "type", type, tare_type_name),
	RECORD(thread), RECORD(start_ns), RECORD(duration_ns), RECORD(ok),
	RECORD(error), RECORD(value), RECORD(unit), RECORD(labels),
};

#define STACK(field) TR_FIELD(tare_stack, #field, field)
static const struct tr_field stack_fields[] = {
	STACK(depth), STACK(samples),
	TR_FIELD(tare_stack, "own_ns", weight_ns),
	TR_FIELD(tare_stack, "total_samples", all_samples),
	TR_FIELD(tare_stack, "total_ns", all_weight_ns),
};

#define SAMPLE(field) TR_FIELD(tare_sample, #field, field)
static const struct tr_field sample_fields[] = {
	SAMPLE(at_ns), SAMPLE(thread), SAMPLE(scope), SAMPLE(weight_ns),
};

#define ALLOC(field) TR_FIELD(tare_alloc, #field, field)
static const struct tr_field alloc_fields[] = {
	ALLOC(tag), ALLOC(allocs), ALLOC(bytes), ALLOC(frees),
	ALLOC(freed_bytes), ALLOC(live), ALLOC(live_bytes), ALLOC(temporary),
	ALLOC(peak_allocs), ALLOC(peak_bytes),
};

#define HEALTH(field) TR_FIELD(tare_health, #field, field)
static const struct tr_field health_fields[] = {
	HEALTH(events), HEALTH(lost), HEALTH(records), HEALTH(records_trimmed),
	HEALTH(trace_events), HEALTH(trace_dropped), HEALTH(threads),
	HEALTH(damaged), HEALTH(measuring_ns), HEALTH(measuring_share),
	HEALTH(governed_ever), HEALTH(missed),
};

static const char *const attribute_own[] = { "key", "value" };
static const char *const stack_own[] = { "function", "file", "line", "module" };
static const char *const place_own[] = { "function", "file", "line" };

static const struct store_table runs = {
	"runs", "", 0, TR_ALL(run_fields), NULL, 0
};
static const struct store_table series = {
	"series", RUN_KEY, 1, tr_series_fields, TR_SERIES_FIELDS, NULL, 0
};
static const struct store_table scopes = {
	"scopes", RUN_KEY ", parent INTEGER REFERENCES scopes (id)", 2,
	TR_ALL(node_fields), NULL, 0
};
static const struct store_table functions = {
	"functions", RUN_KEY, 1, TR_ALL(function_fields), NULL, 0
};
static const struct store_table paths = {
	"paths", RUN_KEY ", parent INTEGER REFERENCES paths (id)", 2,
	TR_ALL(frame_fields), NULL, 0
};
static const struct store_table records = {
	"records", RUN_KEY, 1, TR_ALL(record_fields), NULL, 0
};
static const struct store_table attributes = {
	"attributes", ", record INTEGER NOT NULL REFERENCES records (id)", 1,
	NULL, 0, TR_ALL(attribute_own)
};
static const struct store_table stacks = {
	"stacks", RUN_KEY ", parent INTEGER REFERENCES stacks (id)", 2,
	TR_ALL(stack_fields), TR_ALL(stack_own)
};
static const struct store_table samples = {
	"samples", RUN_KEY ", stack INTEGER REFERENCES stacks (id)", 2,
	TR_ALL(sample_fields), NULL, 0
};
static const struct store_table allocations = {
	"allocations", RUN_KEY, 1, TR_ALL(alloc_fields), TR_ALL(place_own)
};
static const struct store_table health = {
	"health", RUN_KEY, 1, TR_ALL(health_fields), NULL, 0
};

const struct store_table *const store_tables[] = {
	&runs,	     &series,  &scopes, &functions, &paths,	   &records,
	&attributes, &stacks,  &samples, &allocations, &health,
};
const size_t store_n_tables = sizeof(store_tables) / sizeof(store_tables[0]);

/* ---- arrays ------------------------------------------------------------ */

/* Elements of an array; `parent` gives an index in it, or UINT32_MAX. */
struct array {
	const void *first;
	size_t n, size;
	uint32_t (*parent)(const void *element);
};

static const void *at(const struct array *array, size_t i)
{
	return (const char *)array->first + i * array->size;
}

static enum store_error put_array(struct store_export *export,
				  const struct store_table *table,
				  const struct array *array, int64_t *last)
{
	int64_t first = *last + 1;
	sqlite3_stmt *insert;
	enum store_error err = store_table_open(export, table, &insert);

	for (size_t i = 0; i < array->n && !err; i++) {
		struct store_row row = { .id = first + (int64_t)i,
					 .key = { export->run, -1, -1 },
					 .of = at(array, i) };
		uint32_t parent = array->parent ? array->parent(row.of) :
						  UINT32_MAX;

		if (parent < i)
			row.key[1] = first + parent;
		err = store_table_row(export, table, insert, &row);
		*last = row.id;
	}
	(void)sqlite3_finalize(insert);
	return err;
}

static enum store_error unread(struct store_export *export, int error)
{
	export->error = error;
	return STORE_FAILED;
}

/* ---- one table each ---------------------------------------------------- */

static enum store_error put_run(struct store_export *export, tare_view *view)
{
	sqlite3_stmt *insert;
	enum store_error err = store_table_open(export, &runs, &insert);
	const struct store_row row = { .id = export->run,
				       .of = tare_view_run(view) };

	if (!err)
		err = store_table_row(export, &runs, insert, &row);
	(void)sqlite3_finalize(insert);
	return err;
}

static enum store_error put_series(struct store_export *export,
				   tare_view *view, const tare_filter *filter)
{
	const tare_stats *stats;
	size_t n;
	int error = tare_view_stats(view, filter, &stats, &n);
	const struct array array = { stats, error ? 0 : n, sizeof(*stats),
				     NULL };

	return error ? unread(export, error) :
		       put_array(export, &series, &array, &export->series);
}

/* A node's parent is the last one before it that is less deep. */
static enum store_error put_scopes(struct store_export *export,
				   tare_view *view)
{
	const tare_node *nodes;
	int64_t open[256], id = export->scope;
	sqlite3_stmt *insert;
	enum store_error err;
	size_t n;
	int error = tare_view_tree(view, &nodes, &n);

	if (error)
		return unread(export, error);
	err = store_table_open(export, &scopes, &insert);
	for (size_t i = 0; i < n && !err; i++) {
		uint32_t depth = nodes[i].depth < 255 ? nodes[i].depth : 255;
		const struct store_row row = {
			.id = ++id,
			.key = { export->run, depth ? open[depth - 1] : -1 },
			.of = &nodes[i],
		};

		open[depth] = id;
		err = store_table_row(export, &scopes, insert, &row);
	}
	(void)sqlite3_finalize(insert);
	export->scope = id;
	return err;
}

static uint32_t frame_parent(const void *element)
{
	return ((const tare_frame *)element)->parent;
}

static enum store_error put_profile(struct store_export *export,
				    tare_view *view)
{
	const tare_function *function;
	const tare_frame *frame;
	enum store_error err;
	size_t n, m;
	int error = tare_view_functions(view, &function, &n);
	struct array array = { function, n, sizeof(*function), NULL };

	if (error)
		return unread(export, error);
	err = put_array(export, &functions, &array, &export->function);
	if (err)
		return err;
	error = tare_view_frames(view, TARE_FRAMES_SAMPLES, &frame, &m);
	if (error == TARE_ENOENT)
		return STORE_OK; /* nothing was sampled */
	if (error)
		return unread(export, error);
	array = (struct array){ frame, m, sizeof(*frame), frame_parent };
	return put_array(export, &paths, &array, &export->path);
}

/* A row with the place of an address; texts live until the next call. */
static void place_texts(tare_view *view, uint32_t module, uint64_t address,
			struct store_row *row)
{
	static char line[16];
	tare_place place;

	if (!tare_view_places(view, module, address, &place, 1))
		return;
	row->text[0] = place.function;
	row->text[1] = place.file;
	(void)snprintf(line, sizeof(line), "%u", place.line);
	row->text[2] = place.line ? line : NULL;
}

static enum store_error put_stacks(struct store_export *export,
				   tare_view *view, int64_t *ret_first)
{
	const tare_stack *stack;
	const tare_module *modules;
	int64_t first = export->stack + 1;
	sqlite3_stmt *insert;
	enum store_error err;
	size_t n, n_modules;
	int error = tare_view_stacks(view, &stack, &n);

	if (!error)
		error = tare_view_modules(view, &modules, &n_modules);
	if (error)
		return unread(export, error);
	*ret_first = first;
	err = store_table_open(export, &stacks, &insert);
	for (size_t i = 0; i < n && !err; i++) {
		struct store_row row = { .id = ++export->stack,
					 .key = { export->run, -1 },
					 .of = &stack[i] };

		if (stack[i].parent < i)
			row.key[1] = first + stack[i].parent;
		if (stack[i].kind == TARE_STACK_CODE)
			place_texts(view, stack[i].module, stack[i].address,
				    &row);
		if (stack[i].module < n_modules)
			row.text[3] = modules[stack[i].module].name;
		err = store_table_row(export, &stacks, insert, &row);
	}
	(void)sqlite3_finalize(insert);
	return err;
}

static enum store_error put_samples(struct store_export *export,
				    tare_view *view)
{
	const tare_sample *sample;
	int64_t first = 0;
	sqlite3_stmt *insert;
	enum store_error err = put_stacks(export, view, &first);
	size_t n;
	int error;

	if (err)
		return err;
	error = tare_view_samples(view, &sample, &n);
	if (error)
		return unread(export, error);
	err = store_table_open(export, &samples, &insert);
	for (size_t i = 0; i < n && !err; i++) {
		const struct store_row row = {
			.id = ++export->sample,
			.key = { export->run, first + sample[i].stack },
			.of = &sample[i],
		};

		err = store_table_row(export, &samples, insert, &row);
	}
	(void)sqlite3_finalize(insert);
	return err;
}

static const char *attribute_text(const tare_attr_value *attr, char *room)
{
	switch (attr->type) {
	case TARE_ATTR_INT:
		(void)snprintf(room, 32, "%lld", (long long)attr->i);
		return room;
	case TARE_ATTR_DOUBLE:
		room[tr_double_text(room, attr->d)] = '\0';
		return room;
	default:
		return attr->s;
	}
}

static enum store_error put_attributes(struct store_export *export,
				       sqlite3_stmt *insert,
				       const tare_record *record)
{
	enum store_error err = STORE_OK;

	for (size_t i = 0; i < record->n_attrs && !err; i++) {
		char room[40];
		const struct store_row row = {
			.id = ++export->attribute,
			.key = { export->record },
			.text = { record->attrs[i].key,
				  attribute_text(&record->attrs[i], room) },
		};

		/* A key that is given twice has its last value. */
		if (!tr_attr_is_replaced(record, i))
			err = store_table_row(export, &attributes, insert,
					      &row);
	}
	return err;
}

static enum store_error put_records(struct store_export *export,
				    tare_view *view, const tare_filter *filter)
{
	sqlite3_stmt *insert, *attribute = NULL;
	const tare_record *record;
	enum store_error err;
	size_t n;
	int error = tare_view_records(view, filter, &record, &n);

	if (error)
		return unread(export, error);
	err = store_table_open(export, &records, &insert);
	if (!err)
		err = store_table_open(export, &attributes, &attribute);
	for (size_t i = 0; i < n && !err; i++) {
		const struct store_row row = { .id = ++export->record,
					       .key = { export->run },
					       .of = &record[i] };

		err = store_table_row(export, &records, insert, &row);
		if (!err)
			err = put_attributes(export, attribute, &record[i]);
	}
	(void)sqlite3_finalize(insert);
	(void)sqlite3_finalize(attribute);
	return err;
}

static enum store_error put_allocations(struct store_export *export,
					tare_view *view)
{
	const tare_alloc *alloc;
	sqlite3_stmt *insert;
	enum store_error err;
	size_t n;
	int error = tare_view_allocs(view, &alloc, &n);

	if (error)
		return unread(export, error);
	err = store_table_open(export, &allocations, &insert);
	for (size_t i = 0; i < n && !err; i++) {
		struct store_row row = { .id = ++export->allocation,
					 .key = { export->run },
					 .of = &alloc[i] };
		char line[16];
		tare_place place;

		if (alloc[i].stack) {
			tare_view_alloc_place(view, &alloc[i], &place, NULL);
			(void)snprintf(line, sizeof(line), "%u", place.line);
			row.text[0] = place.function;
			row.text[1] = place.file;
			row.text[2] = place.line ? line : NULL;
		}
		err = store_table_row(export, &allocations, insert, &row);
	}
	(void)sqlite3_finalize(insert);
	return err;
}

static enum store_error put_health(struct store_export *export,
				   tare_view *view)
{
	const struct array array = { tare_view_health(view), 1,
				     sizeof(tare_health), NULL };

	return put_array(export, &health, &array, &export->health);
}

enum store_error store_export_view(struct store_export *export,
				   tare_view *view, const tare_filter *filter)
{
	enum store_error err = put_run(export, view);

	if (!err)
		err = put_series(export, view, filter);
	if (!err)
		err = put_scopes(export, view);
	if (!err)
		err = put_profile(export, view);
	if (!err)
		err = put_samples(export, view);
	if (!err)
		err = put_records(export, view, filter);
	if (!err)
		err = put_allocations(export, view);
	return err ? err : put_health(export, view);
}
