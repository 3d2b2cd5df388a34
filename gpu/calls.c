/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that give a GPU work or wait for it: time, thread, stack and scope.
 * CUPTI calls back at their beginning and at their end, with the number that
 * their activities have, too.
 *
 * The runtime's calls call the driver's. Both are followed, because programs
 * use either; of a nested call only the number is kept, as another name for
 * the outer one.
 */
#include "gpu.h"

#include <string.h>

#define FUNCTIONS 1024u
#define KNOWN 65536u /* numbers, in the order of calls */

struct function {
	uint16_t id;
	uint8_t kind;
};

/* Numbers of functions are never given to others. */
static const struct function driver_functions[] = {
	{ 17, TR_GPU_CALL_WAIT },    /* cuCtxSynchronize */
	{ 121, TR_GPU_CALL_WAIT },   /* cuEventSynchronize */
	{ 126, TR_GPU_CALL_WAIT },   /* cuStreamSynchronize */
	{ 440, TR_GPU_CALL_WAIT },   /* cuStreamSynchronize_ptsz */
	{ 216, TR_GPU_CALL_SET },    /* cuMemsetD8Async */
	{ 220, TR_GPU_CALL_SET },    /* cuMemsetD32Async */
	{ 276, TR_GPU_CALL_COPY },   /* cuMemcpyHtoD_v2 */
	{ 277, TR_GPU_CALL_COPY },   /* cuMemcpyHtoDAsync_v2 */
	{ 278, TR_GPU_CALL_COPY },   /* cuMemcpyDtoH_v2 */
	{ 279, TR_GPU_CALL_COPY },   /* cuMemcpyDtoHAsync_v2 */
	{ 281, TR_GPU_CALL_COPY },   /* cuMemcpyDtoDAsync_v2 */
	{ 306, TR_GPU_CALL_COPY },   /* cuMemcpyAsync */
	{ 307, TR_GPU_CALL_LAUNCH }, /* cuLaunchKernel */
	{ 442, TR_GPU_CALL_LAUNCH }, /* cuLaunchKernel_ptsz */
	{ 477, TR_GPU_CALL_LAUNCH }, /* cuLaunchCooperativeKernel */
	{ 478, TR_GPU_CALL_LAUNCH }, /* cuLaunchCooperativeKernel_ptsz */
	{ 514, TR_GPU_CALL_GRAPH },  /* cuGraphLaunch */
	{ 515, TR_GPU_CALL_GRAPH },  /* cuGraphLaunch_ptsz */
	{ 652, TR_GPU_CALL_LAUNCH }, /* cuLaunchKernelEx */
	{ 653, TR_GPU_CALL_LAUNCH }, /* cuLaunchKernelEx_ptsz */
};

static const struct function runtime_functions[] = {
	{ 31, TR_GPU_CALL_COPY },    /* cudaMemcpy */
	{ 41, TR_GPU_CALL_COPY },    /* cudaMemcpyAsync */
	{ 215, TR_GPU_CALL_COPY },   /* cudaMemcpy_ptds */
	{ 225, TR_GPU_CALL_COPY },   /* cudaMemcpyAsync_ptsz */
	{ 49, TR_GPU_CALL_SET },     /* cudaMemset */
	{ 51, TR_GPU_CALL_SET },     /* cudaMemsetAsync */
	{ 235, TR_GPU_CALL_SET },    /* cudaMemsetAsync_ptsz */
	{ 131, TR_GPU_CALL_WAIT },   /* cudaStreamSynchronize */
	{ 239, TR_GPU_CALL_WAIT },   /* cudaStreamSynchronize_ptsz */
	{ 137, TR_GPU_CALL_WAIT },   /* cudaEventSynchronize */
	{ 165, TR_GPU_CALL_WAIT },   /* cudaDeviceSynchronize */
	{ 211, TR_GPU_CALL_LAUNCH }, /* cudaLaunchKernel */
	{ 214, TR_GPU_CALL_LAUNCH }, /* cudaLaunchKernel_ptsz */
	{ 269, TR_GPU_CALL_LAUNCH }, /* cudaLaunchCooperativeKernel */
	{ 270, TR_GPU_CALL_LAUNCH }, /* cudaLaunchCooperativeKernel_ptsz */
	{ 311, TR_GPU_CALL_GRAPH },  /* cudaGraphLaunch */
	{ 312, TR_GPU_CALL_GRAPH },  /* cudaGraphLaunch_ptsz */
	{ 430, TR_GPU_CALL_LAUNCH }, /* cudaLaunchKernelExC */
	{ 431, TR_GPU_CALL_LAUNCH }, /* cudaLaunchKernelExC_ptsz */
};

static uint8_t kinds[3][FUNCTIONS]; /* by domain */
static void *subscriber;
static uint64_t started; /* calls that give the GPU work */
/* Number in the upper half, the lower bits of the ticket in the other. */
static uint64_t known[KNOWN];
static __thread uint32_t depth;
static __thread uint64_t outer;

uint64_t gpu_calls_started(void)
{
	return GPU_LOAD(started);
}

uint64_t gpu_calls_find(uint32_t correlation)
{
	uint64_t word = GPU_ACQUIRE(known[correlation % KNOWN]);
	const struct tr_gpu_region *state = gpu_store_state();
	uint64_t head, ticket;

	if (!state || word >> 32 != correlation || !(uint32_t)word)
		return 0;
	/* The newest ticket that ends in these bits. */
	head = GPU_LOAD(state->call_head);
	ticket = (head & ~UINT64_C(0xffffffff)) | (uint32_t)word;
	return ticket > head ? ticket - (UINT64_C(1) << 32) : ticket;
}

static void know(uint32_t correlation, uint64_t ticket)
{
	GPU_PUBLISH(known[correlation % KNOWN],
		    (uint64_t)correlation << 32 | (uint32_t)ticket);
}

static void enter(uint32_t domain, uint32_t function, uint32_t kind,
		  const struct cupti_call *call)
{
	struct tr_kernels_where where;
	struct tr_gpu_call *place;
	uint64_t ticket, start;

	if (depth++) {
		if (outer)
			know(call->correlation, outer);
		return;
	}
	outer = 0;
	start = gpu_host->ticks();
	if (kind != TR_GPU_CALL_WAIT)
		(void)GPU_ADD(started, 1);
	gpu_host->where(&where);
	place = gpu_store_call(&ticket);
	if (!place)
		return;
	GPU_STORE(place->ticket, 0);
	GPU_PUBLISH(place->start, start);
	GPU_PUBLISH(place->end, 0);
	GPU_PUBLISH(place->thread, where.thread);
	GPU_PUBLISH(place->stack, where.stack);
	GPU_PUBLISH(place->node, where.node);
	GPU_PUBLISH(place->correlation, call->correlation);
	GPU_PUBLISH(place->kind, (uint16_t)kind);
	GPU_PUBLISH(place->domain, (uint16_t)domain);
	GPU_PUBLISH(place->function, function);
	GPU_PUBLISH(place->ticket, ticket);
	know(call->correlation, ticket);
	outer = ticket;
}

static void leave(void)
{
	struct tr_gpu_call *place;

	/* A call that had begun when the recording did. */
	if (!depth || --depth)
		return;
	place = outer ? gpu_store_call_at(outer) : NULL;
	if (place)
		GPU_PUBLISH(place->end, gpu_host->ticks());
	outer = 0;
}

static void call_back(void *arg, int domain, uint32_t function,
		      const struct cupti_call *call)
{
	uint32_t kind;

	(void)arg;
	if (domain < CUPTI_DRIVER || domain > CUPTI_RUNTIME ||
	    function >= FUNCTIONS)
		return;
	kind = kinds[domain][function];
	if (!kind)
		return;
	if (call->site == 0)
		enter((uint32_t)domain, function, kind, call);
	else
		leave();
}

static void enable(int domain, const struct function *at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		kinds[domain][at[i].id] = at[i].kind;
		/* An older library does not know the newest: no matter. */
		(void)gpu_cupti.EnableCallback(1, subscriber, domain,
					       at[i].id);
	}
}

int gpu_calls_begin(void)
{
	int err;

	if (subscriber)
		return CUPTI_OK;
	err = gpu_cupti.Subscribe(&subscriber, call_back, NULL);
	if (err) {
		subscriber = NULL;
		return err;
	}
#define ALL(of) of, sizeof(of) / sizeof(of[0])
	enable(CUPTI_DRIVER, ALL(driver_functions));
	enable(CUPTI_RUNTIME, ALL(runtime_functions));
#undef ALL
	return CUPTI_OK;
}

void gpu_calls_end(void)
{
	if (!subscriber)
		return;
	(void)gpu_cupti.Unsubscribe(subscriber);
	subscriber = NULL;
}
