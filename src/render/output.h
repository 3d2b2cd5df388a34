/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of render/output/: the sink that receives an export's bytes, in pieces
 * of 64 KiB, and what its writers share: escapes, fields of structs, gzip.
 *
 * Comes in: texts and structs. Goes out: bytes to a tare_write_fn. Called by:
 * all other rooms of render/, cli.
 *
 * A writer asks for room once a row and then stores with a plain pointer: a
 * check for every comma costs more than the comma. Room of up to TR_SINK_ROOM
 * is always there; longer texts are added in several steps.
 *
 * The first failure stays in `err`, and nothing is written after it: an output
 * with a gap must not look complete.
 */
#ifndef TR_RENDER_OUTPUT_H
#define TR_RENDER_OUTPUT_H

#include "base/text.h"
#include "read/view.h"

#include <assert.h>
#include <string.h>

#define TR_SINK_BYTES 65536u
#define TR_SINK_ROOM 8192u

struct tr_sink {
	char *data;	/* TR_SINK_BYTES */
	size_t len;
	tare_write_fn write;
	void *arg;
	uint64_t rows;	/* counted by the writers */
	uint64_t written; /* bytes handed out */
	int err;
};

int tr_sink_init(struct tr_sink *sink, tare_write_fn write, void *arg);
/* Hands out what is left; the first failure, or 0. */
int tr_sink_finish(struct tr_sink *sink);
void tr_sink_flush(struct tr_sink *sink);
void tr_sink_add(struct tr_sink *sink, const void *data, size_t len);

/* Adds what is in a buffer and empties it; the buffer's failure is kept. */
void tr_sink_take(struct tr_sink *sink, struct tr_buf *buf);
/* Integers and strings, all together less than TR_SINK_ROOM bytes. */
void tr_sink_addf(struct tr_sink *sink, const char *format, ...)
	TARE_PRINTF(2, 3);

/* A place for at least TR_SINK_ROOM bytes; tell tr_sink_end() how far. */
TR_INLINE char *tr_sink_begin(struct tr_sink *sink)
{
	if (TR_UNLIKELY(sink->len > TR_SINK_BYTES - TR_SINK_ROOM))
		tr_sink_flush(sink);
	return sink->data + sink->len;
}

TR_INLINE void tr_sink_end(struct tr_sink *sink, const char *at)
{
	assert(at >= sink->data && at <= sink->data + TR_SINK_BYTES);
	sink->len = (size_t)(at - sink->data);
}

TR_INLINE void tr_sink_adds(struct tr_sink *sink, const char *text)
{
	tr_sink_add(sink, text, strlen(text));
}

/* ---- pieces of a row, at a pointer ------------------------------------- */

/* A literal's length is known when compiled: one or two stores. */
#define TR_LIT(at, literal) tr_put((at), "" literal, sizeof(literal) - 1)

TR_INLINE char *tr_put(char *at, const char *text, size_t len)
{
	memcpy(at, text, len);
	return at + len;
}

/*
 * The same by sixteens, for lengths that are not known when compiled: a call
 * or a string instruction costs more than these few stores. Reads and writes
 * up to TR_WIDE - 1 bytes behind the end.
 */
#define TR_WIDE 16u
TR_INLINE char *tr_put_wide(char *at, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i += TR_WIDE)
		memcpy(at + i, text + i, TR_WIDE);
	return at + len;
}

TR_INLINE char *tr_put_u64(char *at, uint64_t value)
{
	return at + tr_u64_text(at, value);
}

TR_INLINE char *tr_put_i64(char *at, int64_t value)
{
	/* Negated as unsigned: the least number has no positive twin. */
	if (value >= 0)
		return tr_put_u64(at, (uint64_t)value);
	*at++ = '-';
	return tr_put_u64(at, -(uint64_t)value);
}

/* ---- escape.c ---------------------------------------------------------- */

/* Texts of up to this many bytes may be escaped into TR_SINK_ROOM. */
#define TR_ESCAPE_MOST 1024u

/*
 * The text with quotes, valid and in UTF-8; at most 6 x len + 2 bytes. The
 * first form is for up to TR_ESCAPE_MOST bytes, the other for any.
 */
char *tr_put_json(char *at, const char *text, size_t len);
void tr_sink_json(struct tr_sink *sink, const char *text);
/* The value of an attribute; what JSON has no number for is null. */
void tr_sink_attr(struct tr_sink *sink, const tare_attr_value *attr);
/* A key that is given twice has its last value. */
bool tr_attr_is_replaced(const tare_record *record, size_t attr);
/* A cell of a table, quoted where it must be, harmless in a spreadsheet. */
void tr_sink_cell(struct tr_sink *sink, const char *text);
char *tr_put_cell(char *at, const char *text, size_t len);
/* Is the text of use as a cell as it is? */
bool tr_cell_is_plain(const char *text, size_t len);

/* ---- fields.c ---------------------------------------------------------- */

enum tr_field_kind {
	TR_FIELD_STR,
	TR_FIELD_ENUM,
	TR_FIELD_BOOL,
	TR_FIELD_U32,
	TR_FIELD_U64,
	TR_FIELD_I64,
	TR_FIELD_DOUBLE
};

/* A field of a struct and what it is called in an output. */
struct tr_field {
	const char *key;
	size_t offset;
	enum tr_field_kind kind;
	const char *(*name)(uint32_t value); /* of an enum's */
};

/* The kind follows from the field's type; other types do not compile. */
#define TR_FIELD(type, key, field) \
	{ key, offsetof(type, field), \
	  _Generic(((type *)0)->field, \
		   const char *: TR_FIELD_STR, \
		   bool: TR_FIELD_BOOL, \
		   uint32_t: TR_FIELD_U32, \
		   uint64_t: TR_FIELD_U64, \
		   int64_t: TR_FIELD_I64, \
		   double: TR_FIELD_DOUBLE), NULL }
/* An enum as text. */
#define TR_FIELD_NAMED(type, key, field, name) \
	{ key, offsetof(type, field), TR_FIELD_ENUM, name }

/* The table and its length, as arguments of the calls below. */
#define TR_ALL(table) (table), TR_N_OF(table)

void tr_json_fields(struct tr_json *json, const struct tr_field *field,
		    size_t n, const void *of);
/* An object of these fields alone. */
void tr_json_struct(struct tr_json *json, const char *key,
		    const struct tr_field *field, size_t n, const void *of);
/* Cells of a table, commas between them; NAN is empty. And their headings. */
void tr_sink_cells(struct tr_sink *sink, const struct tr_field *field,
		   size_t n, const void *of);
void tr_sink_keys(struct tr_sink *sink, const struct tr_field *field,
		  size_t n);
/* Of any number, and of one that is not negative and no double. */
double tr_field_number(const struct tr_field *field, const void *of);
uint64_t tr_field_whole(const struct tr_field *field, const void *of);

/* ---- xml.c ------------------------------------------------------------- */

/* Text of an element: escaped, valid, at most `most` characters. */
void tr_sink_xml(struct tr_sink *sink, const char *text, size_t most);
/* At most `decimals` decimals, no zeros at the end. */
struct tr_text tr_as_short(double value, int decimals);

/* ---- gzip.c ------------------------------------------------------------ */

void tr_sink_gzip(struct tr_sink *sink, const char *data, size_t len);

/* ---- name_brief.c ------------------------------------------------------ */

/*
 * A function's name where there is no room for all of it: without template
 * arguments and parameters, "std::map<>::find()", "<Cart<> as Price>::price".
 * Gives `brief`.
 */
#define TR_BRIEF_BYTES 256u
const char *tr_name_brief(const char *name, char *brief);

#endif
