/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/health/: what was lost, what measuring cost, and whether the
 * bytes of a ledger are valid.
 *
 * Comes in: a view, or the path of a ledger. Goes out: the results of
 * tare_view_health() and tare_verify(). Called by: read/jobs, render/, cli,
 * server.
 */
#ifndef TR_READ_HEALTH_H
#define TR_READ_HEALTH_H

#include "read/view.h"

#endif
