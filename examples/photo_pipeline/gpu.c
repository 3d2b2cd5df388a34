/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"

#include <stdio.h>
#include <unistd.h>

static const struct {
	const char *file;
	const char *vendor;
} drivers[] = {
	{ "nvidiactl", "NVIDIA" },
	{ "kfd", "AMD" },
};

void gpu_check(const char *devices, struct gpu *ret_gpu)
{
	char path[256];

	for (unsigned i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", devices,
			       drivers[i].file);
		if (access(path, F_OK) != 0)
			continue;
		ret_gpu->is_available = true;
		(void)snprintf(ret_gpu->text, sizeof(ret_gpu->text),
			       "%s, not used by this program",
			       drivers[i].vendor);
		return;
	}
	ret_gpu->is_available = false;
	(void)snprintf(ret_gpu->text, sizeof(ret_gpu->text),
		       "not available: no driver of NVIDIA or AMD");
}
