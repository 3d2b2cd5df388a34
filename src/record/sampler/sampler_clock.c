/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks of the sampler: a timer on a thread's CPU time or on real time, or
 * the kernel's cpu-clock perf event.
 *
 * CPU timers cost nothing, but fire on the kernel's tick, 100 to 1000 times a
 * second at best. Above that rate perf events are used, if permitted. Their
 * descriptors avoid the host's: high numbers, closed at exec, a small part of
 * the host's limit. If a host closes descriptors that it did not open, the
 * event is gone; the thread then gets a timer. The start of a process is
 * sampled by events, too (sampler_early.c).
 *
 * Direct system calls: libc's timers allocate memory, and cannot signal a
 * thread other than the caller.
 */
#include "record/sampler/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TR_EVENT_FLOOR 700 /* lower numbers are the host's */
#define TR_EVENTS_MOST 2048
#define TR_WATCH_NS 50000000u /* CPU time until a lost event is noticed */

/* The kernel's name; libc hides the thread id in a union. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Not wiped by a fork: a child closes them. */
static int32_t sample_events[TR_EVENTS_MOST]; /* descriptor + 1 */

uint64_t tr_sample_clock_ns(uint32_t thread)
{
	if (tr_sampler->clock == TR_SAMPLING_WALL)
		return (uint64_t)tr_clock_ns(CLOCK_MONOTONIC);
	/* Without a thread the number would be that of another clock. */
	if (!thread || thread >= TR_FOLLOWED_ENDING)
		return 0;
	return (uint64_t)tr_clock_ns(tr_thread_clock(thread));
}

/* The same for the calling thread, which the kernel need not search. */
uint64_t tr_sample_clock_own_ns(void)
{
	return (uint64_t)tr_clock_ns(tr_sampler->clock == TR_SAMPLING_WALL ?
					     CLOCK_MONOTONIC :
					     CLOCK_THREAD_CPUTIME_ID);
}

/* ---- timers ------------------------------------------------------------ */

static bool arm_timer(struct tr_followed *followed, uint32_t thread,
		      uint64_t period_ns, uint64_t first_ns)
{
	struct sigevent event;
	clockid_t clock = tr_sampler->clock == TR_SAMPLING_WALL ?
				  CLOCK_MONOTONIC :
				  tr_thread_clock(thread);
	struct itimerspec when;
	int timer;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = (int)TR_LOAD(followed->number);
	event.sigev_notify_thread_id = (pid_t)thread;
	event.sigev_value.sival_ptr = tr_sampler;
	if (syscall(SYS_timer_create, clock, &event, &timer))
		return false;
	when.it_interval.tv_sec = (time_t)(period_ns / 1000000000u);
	when.it_interval.tv_nsec = (long)(period_ns % 1000000000u);
	when.it_value.tv_sec = (time_t)(first_ns / 1000000000u);
	when.it_value.tv_nsec = (long)(first_ns % 1000000000u);
	if (syscall(SYS_timer_settime, timer, 0, &when, NULL)) {
		(void)syscall(SYS_timer_delete, timer);
		return false;
	}
	TR_STORE(followed->timer, timer + 1);
	return true;
}

/* ---- the kernel's event ------------------------------------------------ */

static int open_event(uint32_t thread, uint64_t period_ns,
		      bool without_kernel)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = period_ns;
	attr.wakeup_events = 1;
	attr.disabled = 1;
	attr.exclude_hv = 1;
	attr.exclude_kernel = without_kernel;
	return (int)syscall(SYS_perf_event_open, &attr, (pid_t)thread, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

bool tr_sample_clock_has_queue(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_SIGPENDING, &limit) == 0 &&
	       limit.rlim_cur >= 1024;
}

/* Descriptors that may be used: a quarter of the host's limit. */
static uint32_t events_most(int *ret_floor)
{
	struct rlimit limit;
	rlim_t most;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur < 256)
		return 0;
	most = limit.rlim_cur;
	*ret_floor = most < TR_EVENT_FLOOR + most / 4 ? (int)(most / 4 * 3) :
							TR_EVENT_FLOOR;
	most /= 4;
	return most < TR_EVENTS_MOST ? (uint32_t)most : TR_EVENTS_MOST;
}

/* Moves the descriptor to a high number; returns it, or -1. */
static int move_event(int fd, int floor)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, floor);

	(void)close(fd);
	return high;
}

/*
 * One signal, then the handler requests the next: real-time signals queue up,
 * and without room the kernel sends SIGIO instead.
 */
static bool start_event(int fd, uint32_t thread, int number, uint64_t *ret_id)
{
	struct f_owner_ex owner = { F_OWNER_TID, (pid_t)thread };

	return fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0 &&
	       fcntl(fd, F_SETSIG, number) == 0 &&
	       fcntl(fd, F_SETOWN_EX, &owner) == 0 &&
	       ioctl(fd, PERF_EVENT_IOC_ID, ret_id) == 0 &&
	       ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) == 0;
}

static bool arm_event(struct tr_followed *followed, uint32_t thread,
		      uint64_t period_ns)
{
	int floor = 0, fd;
	uint64_t id;

	if (TR_ADD(tr_sampler->events, 1) >= events_most(&floor) ||
	    TR_LOAD(followed->is_held))
		goto none;
	fd = open_event(thread, period_ns, false);
	if (fd < 0 && tr_sampler->clock == TR_SAMPLING_PERF)
		fd = open_event(thread, period_ns, true);
	if (fd >= 0)
		fd = move_event(fd, floor);
	if (fd < 0)
		goto none;
	TR_STORE(tr_sampler->has_events, 1);
	if (!start_event(fd, thread, (int)TR_LOAD(followed->number), &id)) {
		(void)close(fd);
		goto none;
	}
	TR_STORE(followed->event_id, id);
	TR_STORE(followed->event_ns, period_ns);
	TR_STORE(followed->event, fd + 1);
	for (uint32_t i = 0; i < TR_EVENTS_MOST; i++) {
		int32_t none = 0;

		if (TR_SWAP(sample_events[i], &none, fd + 1))
			break;
	}
	return true;
none:
	(void)TR_ADD(tr_sampler->events, -1u);
	return false;
}

/* The number may be a file of the host by now. */
static bool is_our_event(int32_t event, uint64_t event_id)
{
	uint64_t id = 0;

	return ioctl(event - 1, PERF_EVENT_IOC_ID, &id) == 0 && id == event_id;
}

static void strike_event(int32_t event)
{
	for (uint32_t i = 0; i < TR_EVENTS_MOST; i++)
		if (TR_LOAD(sample_events[i]) == event)
			TR_STORE(sample_events[i], 0);
}

/* A child has the descriptors, but they count the parent. */
void tr_sample_clock_forget(void)
{
	for (uint32_t i = 0; i < TR_EVENTS_MOST; i++) {
		uint64_t id;

		if (!sample_events[i])
			continue;
		if (ioctl(sample_events[i] - 1, PERF_EVENT_IOC_ID, &id) == 0)
			(void)close(sample_events[i] - 1);
		sample_events[i] = 0;
	}
}

/* ---- either ------------------------------------------------------------ */

enum tr_sampling_clock tr_sample_clock_choose(const struct tr_config *config)
{
	struct timespec tick;
	double ticks = 100;
	int fd;

	if (config->sample_clock == TR_SAMPLE_WALL)
		return TR_SAMPLING_WALL;
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 && tick.tv_nsec)
		ticks = 1e9 / (double)tick.tv_nsec;
	tr_sampler->tick_ns = (uint64_t)(1e9 / ticks);
	if (config->sample_rate <= ticks * 1.01 || !tr_sample_clock_has_queue())
		return TR_SAMPLING_CPU;
	fd = open_event(tr_thread_id(), tr_sampler->period_ns, true);
	if (fd < 0)
		return TR_SAMPLING_CPU;
	(void)close(fd);
	tr_sampler->tick_ns = 0;
	return TR_SAMPLING_PERF;
}

/*
 * Threads that are shorter than a period have samples, too, in proportion to
 * their time: the first one comes after a part of the period. The parts are
 * spread evenly (by the golden ratio), and not of equal size, because the work
 * of threads may repeat. A timer fires on the tick after its time, which is at
 * any time of the thread: so whole ticks. Nothing of this opens a ledger.
 */
static uint64_t first_period(const struct tr_followed *followed,
			     uint32_t thread)
{
	uint64_t period_ns = tr_sampler->period_ns, first_ns;
	uint32_t phase;

	if (TR_LOAD(followed->stack) || thread == (uint32_t)getpid() ||
	    !tr_sampler_has_ledger())
		return period_ns;
	phase = TR_ADD(tr_sampler->phase, 2654435769u) +
		(uint32_t)tr_sampler->start_ns;
	first_ns = phase * period_ns >> 32;
	if (tr_sampler->tick_ns)
		first_ns -= first_ns % tr_sampler->tick_ns;
	return first_ns + 1;
}

bool tr_sample_clock_arm(struct tr_followed *followed, uint32_t thread)
{
	uint64_t period_ns = tr_sampler->period_ns;
	uint64_t first_ns = first_period(followed, thread);
	uint64_t early_ns = tr_sample_early_ns();
	bool has_events = !tr_sample_is_shared(), done;
	int saved = errno;

	TR_STORE(followed->number, tr_sample_number());
	if (has_events && tr_sampler->clock == TR_SAMPLING_PERF &&
	    arm_event(followed, thread, first_ns))
		first_ns = period_ns = TR_WATCH_NS;
	done = arm_timer(followed, thread, period_ns, first_ns);
	/*
	 * Only the first thread, which a short program has. A timer needs room
	 * in the queue of signals: so there is some.
	 */
	if (has_events && early_ns && done && thread == (uint32_t)getpid())
		(void)arm_event(followed, thread, early_ns);
	done = done || TR_LOAD(followed->event);
	errno = saved;
	return done;
}

/*
 * The first thread to come does this: after the close the number may be the
 * host's.
 */
void tr_sample_clock_close_event(struct tr_followed *followed)
{
	int32_t event = __atomic_exchange_n(&followed->event, 0,
					    __ATOMIC_RELAXED);
	int saved = errno;

	if (!event)
		return;
	strike_event(event);
	if (is_our_event(event, TR_LOAD(followed->event_id)))
		(void)close(event - 1);
	(void)TR_ADD(tr_sampler->events, -1u);
	errno = saved;
}

void tr_sample_clock_disarm(struct tr_followed *followed)
{
	int32_t timer = __atomic_exchange_n(&followed->timer, 0,
					    __ATOMIC_RELAXED);
	int saved = errno;

	if (timer)
		(void)syscall(SYS_timer_delete, timer - 1);
	tr_sample_clock_close_event(followed);
	errno = saved;
}

bool tr_sample_clock_is_lost(struct tr_followed *followed)
{
	int32_t event = TR_LOAD(followed->event);
	int saved = errno;
	bool is_lost = event &&
		       !is_our_event(event, TR_LOAD(followed->event_id));

	if (is_lost) {
		tr_sample_clock_disarm(followed);
		(void)arm_timer(followed, tr_thread_id(),
				tr_sampler->period_ns, tr_sampler->period_ns);
	}
	errno = saved;
	return is_lost;
}

static void change_period(struct tr_followed *followed, int32_t event,
			  uint64_t period_ns)
{
	if (period_ns == TR_LOAD(followed->event_ns))
		return;
	TR_STORE(followed->event_ns, period_ns);
	(void)ioctl(event - 1, PERF_EVENT_IOC_PERIOD, &period_ns);
}

/* True: the event is closed. Only after its own signal: none is pending. */
static bool go_on_early(struct tr_followed *followed, int32_t event,
			bool is_timer)
{
	uint64_t period_ns = tr_sample_early_ns();

	if (!is_timer)
		tr_sample_early_count();
	if (!period_ns && !is_timer) {
		tr_sample_clock_close_event(followed);
		return true;
	}
	if (period_ns)
		change_period(followed, event, period_ns);
	return false;
}

/*
 * The timer found no event since its last signal: the event's signal was lost.
 */
void tr_sample_clock_go_on(struct tr_followed *followed, bool is_timer)
{
	int32_t event = TR_LOAD(followed->event);

	if (!event)
		return;
	if (tr_sample_is_shared()) {
		tr_sample_clock_disarm(followed);
		(void)tr_sample_clock_arm(followed, tr_thread_id());
		return;
	}
	if (TR_LOAD(followed->is_held))
		return;
	if (tr_sampler->clock == TR_SAMPLING_PERF)
		change_period(followed, event, tr_sampler->period_ns);
	else if (go_on_early(followed, event, is_timer))
		return;
	if (!is_timer || !TR_LOAD(followed->is_fired))
		(void)ioctl(event - 1, PERF_EVENT_IOC_REFRESH, 1);
	TR_STORE(followed->is_fired, !is_timer);
}

/*
 * An event's signal that is pending at an exec would end the program. A signal
 * that came before the event is switched off is handled after it, and must not
 * switch it on again: so `is_held` is set first.
 */
void tr_sampler_hold(bool is_held)
{
	struct tr_followed *self = tr_sampler_self();
	int32_t event;
	int saved = errno;

	if (!self || TR_LOAD(tr_sampler->pid) != (uint32_t)getpid())
		return;
	TR_STORE(self->is_held, is_held);
	event = TR_LOAD(self->event);
	if (event)
		(void)ioctl(event - 1,
			    is_held ? PERF_EVENT_IOC_DISABLE :
				      PERF_EVENT_IOC_REFRESH,
			    is_held ? 0 : 1);
	errno = saved;
}
