/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version and the ABI promise: within a major version a program built against
 * an older header runs with a newer library. Only `tare_site` (probe.h) has a
 * frozen layout; structs a caller passes in start with their own size: what an
 * older one lacks is 0, and what a newer one has more must be 0.
 */
#ifndef TARE_VERSION_H
#define TARE_VERSION_H

#include <tare/api.h>

#define TARE_VERSION_MAJOR 0
#define TARE_VERSION_MINOR 1
#define TARE_VERSION_PATCH 0
#define TARE_VERSION "0.1.0"

TARE_BEGIN

/* Version of the library that runs, as opposed to the header. Never NULL. */
TARE_API const char *tare_version(void);

TARE_END
#endif
