/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers for a libevent that is linked in: built here it asks for
 * glibc 2.36, and is the only one of the program to do so. Only in a program
 * for other machines (make tarball).
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

uint32_t arc4random(void);
void arc4random_buf(void *data, size_t n);

/* Without random numbers nothing that asks for some may go on. */
void arc4random_buf(void *data, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = getrandom((char *)data + done, n - done, 0);

		if (got > 0)
			done += (size_t)got;
		else if (errno != EINTR)
			abort();
	}
}

uint32_t arc4random(void)
{
	uint32_t number;

	arc4random_buf(&number, sizeof(number));
	return number;
}
