/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of base/text/: growing buffers, numbers, JSON, CSV, globs, UTF-8,
 * protobuf, and structs of callers.
 *
 * Comes in: texts, numbers and callers' structs. Goes out: bytes in the
 * caller's buffer, parsed values, copied structs. Called by: all areas, cli
 * and server.
 *
 * Everything here ignores the program's locale: a program that sets a comma as
 * decimal point must not change what tare writes or reads.
 */
#ifndef TR_BASE_TEXT_H
#define TR_BASE_TEXT_H

#include <tare/api.h>

/*
 * A public call that both libraries have. Weak: a program may link both of
 * them statically.
 */
#define TR_SHARED __attribute__((weak))

/* A growing byte buffer. After a failed allocation it stays as it was and
 * `failed` is set; the caller looks once, at the end. */
struct tr_buf {
	char *data; /* NUL-terminated when len > 0 */
	size_t len;
	size_t cap;
	bool failed;
};

#define TR_BUF_INIT { NULL, 0, 0, false }

void tr_buf_release(struct tr_buf *buf);
void tr_buf_add(struct tr_buf *buf, const void *data, size_t len);
void tr_buf_adds(struct tr_buf *buf, const char *text);
void tr_buf_addc(struct tr_buf *buf, char c);
/* Integers and strings only: %f and its like follow the locale. */
void tr_buf_addf(struct tr_buf *buf, const char *format, ...)
	TARE_PRINTF(2, 3);
void tr_buf_pad(struct tr_buf *buf, char c, size_t n);

#define TR_N_OF(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Room for one more in an array of `n` elements, of which `cap` fit. False:
 * out of memory, and the array is as it was.
 */
#define TR_ARRAY_ROOM(array, n, cap) \
	tr_array_room(&(array), (n), &(cap), sizeof(*(array)))
bool tr_array_room(void *array, size_t n, size_t *cap, size_t size);

/* Shortest text that reads back as the same double; "nan", "inf", "-inf".
 * Returns the length; out holds at least 32 bytes. */
size_t tr_double_text(char *out, double value);

/* Returns the length; out holds at least 24 bytes. */
size_t tr_u64_text(char *out, uint64_t value);

/* digits x 10^exponent */
struct tr_decimal {
	uint64_t digits;
	int exponent;
};

/* The fewest digits that read back as `value`, which is finite and not
 * negative. A whole number below 2^53 keeps the zeros at its end. */
struct tr_decimal tr_double_decimal(double value);

/* Fixed number of decimals, rounded half to even on the decimal value. */
size_t tr_fixed_text(char *out, size_t size, double value, int decimals);

/*
 * For people. These are the only forms of figures that reports, tables and
 * messages have; NAN is "-". Durations, shares, numbers, and sizes that are not
 * negative have at most eight columns.
 */

/* By value: a call can stand among the arguments of printf(). */
struct tr_text {
	char text[40];
};

/* "1.23 us", "4.5 s", "1m30s", "2h03m", "4d04h" */
struct tr_text tr_as_duration(double ns);
/* "2026-11-15T17:34:05Z", of ns since 1970 */
struct tr_text tr_as_date(int64_t ns);
/* "17:34:05.123Z" */
struct tr_text tr_as_clock(int64_t ns);
/* "1,234,567" */
struct tr_text tr_as_count(uint64_t n);
/* "12.3 MiB" */
struct tr_text tr_as_bytes(double bytes);
/* "1234567", "12.345"; from ten million on "12.3 M". */
struct tr_text tr_as_number(double value);
/* As tr_fixed_text(). */
struct tr_text tr_as_fixed(double value, int decimals);
/* "99.3 %" of 0.993 */
struct tr_text tr_as_share(double share);
/* The same of a success rate: never "100.0 %" where something failed. */
struct tr_text tr_as_success(double rate);
/* The same with a sign: "+3.1 %". */
struct tr_text tr_as_change(double change);
/* In a series' unit: "12.3 MiB/s", "1.2 us", "3.5 items". */
struct tr_text tr_as_value(double value, const char *unit);

/* Whole string or nothing; false leaves *ret as it was. */
bool tr_parse_u64(const char *text, uint64_t *ret);
bool tr_parse_double(const char *text, double *ret);
/* In any case of ASCII letters; `lower` has small ones. */
bool tr_same_word(const char *text, const char *lower);
/* 1 0 true false yes no on off, any case */
bool tr_parse_bool(const char *text, bool *ret);

/* Glob: * ? [a-z] [!a-z] \x; linear in pattern x text, never recursive. */
bool tr_glob_match(const char *pattern, const char *text);
/* Any of a comma-separated list; spaces around items are ignored. An empty
 * list matches nothing. */
bool tr_glob_list_match(const char *list, const char *text);

/* Bytes of the longest prefix of text[0..len) that is at most max bytes and
 * ends on a code-point boundary. Invalid bytes count as one each. */
size_t tr_utf8_clip(const char *text, size_t len, size_t max);
/* Length of the code point that text[0..len) starts with and its number; 0
 * if it starts with none, and *ret is as it was. */
size_t tr_utf8_decode(const char *text, size_t len, uint32_t *ret);

/*
 * Names come from ledgers, which anybody may have written. What could control
 * a terminal or turn the direction of writing is shown as '?'.
 *
 * Bytes of the character that text[0..len) starts with; *ret_print is false
 * where '?' stands for it; *ret_width are its columns.
 */
size_t tr_text_next(const char *text, size_t len, bool *ret_print,
		    size_t *ret_width);
/* Columns that a text takes. */
size_t tr_text_columns(const char *text);
/* Bytes of the longest beginning that fits into `columns` columns. */
size_t tr_text_cut(const char *text, size_t columns);
/* In place; the text gets no longer. */
void tr_text_make_printable(char *text);
/* Up to `columns` columns of the text, printable. */
void tr_buf_add_printable(struct tr_buf *buf, const char *text,
			  size_t columns);

/* JSON writer on a buffer; commas and nesting are its business. */
struct tr_json {
	struct tr_buf *buf;
	uint64_t has_item; /* bit per depth: a comma is due */
	unsigned depth;	   /* at most 63 */
};

void tr_json_begin(struct tr_json *json, struct tr_buf *buf);
void tr_json_object(struct tr_json *json, const char *key);
void tr_json_array(struct tr_json *json, const char *key);
void tr_json_end_object(struct tr_json *json);
void tr_json_end_array(struct tr_json *json);
/* key: NULL inside an array. Invalid UTF-8 becomes U+FFFD. NAN, INF: null. */
void tr_json_str(struct tr_json *json, const char *key, const char *value);
void tr_json_u64(struct tr_json *json, const char *key, uint64_t value);
void tr_json_i64(struct tr_json *json, const char *key, int64_t value);
void tr_json_double(struct tr_json *json, const char *key, double value);
void tr_json_bool(struct tr_json *json, const char *key, bool value);

/* Rows of a CSV text, see csv.c. */
#define TR_CSV_CELLS 256u
struct tr_csv {
	char *at;	 /* what is left; NULL: nothing */
	uint64_t line;	 /* of the row, from 1 */
	char separator;	 /* 0: not yet known */
	bool is_comment; /* begins with '#'; one cell */
	uint32_t n;
	char *cell[TR_CSV_CELLS];
};

/* The text is NUL-terminated, and split in place. */
void tr_csv_begin(struct tr_csv *csv, char *text);
/* The next line; an empty one has one empty cell. False: no more. */
bool tr_csv_row(struct tr_csv *csv);

#include "base/text/wire.h"

/*
 * A caller's struct that begins with its size, a uint32_t, as one of `size`
 * bytes: what a shorter one lacks is 0. TARE_EINVAL if it is shorter than
 * `least`, or longer and the rest is not 0.
 */
int tr_take_struct(void *to, size_t size, const void *from,
		   uint32_t struct_size, size_t least);
/* The same by type: `from` has at least all before `field`. */
#define TR_TAKE_STRUCT(to, from, field) \
	tr_take_struct((to), sizeof(*(to)), (from), (from)->struct_size, \
		       offsetof(__typeof__(*(to)), field))

#endif
