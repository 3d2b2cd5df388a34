/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same small function compiled twice: with probes under TARE_DISABLE, and
 * without probes at all. Each lies in a section of its own, so that its bytes
 * can be compared while the program runs.
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
