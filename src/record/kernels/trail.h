/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack of a call that starts work on a GPU.
 */
#ifndef TR_RECORD_KERNELS_TRAIL_H
#define TR_RECORD_KERNELS_TRAIL_H

#include <stdint.h>

/* Most frames of a stack. */
void tr_kernels_depth(uint32_t most);
/* Number of the calling thread's stack, from the caller's caller on. */
uint32_t tr_kernels_stack(void);

#endif
