/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel's part of a sample costs on this machine. */
#ifndef CLI_SIGNAL_COST_H
#define CLI_SIGNAL_COST_H

#include <stdbool.h>

/*
 * Measures the cost and passes it to the programs that this process starts:
 * TARE_SIGNAL_COST=EVENT,TIMER,WALL, in ns, 0 if unknown. About 1 ms.
 */
void signal_cost_set(bool is_wall);

#endif
