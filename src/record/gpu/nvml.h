/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML: the few calls of libnvidia-ml that are used, with our own
 * declarations: the library is loaded at run time, and few machines have its
 * header.
 */
#ifndef TR_RECORD_GPU_NVML_H
#define TR_RECORD_GPU_NVML_H

#include <tare/api.h>

/* The results that are handled separately. */
enum tr_nvml_result {
	TR_NVML_OK = 0,
	TR_NVML_UNINITIALIZED = 1,
	TR_NVML_NOT_SUPPORTED = 3,
	TR_NVML_NO_PERMISSION = 4,
	TR_NVML_DRIVER_NOT_LOADED = 9,
	TR_NVML_FUNCTION_NOT_FOUND = 13,
	TR_NVML_GPU_IS_LOST = 15,
	TR_NVML_RESET_REQUIRED = 16,
	TR_NVML_VERSION_MISMATCH = 18
};

#define TR_NVML_TEMPERATURE_GPU 0
#define TR_NVML_THRESHOLD_SLOWDOWN 1
#define TR_NVML_CLOCK_SM 1
#define TR_NVML_CLOCK_MEMORY 2

/* Reasons for clocks below the maximum, one bit each. */
#define TR_NVML_REASON_IDLE 0x1u
#define TR_NVML_REASON_POWER_CAP 0x4u
#define TR_NVML_REASON_HARDWARE 0x8u
#define TR_NVML_REASON_HEAT 0x20u
#define TR_NVML_REASON_HARDWARE_HEAT 0x40u
#define TR_NVML_REASON_POWER_BRAKE 0x80u

struct tr_nvml_utilization {
	unsigned gpu, memory; /* percent */
};

struct tr_nvml_memory {
	unsigned long long total, free, used; /* used: includes reserved */
};

/* The call expects size and version in the first field. */
struct tr_nvml_memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};
#define TR_NVML_MEMORY_V2 \
	((unsigned)sizeof(struct tr_nvml_memory_v2) | 2u << 24)

struct tr_nvml_process_v1 {
	unsigned pid;
	unsigned long long used;
};

struct tr_nvml_process {
	unsigned pid;
	unsigned long long used;
	unsigned instance, compute;
};

/* The library's calls; NULL if it lacks one. */
struct tr_nvml {
	void *handle;
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned *n);
	int (*device)(unsigned index, void **device);
	int (*name)(void *device, char *name, unsigned size);
	int (*uuid)(void *device, char *uuid, unsigned size);
	int (*utilization)(void *device, struct tr_nvml_utilization *now);
	int (*memory)(void *device, struct tr_nvml_memory *now);
	int (*memory_v2)(void *device, struct tr_nvml_memory_v2 *now);
	int (*temperature)(void *device, unsigned sensor, unsigned *degrees);
	int (*threshold)(void *device, unsigned which, unsigned *degrees);
	int (*power)(void *device, unsigned *mw);
	int (*power_limit)(void *device, unsigned *mw);
	int (*energy)(void *device, unsigned long long *mj);
	int (*clock)(void *device, unsigned which, unsigned *mhz);
	int (*reasons)(void *device, unsigned long long *reasons);
	int (*processes)(void *device, unsigned *n,
			 struct tr_nvml_process *process);
	int (*processes_v1)(void *device, unsigned *n,
			    struct tr_nvml_process_v1 *process);
	const char *(*error_text)(int result);
};

/*
 * Loads the library. False: it is missing, or lacks a required call; the
 * reason is then reported.
 */
bool tr_nvml_load(struct tr_nvml *nvml);
void tr_nvml_unload(struct tr_nvml *nvml);
/* Reads the environment, in the calling thread. */
void tr_nvml_choose(void);

#endif
