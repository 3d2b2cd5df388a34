/* SPDX-License-Identifier: Apache-2.0 */
#include "render/output.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int tr_sink_init(struct tr_sink *sink, tare_write_fn write, void *arg)
{
	assert(write);
	*sink = (struct tr_sink){ .write = write, .arg = arg };
	sink->data = malloc(TR_SINK_BYTES);
	return sink->data ? 0 : TARE_ENOMEM;
}

void tr_sink_flush(struct tr_sink *sink)
{
	assert(sink->len <= TR_SINK_BYTES);
	if (!sink->err && sink->len &&
	    sink->write(sink->arg, sink->data, sink->len))
		sink->err = TARE_EIO;
	sink->written += sink->len;
	sink->len = 0;
}

int tr_sink_finish(struct tr_sink *sink)
{
	assert(sink->data);
	tr_sink_flush(sink);
	free(sink->data);
	sink->data = NULL;
	return sink->err;
}

void tr_sink_add(struct tr_sink *sink, const void *data, size_t len)
{
	const char *from = data;

	assert(sink->data);
	assert(data || !len);
	while (len) {
		char *at = tr_sink_begin(sink);
		size_t n = len < TR_SINK_ROOM ? len : TR_SINK_ROOM;

		tr_sink_end(sink, tr_put(at, from, n));
		from += n;
		len -= n;
	}
}

void tr_sink_take(struct tr_sink *sink, struct tr_buf *buf)
{
	if (buf->failed)
		sink->err = TARE_ENOMEM;
	else
		tr_sink_add(sink, buf->data, buf->len);
	buf->len = 0;
}

void tr_sink_addf(struct tr_sink *sink, const char *format, ...)
{
	char *at = tr_sink_begin(sink);
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(at, TR_SINK_ROOM, format, args);
	va_end(args);
	assert(n >= 0 && (size_t)n < TR_SINK_ROOM);
	if (n >= 0 && (size_t)n < TR_SINK_ROOM)
		tr_sink_end(sink, at + n);
	else
		sink->err = TARE_EINVAL;
}
