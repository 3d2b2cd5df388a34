/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of ledger/layout/: what the bytes of a ledger mean.
 *
 * Comes in: nothing but bytes. Goes out: types, and calls on them that the
 * writer and the readers share (buckets, packed slices, checksums, older
 * formats, updates that a kill cut short). Called by ledger/write and
 * ledger/read, and by the rooms behind these two doors.
 */
#ifndef TR_LEDGER_LAYOUT_H
#define TR_LEDGER_LAYOUT_H

#include <tare/error.h>

#include "ledger/layout/control.h"
#include "ledger/layout/file.h"
#include "ledger/layout/histogram.h"
#include "ledger/layout/image.h"
#include "ledger/layout/sums.h"
#include "ledger/layout/training.h"
#include "ledger/layout/tree.h"

#endif
