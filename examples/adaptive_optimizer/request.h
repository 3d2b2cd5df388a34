/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request: a picture with a caption, to be classified.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdint.h>
#include <time.h>

#include <tare/probe.h>

#include "image.h"
#include "text.h"

struct request {
	uint64_t id;
	int64_t arrival_ns;   /* by now_ns(): when it was due */
	const char *phase;    /* in which it arrived */
	tare_site *latency;   /* the series of that phase */
	char text[TEXT_SIZE];
	uint8_t pixels[IMAGE_PIXELS];
};

/* Monotonic. */
static inline int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / 1000000000,
				  .tv_nsec = ns % 1000000000 };
}

#endif
