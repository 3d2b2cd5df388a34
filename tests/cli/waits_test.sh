#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tare run on a program that waits: a sample ends no wait early, no deadline
# moves, no count is short; a signal of the program's own ends a wait as
# without tare.
. "$(dirname "$0")/expect.sh"

"$CC" -std=c11 -D_GNU_SOURCE -g -O2 -Wall -Wextra -Werror \
	"$here/waiting.c" -lpthread -o waiting ||
	{ echo "Bail out! cannot build waiting.c"; exit 1; }

expect_status 0 ./waiting
expect_is "$out" "" "alone: nothing is wrong"
for options in "--wall --rate 1000" "--rate 1000" "--wall --rate 250"; do
	expect_status 0 "$TARE" run --no-report $options -- ./waiting
	expect_is "$out" "" "$options: every wait as long as without"
	expect_status 0 "$TARE" run --no-report $options -- ./waiting alarm
	expect_is "$out" "" "$options: the program's own signal ends it"
done

# Devices that always have more bytes: a sample must not end a read in part.
"$CC" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -x c - -o endless <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>
enum { SIZE = 4 << 20, TIMES = 12 };
int main(void)
{
	static const char *const device[] = { "/dev/urandom", "/dev/zero" };
	char *data = malloc(SIZE);
	struct iovec part[] = { { data, 1 << 20 },
				{ data + (1 << 20), SIZE - (1 << 20) } };
	for (int d = 0; data && d < 2; d++) {
		int fd = open(device[d], O_RDONLY);
		int n_read = 0, n_readv = 0, n_random = 0;
		for (int i = 0; i < TIMES; i++) {
			n_read += read(fd, data, SIZE) == SIZE;
			n_readv += readv(fd, part, 2) == SIZE;
			n_random += getrandom(data, SIZE, 0) == SIZE;
		}
		printf("%d %d %d\n", n_read, n_readv, n_random);
	}
}
C
whole=$(printf '12 12 12\n12 12 12')
expect_status 0 ./endless
expect_is "$out" "$whole" "alone: all bytes"
for options in "" "--rate 1000" "--wall --rate 1000"; do
	expect_status 0 "$TARE" run --no-report $options -- ./endless
	expect_is "$out" "$whole" "with '$options': all bytes as well"
done

# The kernel reports the rest of a sleep that ends late, and each restart with
# that rest would move the end. A library behind tare's makes this rest 1000 s:
# a sleep that follows it says so and ends the program.
"$CC" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -shared -fPIC -x c - \
	-o librest.so <<'C'
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>
int cut; /* waits that a sample ended */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
static void check(long seconds, const char *what)
{
	if (seconds < 100)
		return;
	printf("%s: the rest\n", what);
	fflush(stdout);
	_exit(1);
}
int nanosleep(const struct timespec *time, struct timespec *rest)
{
	int result = (check(time->tv_sec, "nanosleep"),
		      NEXT(nanosleep)(time, rest));
	if (result && errno == EINTR) {
		cut++;
		rest->tv_sec += 1000;
	}
	return result;
}
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
		    struct timespec *rest)
{
	int result = (check(time->tv_sec, "clock_nanosleep"),
		      NEXT(clock_nanosleep)(clock, flags, time, rest));
	if (result == EINTR) {
		cut++;
		rest->tv_sec += 1000;
	}
	return result;
}
int select(int n, fd_set *a, fd_set *b, fd_set *c, struct timeval *time)
{
	int result = (check(time->tv_sec, "select"),
		      NEXT(select)(n, a, b, c, time));
	if (result && errno == EINTR) {
		cut++;
		time->tv_sec += 1000;
	}
	return result;
}
C
"$CC" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -x c - -L. -lrest \
	-Wl,-rpath,"$PWD" -o sleeper <<'C'
#include <stdio.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
extern int cut;
int main(void)
{
	struct timespec time = { 0, 30000000 };
	struct timeval most;
	int n;
	for (n = cut; cut == n;)
		nanosleep(&time, NULL);
	for (n = cut; cut == n;)
		usleep(30000);
	for (n = cut; cut == n;)
		clock_nanosleep(CLOCK_BOOTTIME, 0, &time, NULL);
	for (n = cut; cut == n;)
		thrd_sleep(&time, NULL);
	for (n = cut; cut == n;) {
		most = (struct timeval){ 0, 30000 };
		select(0, NULL, NULL, NULL, &most);
	}
	puts("done");
}
C
expect_status 0 "$TARE" run --no-report --wall --rate 1000 -- ./sleeper
expect_is "$out" "done" "a sleep goes on until its own end"

finish
