/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the benchmark `monitor` in separate files.
 */
#ifndef MONITOR_H
#define MONITOR_H

void monitor_share_part(void);

#endif
