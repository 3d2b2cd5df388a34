/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers of records. CUPTI asks for them and returns them full, from threads
 * of its own or of the program. Their number is bounded: beyond it CUPTI drops
 * records and counts them.
 *
 * Another profiler of the process may register its own functions: then it
 * gets our buffers, and we get none back, or one that is not ours, which must
 * not be touched.
 */
#include "gpu.h"

#include <sys/mman.h>

#define BUFFER_BYTES (1u << 20)
#define BUFFERS 32u

static struct {
	uint8_t *at;
	uint32_t is_out; /* CUPTI has it */
} buffers[BUFFERS];

static uint64_t n_out, n_back;

static void request(uint8_t **buffer, size_t *size, size_t *records)
{
	struct tr_gpu_region *state = gpu_store_state();

	*buffer = NULL;
	*size = 0;
	*records = 0;
	for (unsigned i = 0; i < BUFFERS; i++) {
		void *memory;

		if (__atomic_exchange_n(&buffers[i].is_out, 1,
					__ATOMIC_ACQUIRE))
			continue;
		if (!buffers[i].at) {
			memory = mmap(NULL, BUFFER_BYTES,
				      PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (memory == MAP_FAILED) {
				GPU_PUBLISH(buffers[i].is_out, 0);
				break;
			}
			buffers[i].at = memory;
		}
		(void)GPU_ADD(n_out, 1);
		*buffer = buffers[i].at;
		*size = BUFFER_BYTES;
		return;
	}
	if (state)
		(void)GPU_ADD(state->refused, 1);
}

static bool take_kernel(const struct cupti_record *record,
			struct gpu_activity *a)
{
	const struct cupti_kernel *k = (const void *)record;

	*a = (struct gpu_activity){
		.kind = TR_GPU_KERNEL,
		.device = k->device,
		.context = k->context,
		.stream = k->stream,
		.correlation = k->correlation,
		.start_ns = k->start,
		.end_ns = k->end,
		.name = k->name,
	};
	return true;
}

static bool take_copy(const struct cupti_record *record,
		      struct gpu_activity *a)
{
	const struct cupti_copy *c = (const void *)record;
	const struct cupti_copy2 *two = (const void *)record;

	*a = (struct gpu_activity){
		.kind = TR_GPU_COPY,
		.detail = c->copy_kind,
		.device = c->device,
		.context = c->context,
		.stream = c->stream,
		.correlation = record->kind == CUPTI_MEMCPY2 ?
				       two->correlation :
				       c->correlation,
		.start_ns = c->start,
		.end_ns = c->end,
		.bytes = c->bytes,
	};
	return true;
}

static bool take_set(const struct cupti_record *record,
		     struct gpu_activity *a)
{
	const struct cupti_set *s = (const void *)record;

	*a = (struct gpu_activity){
		.kind = TR_GPU_SET,
		.device = s->device,
		.context = s->context,
		.stream = s->stream,
		.correlation = s->correlation,
		.start_ns = s->start,
		.end_ns = s->end,
		.bytes = s->bytes,
	};
	return true;
}

static void take_wait(const struct cupti_record *record,
		      struct tr_gpu_region *state)
{
	const struct cupti_wait *w = (const void *)record;

	if (w->end > w->start)
		GPU_STORE(state->synchronised,
			  state->synchronised + (w->end - w->start));
}

static void take(const struct cupti_record *record, struct tr_gpu_region *state)
{
	struct gpu_activity a;
	bool is_activity = false;

	switch (record->kind) {
	case CUPTI_CONCURRENT_KERNEL:
		is_activity = take_kernel(record, &a);
		break;
	case CUPTI_MEMCPY:
	case CUPTI_MEMCPY2:
		is_activity = take_copy(record, &a);
		break;
	case CUPTI_MEMSET:
		is_activity = take_set(record, &a);
		break;
	case CUPTI_SYNCHRONIZATION:
		take_wait(record, state);
		return;
	default:
		break;
	}
	/* 0: CUPTI could not measure it, as of a kernel that did not end. */
	if (is_activity && a.start_ns && a.end_ns >= a.start_ns)
		gpu_store_add(&a);
	else
		GPU_STORE(state->unknown, state->unknown + 1);
}

static void take_all(void *context, uint32_t stream, uint8_t *buffer,
		     size_t valid)
{
	struct tr_gpu_region *state;
	struct cupti_record *record = NULL;
	size_t dropped = 0;

	gpu_store_lock();
	state = gpu_store_open() ? gpu_store_state() : NULL;
	while (state && valid &&
	       gpu_cupti.ActivityGetNextRecord(buffer, valid, &record) ==
		       CUPTI_OK)
		take(record, state);
	if (state &&
	    gpu_cupti.ActivityGetNumDroppedRecords(context, stream,
						   &dropped) == CUPTI_OK)
		GPU_STORE(state->dropped, state->dropped + dropped);
	gpu_store_unlock();
}

static void complete(void *context, uint32_t stream, uint8_t *buffer,
		     size_t size, size_t valid)
{
	struct tr_gpu_region *state = gpu_store_state();

	for (unsigned i = 0; i < BUFFERS; i++) {
		if (buffers[i].at != buffer || !GPU_LOAD(buffers[i].is_out))
			continue;
		if (valid <= size && valid <= BUFFER_BYTES)
			take_all(context, stream, buffer, valid);
		(void)GPU_ADD(n_back, 1);
		GPU_PUBLISH(buffers[i].is_out, 0);
		return;
	}
	if (state)
		(void)GPU_ADD(state->foreign, 1);
}

int gpu_buffers_begin(void)
{
	static const int wanted[] = { CUPTI_CONCURRENT_KERNEL, CUPTI_MEMCPY,
				      CUPTI_MEMCPY2, CUPTI_MEMSET,
				      CUPTI_SYNCHRONIZATION };
	int err = gpu_cupti.ActivityRegisterCallbacks(request, complete);

	for (unsigned i = 0; i < 5 && !err; i++) {
		err = gpu_cupti.ActivityEnable(wanted[i]);
		/* Only kernels must be; an old GPU may lack the others. */
		if (i && err)
			err = CUPTI_OK;
	}
	GPU_STORE(n_out, 0);
	GPU_STORE(n_back, 0);
	return err;
}

void gpu_buffers_flush(bool is_forced)
{
	(void)gpu_cupti.ActivityFlushAll(is_forced ? CUPTI_FLUSH_FORCED : 0);
}

void gpu_buffers_end(void)
{
	static const int wanted[] = { CUPTI_CONCURRENT_KERNEL, CUPTI_MEMCPY,
				      CUPTI_MEMCPY2, CUPTI_MEMSET,
				      CUPTI_SYNCHRONIZATION };

	for (unsigned i = 0; i < 5; i++)
		(void)gpu_cupti.ActivityDisable(wanted[i]);
}

bool gpu_buffers_are_out(void)
{
	return GPU_LOAD(n_out) && !GPU_LOAD(n_back);
}
