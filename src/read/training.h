/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/training/: training runs, from ledgers and from the CSV files
 * that training programs write.
 *
 * Comes in: a view, or a CSV file. Goes out: trainings and rows of epochs.
 * Called by: read/jobs, read/judge, render/report, cli.
 */
#ifndef TR_READ_TRAINING_H
#define TR_READ_TRAINING_H

#include <tare/read/run_file.h>
#include <tare/train.h>

#include "read/view.h"

#endif
