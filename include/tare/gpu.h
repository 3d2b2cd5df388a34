/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU: load, memory, temperature, power and energy of every GPU.
 *
 * NVIDIA by libnvidia-ml (loaded at the first use), AMD by sysfs. No GPU or
 * no driver is an answer, never a failure: tare_gpu_count() is 0, and
 * tare_gpu_reason() says why. What a board does not tell is NAN or
 * TARE_UNKNOWN.
 *
 * Readings are cached: one younger than gpu_monitor_interval is answered
 * with its age. A driver that hangs is noticed; the caller never waits for
 * longer than a moment. Any thread; not for signal handlers.
 */
#ifndef TARE_GPU_H
#define TARE_GPU_H

#include <tare/api.h>
#include <tare/error.h>

TARE_BEGIN

/* A whole number that is not known; the same as in <tare/system.h>. */
#ifndef TARE_UNKNOWN
#define TARE_UNKNOWN UINT64_MAX
#endif

typedef struct tare_gpu {
	uint32_t struct_size;	/* sizeof(tare_gpu), set by the caller */
	uint32_t index;
	char name[96];
	char uuid[80];
	char backend[16];	/* "nvml", "amdgpu" */
	int64_t at_ns;		/* when it was read, ns since 1970 */
	int64_t age_ns;		/* how long ago that is */
	double load_percent;
	double memory_load_percent; /* of the memory's bandwidth */
	uint64_t memory_total, memory_used;
	double memory_percent;
	uint64_t memory_own;	/* of this process; up to 10 s old where the
				 * driver takes long to tell */
	double temperature;	/* degrees Celsius */
	double slowdown_at;	/* the board's own threshold */
	double power_w, power_limit_w;
	double energy_j;	/* since the first reading; never falls: the
				 * board's counter, read now and then, and
				 * power over time in between */
	double clock_mhz, memory_clock_mhz;
	uint64_t throttle;	/* enum tare_gpu_throttle, or TARE_UNKNOWN */
	bool is_hot;		/* at slowdown_at, or throttled for heat */
	bool is_gone;		/* it answered before and does not now: only
				 * names, totals and energy_j are left */
	int64_t took_ns;	/* of its driver for this reading, without
				 * what is read every 10 s only */
} tare_gpu;

enum tare_gpu_throttle {
	TARE_GPU_THROTTLE_IDLE = 1 << 0,
	TARE_GPU_THROTTLE_POWER = 1 << 1,
	TARE_GPU_THROTTLE_HEAT = 1 << 2,
	TARE_GPU_THROTTLE_HARDWARE = 1 << 3,
	TARE_GPU_THROTTLE_OTHER = 1 << 4
};

/*
 * How many there are; 0 with none, none that can be read, or a driver that
 * has not answered yet: tare_gpu_reason() tells these apart.
 */
TARE_API size_t tare_gpu_count(void);
/* Why there is none, or what is missing; "" if all is well. Static text. */
TARE_API const char *tare_gpu_reason(void);
/*
 * 0, TARE_EINVAL for no such index, TARE_EIO if it was never read so far. One
 * that is gone is no error: is_gone says so.
 */
TARE_API TARE_MUST_CHECK int tare_gpu_read(size_t index, tare_gpu *ret_now);

TARE_END
#endif
