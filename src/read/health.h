/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/health/: what was lost, what measuring cost, and whether the
 * bytes of a ledger are sound. Its calls are public: tare_view_health(),
 * tare_verify().
 */
#ifndef TR_READ_HEALTH_H
#define TR_READ_HEALTH_H

#include "read/view.h"

#endif
