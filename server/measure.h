/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measure: the figures that the rules of alerts look at, read in a reader
 * process. The task holds the rules as they are, the answer the samples, in
 * the order of the rules.
 */
#ifndef SERVER_MEASURE_H
#define SERVER_MEASURE_H

#include "alerts.h"

struct measured {
	uint64_t rule; /* its place in the list */
	struct alert_sample sample;
};

#endif
