/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step sources: gives steps and resource scopes their readings of GPUs, energy
 * and the heap. GPUs only if they are monitored: the driver's library is not
 * loaded for a step.
 */
#include "record/runtime.h"

#include <tare/gpu.h>

#include <math.h>

#include "record/monitor.h"
#include "record/system.h"

static bool read_gpu(size_t index, tare_gpu *gpu)
{
	*gpu = (tare_gpu){ .struct_size = sizeof(*gpu) };
	return tare_gpu_read(index, gpu) == 0 && !gpu->is_gone;
}

static size_t gpu_count(void)
{
	return tr_parts_has(TARE_MONITOR_GPU) ? tare_gpu_count() : 0;
}

/* Memory of this process if the driver reports it, else of all processes. */
static size_t gpu_bytes(uint64_t *bytes, size_t size)
{
	size_t n = gpu_count();
	tare_gpu gpu;

	if (n > size)
		n = size;
	for (size_t i = 0; i < n; i++) {
		bytes[i] = UINT64_MAX;
		if (read_gpu(i, &gpu))
			bytes[i] = gpu.memory_own != TARE_UNKNOWN ?
					   gpu.memory_own :
					   gpu.memory_used;
	}
	return n;
}

static double gpu_load(void)
{
	size_t n = gpu_count();
	double most = -1;
	tare_gpu gpu;

	for (size_t i = 0; i < n; i++)
		if (read_gpu(i, &gpu) && gpu.load_percent > most)
			most = gpu.load_percent;
	return most;
}

static double joules(void)
{
	size_t n = gpu_count();
	const char *reason;
	double all = 0, cpu;
	bool is_known = false;
	tare_gpu gpu;

	if (tr_energy_read(&cpu, &reason) == 0) {
		all += cpu;
		is_known = true;
	}
	for (size_t i = 0; i < n; i++) {
		if (!read_gpu(i, &gpu) || !isfinite(gpu.energy_j))
			continue;
		all += gpu.energy_j;
		is_known = true;
	}
	return is_known ? all : -1;
}

void tr_step_sources_connect(void)
{
	/* Keeps what a test has set. */
	if (!tr_step_heap)
		tr_step_heap = tr_heap_used;
	if (!tr_step_gpu)
		tr_step_gpu = gpu_bytes;
	if (!tr_step_gpu_load)
		tr_step_gpu_load = gpu_load;
	if (!tr_step_joules)
		tr_step_joules = joules;
	if (!tr_step_grown)
		tr_step_grown = tr_grown;
}
