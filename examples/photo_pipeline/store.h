/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Store: where finished photos go. A folder, or nowhere.
 *
 * It is deliberately busy for some photos (see mishap.h), which a caller may
 * retry; a folder that cannot be written to is a permanent failure.
 */
#ifndef STORE_H
#define STORE_H

#include <stddef.h>
#include <stdint.h>

#include "fault.h"

struct store {
	const char *folder; /* NULL: photos are counted and dropped */
	uint64_t seed;
};

/*
 * Writes photo_<id>.jpg to a temporary file and renames it, so that no reader
 * sees half a photo. Any thread. `attempt` counts from 1.
 */
int store_put(const struct store *store, uint64_t photo_id, unsigned attempt,
	      const unsigned char *bytes, size_t len, struct fault *fault);

#endif
