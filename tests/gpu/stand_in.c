/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stand-in itself; see stand_in.h. STAND_IN_OLD leaves out what old
 * drivers lack, STAND_IN_BARE what no driver lacks.
 */
#include "stand_in.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY_CALL __attribute__((visibility("default")))
#define PROCESSES 3u

struct stand_in stand_in LIBRARY_CALL = { .n_boards = 1 };

struct utilization {
	unsigned gpu, memory;
};
struct memory {
	unsigned long long total, free, used;
};
struct memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};
struct process_v1 {
	unsigned pid;
	unsigned long long used;
};
struct process {
	unsigned pid;
	unsigned long long used;
	unsigned instance, compute;
};

/* ---- what it says ------------------------------------------------------ */

static void fill_board(struct stand_in_board *b, unsigned i)
{
	(void)snprintf(b->name, sizeof(b->name), "Stand-in %u", i);
	(void)snprintf(b->uuid, sizeof(b->uuid), "GPU-%08u", i);
	b->load = 10 + i;
	b->memory_load = 20 + i;
	b->total = (uint64_t)(16 + i) << 30;
	b->reserved = 64 << 20;
	b->used = (uint64_t)(1 + i) << 30;
	b->temperature = 40 + i;
	b->slowdown = 90;
	b->power_mw = 100000 + i * 1000;
	b->limit_mw = 300000;
	b->energy_mj = 5000000 + i;
	b->clock = 1500 + i;
	b->memory_clock = 2600 + i;
	b->own = (uint64_t)(256 + i) << 20;
}

static int word(const char *words, const char *name, int otherwise)
{
	const char *at = words ? strstr(words, name) : NULL;

	return at ? atoi(at + strlen(name)) : otherwise;
}

__attribute__((constructor)) static void at_load(void)
{
	const char *words = getenv("STAND_IN");

	for (unsigned i = 0; i < STAND_IN_BOARDS; i++) {
		fill_board(&stand_in.board[i], i);
		if (word(words, "hot=", 0))
			stand_in.board[i].temperature = 95;
	}
	stand_in.n_boards = (unsigned)word(words, "gpus=", 1);
	stand_in.result[CALL_INIT] = word(words, "init=", 0);
	stand_in.hangs[CALL_POWER] = (uint32_t)word(words, "hang=", 0);
}

static int called(enum stand_in_call call)
{
	struct timespec slow = { stand_in.slow_ns / 1000000000,
				 (long)(stand_in.slow_ns % 1000000000) };
	struct timespec moment = { 0, 1000000 };

	(void)__atomic_fetch_add(&stand_in.n_calls[call], 1, __ATOMIC_RELEASE);
	if (stand_in.slow_ns)
		(void)nanosleep(&slow, NULL);
	while (__atomic_load_n(&stand_in.hangs[call], __ATOMIC_ACQUIRE))
		(void)nanosleep(&moment, NULL);
	return stand_in.result[call];
}

/* A call of a board: 0 and the board, or the result. */
static int asked(enum stand_in_call call, void *device,
		 struct stand_in_board **ret_board)
{
	int result = called(call);

	*ret_board = device;
	return (*ret_board)->is_lost ? (*ret_board)->is_lost : result;
}

#define ASK(call) \
	struct stand_in_board *b; \
	int result = asked(call, device, &b); \
	if (result) \
		return result

/* ---- the calls --------------------------------------------------------- */

#define NVML(name, ...) \
	LIBRARY_CALL int nvml##name(__VA_ARGS__); \
	int nvml##name(__VA_ARGS__)

#ifndef STAND_IN_BARE
NVML(Init_v2, void)
{
	return called(CALL_INIT);
}
#endif

NVML(Shutdown, void)
{
	(void)__atomic_fetch_add(&stand_in.n_shutdowns, 1, __ATOMIC_RELEASE);
	return 0;
}

NVML(DeviceGetCount_v2, unsigned *n)
{
	int result = called(CALL_COUNT);

	*n = stand_in.n_boards;
	return result;
}

NVML(DeviceGetHandleByIndex_v2, unsigned index, void **device)
{
	int result = called(CALL_DEVICE);

	if (index >= stand_in.n_boards || index >= STAND_IN_BOARDS)
		return 2;
	*device = &stand_in.board[index];
	return result;
}

NVML(DeviceGetName, void *device, char *name, unsigned size)
{
	ASK(CALL_NAME);
	(void)snprintf(name, size, "%s", b->name);
	return 0;
}

NVML(DeviceGetUUID, void *device, char *uuid, unsigned size)
{
	ASK(CALL_UUID);
	(void)snprintf(uuid, size, "%s", b->uuid);
	return 0;
}

NVML(DeviceGetUtilizationRates, void *device, struct utilization *now)
{
	ASK(CALL_LOAD);
	*now = (struct utilization){ b->load, b->memory_load };
	return 0;
}

NVML(DeviceGetMemoryInfo, void *device, struct memory *now)
{
	ASK(CALL_MEMORY);
	now->total = b->total;
	now->used = b->used + b->reserved;
	now->free = b->total - now->used;
	return 0;
}

NVML(DeviceGetTemperature, void *device, unsigned sensor, unsigned *degrees)
{
	ASK(CALL_TEMPERATURE);
	*degrees = b->temperature;
	return sensor == 0 ? 0 : 2;
}

NVML(DeviceGetPowerUsage, void *device, unsigned *mw)
{
	ASK(CALL_POWER);
	*mw = b->power_mw;
	return 0;
}

NVML(DeviceGetEnforcedPowerLimit, void *device, unsigned *mw)
{
	ASK(CALL_POWER_LIMIT);
	*mw = b->limit_mw;
	return 0;
}

NVML(DeviceGetClockInfo, void *device, unsigned which, unsigned *mhz)
{
	ASK(CALL_CLOCK);
	*mhz = which == 2 ? b->memory_clock : b->clock;
	return which == 1 || which == 2 ? 0 : 2;
}

static unsigned pid_of(const struct stand_in_board *b)
{
	return b->own_pid ? b->own_pid : (unsigned)getpid();
}

#ifdef STAND_IN_OLD
NVML(DeviceGetComputeRunningProcesses, void *device, unsigned *n,
     struct process_v1 *process)
{
	ASK(CALL_PROCESSES);
	if (*n < PROCESSES)
		return 7;
	*n = PROCESSES;
	process[0] = (struct process_v1){ 1, 4096 };
	process[1] = (struct process_v1){ 2, 8192 };
	process[2] = (struct process_v1){ pid_of(b), b->own };
	return 0;
}
#else
NVML(DeviceGetMemoryInfo_v2, void *device, struct memory_v2 *now)
{
	ASK(CALL_MEMORY_V2);
	if (now->version != (sizeof(*now) | 2u << 24))
		return 25; /* as the real one does */
	now->total = b->total;
	now->reserved = b->reserved;
	now->used = b->used;
	now->free = b->total - b->used - b->reserved;
	return 0;
}

NVML(DeviceGetTemperatureThreshold, void *device, unsigned which,
     unsigned *degrees)
{
	ASK(CALL_THRESHOLD);
	*degrees = b->slowdown;
	return which == 1 ? 0 : 2;
}

NVML(DeviceGetTotalEnergyConsumption, void *device, unsigned long long *mj)
{
	ASK(CALL_ENERGY);
	*mj = b->energy_mj;
	return 0;
}

NVML(DeviceGetCurrentClocksEventReasons, void *device,
     unsigned long long *reasons)
{
	ASK(CALL_REASONS);
	*reasons = b->reasons;
	return 0;
}

NVML(DeviceGetComputeRunningProcesses_v3, void *device, unsigned *n,
     struct process *process)
{
	ASK(CALL_PROCESSES);
	if (*n < PROCESSES)
		return 7;
	*n = PROCESSES;
	process[0] = (struct process){ 1, 4096, ~0u, ~0u };
	process[1] = (struct process){ 2, 8192, ~0u, ~0u };
	process[2] = (struct process){ pid_of(b), b->own, ~0u, ~0u };
	return 0;
}
#endif

LIBRARY_CALL const char *nvmlErrorString(int result);
const char *nvmlErrorString(int result)
{
	switch (result) {
	case 4:
		return "Insufficient Permissions";
	case 15:
		return "GPU is lost";
	case 18:
		return "Driver/library version mismatch";
	default:
		return "Unknown Error";
	}
}
