/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder of GPU activities. The CUDA driver loads this library into a
 * program that starts CUDA, by its variable CUDA_INJECTION64_PATH, and calls
 * InitializeInjection(). Activities come from CUPTI and go to the ledger.
 *
 *	inject.c    start, stop, scheduled steps, the recorder's thread
 *	find.c	    the library that fits the driver
 *	clock.c	    CUPTI's clock and that of the ledger
 *	calls.c	    calls of the program that start work: their stacks
 *	buffers.c   buffers of records
 *	store.c	    the ledger's region
 */
#ifndef GPU_H
#define GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti.h"
#include "ledger/layout/gpu.h"
#include "record/kernels.h"

#define GPU_LOAD(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define GPU_STORE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define GPU_PUBLISH(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)
#define GPU_ACQUIRE(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define GPU_ADD(x, n) __atomic_fetch_add(&(x), (n), __ATOMIC_RELAXED)

extern const struct tr_kernels_host *gpu_host;
extern struct cupti gpu_cupti;

/* ---- find.c ------------------------------------------------------------ */

/* Fills gpu_cupti. TR_GPU_NO_REASON, or why not, with what was tried. */
enum tr_gpu_reason gpu_cupti_find(char *text, size_t size);

/* ---- store.c ----------------------------------------------------------- */

struct gpu_activity {
	enum tr_gpu_kind kind;
	uint32_t detail;
	uint32_t device, context, stream, correlation;
	uint64_t start_ns, end_ns;
	uint64_t bytes;
	const char *name; /* of a kernel; may be NULL */
};

/* Opens it, or finds a new ledger in its place. False: there is no room. */
bool gpu_store_open(void);
/* NULL: not open. */
struct tr_gpu_region *gpu_store_state(void);
/* With the lock of the store held, or by the only thread. */
void gpu_store_lock(void);
void gpu_store_unlock(void);
void gpu_store_add(const struct gpu_activity *activity);
void gpu_store_anchor(const struct tr_gpu_anchor *anchor);
/* Place of the next call; NULL: not open. Any thread. */
struct tr_gpu_call *gpu_store_call(uint64_t *ret_ticket);
/* Place of a call that is still in the ring; NULL: it is not. */
struct tr_gpu_call *gpu_store_call_at(uint64_t ticket);

/* ---- calls.c ----------------------------------------------------------- */

/* 0 or CUPTI's error. */
int gpu_calls_begin(void);
void gpu_calls_end(void);
/* Ticket of the call with this correlation; 0: not known. */
uint64_t gpu_calls_find(uint32_t correlation);
/* Calls that gave the GPU work, of any ledger. */
uint64_t gpu_calls_started(void);

/* ---- buffers.c --------------------------------------------------------- */

int gpu_buffers_begin(void);
/* Lets CUPTI return what is complete; forced: everything. */
void gpu_buffers_flush(bool is_forced);
void gpu_buffers_end(void);
/* Were some given, of which none came back? After a flush. */
bool gpu_buffers_are_out(void);

/* ---- clock.c ----------------------------------------------------------- */

/* Writes an anchor; flags: enum tr_gpu_anchor_flags. */
void gpu_clock_anchor(uint32_t flags);

#endif
