/* SPDX-License-Identifier: Apache-2.0 */
#include "delay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LEAST_NS 1000000u /* a factor of less is chance */

/* The kernel's number of the clock of a thread's processor time. */
static clockid_t clock_of(pid_t tid)
{
	return (clockid_t)(~(unsigned)tid << 3 | 6u);
}

/* schedstat: "ran waited slices"; what ran is that of the last switch. */
static uint64_t read_waited(pid_t tid)
{
	char path[64], text[96], *end;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat",
		       (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	(void)strtoull(text, &end, 10);
	return strtoull(end, NULL, 10);
}

struct tr_delay tr_delay_read(pid_t tid)
{
	struct tr_delay delay = { 0, 0 };
	int saved = errno;
	struct timespec ran;

	if (clock_gettime(clock_of(tid), &ran) == 0) {
		delay.ran_ns = (uint64_t)ran.tv_sec * 1000000000u +
			       (uint64_t)ran.tv_nsec;
		delay.waited_ns = read_waited(tid);
	}
	errno = saved;
	return delay;
}

struct tr_delay tr_delay_sum(struct tr_delay sum, struct tr_delay begin,
			     struct tr_delay end)
{
	if (end.ran_ns > begin.ran_ns)
		sum.ran_ns += end.ran_ns - begin.ran_ns;
	if (end.waited_ns > begin.waited_ns)
		sum.waited_ns += end.waited_ns - begin.waited_ns;
	return sum;
}

double tr_delay_factor(struct tr_delay delay)
{
	if (delay.ran_ns < LEAST_NS)
		return 1;
	return 1 + (double)delay.waited_ns / (double)delay.ran_ns;
}
