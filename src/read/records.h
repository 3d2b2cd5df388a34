/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/records/: single operations, values and settings that a run
 * kept.
 *
 * Comes in: the record blocks and last values of a view's image. Goes out:
 * records. Called by: read/health, read/readings, render/, cli, server.
 */
#ifndef TR_READ_RECORDS_H
#define TR_READ_RECORDS_H

#include "read/view.h"

/* ---- kept.c ------------------------------------------------------------ */

/* Last values as records, to `to`; NULL: how many there are. */
size_t tr_kept_records(tare_view *view, tare_record *to);
/* Name, source, unit, labels and type of a record's site. */
void tr_record_name(const tare_view *view, uint32_t id, tare_record *out);

#endif
