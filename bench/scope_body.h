/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same small function compiled twice: with probes under TARE_DISABLE, and
 * without probes. Each is in its own section, so that its bytes can be compared
 * at run time.
 */
#ifndef BENCH_SCOPE_BODY_H
#define BENCH_SCOPE_BODY_H

#include <stddef.h>
#include <stdint.h>

void scope_body_plain(uint64_t n);
const unsigned char *scope_body_plain_code(void);
size_t scope_body_plain_size(void);

void scope_body_off(uint64_t n);
const unsigned char *scope_body_off_code(void);
size_t scope_body_off_size(void);

#endif
