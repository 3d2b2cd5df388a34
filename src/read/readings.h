/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/readings/: the monitor's readings of process, system and GPUs
 * over time, and which of its series is which quantity.
 *
 * Comes in: series and records of a view. Goes out: rows of
 * tare_view_readings() and tare_readings. Called by: render/tables, server.
 */
#ifndef TR_READ_STATS_READINGS_H
#define TR_READ_STATS_READINGS_H

#include <tare/read/readings.h>

#include "read/view.h"

#define TR_READING_KEYS 6u
#define TR_READING_GPUS 64

/* Index of the quantity that a series is; -1: of none. */
int tr_reading_index(enum tare_record_kind kind, const char *source,
		     const char *name);
const char *tr_reading_key(enum tare_record_kind kind, int index);
/* The number in gpu="N" of a series' labels; -1: there is none. */
int tr_reading_gpu(const char *labels);
/* Are the monitor's readings among what the filter lets through? */
bool tr_reading_has_monitor(const tare_filter *filter,
			    enum tare_record_kind kind);
/* The source of their records. */
const char *tr_reading_source(enum tare_record_kind kind);

#endif
