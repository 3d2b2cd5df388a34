/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of text/: growing buffers, numbers, JSON, globs, protobuf; structs of
 * callers.
 *
 * Everything here ignores the host's locale: a program that sets a comma as
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

/* For people: "1.23 us", "4.5 s", "2 h 03 min"; "-" for NAN. */
size_t tr_duration_text(char *out, size_t size, double ns);
/* "2026-11-15T17:34:05Z", of ns since 1970; 21 bytes. */
void tr_date_text(char *out, size_t size, int64_t ns);
/* "1,234,567" */
size_t tr_count_text(char *out, size_t size, uint64_t n);
/* "12.3 MiB" */
size_t tr_bytes_text(char *out, size_t size, double bytes);

/* Whole string or nothing; false leaves *ret as it was. */
bool tr_parse_u64(const char *text, uint64_t *ret);
bool tr_parse_i64(const char *text, int64_t *ret);
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
