/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU check: is there one that evaluation could use?
 *
 * Looks for the device file of a compute driver, and needs no library. The
 * arithmetic of this program is for the CPU, so a GPU is only told of.
 */
#ifndef GPU_H
#define GPU_H

#include <stdbool.h>

#define GPU_DEVICES "/dev"
#define GPU_TEXT 96

struct gpu {
	bool is_available;
	char text[GPU_TEXT]; /* "not available: ..." or what there is */
};

/* `devices` is the folder of device files; another one for tests. */
void gpu_check(const char *devices, struct gpu *ret_gpu);

#endif
