/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU check: is there one that evaluation could use?
 *
 * Checks for the device file of a compute driver, and needs no library. This
 * program computes on the CPU, so a GPU is only reported.
 */
#ifndef GPU_H
#define GPU_H

#include <stdbool.h>

#define GPU_DEVICES "/dev"
#define GPU_TEXT 96

struct gpu {
	bool is_available;
	char text[GPU_TEXT]; /* "not available: ..." or its description */
};

/* `devices` is the folder of device files; tests use another one. */
void gpu_check(const char *devices, struct gpu *ret_gpu);

#endif
