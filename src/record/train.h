/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of train/: what training programs write and compare: training runs
 * with their epochs and phases, classification scores, run CSV files, event
 * files for TensorBoard.
 *
 * None of it needs measuring to be on. Training runs are in the ledger, too,
 * if it is: their scopes, steps and values by the public probes, a row an
 * epoch by epoch_store.h.
 */
#ifndef TR_RECORD_TRAIN_H
#define TR_RECORD_TRAIN_H

#include <tare/classify.h>
#include <tare/control.h>
#include <tare/event_file.h>
#include <tare/run_csv.h>
#include <tare/train.h>

#include "record/train/epoch_store.h"

/* At exit: trainings that are still open. */
void tr_trainings_finish(void);

#endif
