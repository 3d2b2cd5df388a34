/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resource manager: may another photo be processed now?
 *
 * A worker asks before it decodes. While the system has less available memory
 * than the reserve and this photo need, the worker waits for others to finish.
 * One worker always continues, however short memory is, so the service slows
 * down but never stops.
 *
 * If the kernel's figures cannot be read, nothing is throttled, and the result
 * shows this.
 */
#ifndef RESOURCES_H
#define RESOURCES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault.h"

#define RESOURCES_MEMINFO "/proc/meminfo"

struct memory {
	uint64_t total_bytes;
	uint64_t available_bytes; /* without swapping, by the kernel */
};

struct resources {
	const char *meminfo;	/* path; tests use another one */
	uint64_t reserve_bytes; /* left to other programs */
	pthread_mutex_t lock;	/* guards all below */
	pthread_cond_t has_left;
	unsigned active;	/* workers between enter and leave */
	uint64_t throttled;	/* how often a worker had to wait */
	bool is_blind;		/* memory could not be read */
};

int memory_read(const char *meminfo, struct memory *ret_memory,
		struct fault *fault);

void resources_open(struct resources *ret_resources, const char *meminfo,
		    uint64_t reserve_bytes);
void resources_close(struct resources *resources);

/* Waits until `bytes` more may be used. Any thread; pair with leave. */
void resources_enter(struct resources *resources, size_t bytes);
void resources_leave(struct resources *resources);

#endif
