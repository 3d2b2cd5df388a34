/* SPDX-License-Identifier: Apache-2.0 */
#define TARE_DISABLE
#include <tare/tare.h>

#include "scope_body.h"

#define PROBE(probe) probe;
#define NAME(suffix) scope_body_off##suffix
#define SECTION "bench_off"
#define START __start_bench_off
#define STOP __stop_bench_off
#include "scope_body.inc"
