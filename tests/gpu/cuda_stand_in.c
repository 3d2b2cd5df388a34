/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_stand_in.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DRIVER 1
#define RUNTIME 2
#define FROM_START INT64_C(1500000000000000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t free_at[STAND_IN_STREAMS];
static uint32_t correlations;
static int64_t jumped;
static double drift;
static uint64_t drift_from;

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t gpu_now(void)
{
	uint64_t now = monotonic_ns();

	return now + (uint64_t)(FROM_START + __atomic_load_n(
						     &jumped,
						     __ATOMIC_RELAXED)) +
	       (uint64_t)(int64_t)((double)(now - drift_from) * drift);
}

STAND_IN_API struct stand_in_cuda stand_in_cuda = { .now_ns = gpu_now };

STAND_IN_API void stand_in_jump(int64_t ns)
{
	(void)__atomic_fetch_add(&jumped, ns, __ATOMIC_RELAXED);
}

STAND_IN_API void stand_in_drift(double ppm)
{
	drift_from = monotonic_ns();
	drift = ppm / 1e6;
}

/* As the driver does: the library, then its function. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	union {
		void *object;
		int (*call)(void);
	} found;
	void *library = path && path[0] ? dlopen(path, RTLD_NOW) : NULL;

	if (path && path[0] && !library)
		(void)fprintf(stderr, "stand-in: %s\n", dlerror());
	found.object = library ? dlsym(library, "InitializeInjection") : NULL;
	if (found.object && found.call() != 1)
		(void)fprintf(stderr, "stand-in: injection failed\n");
}

STAND_IN_API int cuInit(unsigned flags)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)flags;
	(void)pthread_once(&once, inject);
	return 0;
}

STAND_IN_API int cuDriverGetVersion(int *version)
{
	const char *text = getenv("STAND_IN_CUDA_VERSION");

	*version = text ? atoi(text) : 13000;
	return 0;
}

struct call {
	int domain;
	uint32_t function, correlation;
	uint64_t data;
};

static void enter(struct call *call, int domain, uint32_t function)
{
	call->domain = domain;
	call->function = function;
	call->correlation = __atomic_add_fetch(&correlations, 1,
					       __ATOMIC_RELAXED);
	call->data = 0;
	if (stand_in_cuda.call)
		stand_in_cuda.call(domain, function, 0, call->correlation,
				   &call->data);
}

static void leave(struct call *call)
{
	if (stand_in_cuda.call)
		stand_in_cuda.call(call->domain, call->function, 1,
				   call->correlation, &call->data);
}

/* Returns its end. */
static uint64_t enqueue(struct work *work, uint64_t ns)
{
	uint32_t stream = work->stream % STAND_IN_STREAMS;
	uint64_t start;

	(void)pthread_mutex_lock(&lock);
	start = gpu_now() + LAUNCH_NS;
	if (start < free_at[stream] &&
	    free_at[stream] - start < UINT64_C(100000000000))
		start = free_at[stream];
	work->start_ns = start;
	work->end_ns = free_at[stream] = start + ns;
	if (stand_in_cuda.work)
		stand_in_cuda.work(work);
	(void)pthread_mutex_unlock(&lock);
	return work->end_ns;
}

static void sleep_until(uint64_t gpu_ns)
{
	uint64_t now;

	while ((now = gpu_now()) < gpu_ns) {
		uint64_t left = gpu_ns - now;
		struct timespec wait = { .tv_sec = (time_t)(left /
							    1000000000u),
					 .tv_nsec = (long)(left %
							   1000000000u) };

		(void)nanosleep(&wait, NULL);
	}
}

STAND_IN_API int stand_in_launch_driver(const char *name, uint64_t ns,
					uint32_t stream)
{
	struct work work = { .kind = WORK_KERNEL, .name = name,
			     .stream = stream };
	struct call call;

	enter(&call, DRIVER, 307);
	work.correlation = call.correlation;
	(void)enqueue(&work, ns);
	leave(&call);
	return 0;
}

STAND_IN_API int stand_in_launch(const char *name, uint64_t ns,
				 uint32_t stream)
{
	struct call call;
	int err;

	enter(&call, RUNTIME, 211);
	err = stand_in_launch_driver(name, ns, stream);
	leave(&call);
	return err;
}

STAND_IN_API int stand_in_copy(uint32_t kind, uint64_t bytes, uint64_t ns,
			       uint32_t stream, int waits)
{
	struct work work = { .kind = WORK_COPY, .stream = stream,
			     .copy_kind = kind, .bytes = bytes };
	struct call call;
	uint64_t end;

	enter(&call, RUNTIME, waits ? 31 : 41);
	work.correlation = call.correlation;
	end = enqueue(&work, ns);
	if (waits)
		sleep_until(end);
	leave(&call);
	return 0;
}

STAND_IN_API int stand_in_set(uint64_t bytes, uint64_t ns, uint32_t stream)
{
	struct work work = { .kind = WORK_SET, .stream = stream,
			     .bytes = bytes };
	struct call call;

	enter(&call, RUNTIME, 51);
	work.correlation = call.correlation;
	(void)enqueue(&work, ns);
	leave(&call);
	return 0;
}

STAND_IN_API int stand_in_wait(void)
{
	struct work work = { .kind = WORK_WAIT };
	uint64_t end = 0;
	struct call call;

	enter(&call, RUNTIME, 165);
	work.correlation = call.correlation;
	work.start_ns = gpu_now();
	(void)pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < STAND_IN_STREAMS; i++)
		end = free_at[i] > end ? free_at[i] : end;
	(void)pthread_mutex_unlock(&lock);
	sleep_until(end);
	work.end_ns = gpu_now();
	if (stand_in_cuda.work)
		stand_in_cuda.work(&work);
	leave(&call);
	return 0;
}
