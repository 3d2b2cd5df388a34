/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes structs whose fields are listed in a table, as JSON, cells and
 * numbers.
 */
#include "render/output.h"

#include <math.h>

static const void *place_of(const struct tr_field *field, const void *of)
{
	return (const char *)of + field->offset;
}

/* The text of a string or enum field. */
static const char *text_of(const struct tr_field *field, const void *of)
{
	const void *at = place_of(field, of);

	return field->kind == TR_FIELD_ENUM ?
		       field->name(*(const uint32_t *)at) :
		       *(const char *const *)at;
}

uint64_t tr_field_whole(const struct tr_field *field, const void *of)
{
	const void *at = place_of(field, of);

	switch (field->kind) {
	case TR_FIELD_BOOL:
		return *(const bool *)at;
	case TR_FIELD_U32:
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

double tr_field_number(const struct tr_field *field, const void *of)
{
	if (field->kind == TR_FIELD_DOUBLE)
		return *(const double *)place_of(field, of);
	if (field->kind == TR_FIELD_I64)
		return (double)*(const int64_t *)place_of(field, of);
	return (double)tr_field_whole(field, of);
}

static void put_json(struct tr_json *json, const struct tr_field *field,
		     const void *of)
{
	const void *at = place_of(field, of);

	switch (field->kind) {
	case TR_FIELD_STR:
	case TR_FIELD_ENUM:
		tr_json_str(json, field->key, text_of(field, of));
		return;
	case TR_FIELD_BOOL:
		tr_json_bool(json, field->key, *(const bool *)at);
		return;
	case TR_FIELD_I64:
		tr_json_i64(json, field->key, *(const int64_t *)at);
		return;
	case TR_FIELD_DOUBLE:
		tr_json_double(json, field->key, *(const double *)at);
		return;
	default:
		tr_json_u64(json, field->key, tr_field_whole(field, of));
	}
}

void tr_json_fields(struct tr_json *json, const struct tr_field *field,
		    size_t n, const void *of)
{
	for (size_t i = 0; i < n; i++)
		put_json(json, &field[i], of);
}

void tr_json_struct(struct tr_json *json, const char *key,
		    const struct tr_field *field, size_t n, const void *of)
{
	tr_json_object(json, key);
	tr_json_fields(json, field, n, of);
	tr_json_end_object(json);
}

static char *put_cell(char *at, const struct tr_field *field, const void *of)
{
	double value;

	switch (field->kind) {
	case TR_FIELD_BOOL:
		return *(const bool *)place_of(field, of) ?
			       TR_LIT(at, "true") :
			       TR_LIT(at, "false");
	case TR_FIELD_I64:
		return tr_put_i64(at, *(const int64_t *)place_of(field, of));
	case TR_FIELD_DOUBLE:
		value = tr_field_number(field, of);
		return isnan(value) ? at : at + tr_double_text(at, value);
	default:
		return tr_put_u64(at, tr_field_whole(field, of));
	}
}

void tr_sink_cells(struct tr_sink *sink, const struct tr_field *field,
		   size_t n, const void *of)
{
	for (size_t i = 0; i < n; i++) {
		tr_sink_adds(sink, i ? "," : "");
		if (field[i].kind <= TR_FIELD_ENUM)
			tr_sink_cell(sink, text_of(&field[i], of));
		else
			tr_sink_end(sink, put_cell(tr_sink_begin(sink),
						   &field[i], of));
	}
}

void tr_sink_keys(struct tr_sink *sink, const struct tr_field *field, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		tr_sink_adds(sink, i ? "," : "");
		tr_sink_adds(sink, field[i].key);
	}
}
