/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scope costs: the parts of the program `scope`.
 */
#ifndef BENCH_SCOPE_H
#define BENCH_SCOPE_H

#include <tare/probe.h>

#include "bench.h"

#define SCOPE_SITES 2048u

/*
 * Sites in a table, for loops that choose one at random. scope_sites_make()
 * fills it, and switches the sites on by using each once.
 */
extern tare_site *scope_sites[SCOPE_SITES];
void scope_sites_make(size_t n);

/* One scope in a tight loop: the simplest case. */
void scope_one(uint64_t n);

void scope_aggregate_part(void);
void scope_trace_part(void);
void scope_off_part(void);
void scope_standby_part(void);
void scope_compiled_out_part(void);
void scope_two_threads_part(void);
void scope_reader_part(void);
void scope_latency_part(void);
void scope_first_event_part(void);

#endif
