/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version and the ABI promise: within a major version a program built against
 * an older header runs with a newer library.
 *
 * - Structs that a caller passes in start with their own size: what an older
 *   one lacks is 0, and what a newer one has more must be 0.
 * - Structs that the library returns grow at their end. The elements of an
 *   array are reached by `<type>_at(array, i)`: tare_stats_at(stats, 3).
 * - The layout of these never changes: `tare_site` and the other structs with
 *   private fields; what a caller has the room for (tare_bucket, tare_place,
 *   tare_alloc_frame, tare_communication, tare_gain, tare_leak,
 *   tare_class_score, tare_scores, tare_run_problem); and what others are
 *   made of (tare_attr_value, tare_estimate, tare_latency, tare_run_row,
 *   tare_score, tare_worth_limits).
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
