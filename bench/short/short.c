/* SPDX-License-Identifier: Apache-2.0 */
/* A program with one probe that runs for a millisecond. */
#include <stdint.h>
#include <time.h>

#include <tare/probe.h>

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int main(void)
{
	int64_t end = now_ns() + 1000000;

	while (now_ns() < end) {
		TARE_SCOPE("work");

		for (volatile int i = 0; i < 1000; i++)
			;
	}
	return 0;
}
