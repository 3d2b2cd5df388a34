/* SPDX-License-Identifier: Apache-2.0 */
#include "resources.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <tare/tare.h>

/* Other programs may also free memory, without notice. */
#define LOOK_AGAIN_NS 20000000L

static bool take_line(const char *line, const char *key, uint64_t *bytes)
{
	uint64_t kib;
	size_t len = strlen(key);

	if (strncmp(line, key, len) != 0 ||
	    sscanf(line + len, ": %" SCNu64 " kB", &kib) != 1)
		return false;
	*bytes = kib * 1024;
	return true;
}

int memory_read(const char *meminfo, struct memory *ret_memory,
		struct fault *fault)
{
	struct memory memory;
	unsigned found = 0;
	char line[128];
	FILE *file = fopen(meminfo, "re");

	if (!file)
		return fault_set(fault, "cannot read %s: %s", meminfo,
				 strerror(errno));
	while (found < 2 && fgets(line, sizeof(line), file))
		found += take_line(line, "MemTotal", &memory.total_bytes) ||
			 take_line(line, "MemAvailable",
				   &memory.available_bytes);
	(void)fclose(file);
	if (found < 2 || memory.total_bytes == 0 ||
	    memory.available_bytes > memory.total_bytes)
		return fault_set(fault, "%s has no figures", meminfo);
	*ret_memory = memory;
	return 0;
}

void resources_open(struct resources *ret_resources, const char *meminfo,
		    uint64_t reserve_bytes)
{
	*ret_resources = (struct resources){
		.meminfo = meminfo,
		.reserve_bytes = reserve_bytes,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.has_left = PTHREAD_COND_INITIALIZER,
	};
}

void resources_close(struct resources *resources)
{
	(void)pthread_mutex_destroy(&resources->lock);
	(void)pthread_cond_destroy(&resources->has_left);
}

/* Also records the figures for the report, at each check. */
static bool is_short(struct resources *resources, size_t bytes)
{
	struct memory memory;
	struct fault fault;

	if (memory_read(resources->meminfo, &memory, &fault) != 0) {
		resources->is_blind = true;
		return false;
	}
	TARE_GAUGE("memory.available", "B", (double)memory.available_bytes);
	TARE_PERCENT("memory.used",
		     100 - 100 * (double)memory.available_bytes /
				   (double)memory.total_bytes);
	return memory.available_bytes < resources->reserve_bytes + bytes;
}

static bool must_wait(struct resources *resources, size_t bytes)
{
	return is_short(resources, bytes) && resources->active > 0;
}

static void wait_for_others(struct resources *resources, size_t bytes)
{
	struct timespec until;

	TARE_OPERATION("throttle");
	TARE_ATTR("needed_bytes", bytes);
	TARE_ATTR("active", resources->active);
	TARE_RECORD_MEMORY("throttle"); /* the complete memory state */

	resources->throttled++;
	do {
		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOOK_AGAIN_NS;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		(void)pthread_cond_timedwait(&resources->has_left,
					     &resources->lock, &until);
	} while (must_wait(resources, bytes));
}

void resources_enter(struct resources *resources, size_t bytes)
{
	(void)pthread_mutex_lock(&resources->lock);
	if (must_wait(resources, bytes))
		wait_for_others(resources, bytes);
	resources->active++;
	(void)pthread_mutex_unlock(&resources->lock);
}

void resources_leave(struct resources *resources)
{
	(void)pthread_mutex_lock(&resources->lock);
	resources->active--;
	(void)pthread_cond_signal(&resources->has_left);
	(void)pthread_mutex_unlock(&resources->lock);
}
