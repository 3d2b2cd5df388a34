/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The photo service: the main interface of this example.
 *
 *	camera -> queue -> workers: exif, decode, evaluate, preset, export
 *	                      |
 *	              resource manager: may I decode now?
 *
 * One call runs it until all photos are processed or the time is up, and
 * returns its counts. Measuring needs only the probes in its files; the service
 * runs the same if tare is off.
 */
#ifndef SERVICE_H
#define SERVICE_H

#include <stdint.h>

#include "fault.h"
#include "gpu.h"
#include "tally.h"

#define SERVICE_MAX_WORKERS 64
#define SERVICE_FIRST_PHOTO 1000 /* id of the first photo */

struct service_options {
	uint64_t photos; /* 0: as many as the time allows */
	double seconds;	 /* 0: as long as the photos take */
	unsigned workers;
	uint64_t seed;
	int width, height;
	uint64_t reserve_bytes; /* memory left to other programs */
	const char *folder;	/* for finished photos; NULL: none */
	const char *meminfo;
	const char *devices;
};

struct service_result {
	struct tally tally;
	unsigned workers; /* number that could be started */
	uint64_t throttled;
	bool is_memory_known;
	struct gpu gpu;
};

extern const struct service_options service_defaults;

/*
 * Blocks until everything is done. On failure nothing was started, or
 * everything has ended.
 */
int service_run(const struct service_options *options,
		struct service_result *ret_result, struct fault *fault);

#endif
