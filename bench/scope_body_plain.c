/* SPDX-License-Identifier: Apache-2.0 */
#include "scope_body.h"

#define PROBE(probe)
#define NAME(suffix) scope_body_plain##suffix
#define SECTION "bench_plain"
#define START __start_bench_plain
#define STOP __stop_bench_plain
#include "scope_body.inc"
