/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of CUPTI that is used, as CUDA 11.8 to 13 have it. NVIDIA's headers
 * are not needed to build: these are our own declarations of the fields that
 * are read. Records grow at their end from version to version; the fields here
 * have had the same places in all of them, which was compared with the headers
 * of the packages nvidia-cuda-cupti-cu11 11.8.87, -cu12 12.1.105 and 12.9.79,
 * and nvidia-cuda-cupti 13.4.92. A library of an unknown major is refused.
 */
#ifndef GPU_CUPTI_H
#define GPU_CUPTI_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_MAJOR_LEAST 11u
#define CUPTI_MAJOR_MOST 13u

enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_NO_MORE = 12,	  /* MAX_LIMIT_REACHED */
	CUPTI_OTHER_TOOL = 14,	  /* NOT_COMPATIBLE */
	CUPTI_NO_PRIVILEGE = 35,  /* INSUFFICIENT_PRIVILEGES */
	CUPTI_OTHER_SUBSCRIBER = 39
};

enum cupti_kind {
	CUPTI_MEMCPY = 1,
	CUPTI_MEMSET = 2,
	CUPTI_CONCURRENT_KERNEL = 10,
	CUPTI_MEMCPY2 = 22, /* between two GPUs */
	CUPTI_SYNCHRONIZATION = 38
};

enum cupti_domain {
	CUPTI_DRIVER = 1,
	CUPTI_RUNTIME = 2
};

#define CUPTI_FLUSH_FORCED 1u

/* A record begins with its kind. Packed to 8 bytes. */
struct cupti_record {
	uint32_t kind;
};

struct cupti_kernel {
	uint32_t kind;
	uint8_t settings[12];
	uint64_t start, end;
	uint64_t completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t shared_static, shared_dynamic;
	uint32_t local_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
};

struct cupti_copy {
	uint32_t kind;
	uint8_t copy_kind, from, to, flags;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t correlation;
};

/* From one GPU to another. */
struct cupti_copy2 {
	uint32_t kind;
	uint8_t copy_kind, from, to, flags;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t from_device, from_context, to_device, to_context;
	uint32_t correlation;
};

struct cupti_set {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t correlation;
};

struct cupti_wait {
	uint32_t kind;
	uint32_t type;
	uint64_t start, end;
	uint32_t correlation;
	uint32_t context, stream;
};

/* What a callback gets of a call. */
struct cupti_call {
	uint32_t site; /* 0 enter, 1 exit */
	uint32_t gap;
	const char *function;
	const void *params;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_uid;
	uint32_t gap2;
	uint64_t *data; /* the same at enter and exit */
	uint32_t correlation;
};

#define CUPTI_AT(type, field, at) \
	_Static_assert(offsetof(struct type, field) == (at), "as in CUPTI")

CUPTI_AT(cupti_kernel, start, 16);
CUPTI_AT(cupti_kernel, end, 24);
CUPTI_AT(cupti_kernel, completed, 32);
CUPTI_AT(cupti_kernel, device, 40);
CUPTI_AT(cupti_kernel, context, 44);
CUPTI_AT(cupti_kernel, stream, 48);
CUPTI_AT(cupti_kernel, grid, 52);
CUPTI_AT(cupti_kernel, correlation, 92);
CUPTI_AT(cupti_kernel, name, 104);
CUPTI_AT(cupti_copy, copy_kind, 4);
CUPTI_AT(cupti_copy, bytes, 8);
CUPTI_AT(cupti_copy, start, 16);
CUPTI_AT(cupti_copy, device, 32);
CUPTI_AT(cupti_copy, stream, 40);
CUPTI_AT(cupti_copy, correlation, 44);
CUPTI_AT(cupti_copy2, start, 16);
CUPTI_AT(cupti_copy2, stream, 40);
CUPTI_AT(cupti_copy2, correlation, 60);
CUPTI_AT(cupti_set, bytes, 8);
CUPTI_AT(cupti_set, start, 16);
CUPTI_AT(cupti_set, device, 32);
CUPTI_AT(cupti_set, correlation, 44);
CUPTI_AT(cupti_wait, type, 4);
CUPTI_AT(cupti_wait, start, 8);
CUPTI_AT(cupti_wait, end, 16);
CUPTI_AT(cupti_wait, correlation, 24);
CUPTI_AT(cupti_wait, stream, 32);
CUPTI_AT(cupti_call, function, 8);
CUPTI_AT(cupti_call, context, 40);
CUPTI_AT(cupti_call, data, 56);
CUPTI_AT(cupti_call, correlation, 64);

/* The least bytes of a record, of the oldest version. */
#define CUPTI_KERNEL_BYTES 144u

typedef void (*cupti_request_fn)(uint8_t **buffer, size_t *size,
				 size_t *records);
typedef void (*cupti_complete_fn)(void *context, uint32_t stream,
				  uint8_t *buffer, size_t size, size_t valid);
typedef void (*cupti_callback_fn)(void *arg, int domain, uint32_t function,
				  const struct cupti_call *call);

/* Functions of the library, by their names. */
#define CUPTI_CALLS(C) \
	C(ActivityRegisterCallbacks, (cupti_request_fn, cupti_complete_fn)) \
	C(ActivityEnable, (int kind)) \
	C(ActivityDisable, (int kind)) \
	C(ActivityFlushAll, (uint32_t flag)) \
	C(ActivityGetNextRecord, (uint8_t *buffer, size_t valid, \
				  struct cupti_record **record)) \
	C(ActivityGetNumDroppedRecords, (void *context, uint32_t stream, \
					 size_t *dropped)) \
	C(GetTimestamp, (uint64_t *ns)) \
	C(GetVersion, (uint32_t *version)) \
	C(GetResultString, (int result, const char **text)) \
	C(Subscribe, (void **subscriber, cupti_callback_fn, void *arg)) \
	C(Unsubscribe, (void *subscriber)) \
	C(EnableCallback, (uint32_t enable, void *subscriber, int domain, \
			   uint32_t function))

struct cupti {
	void *handle;
	uint32_t major;	 /* by its file's name */
	uint32_t driver; /* version of CUDA, 12040 is 12.4; 0: not known */
#define CUPTI_MEMBER(name, args) int (*name) args;
	CUPTI_CALLS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
};

#endif
