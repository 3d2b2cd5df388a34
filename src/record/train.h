/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/train/: training runs with their epochs and phases,
 * classification scores, run CSV files, event files for TensorBoard.
 *
 * Comes in: calls of training programs. Goes out: files and log lines; if
 * measuring is on, which is not needed, also scopes, steps and values by the
 * public probes and a row per epoch in the ledger (epoch_store.h). Called by:
 * programs, record/runtime.
 */
#ifndef TR_RECORD_TRAIN_H
#define TR_RECORD_TRAIN_H

#include <tare/classify.h>
#include <tare/control.h>
#include <tare/event_file.h>
#include <tare/run_csv.h>
#include <tare/train.h>

#include "record/train/epoch_store.h"

/* At exit: finishes trainings that are still open. */
void tr_trainings_finish(void);

#endif
