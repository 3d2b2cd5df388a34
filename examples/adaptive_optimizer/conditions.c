/* SPDX-License-Identifier: Apache-2.0 */
#include "conditions.h"

#include <math.h>

#include <tare/gpu.h>
#include <tare/system.h>
#include <tare/tare.h>

/* The GPU closest to slowing down; NAN without a GPU. */
static void read_heat(struct conditions *ret_conditions)
{
	size_t n = tare_gpu_count();

	for (size_t i = 0; i < n; i++) {
		tare_gpu gpu = { .struct_size = sizeof(gpu) };

		if (tare_gpu_read(i, &gpu) != 0 || gpu.is_gone ||
		    isnan(gpu.temperature))
			continue;
		if (isnan(ret_conditions->temperature) ||
		    gpu.slowdown_at - gpu.temperature <
			    ret_conditions->slowdown_at -
			    ret_conditions->temperature) {
			ret_conditions->temperature = gpu.temperature;
			ret_conditions->slowdown_at = gpu.slowdown_at;
		}
	}
}

struct conditions conditions_read(uint64_t budget_bytes)
{
	struct conditions conditions = { NAN, NAN, NAN, NAN, NAN, NAN };
	tare_system system = { .struct_size = sizeof(system) };
	uint64_t resident = conditions_resident();

	if (tare_system_read(&system) == 0) {
		conditions.cpu_percent = system.cpu_percent;
		conditions.memory_percent = system.memory_percent;
		conditions.memory_pressure = system.memory_pressure;
	}
	if (resident && budget_bytes)
		conditions.budget_percent = 100 * (double)resident /
					    (double)budget_bytes;
	read_heat(&conditions);
	return conditions;
}

static void note(const char *key, double value)
{
	if (!isnan(value))
		TARE_ATTR(key, value);
}

void conditions_record(const struct conditions *conditions)
{
	note("cpu", conditions->cpu_percent);
	note("memory", conditions->memory_percent);
	note("pressure", conditions->memory_pressure);
	note("budget", conditions->budget_percent);
	note("temperature", conditions->temperature);
	note("slowdown_at", conditions->slowdown_at);
	if (!isnan(conditions->cpu_percent))
		TARE_PERCENT("seen.cpu", conditions->cpu_percent);
	if (!isnan(conditions->memory_percent))
		TARE_PERCENT("seen.memory", conditions->memory_percent);
	if (!isnan(conditions->budget_percent))
		TARE_PERCENT("seen.budget", conditions->budget_percent);
}

unsigned conditions_cpus(void)
{
	tare_system system = { .struct_size = sizeof(system) };

	if (tare_system_read(&system) != 0 || system.cpus == 0)
		return 1;
	return system.cpus;
}

uint64_t conditions_available(void)
{
	tare_system system = { .struct_size = sizeof(system) };

	if (tare_system_read(&system) != 0 ||
	    system.memory_available == TARE_UNKNOWN)
		return 0;
	return system.memory_available;
}

uint64_t conditions_resident(void)
{
	tare_process process = { .struct_size = sizeof(process) };

	if (tare_process_read(0, &process) != 0 ||
	    process.rss == TARE_UNKNOWN)
		return 0;
	return process.rss;
}
