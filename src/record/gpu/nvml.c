/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's boards, through libnvidia-ml.
 *
 * A lost board reports this in every call; any other error makes only one
 * value unknown. Used only by the thread of record/gpu.
 */
#include "record/gpu/nvml.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/gpu/state.h"

#define PROCESSES 256u
/* Inode of the initial PID namespace, the same on every kernel. */
#define FIRST_NAMESPACE 0xeffffffcu

/* A forked child's copy is cleared when the child opens the drivers. */
static struct {
	struct tr_nvml lib;
	void *device[TR_GPU_MOST];
	unsigned n;
	bool sees_all_processes;
	union {
		struct tr_nvml_process now[PROCESSES];
		struct tr_nvml_process_v1 v1[PROCESSES];
	} process;
} nv;

/* One reading of a board. */
struct asking {
	void *device;
	unsigned index;
	unsigned n_answers;
	bool is_lost;
};

/* ---- results ----------------------------------------------------------- */

static const char *text_of(int result)
{
	const char *text = nv.lib.error_text ? nv.lib.error_text(result) :
					       NULL;

	return text ? text : "error";
}

static bool is_lost(int result)
{
	return result == TR_NVML_GPU_IS_LOST ||
	       result == TR_NVML_RESET_REQUIRED ||
	       result == TR_NVML_UNINITIALIZED;
}

/* Counts a result; true: the value is valid. */
static bool has(struct asking *asking, int result, const char *what)
{
	if (result == TR_NVML_OK) {
		asking->n_answers++;
		return true;
	}
	if (is_lost(result))
		asking->is_lost = true;
	else if (result != TR_NVML_NOT_SUPPORTED &&
		 result != TR_NVML_NO_PERMISSION &&
		 result != TR_NVML_FUNCTION_NOT_FOUND)
		tr_gpu_log_once(TR_GPU_SAY_VALUE, asking->index,
				TARE_LEVEL_WARNING,
				"cannot read the %s of GPU %u: %s (%d)", what,
				asking->index, text_of(result), result);
	return false;
}

/* A value, if the library has the call for it. */
#define ASK(asking, call, what, ...) \
	(nv.lib.call && \
	 has((asking), nv.lib.call((asking)->device, __VA_ARGS__), (what)))

/* ---- opening ----------------------------------------------------------- */

static void tell_refusal(int result)
{
	if (result == TR_NVML_DRIVER_NOT_LOADED) {
		tr_gpu_reason_absent("the NVIDIA driver is not loaded");
		return;
	}
	if (result == TR_NVML_VERSION_MISMATCH)
		tr_gpu_reason_add("libnvidia-ml and the NVIDIA driver are of "
				  "different versions: reload the driver");
	else
		tr_gpu_reason_add("the NVIDIA driver refuses: %s (%d)",
				  text_of(result), result);
	tr_gpu_log_once(TR_GPU_SAY_LIBRARY, 2 + (unsigned)result % 32,
			TARE_LEVEL_WARNING,
			"the NVIDIA driver refuses: %s (%d)", text_of(result),
			result);
}

static void take_devices(unsigned n)
{
	for (unsigned i = 0; i < n && i < TR_GPU_MOST; i++) {
		void *device = NULL;
		int result = nv.lib.device(i, &device);

		if (result == TR_NVML_OK) {
			nv.device[nv.n++] = device;
			continue;
		}
		tr_gpu_reason_told(TR_GPU_SAY_VALUE, i,
				   "NVIDIA GPU %u cannot be used: %s (%d)", i,
				   text_of(result), result);
	}
}

static void close_nvml(void)
{
	if (nv.lib.shutdown)
		(void)nv.lib.shutdown();
	tr_nvml_unload(&nv.lib);
	nv.n = 0;
}

static unsigned open_nvml(void)
{
	struct stat names;
	unsigned n = 0;
	int result;

	memset(&nv, 0, sizeof(nv));
	if (!tr_nvml_load(&nv.lib))
		return 0;
	result = nv.lib.init();
	if (result != TR_NVML_OK) {
		tell_refusal(result);
		tr_nvml_unload(&nv.lib);
		return 0;
	}
	nv.sees_all_processes = stat("/proc/self/ns/pid", &names) == 0 &&
				names.st_ino == FIRST_NAMESPACE;
	result = nv.lib.count(&n);
	if (result != TR_NVML_OK)
		tell_refusal(result);
	else if (n == 0)
		tr_gpu_reason_absent("the NVIDIA driver has no GPU");
	else
		take_devices(n);
	if (!nv.n)
		close_nvml();
	return nv.n;
}

static void describe(unsigned index, tare_gpu *gpu)
{
	void *device = nv.device[index];
	char text[96];
	unsigned n;

	memset(text, 0, sizeof(text));
	if (nv.lib.name &&
	    nv.lib.name(device, text, sizeof(text)) == TR_NVML_OK)
		tr_gpu_text(gpu->name, sizeof(gpu->name), text);
	memset(text, 0, sizeof(text));
	if (nv.lib.uuid &&
	    nv.lib.uuid(device, text, sizeof(text)) == TR_NVML_OK)
		tr_gpu_text(gpu->uuid, sizeof(gpu->uuid), text);
	if (nv.lib.threshold &&
	    nv.lib.threshold(device, TR_NVML_THRESHOLD_SLOWDOWN, &n) ==
		    TR_NVML_OK)
		gpu->slowdown_at = n;
}

/* ---- reading ----------------------------------------------------------- */

/* Version 2 leaves out the memory that the driver reserves. */
static void read_memory(struct asking *asking, tare_gpu *gpu)
{
	struct tr_nvml_memory_v2 now = { .version = TR_NVML_MEMORY_V2 };
	struct tr_nvml_memory first = { 0, 0, 0 };

	if (nv.lib.memory_v2 &&
	    nv.lib.memory_v2(asking->device, &now) == TR_NVML_OK) {
		asking->n_answers++;
		gpu->memory_total = now.total;
		gpu->memory_used = now.used;
		return;
	}
	if (ASK(asking, memory, "memory", &first)) {
		gpu->memory_total = first.total;
		gpu->memory_used = first.used;
	}
}

static void read_load(struct asking *asking, tare_gpu *gpu)
{
	struct tr_nvml_utilization load = { 0, 0 };

	if (!ASK(asking, utilization, "load", &load))
		return;
	gpu->load_percent = load.gpu;
	gpu->memory_load_percent = load.memory;
}

static void read_power(struct asking *asking, tare_gpu *gpu)
{
	unsigned mw = 0;

	if (ASK(asking, power, "power", &mw))
		gpu->power_w = mw / 1e3;
	gpu->power_limit_w = NAN;
	if (ASK(asking, power_limit, "limit of power", &mw))
		gpu->power_limit_w = mw / 1e3;
}

static double clock_of(struct asking *asking, unsigned which)
{
	unsigned mhz = 0;

	return ASK(asking, clock, "clock", which, &mhz) ? mhz : (double)NAN;
}

static uint64_t throttle_of(unsigned long long reasons)
{
	static const struct {
		unsigned reasons, throttle;
	} rows[] = {
		{ TR_NVML_REASON_IDLE, TARE_GPU_THROTTLE_IDLE },
		{ TR_NVML_REASON_POWER_CAP | TR_NVML_REASON_POWER_BRAKE,
		  TARE_GPU_THROTTLE_POWER },
		{ TR_NVML_REASON_HEAT | TR_NVML_REASON_HARDWARE_HEAT,
		  TARE_GPU_THROTTLE_HEAT },
		{ TR_NVML_REASON_HARDWARE | TR_NVML_REASON_HARDWARE_HEAT |
			  TR_NVML_REASON_POWER_BRAKE,
		  TARE_GPU_THROTTLE_HARDWARE },
	};
	unsigned long long others = reasons;
	uint64_t throttle = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (reasons & rows[i].reasons)
			throttle |= rows[i].throttle;
		others &= ~(unsigned long long)rows[i].reasons;
	}
	return others ? throttle | TARE_GPU_THROTTLE_OTHER : throttle;
}

static void read_state(struct asking *asking, tare_gpu *gpu)
{
	unsigned long long reasons = 0;
	unsigned degrees = 0;

	if (ASK(asking, temperature, "temperature", TR_NVML_TEMPERATURE_GPU,
		&degrees))
		gpu->temperature = degrees;
	gpu->clock_mhz = clock_of(asking, TR_NVML_CLOCK_SM);
	gpu->memory_clock_mhz = clock_of(asking, TR_NVML_CLOCK_MEMORY);
	if (ASK(asking, reasons, "throttling", &reasons))
		gpu->throttle = throttle_of(reasons);
}

static bool read_nvml(unsigned index, tare_gpu *gpu)
{
	struct asking asking = { nv.device[index], gpu->index, 0, false };

	read_load(&asking, gpu);
	if (!asking.is_lost)
		read_memory(&asking, gpu);
	if (!asking.is_lost)
		read_state(&asking, gpu);
	if (!asking.is_lost)
		read_power(&asking, gpu);
	return !asking.is_lost && asking.n_answers;
}

static bool read_energy(unsigned index, uint64_t *ret_mj)
{
	unsigned long long mj = 0;

	if (!nv.lib.energy ||
	    nv.lib.energy(nv.device[index], &mj) != TR_NVML_OK)
		return false;
	*ret_mj = mj;
	return true;
}

/* ---- memory of this process -------------------------------------------- */

/* The rows of both versions of the list begin in the same way. */
static int list_processes(void *device, unsigned *n, size_t *ret_bytes)
{
	*ret_bytes = sizeof(nv.process.now[0]);
	if (nv.lib.processes)
		return nv.lib.processes(device, n, nv.process.now);
	*ret_bytes = sizeof(nv.process.v1[0]);
	if (nv.lib.processes_v1)
		return nv.lib.processes_v1(device, n, nv.process.v1);
	return TR_NVML_FUNCTION_NOT_FOUND;
}

static uint64_t read_own(unsigned index)
{
	unsigned n = PROCESSES, pid = (unsigned)getpid();
	struct tr_nvml_process_v1 one;
	size_t bytes;

	if (list_processes(nv.device[index], &n, &bytes) != TR_NVML_OK)
		return TARE_UNKNOWN;
	for (unsigned i = 0; i < n && i < PROCESSES; i++) {
		memcpy(&one, (const char *)&nv.process + i * bytes,
		       sizeof(one));
		if (one.pid == pid)
			return one.used;
	}
	/*
	 * A process that is not listed uses none, unless its ids differ
	 * (namespace).
	 */
	return nv.sees_all_processes ? 0 : TARE_UNKNOWN;
}

const struct tr_gpu_backend tr_gpu_nvml = {
	.name = "nvml",
	.open = open_nvml,
	.describe = describe,
	.read = read_nvml,
	.energy = read_energy,
	.own = read_own,
	.close = close_nvml,
};
