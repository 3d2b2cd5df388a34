/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of train/: what training programs write and compare: classification
 * scores, run CSV files, event files for TensorBoard.
 *
 * Nothing here touches a ledger or needs measuring to be on; all of it is
 * the public headers named below.
 */
#ifndef TR_TRAIN_H
#define TR_TRAIN_H

#include <tare/classify.h>
#include <tare/event_file.h>
#include <tare/run_csv.h>

#endif
