/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A made-up libcupti of the major version CUPTI_MAJOR. Records are written by
 * the offsets that NVIDIA's headers of that version have; this file does not
 * use the recorder's own declarations.
 *
 *	STAND_IN_TAKEN=n    the first n subscriptions find another subscriber
 *	STAND_IN_BUFFER=n   buffers hold n records
 *	STAND_IN_DROP=n     each n-th record is dropped
 */
#include "cuda_stand_in.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifndef CUPTI_MAJOR
#define CUPTI_MAJOR 13
#endif

#if CUPTI_MAJOR >= 13
#define VERSION 130401u
#define KERNEL_BYTES 248u /* CUpti_ActivityKernel13 */
#define COPY_BYTES 112u	  /* CUpti_ActivityMemcpy7 */
#define SET_BYTES 104u	  /* CUpti_ActivityMemset5 */
#else
#define VERSION 28u
#define KERNEL_BYTES 208u /* CUpti_ActivityKernel9 */
#define COPY_BYTES 96u	  /* CUpti_ActivityMemcpy6 */
#define SET_BYTES 88u	  /* CUpti_ActivityMemset4 */
#endif
#define WAIT_BYTES 56u /* CUpti_ActivitySynchronization2 */

#define API STAND_IN_API
#define PENDING 65536u
#define KINDS 64u
#define FUNCTIONS 1024u

enum { OK = 0, INVALID = 1, NO_MORE = 12, OTHER_SUBSCRIBER = 39 };
enum { KIND_COPY = 1, KIND_SET = 2, KIND_KERNEL = 10, KIND_WAIT = 38 };

typedef void (*request_fn)(uint8_t **, size_t *, size_t *);
typedef void (*complete_fn)(void *, uint32_t, uint8_t *, size_t, size_t);
typedef void (*callback_fn)(void *, int, uint32_t, const void *);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stand_in_cuda *cuda;
static request_fn request;
static complete_fn complete;
static callback_fn callback;
static bool is_enabled[KINDS];
static bool calls[3][FUNCTIONS];
static struct work pending[PENDING];
static uint32_t n_pending;
static size_t dropped;
static uint64_t taken_in;

static unsigned number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

/* ---- records ----------------------------------------------------------- */

static void put32(uint8_t *at, size_t off, uint32_t value)
{
	memcpy(at + off, &value, 4);
}

static void put64(uint8_t *at, size_t off, uint64_t value)
{
	memcpy(at + off, &value, 8);
}

static const struct {
	uint32_t kind, bytes;
} layouts[] = {
	[WORK_KERNEL] = { KIND_KERNEL, KERNEL_BYTES },
	[WORK_COPY] = { KIND_COPY, COPY_BYTES },
	[WORK_SET] = { KIND_SET, SET_BYTES },
	[WORK_WAIT] = { KIND_WAIT, WAIT_BYTES },
};

static void put_times(uint8_t *at, const struct work *work, size_t off,
		      bool is_done)
{
	put64(at, off, is_done ? work->start_ns : 0);
	put64(at, off + 8, is_done ? work->end_ns : 0);
}

static void put_record(uint8_t *at, const struct work *work, bool is_done)
{
	memset(at, 0, layouts[work->kind].bytes);
	put32(at, 0, layouts[work->kind].kind);
	switch (work->kind) {
	case WORK_KERNEL:
		put_times(at, work, 16, is_done);
		put32(at, 40, 0); /* device */
		put32(at, 44, 1); /* context */
		put32(at, 48, work->stream + 7);
		put32(at, 52, 256); /* grid */
		put32(at, 92, work->correlation);
		memcpy(at + 104, &work->name, sizeof(work->name));
		break;
	case WORK_COPY:
		at[4] = (uint8_t)work->copy_kind;
		put64(at, 8, work->bytes);
		put_times(at, work, 16, is_done);
		put32(at, 36, 1);
		put32(at, 40, work->stream + 7);
		put32(at, 44, work->correlation);
		break;
	case WORK_SET:
		put64(at, 8, work->bytes);
		put_times(at, work, 16, is_done);
		put32(at, 36, 1);
		put32(at, 40, work->stream + 7);
		put32(at, 44, work->correlation);
		break;
	case WORK_WAIT:
		put32(at, 4, 4); /* of the context */
		put_times(at, work, 8, is_done);
		put32(at, 24, work->correlation);
		put32(at, 28, 1);
		break;
	}
}

/* ---- buffers ----------------------------------------------------------- */

struct buffer {
	uint8_t *at;
	size_t size, used, records, most;
};

static void give_back(struct buffer *buffer)
{
	if (buffer->at && complete)
		complete(NULL, 0, buffer->at, buffer->size, buffer->used);
	*buffer = (struct buffer){ NULL, 0, 0, 0, 0 };
}

static bool has_buffer(struct buffer *buffer, size_t bytes)
{
	if (buffer->at && (buffer->size - buffer->used < bytes ||
			   (buffer->most && buffer->records >= buffer->most)))
		give_back(buffer);
	if (!buffer->at && request)
		request(&buffer->at, &buffer->size, &buffer->most);
	if (!buffer->most)
		buffer->most = number_of("STAND_IN_BUFFER");
	return buffer->at && buffer->size >= bytes;
}

/* Delivers what is done, or all. Callbacks run without the lock. */
static void deliver(bool is_forced)
{
	static struct work batch[PENDING];
	struct buffer buffer = { NULL, 0, 0, 0, 0 };
	uint64_t now = cuda ? cuda->now_ns() : 0;
	uint32_t n = 0, kept = 0;

	(void)pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < n_pending; i++) {
		if (is_forced || pending[i].end_ns <= now)
			batch[n++] = pending[i];
		else
			pending[kept++] = pending[i];
	}
	n_pending = kept;
	(void)pthread_mutex_unlock(&lock);
	for (uint32_t i = 0; i < n; i++) {
		size_t bytes = layouts[batch[i].kind].bytes;

		if (!has_buffer(&buffer, bytes)) {
			dropped++;
			continue;
		}
		put_record(buffer.at + buffer.used, &batch[i],
			   batch[i].end_ns <= now);
		buffer.used += bytes;
		buffer.records++;
	}
	give_back(&buffer);
}

static void take_work(const struct work *work)
{
	unsigned each = number_of("STAND_IN_DROP");

	if (!is_enabled[layouts[work->kind].kind])
		return;
	(void)pthread_mutex_lock(&lock);
	taken_in++;
	if (n_pending == PENDING || (each && taken_in % each == 0))
		dropped++;
	else
		pending[n_pending++] = *work;
	(void)pthread_mutex_unlock(&lock);
}

/* ---- the API ----------------------------------------------------------- */

/* As CUpti_CallbackData. */
struct call_data {
	uint32_t site;
	const char *function;
	const void *params;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_uid;
	uint64_t *data;
	uint32_t correlation;
};

_Static_assert(offsetof(struct call_data, data) == 56, "as in CUPTI");
_Static_assert(offsetof(struct call_data, correlation) == 64, "as in CUPTI");

static void take_call(int domain, uint32_t function, int site,
		      uint32_t correlation, uint64_t *data)
{
	struct call_data call = { .site = (uint32_t)site, .data = data,
				  .correlation = correlation };

	if (callback && domain < 3 && function < FUNCTIONS &&
	    calls[domain][function])
		callback(NULL, domain, function, &call);
}

static void connect_cuda(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (cuda || !library)
		return;
	cuda = dlsym(library, "stand_in_cuda");
	if (!cuda)
		return;
	cuda->call = take_call;
	cuda->work = take_work;
}

API int cuptiActivityRegisterCallbacks(request_fn ask, complete_fn done);
API int cuptiActivityRegisterCallbacks(request_fn ask, complete_fn done)
{
	connect_cuda();
	request = ask;
	complete = done;
	return OK;
}

API int cuptiActivityEnable(int kind);
API int cuptiActivityEnable(int kind)
{
	connect_cuda();
	if (kind < 0 || kind >= (int)KINDS)
		return INVALID;
	is_enabled[kind] = true;
	return OK;
}

API int cuptiActivityDisable(int kind);
API int cuptiActivityDisable(int kind)
{
	if (kind < 0 || kind >= (int)KINDS)
		return INVALID;
	is_enabled[kind] = false;
	return OK;
}

API int cuptiActivityFlushAll(uint32_t flag);
API int cuptiActivityFlushAll(uint32_t flag)
{
	static pthread_mutex_t flushing = PTHREAD_MUTEX_INITIALIZER;

	(void)pthread_mutex_lock(&flushing);
	deliver(flag & 1);
	(void)pthread_mutex_unlock(&flushing);
	return OK;
}

API int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
				   uint8_t **record);
API int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
				   uint8_t **record)
{
	uint8_t *next = buffer;

	if (*record) {
		uint32_t kind;

		memcpy(&kind, *record, 4);
		next = *record;
		for (unsigned i = 0; i < 4; i++)
			if (layouts[i].kind == kind)
				next += layouts[i].bytes;
	}
	if (next >= buffer + valid)
		return NO_MORE;
	*record = next;
	return OK;
}

API int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream,
					  size_t *n);
API int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream,
					  size_t *n)
{
	(void)context;
	(void)stream;
	*n = dropped;
	dropped = 0;
	return OK;
}

API int cuptiGetTimestamp(uint64_t *ns);
API int cuptiGetTimestamp(uint64_t *ns)
{
	connect_cuda();
	if (!cuda)
		return INVALID;
	*ns = cuda->now_ns();
	return OK;
}

API int cuptiGetVersion(uint32_t *version);
API int cuptiGetVersion(uint32_t *version)
{
	*version = VERSION;
	return OK;
}

API int cuptiGetResultString(int result, const char **text);
API int cuptiGetResultString(int result, const char **text)
{
	*text = result ? "CUPTI_ERROR_UNKNOWN" : "CUPTI_SUCCESS";
	return OK;
}

API int cuptiSubscribe(void **subscriber, callback_fn function, void *arg);
API int cuptiSubscribe(void **subscriber, callback_fn function, void *arg)
{
	static unsigned tries;

	(void)arg;
	connect_cuda();
	if (callback || tries++ < number_of("STAND_IN_TAKEN"))
		return OTHER_SUBSCRIBER;
	callback = function;
	*subscriber = &callback;
	return OK;
}

API int cuptiUnsubscribe(void *subscriber);
API int cuptiUnsubscribe(void *subscriber)
{
	if (subscriber != &callback)
		return INVALID;
	callback = NULL;
	return OK;
}

API int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain,
			    uint32_t function);
API int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain,
			    uint32_t function)
{
	if (subscriber != &callback || domain < 1 || domain > 2 ||
	    function >= FUNCTIONS)
		return INVALID;
	calls[domain][function] = enable;
	return OK;
}

/* ---- another profiler -------------------------------------------------- */

static uint8_t other_buffer[1 << 16];

static void request_other(uint8_t **buffer, size_t *size, size_t *records)
{
	*buffer = other_buffer;
	*size = sizeof(other_buffer);
	*records = 0;
}

static void complete_other(void *context, uint32_t stream, uint8_t *buffer,
			   size_t size, size_t valid)
{
	(void)context;
	(void)stream;
	(void)buffer;
	(void)size;
	(void)valid;
}

/* As torch.profiler does, while a recording runs. */
API void stand_in_steal(void);
API void stand_in_steal(void)
{
	(void)cuptiActivityRegisterCallbacks(request_other, complete_other);
}
