/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases: the run. Requests come at a constant rate; the machine is calm, then
 * its CPUs are busy, then memory is short, then it is calm again.
 *
 * A phase ends when all requests of its time are answered: rate and time
 * determine the number of requests, on any machine.
 */
#ifndef PHASES_H
#define PHASES_H

#include <stdint.h>

#include "controller.h"
#include "queue.h"

enum { PHASES = 4 };

struct plan {
	double phase_s;
	double interval_s; /* between the optimizer's readings */
	unsigned rate;	   /* requests per second */
	unsigned threads;  /* at most */
	unsigned batch;	   /* at most */
	uint64_t seed;
};

/* The program's own figures of a phase. */
struct phase_result {
	const char *name;
	int64_t from_ns, to_ns; /* ns since 1970 */
	uint64_t requests, batches;
	struct settings settings; /* at its end */
};

struct result {
	struct phase_result phases[PHASES];
	struct limits limits;
	uint64_t checksum;
	uint64_t looks, changes; /* of the optimizer */
	unsigned burners;
	uint64_t ballast_bytes;
	uint64_t budget_bytes; /* 0: resident memory cannot be read */
};

/* Returns NULL, or an error text. */
const char *phases_run(const struct plan *plan, struct result *ret_result);

#endif
