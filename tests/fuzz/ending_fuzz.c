/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that says how a rank ended: what is accepted is written again and
 * read as the same.
 */
#include "cli/ending.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char run[64], beside[64];

static void forget(void)
{
	(void)unlink(beside);
}

static bool put(const uint8_t *data, size_t size)
{
	FILE *file;
	bool done;

	if (!run[0]) {
		(void)snprintf(run, sizeof(run), "/dev/shm/tare-end-%ld.tare",
			       (long)getpid());
		(void)snprintf(beside, sizeof(beside),
			       "/dev/shm/tare-end-%ld.end", (long)getpid());
		(void)atexit(forget);
	}
	file = fopen(beside, "w");
	if (!file)
		return false;
	done = fwrite(data, 1, size, file) == size;
	return !fclose(file) && done;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ending ending, again;

	if (!put(data, size) || !ending_read(run, &ending))
		return 0;
	ending_write(run, &ending);
	if (!ending_read(run, &again) || again.status != ending.status ||
	    again.at_ns != ending.at_ns ||
	    again.peak_bytes != ending.peak_bytes ||
	    again.pid != ending.pid || again.cpu_ns != ending.cpu_ns ||
	    again.runs != ending.runs || again.wall_ns != ending.wall_ns ||
	    again.queued_ns != ending.queued_ns)
		__builtin_trap();
	return 0;
}
