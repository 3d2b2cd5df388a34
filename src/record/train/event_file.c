/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that TensorBoard reads: records of
 *
 *	length (8 bytes), its checksum (4), event, the event's checksum (4)
 *
 * all little-endian, the checksum a masked CRC-32C; an event is a message
 * `tensorflow.Event` of Protocol Buffers. Numbers of fields below are those
 * of event.proto, summary.proto, tensor.proto and types.proto.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/platform.h"
#include "record/train/append.h"
#include "record/train/event_file.h"

#define EVENT_FLUSH_BYTES 65536u
#define EVENT_BUCKETS 30u

enum event_field {
	EVENT_WALL_TIME = 1,
	EVENT_STEP = 2,
	EVENT_FILE_VERSION = 3,
	EVENT_SUMMARY = 5,
	SUMMARY_VALUE = 1,
	VALUE_TAG = 1,
	VALUE_SIMPLE = 2,
	VALUE_HISTOGRAM = 5,
	VALUE_TENSOR = 8,
	VALUE_METADATA = 9,
	METADATA_PLUGIN = 1,
	PLUGIN_NAME = 1,
	TENSOR_TYPE = 1,
	TENSOR_SHAPE = 2,
	TENSOR_STRING = 8,
	SHAPE_DIM = 2,
	DIM_SIZE = 1,
	TYPE_STRING = 7,
};

struct tare_event_file {
	struct tr_append file;
	/* Nested messages, innermost first. */
	struct tr_buf value, inner, summary, event;
	struct tr_crc crc;
};

/* ---- messages ---------------------------------------------------------- */

static void event_string(struct tr_buf *buf, unsigned field, const char *text)
{
	tr_wire_bytes(buf, field, text, strlen(text));
}

/* Adds a message to the one around it, and empties it. */
static void event_message(struct tr_buf *buf, unsigned field,
			  struct tr_buf *inner)
{
	tr_wire_bytes(buf, field, inner->data, inner->len);
	buf->failed |= inner->failed;
	inner->failed = false;
	inner->len = 0;
}

/* ---- records ----------------------------------------------------------- */

/* Masked: a checksum over data that contains checksums is weak. */
static uint32_t event_crc(const struct tr_crc *crc, const void *data,
			  size_t len)
{
	uint32_t sum = tr_crc(crc, data, len);

	return (sum >> 15 | sum << 17) + 0xa282ead8u;
}

/* Appends file->event as a record to the pending ones. */
static int event_end(tare_event_file *file)
{
	struct tr_buf *to = &file->file.pending;
	struct tr_buf *event = &file->event;
	size_t before = to->len;
	uint64_t len = event->len;
	uint32_t sum;

	sum = event_crc(&file->crc, &len, sizeof(len));
	tr_buf_add(to, &len, sizeof(len));
	tr_buf_add(to, &sum, sizeof(sum));
	sum = event_crc(&file->crc, event->data, event->len);
	tr_buf_add(to, event->data, event->len);
	tr_buf_add(to, &sum, sizeof(sum));
	if (to->failed || event->failed) {
		to->len = before;
		to->failed = event->failed = false;
		event->len = 0;
		return TARE_ENOMEM;
	}
	event->len = 0;
	return to->len < EVENT_FLUSH_BYTES ? 0 : tr_append_flush(&file->file);
}

static void event_begin(tare_event_file *file)
{
	tr_wire_double(&file->event, EVENT_WALL_TIME,
		       (double)tr_realtime_ns() / 1e9);
}

/* Adds file->value to the values of the next event. */
static void event_add_value(tare_event_file *file)
{
	event_message(&file->summary, SUMMARY_VALUE, &file->value);
}

/* Writes the values so far as an event. */
static int event_end_values(tare_event_file *file, int64_t step)
{
	event_begin(file);
	tr_wire_u64(&file->event, EVENT_STEP, (uint64_t)step);
	event_message(&file->event, EVENT_SUMMARY, &file->summary);
	return event_end(file);
}

/* ---- public ------------------------------------------------------------ */

static void event_free(tare_event_file *file)
{
	tr_buf_release(&file->value);
	tr_buf_release(&file->inner);
	tr_buf_release(&file->summary);
	tr_buf_release(&file->event);
	free(file);
}

int tare_event_file_open(const char *folder, tare_event_file **ret_file)
{
	tare_event_file *file;
	char host[128], stem[256];
	int err;

	if (!folder || !folder[0] || !ret_file)
		return TARE_EINVAL;
	file = calloc(1, sizeof(*file));
	if (!file)
		return TARE_ENOMEM;
	tr_crc_init(&file->crc);
	tr_append_host(host, sizeof(host));
	(void)snprintf(stem, sizeof(stem), "events.out.tfevents.%010lld.%s.%d",
		       (long long)(tr_realtime_ns() / 1000000000), host,
		       (int)getpid());
	err = tr_append_open(&file->file, folder, stem, "", 1);
	if (!err) {
		event_begin(file);
		event_string(&file->event, EVENT_FILE_VERSION,
			     "brain.Event:2");
		err = event_end(file);
	}
	if (!err)
		err = tr_append_flush(&file->file);
	if (err) {
		(void)tr_append_close(&file->file);
		event_free(file);
		return err;
	}
	*ret_file = file;
	return 0;
}

/*
 * Scalars are written every epoch, with cold caches: their record is built in
 * one piece, and touches no buffer but the last. A value is a tag and a number,
 * and only the tag's length varies.
 */
#define EVENT_SHORT_TAG 120u /* its value's length is one byte */
#define EVENT_SCALAR 9u	     /* in addition to the tag */
#define EVENT_MOST (TR_EVENT_SCALARS * (EVENT_SHORT_TAG + EVENT_SCALAR))
#define EVENT_AROUND 64u     /* more than the messages around them take */

static char *event_put(char *at, const void *data, size_t len)
{
	memcpy(at, data, len);
	return at + len;
}

static char *event_put_scalar(char *at, const char *tag, size_t len,
			      float value)
{
	*at++ = (char)TR_WIRE_TAG(SUMMARY_VALUE, TR_WIRE_BYTES);
	*at++ = (char)(len + EVENT_SCALAR - 2);
	*at++ = (char)TR_WIRE_TAG(VALUE_TAG, TR_WIRE_BYTES);
	*at++ = (char)len;
	at = event_put(at, tag, len);
	*at++ = (char)TR_WIRE_TAG(VALUE_SIMPLE, TR_WIRE_FLOAT);
	return event_put(at, &value, sizeof(value));
}

static size_t event_short_bytes(const struct tr_scalars *s)
{
	size_t bytes = 0;

	for (size_t i = 0; i < s->n; i++)
		bytes += s->len[i] + EVENT_SCALAR;
	return bytes;
}

/* Equivalent to event_begin(), event_end_values() and event_end(). */
int tr_event_file_scalars(tare_event_file *file, int64_t step, int64_t wall_ns,
			  const struct tr_scalars *s)
{
	char text[EVENT_MOST + EVENT_AROUND], *event = text + 12, *at = event;
	struct tr_buf *to = &file->file.pending;
	double wall = (double)wall_ns / 1e9;
	uint64_t len;
	uint32_t sum;

	*at++ = (char)TR_WIRE_TAG(EVENT_WALL_TIME, TR_WIRE_DOUBLE);
	at = event_put(at, &wall, sizeof(wall));
	*at++ = (char)TR_WIRE_TAG(EVENT_STEP, TR_WIRE_VARINT);
	at = tr_wire_put_varint(at, (uint64_t)step);
	*at++ = (char)TR_WIRE_TAG(EVENT_SUMMARY, TR_WIRE_BYTES);
	at = tr_wire_put_varint(at, event_short_bytes(s));
	for (size_t i = 0; i < s->n; i++)
		at = event_put_scalar(at, s->tag[i], s->len[i],
				      (float)s->value[i]);
	len = (uint64_t)(at - event);
	sum = event_crc(&file->crc, &len, sizeof(len));
	(void)event_put(event_put(text, &len, sizeof(len)), &sum, sizeof(sum));
	sum = event_crc(&file->crc, event, len);
	at = event_put(at, &sum, sizeof(sum));
	tr_buf_add(to, text, (size_t)(at - text));
	if (to->failed) { /* pending records stay whole */
		to->failed = false;
		return TARE_ENOMEM;
	}
	return to->len < EVENT_FLUSH_BYTES ? 0 : tr_append_flush(&file->file);
}

/* False: too many, or too long. */
static bool event_are_short(struct tr_scalars *s, const char *const *tags,
			    const double *values, size_t n)
{
	if (n > TR_EVENT_SCALARS)
		return false;
	for (s->n = 0; s->n < n; s->n++) {
		size_t len = strnlen(tags[s->n], EVENT_SHORT_TAG);

		if (len == EVENT_SHORT_TAG)
			return false;
		s->tag[s->n] = tags[s->n];
		s->len[s->n] = (uint8_t)len;
		s->value[s->n] = values[s->n];
	}
	return true;
}

int tare_event_file_scalars(tare_event_file *file, int64_t step,
			    const char *const *tags, const double *values,
			    size_t n)
{
	struct tr_scalars s;

	if (!file || (n && (!tags || !values)))
		return TARE_EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!tags[i])
			return TARE_EINVAL;
	if (event_are_short(&s, tags, values, n))
		return tr_event_file_scalars(file, step, tr_realtime_ns(), &s);
	for (size_t i = 0; i < n; i++) {
		event_string(&file->value, VALUE_TAG, tags[i]);
		tr_wire_float(&file->value, VALUE_SIMPLE, (float)values[i]);
		event_add_value(file);
	}
	return event_end_values(file, step);
}

int tare_event_file_scalar(tare_event_file *file, const char *tag,
			   int64_t step, double value)
{
	return tare_event_file_scalars(file, step, &tag, &value, 1);
}

/* TensorBoard recognises texts by the name of a plugin. */
static void event_plugin(tare_event_file *file, const char *name)
{
	event_string(&file->inner, PLUGIN_NAME, name);
	event_message(&file->summary, METADATA_PLUGIN, &file->inner);
	event_message(&file->value, VALUE_METADATA, &file->summary);
}

int tare_event_file_text(tare_event_file *file, const char *tag, int64_t step,
			 const char *text)
{
	struct tr_buf *tensor;

	if (!file || !tag || !text)
		return TARE_EINVAL;
	tensor = &file->summary; /* unused until the end */
	event_string(&file->value, VALUE_TAG, tag);
	event_plugin(file, "text");
	tr_wire_u64(tensor, TENSOR_TYPE, TYPE_STRING);
	tr_wire_u64(&file->inner, DIM_SIZE, 1);
	event_message(&file->event, SHAPE_DIM, &file->inner);
	event_message(tensor, TENSOR_SHAPE, &file->event);
	event_string(tensor, TENSOR_STRING, text);
	event_message(&file->value, VALUE_TENSOR, tensor);
	event_add_value(file);
	return event_end_values(file, step);
}

int tare_event_file_histogram(tare_event_file *file, const char *tag,
			      int64_t step,
			      const tare_event_histogram *histogram)
{
	const tare_event_histogram *h = histogram;
	size_t bytes;

	if (!file || !tag || !h || h->n_buckets > 100000 ||
	    (h->n_buckets && (!h->limit || !h->bucket)))
		return TARE_EINVAL;
	bytes = h->n_buckets * sizeof(double);
	event_string(&file->value, VALUE_TAG, tag);
	tr_wire_double(&file->inner, 1, h->min);
	tr_wire_double(&file->inner, 2, h->max);
	tr_wire_double(&file->inner, 3, h->count);
	tr_wire_double(&file->inner, 4, h->sum);
	tr_wire_double(&file->inner, 5, h->sum_of_squares);
	tr_wire_bytes(&file->inner, 6, h->limit, bytes);
	tr_wire_bytes(&file->inner, 7, h->bucket, bytes);
	event_message(&file->value, VALUE_HISTOGRAM, &file->inner);
	event_add_value(file);
	return event_end_values(file, step);
}

static void event_spread(tare_event_histogram *h, const float *values,
			 size_t n)
{
	h->min = INFINITY;
	h->max = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		double v = values[i];

		if (!isfinite(v))
			continue;
		h->count++;
		h->sum += v;
		h->sum_of_squares += v * v;
		h->min = v < h->min ? v : h->min;
		h->max = v > h->max ? v : h->max;
	}
	if (h->count == 0)
		h->min = h->max = 0;
}

int tare_event_file_values(tare_event_file *file, const char *tag,
			   int64_t step, const float *values, size_t n)
{
	double limit[EVENT_BUCKETS], bucket[EVENT_BUCKETS] = { 0 }, width;
	tare_event_histogram h = { .limit = limit, .bucket = bucket,
				   .n_buckets = EVENT_BUCKETS };

	if (!values && n)
		return TARE_EINVAL;
	event_spread(&h, values, n);
	/* If all values are equal, the width is 1. */
	width = h.max > h.min ? (h.max - h.min) / EVENT_BUCKETS : 1;
	for (unsigned i = 0; i < EVENT_BUCKETS; i++)
		limit[i] = h.min + width * (i + 1);
	if (h.max > h.min)
		limit[EVENT_BUCKETS - 1] = h.max;
	for (size_t i = 0; i < n; i++) {
		unsigned at;

		if (!isfinite(values[i]))
			continue;
		at = (unsigned)((values[i] - h.min) / width);
		bucket[at < EVENT_BUCKETS ? at : EVENT_BUCKETS - 1]++;
	}
	return tare_event_file_histogram(file, tag, step, &h);
}

int tare_event_file_flush(tare_event_file *file)
{
	return file ? tr_append_flush(&file->file) : TARE_EINVAL;
}

const char *tare_event_file_path(const tare_event_file *file)
{
	return file ? file->file.path : "";
}

int tare_event_file_close(tare_event_file *file)
{
	int err;

	if (!file)
		return 0;
	err = tr_append_close(&file->file);
	event_free(file);
	return err;
}
