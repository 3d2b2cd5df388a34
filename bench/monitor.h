/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the benchmark `monitor` that have files of their own.
 */
#ifndef MONITOR_H
#define MONITOR_H

void monitor_share_part(void);

#endif
