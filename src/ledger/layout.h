/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of ledger/layout/: what the bytes of a ledger mean.
 *
 * Comes in: bytes of a ledger. Goes out: types, and calls on them that writer
 * and readers share: buckets, packed slices, checksums, older formats,
 * completion of updates that a kill interrupted. Called by: ledger/write,
 * ledger/read, ledger/runs, and the rooms of record/ and read/ that access
 * those bytes.
 */
#ifndef TR_LEDGER_LAYOUT_H
#define TR_LEDGER_LAYOUT_H

#include <tare/error.h>

#include "ledger/layout/control.h"
#include "ledger/layout/file.h"
#include "ledger/layout/gpu.h"
#include "ledger/layout/histogram.h"
#include "ledger/layout/image.h"
#include "ledger/layout/price.h"
#include "ledger/layout/sums.h"
#include "ledger/layout/training.h"
#include "ledger/layout/tree.h"

#endif
