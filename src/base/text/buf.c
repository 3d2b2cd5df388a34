/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 256 /* most lines of a report fit without growing */
#define FIRST_ELEMENTS 16

/*
 * Makes room for `extra` bytes and a NUL. A buffer that failed once stays
 * closed: a text with a gap must not look complete.
 */
static bool make_room(struct tr_buf *buf, size_t extra)
{
	size_t cap = buf->cap;
	char *data;

	if (buf->failed)
		return false;
	if (extra < cap - buf->len)
		return true;
	if (extra >= SIZE_MAX / 2 - buf->len) {
		buf->failed = true;
		return false;
	}

	if (cap < FIRST_CAP)
		cap = FIRST_CAP;
	while (cap <= buf->len + extra)
		cap *= 2;
	data = realloc(buf->data, cap);
	if (!data) {
		buf->failed = true;
		return false;
	}

	buf->data = data;
	buf->cap = cap;
	return true;
}

/* `array` is the address of a pointer of any type. */
bool tr_array_room(void *array, size_t n, size_t *cap, size_t size)
{
	size_t more = *cap ? *cap * 2 : FIRST_ELEMENTS;
	void *grown;

	if (n < *cap)
		return true;
	memcpy(&grown, array, sizeof(grown));
	grown = realloc(grown, more * size);
	if (!grown)
		return false;
	memcpy(array, &grown, sizeof(grown));
	*cap = more;
	return true;
}

void tr_buf_release(struct tr_buf *buf)
{
	if (!buf)
		return;

	free(buf->data);
	*buf = (struct tr_buf)TR_BUF_INIT;
}

void tr_buf_add(struct tr_buf *buf, const void *data, size_t len)
{
	if (len == 0 || !make_room(buf, len))
		return;

	memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void tr_buf_adds(struct tr_buf *buf, const char *text)
{
	if (text)
		tr_buf_add(buf, text, strlen(text));
}

void tr_buf_addc(struct tr_buf *buf, char c)
{
	tr_buf_add(buf, &c, 1);
}

void tr_buf_addf(struct tr_buf *buf, const char *format, ...)
{
	va_list args;
	int len;

	if (!make_room(buf, 1))
		return;

	va_start(args, format);
	len = vsnprintf(buf->data + buf->len, buf->cap - buf->len, format,
			args);
	va_end(args);
	if (len >= 0 && (size_t)len >= buf->cap - buf->len &&
	    make_room(buf, (size_t)len)) {
		va_start(args, format);
		len = vsnprintf(buf->data + buf->len, buf->cap - buf->len,
				format, args);
		va_end(args);
	}

	if (len < 0)
		buf->failed = true;
	if (buf->failed)
		buf->data[buf->len] = '\0';
	else
		buf->len += (size_t)len;
}

void tr_buf_pad(struct tr_buf *buf, char c, size_t n)
{
	if (n == 0 || !make_room(buf, n))
		return;

	memset(buf->data + buf->len, c, n);
	buf->len += n;
	buf->data[buf->len] = '\0';
}
