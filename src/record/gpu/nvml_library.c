/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML library: where it is, and which calls it has.
 *
 * The table lists later versions of a call first; an earlier version with the
 * same arguments serves as well. A missing call makes its value unknown.
 */
#include "record/gpu/nvml.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "record/gpu/state.h"

/* Weak: works in a program without dynamic loading. */
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlclose
#pragma weak dlerror

const char *tr_nvml_path;
static char chosen[TR_GPU_TEXT];

struct symbol {
	const char *name;
	size_t offset;
};

#define SYMBOL(name, field) { "nvml" name, offsetof(struct tr_nvml, field) }

static const struct symbol symbols[] = {
	SYMBOL("Init_v2", init),
	SYMBOL("Init", init),
	SYMBOL("Shutdown", shutdown),
	SYMBOL("DeviceGetCount_v2", count),
	SYMBOL("DeviceGetCount", count),
	SYMBOL("DeviceGetHandleByIndex_v2", device),
	SYMBOL("DeviceGetHandleByIndex", device),
	SYMBOL("DeviceGetName", name),
	SYMBOL("DeviceGetUUID", uuid),
	SYMBOL("DeviceGetUtilizationRates", utilization),
	SYMBOL("DeviceGetMemoryInfo", memory),
	SYMBOL("DeviceGetMemoryInfo_v2", memory_v2),
	SYMBOL("DeviceGetTemperature", temperature),
	SYMBOL("DeviceGetTemperatureThreshold", threshold),
	SYMBOL("DeviceGetPowerUsage", power),
	SYMBOL("DeviceGetEnforcedPowerLimit", power_limit),
	SYMBOL("DeviceGetTotalEnergyConsumption", energy),
	SYMBOL("DeviceGetClockInfo", clock),
	SYMBOL("DeviceGetCurrentClocksEventReasons", reasons),
	SYMBOL("DeviceGetCurrentClocksThrottleReasons", reasons),
	SYMBOL("DeviceGetComputeRunningProcesses_v3", processes),
	SYMBOL("DeviceGetComputeRunningProcesses_v2", processes),
	SYMBOL("DeviceGetComputeRunningProcesses", processes_v1),
	SYMBOL("ErrorString", error_text),
};

/* Calls whose absence makes a value unknown, with names for users. */
static const struct {
	const char *what;
	size_t offset;
} values[] = {
	{ "load", offsetof(struct tr_nvml, utilization) },
	{ "memory", offsetof(struct tr_nvml, memory) },
	{ "temperature", offsetof(struct tr_nvml, temperature) },
	{ "threshold of temperature", offsetof(struct tr_nvml, threshold) },
	{ "power", offsetof(struct tr_nvml, power) },
	{ "limit of power", offsetof(struct tr_nvml, power_limit) },
	{ "energy", offsetof(struct tr_nvml, energy) },
	{ "clocks", offsetof(struct tr_nvml, clock) },
	{ "reasons of throttling", offsetof(struct tr_nvml, reasons) },
};

static void *field_of(const struct tr_nvml *nvml, size_t offset)
{
	void *found;

	memcpy(&found, (const char *)nvml + offset, sizeof(found));
	return found;
}

static void find_symbols(struct tr_nvml *nvml)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *found = dlsym(nvml->handle, symbols[i].name);

		if (found && !field_of(nvml, symbols[i].offset))
			memcpy((char *)nvml + symbols[i].offset, &found,
			       sizeof(found));
	}
}

static void tell_missing(const struct tr_nvml *nvml)
{
	char text[TR_GPU_TEXT / 2] = "";
	size_t len = 0;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		size_t n = strlen(values[i].what);

		if (field_of(nvml, values[i].offset) ||
		    len + n + 3 > sizeof(text))
			continue;
		memcpy(text + len, ", ", 2);
		memcpy(text + len + 2, values[i].what, n + 1);
		len += n + 2;
	}
	if (len)
		tr_gpu_reason_told(TR_GPU_SAY_LIBRARY, 0,
				   "libnvidia-ml is too old for %s", text + 2);
}

void tr_nvml_choose(void)
{
	const char *named = secure_getenv("TARE_NVML_LIBRARY");

	chosen[0] = '\0';
	if (tr_nvml_path)
		named = tr_nvml_path;
	if (named && strlen(named) < sizeof(chosen))
		memcpy(chosen, named, strlen(named) + 1);
}

static void *open_library(void)
{
	static const char *const names[] = { "libnvidia-ml.so.1",
					     "libnvidia-ml.so" };
	void *handle = NULL;

	if (chosen[0])
		return dlopen(chosen, RTLD_LAZY | RTLD_LOCAL);
	for (size_t i = 0; !handle && i < 2; i++)
		handle = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
	return handle;
}

/* The loader's text is about the last name that was tried. */
static void tell_absent(void)
{
	const char *why = dlerror ? dlerror() : NULL;
	char text[160];

	tr_gpu_text(text, sizeof(text), why ? why : "libnvidia-ml.so");
	tr_gpu_reason_absent("no NVIDIA driver: cannot load %s", text);
}

bool tr_nvml_load(struct tr_nvml *nvml)
{
	memset(nvml, 0, sizeof(*nvml));
	if (!dlopen || !dlsym || !dlclose) {
		tr_gpu_reason_absent("no NVIDIA driver: this program is "
				     "linked statically");
		return false;
	}
	nvml->handle = open_library();
	if (!nvml->handle) {
		tell_absent();
		return false;
	}
	find_symbols(nvml);
	if (nvml->init && nvml->count && nvml->device) {
		tell_missing(nvml);
		return true;
	}
	tr_gpu_reason_add("libnvidia-ml is too old, or no such library");
	tr_gpu_log_once(TR_GPU_SAY_LIBRARY, 1, TARE_LEVEL_WARNING,
			"libnvidia-ml is too old, or no such library: no GPU "
			"is read by it");
	tr_nvml_unload(nvml);
	return false;
}

void tr_nvml_unload(struct tr_nvml *nvml)
{
	if (nvml->handle)
		(void)dlclose(nvml->handle);
	memset(nvml, 0, sizeof(*nvml));
}
