/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's part of a sample: the interrupt, the delivery of the signal,
 * the return from the handler, and the request for the next signal. The
 * sampled thread cannot see it: it reads no clock between the interrupt and the
 * handler, and how late the signal comes does not tell it (see
 * docs/internals/sampling.md). In a virtual machine it was ten times the rest
 * of the sample.
 *
 * So this process, before it starts the program, sends itself a few such
 * signals while it does nothing but read the clock: the time between the last
 * reading before a signal and the first one after it is the cost. Of several,
 * one from the lower third: others on the machine only make it longer.
 *
 * Timers on CPU time fire on the kernel's tick, which comes anyway, and only
 * every 4 ms. Of these the signal alone is measured.
 */
#include "signal_cost.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "event.h"

#define TRIES 12
#define PERIOD_NS 50000
#define LONGEST_NS 4000000 /* of all tries; a signal may be lost */

/* The kernel's name; libc hides the thread id in a union. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static volatile sig_atomic_t fired; /* signals; by the handler */
static int event = -1;		    /* its next signal is to be requested */

static void on_signal(int number)
{
	(void)number;
	fired++;
	if (event >= 0 && fired < TRIES)
		(void)ioctl(event, PERF_EVENT_IOC_REFRESH, 1);
}

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static unsigned typical(int64_t *cost_ns, size_t n)
{
	qsort(cost_ns, n, sizeof(*cost_ns), by_size);
	/* Few are not enough; a longer one is a wait for the processor. */
	return n < TRIES / 2 || cost_ns[n / 3] > 1000000 ?
		       0 :
		       (unsigned)cost_ns[n / 3];
}

/* Reads the clock until all signals have come. */
static unsigned watch(void)
{
	int64_t cost_ns[TRIES], start = now_ns(), before = start, now = start;
	sig_atomic_t seen = 0;
	size_t n = 0;

	fired = 0;
	while (fired < TRIES && now - start < LONGEST_NS) {
		now = now_ns();
		if (fired != seen) {
			seen = fired;
			/* Again: the signal may have come after the reading. */
			now = now_ns();
			if (n < TRIES)
				cost_ns[n++] = now - before;
		}
		before = now;
	}
	return typical(cost_ns, n);
}

static unsigned cost_of_event(int number)
{
	struct f_owner_ex owner = { F_OWNER_TID,
				    (pid_t)syscall(SYS_gettid) };
	uint64_t period = PERIOD_NS;
	unsigned cost = 0;
	int fd = event_open(false);

	if (fd < 0)
		fd = event_open(true);
	if (fd < 0)
		return 0;
	event = fd;
	if (ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) == 0 &&
	    fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0 &&
	    fcntl(fd, F_SETSIG, number) == 0 &&
	    fcntl(fd, F_SETOWN_EX, &owner) == 0 &&
	    ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) == 0)
		cost = watch();
	event = -1;
	(void)ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	(void)close(fd);
	return cost;
}

/* If the queue of signals is full, the kernel sends SIGIO instead. */
static unsigned cost_of_event_safely(int number)
{
	struct sigaction none, before;
	unsigned cost;

	memset(&none, 0, sizeof(none));
	none.sa_handler = SIG_IGN;
	if (sigaction(SIGIO, &none, &before))
		return 0;
	cost = cost_of_event(number);
	(void)sigaction(SIGIO, &before, NULL);
	return cost;
}

static unsigned cost_of_wall(int number)
{
	struct itimerspec when = { { 0, PERIOD_NS }, { 0, PERIOD_NS } };
	struct sigevent how;
	unsigned cost = 0;
	int timer;

	memset(&how, 0, sizeof(how));
	how.sigev_notify = SIGEV_THREAD_ID;
	how.sigev_signo = number;
	how.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &how, &timer))
		return 0;
	if (syscall(SYS_timer_settime, timer, 0, &when, NULL) == 0)
		cost = watch();
	(void)syscall(SYS_timer_delete, timer);
	return cost;
}

static unsigned cost_of_signal(int number)
{
	pid_t thread = (pid_t)syscall(SYS_gettid);
	int64_t cost_ns[TRIES];

	for (size_t i = 0; i < TRIES; i++) {
		int64_t before = now_ns();

		if (syscall(SYS_tgkill, getpid(), thread, number))
			return 0;
		cost_ns[i] = now_ns() - before;
	}
	return typical(cost_ns, TRIES);
}

void signal_cost_set(bool is_wall)
{
	struct sigaction action, before;
	unsigned of_event = 0, of_timer = 0, of_wall = 0;
	int number = SIGRTMIN + 19;
	char text[64];

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	(void)sigfillset(&action.sa_mask);
	if (sigaction(number, &action, &before))
		return;
	if (is_wall) {
		of_wall = cost_of_wall(number);
	} else {
		of_event = cost_of_event_safely(number);
		of_timer = cost_of_signal(number);
	}
	/* A signal that is still under way goes nowhere. */
	action.sa_handler = SIG_IGN;
	(void)sigaction(number, &action, NULL);
	(void)sigaction(number, &before, NULL);
	(void)snprintf(text, sizeof(text), "%u,%u,%u", of_event, of_timer,
		       of_wall);
	(void)setenv("TARE_SIGNAL_COST", text, 1);
}
