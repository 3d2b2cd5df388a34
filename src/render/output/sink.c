/* SPDX-License-Identifier: Apache-2.0 */
#include "render/output.h"

#include <assert.h>
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
