/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU: load, memory, temperature, power and energy of every GPU.
 *
 * NVIDIA GPUs are read through libnvidia-ml (loaded at the first use), AMD GPUs
 * through sysfs. A missing GPU or driver is not an error: tare_gpu_count() is
 * 0, and tare_gpu_reason() says why. A quantity that a board does not report is
 * NAN or TARE_UNKNOWN.
 *
 * Readings are cached: one that is younger than gpu_monitor_interval is
 * returned with its age. A driver that hangs is detected, and the caller waits
 * for a moment at most. Any thread; not for signal handlers.
 */
#ifndef TARE_GPU_H
#define TARE_GPU_H

#include <tare/api.h>
#include <tare/error.h>

TARE_BEGIN

/* An integer that is not known; the same as in <tare/system.h>. */
#ifndef TARE_UNKNOWN
#define TARE_UNKNOWN UINT64_MAX
#endif

typedef struct tare_gpu {
	uint32_t struct_size;	/* sizeof(tare_gpu), set by the caller */
	uint32_t index;
	char name[96];
	char uuid[80];
	char backend[16];	/* "nvml", "amdgpu" */
	int64_t at_ns;		/* time of the reading, ns since 1970 */
	int64_t age_ns;		/* age of the reading */
	double load_percent;
	double memory_load_percent; /* of the memory bandwidth */
	uint64_t memory_total, memory_used;
	double memory_percent;
	uint64_t memory_own;	/* of this process; may be up to 10 s old if the
				 * driver is slow */
	double temperature;	/* degrees Celsius */
	double slowdown_at;	/* the board's own threshold */
	double power_w, power_limit_w;
	double energy_j;	/* since the first reading; never falls: the
				 * board's counter, with power x time between
				 * its readings */
	double clock_mhz, memory_clock_mhz;
	uint64_t throttle;	/* enum tare_gpu_throttle, or TARE_UNKNOWN */
	bool is_hot;		/* at slowdown_at, or throttled by heat */
	bool is_gone;		/* it has stopped answering: only names, totals
				 * and energy_j are valid */
	int64_t took_ns;	/* time in the driver for this reading, without
				 * quantities that are read every 10 s only */
} tare_gpu;

enum tare_gpu_throttle {
	TARE_GPU_THROTTLE_IDLE = 1 << 0,
	TARE_GPU_THROTTLE_POWER = 1 << 1,
	TARE_GPU_THROTTLE_HEAT = 1 << 2,
	TARE_GPU_THROTTLE_HARDWARE = 1 << 3,
	TARE_GPU_THROTTLE_OTHER = 1 << 4
};

/*
 * Number of GPUs. 0 if there is none, none can be read, or the driver has not
 * answered yet: tare_gpu_reason() says which.
 */
TARE_API size_t tare_gpu_count(void);
/* Why there is no GPU, or what is missing; "" if all is well. Static text. */
TARE_API const char *tare_gpu_reason(void);
/*
 * Returns 0, TARE_EINVAL for no such index, TARE_EIO if the GPU has never been
 * read. A GPU that no longer answers is no error: is_gone is set.
 */
TARE_API TARE_MUST_CHECK int tare_gpu_read(size_t index, tare_gpu *ret_now);

TARE_END
#endif
