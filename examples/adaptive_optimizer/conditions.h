/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions: what tare reports about the machine and this process, for the
 * controller. Works whether measuring is on or off.
 */
#ifndef CONDITIONS_H
#define CONDITIONS_H

#include <stdint.h>

#include "controller.h"

/* Never fails: unknown values are NAN. `budget_bytes` 0: no budget. */
struct conditions conditions_read(uint64_t budget_bytes);

/*
 * Adds attributes to the open operation, leaving out unknown ones: cpu, memory,
 * pressure, budget, temperature, slowdown_at. Known ones are also recorded as
 * values of the same name under "seen.".
 */
void conditions_record(const struct conditions *conditions);

/* CPUs this process may run on, at least 1. */
unsigned conditions_cpus(void);
/* Bytes; 0 if unknown. */
uint64_t conditions_available(void);
uint64_t conditions_resident(void);

#endif
