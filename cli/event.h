/* SPDX-License-Identifier: Apache-2.0 */
/* Perf events of this process, as the sampler uses them. */
#ifndef CLI_EVENT_H
#define CLI_EVENT_H

#include <stdbool.h>

/* A switched-off event, closed at exec; -1 with errno: none is allowed. */
int event_open(bool without_kernel);

/*
 * Opens an event that this process keeps. The first event of a machine waits
 * several milliseconds in the kernel, while it makes all CPUs check for events.
 * The sampled program, which opens one at its start, need not wait then.
 */
void event_keep(void);

#endif
