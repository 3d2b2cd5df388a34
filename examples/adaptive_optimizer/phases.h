/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases: the run. Requests come at one rate all the time; the machine is
 * calm, then its CPUs are busy, then memory is short, then it is calm again.
 *
 * A phase ends when the requests of its time are answered: a given rate and
 * time is a given number of requests, whatever the machine does.
 */
#ifndef PHASES_H
#define PHASES_H

#include <stdint.h>

#include "controller.h"
#include "queue.h"

enum { PHASES = 4 };

struct plan {
	double phase_s;
	double interval_s; /* between the optimizer's looks */
	unsigned rate;	   /* requests a second */
	unsigned threads;  /* at most */
	unsigned batch;	   /* at most */
	uint64_t seed;
};

/* What the program itself knows of a phase. */
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

/* Gives NULL, or what went wrong. */
const char *phases_run(const struct plan *plan, struct result *ret_result);

#endif
