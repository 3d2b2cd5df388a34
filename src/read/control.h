/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/control/: switches and options of another process.
 *
 * Comes in: a process id, and what to change. Goes out: changes in that
 * process's control page (tare_remote_enable() and others). Called by: cli,
 * server.
 */
#ifndef TR_READ_CONTROL_H
#define TR_READ_CONTROL_H

#include "read/view.h"

/* ---- remote.c ---------------------------------------------------------- */

/*
 * What a process monitors now, as it has said itself when it last looked at
 * its switches; bits of enum tare_monitor_part. 0 or a TARE_E*.
 */
int tr_remote_monitored(int64_t pid, uint32_t *ret_parts);

#endif
