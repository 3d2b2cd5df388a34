/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions: what tare says about the machine and this process, as the
 * controller wants it. Works whether measuring is on or not.
 */
#ifndef CONDITIONS_H
#define CONDITIONS_H

#include <stdint.h>

#include "controller.h"

/* Never fails: what cannot be read is NAN. `budget_bytes` 0: none. */
struct conditions conditions_read(uint64_t budget_bytes);

/*
 * As attributes of the operation that is open, what is not available left
 * out: cpu, memory, pressure, budget, temperature, slowdown_at. Known ones
 * are also values of the same name under "seen.".
 */
void conditions_record(const struct conditions *conditions);

/* CPUs this process may run on, at least 1. */
unsigned conditions_cpus(void);
/* Bytes; 0 where it is not known. */
uint64_t conditions_available(void);
uint64_t conditions_resident(void);

#endif
