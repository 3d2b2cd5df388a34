/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version and the ABI promise: within a major version a program built against
 * an older header runs with a newer library.
 *
 * - Structs that a caller passes in start with their own size: fields that an
 *   older one lacks are taken as 0, and fields that only a newer one has must
 *   be 0.
 * - Structs that the library returns grow at their end. Elements of an array
 *   are accessed by `<type>_at(array, i)`: tare_stats_at(stats, 3).
 * - These layouts never change: `tare_site` and the other structs with
 *   private fields; structs in memory of the caller (tare_bucket, tare_place,
 *   tare_alloc_frame, tare_communication, tare_gain, tare_leak,
 *   tare_class_score, tare_scores, tare_run_problem); and structs inside others
 *   (tare_attr_value, tare_estimate, tare_latency, tare_run_row, tare_score,
 *   tare_worth_limits).
 */
#ifndef TARE_VERSION_H
#define TARE_VERSION_H

#include <tare/api.h>

#define TARE_VERSION_MAJOR 0
#define TARE_VERSION_MINOR 1
#define TARE_VERSION_PATCH 0
#define TARE_VERSION "0.1.0"

TARE_BEGIN

/* Version of the running library, not of the header. Never NULL. */
TARE_API const char *tare_version(void);

TARE_END
#endif
