/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of train/: what training programs write and compare: training runs
 * with their epochs and phases, classification scores, run CSV files, event
 * files for TensorBoard.
 *
 * None of it needs measuring to be on. Training runs are in the ledger, too,
 * if it is: their scopes, steps and values by the public probes, a row an
 * epoch by book.h.
 */
#ifndef TR_TRAIN_H
#define TR_TRAIN_H

#include <tare/classify.h>
#include <tare/control.h>
#include <tare/event_file.h>
#include <tare/run_csv.h>
#include <tare/train.h>

#include "train/book.h"

/* At exit: those that nobody has closed. */
void tr_trainings_finish(void);

/* Defined by runtime/: to the program's log. Warnings else go to stderr. */
void tr_training_say(enum tare_level level, const char *text);
/* Does anybody read lines about epochs? */
bool tr_training_is_read(void);

#endif
