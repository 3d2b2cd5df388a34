/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A made-up CUDA: libcuda.so.1 with the driver's injection variable and a GPU
 * that exists in time only. Work is given a duration; it begins when it was
 * launched and its stream is free. Nothing is computed.
 *
 * The stand-in for CUPTI connects itself by `stand_in_cuda`.
 */
#ifndef CUDA_STAND_IN_H
#define CUDA_STAND_IN_H

#include <stdint.h>

#define STAND_IN_API __attribute__((visibility("default")))
#define STAND_IN_STREAMS 8u
#define LAUNCH_NS 2000 /* from a launch to the kernel's start */

enum work_kind { WORK_KERNEL, WORK_COPY, WORK_SET, WORK_WAIT };

struct work {
	enum work_kind kind;
	const char *name;
	uint32_t stream, correlation;
	uint32_t copy_kind; /* 1 to the GPU, 2 from it */
	uint64_t bytes;
	uint64_t start_ns, end_ns; /* of the GPU's clock */
};

/* What CUPTI is told. NULL: nobody listens. */
struct stand_in_cuda {
	/* site: 0 enter, 1 exit; *data is the same at both. */
	void (*call)(int domain, uint32_t function, int site,
		     uint32_t correlation, uint64_t *data);
	void (*work)(const struct work *work);
	/* The GPU's clock: CLOCK_MONOTONIC, drifting and jumping. */
	uint64_t (*now_ns)(void);
};

/* Signatures of what programs call. 0 or an error. */
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
/* cuLaunchKernel by way of the runtime (nested), or the driver's alone. */
int stand_in_launch(const char *name, uint64_t ns, uint32_t stream);
int stand_in_launch_driver(const char *name, uint64_t ns, uint32_t stream);
/* Returns when the copy is done if `waits`. kind: 1 to the GPU, 2 from it. */
int stand_in_copy(uint32_t kind, uint64_t bytes, uint64_t ns, uint32_t stream,
		  int waits);
int stand_in_set(uint64_t bytes, uint64_t ns, uint32_t stream);
int stand_in_wait(void);
/* The GPU's clock goes on from here by so much, or drifts by so many ppm. */
void stand_in_jump(int64_t ns);
void stand_in_drift(double ppm);

#endif
