/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monitor's thread: jobs at individual intervals.
 *
 * Deadlines are times of the monotonic clock, start + n x interval, so that
 * neither a slow job nor a late wake-up shifts the following ones; missed
 * slots (a suspended machine, SIGSTOP) are skipped.
 *
 * It waits on a word of the control page, which every change of that page
 * increments, from this process and from others. So it reacts to `tare ctl
 * set` at once, and sleeps without a timeout while nothing is on.
 *
 * It is detached: no thread has to join it, and exit waits for it at most
 * TR_STOP_NS, since a driver may block it.
 */
#include "record/monitor.h"

#include "record/gpu.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TR_NEVER INT64_MAX
#define TR_STOP_NS INT64_C(500000000)
#define TR_STACK_BYTES (128u * 1024)
#define TR_STACK_MOST (8u * 1024 * 1024)

enum life {
	LIFE_NONE,
	LIFE_MAKING,
	LIFE_RUNNING,
	LIFE_ENDED,
	LIFE_FAILED
};

/* In memory that forks wipe. */
struct monitor {
	uint32_t life;	   /* enum life; a futex to wait for its end */
	uint32_t stopping; /* written by tr_monitor_stop() */
	uint32_t thread;   /* its id */
	uint32_t lock;	   /* jobs run one at a time, in any thread */
	uint32_t told;	   /* logged that it cannot be created */
	uint32_t wished;   /* requested where it could not be created */
	uint64_t cost_ns;  /* CPU time of this and the drivers' thread */
	/* Used by the thread only: next deadline of each job, 0 while off. */
	int64_t due[TR_JOBS_MOST];
};

static struct monitor *monitor;
/*
 * The options when measuring began, for the thread: later settings are also in
 * the control page, and the program may set options at any time.
 */
static const struct tr_config *configured;
static struct tr_config options;
static const struct tr_job *jobs[TR_JOBS_MOST] = { &tr_job_system,
						   &tr_job_process,
						   &tr_job_gpu };
static uint32_t n_jobs = 3; /* grows; a row is written before it counts */

_Static_assert(sizeof(struct monitor) <= TR_MONITOR_BYTES, "its memory");

void tr_monitor_init(const struct tr_config *config, void *memory)
{
	configured = config;
	if (monitor)
		return;
	monitor = memory;
	tr_context_init();
}

bool tr_monitor_add(const struct tr_job *job)
{
	uint32_t n = TR_LOAD(n_jobs);

	for (uint32_t i = 0; i < n; i++)
		if (jobs[i] == job)
			return true;
	if (n == TR_JOBS_MOST)
		return false;
	jobs[n] = job;
	TR_PUBLISH(n_jobs, n + 1);
	return true;
}

static struct tr_control *page(void)
{
	return tr_ledger_is_open() ? tr_ledger->control : NULL;
}

/* ---- the thread -------------------------------------------------------- */

/* The slot after `now`; missed slots are skipped. */
static int64_t next_slot(int64_t due, int64_t interval, int64_t now)
{
	due += interval;
	if (due <= now)
		due += ((now - due) / interval + 1) * interval;
	return due;
}

/* Frequent values share one clock reading; values of a job must not use that of
 * the previous job, a second ago. */
static void run_job(const struct tr_job *job, int64_t now)
{
	struct tr_thread *thread = tr_this_thread();

	if (thread->own_track)
		thread->values_left = 0;
	job->run(now);
}

static int64_t interval_of(const struct tr_job *job)
{
	return job->interval_ns ? job->interval_ns() :
				  tr_parts_interval_ns(job->part);
}

/* Runs job `i` if it is due. Returns the next deadline; TR_NEVER: off. */
static int64_t run_due(uint32_t i)
{
	int64_t interval = interval_of(jobs[i]), now = tr_monotonic_ns();
	int64_t *due = &monitor->due[i];

	if (interval <= 0) {
		*due = 0;
		return TR_NEVER;
	}
	/* Switched on, a shorter interval, or the clock was set back. */
	if (!*due || *due - now > interval)
		*due = now;
	if (now < *due)
		return *due;
	tr_wait_lock(&monitor->lock);
	run_job(jobs[i], now);
	tr_wait_unlock(&monitor->lock);
	/* The job may have changed its interval. */
	interval = interval_of(jobs[i]);
	*due = interval > 0 ?
		       next_slot(*due, interval, tr_monotonic_ns()) :
		       0;
	return *due ? *due : TR_NEVER;
}

/*
 * A store and not an addition, so that a replaced ledger gets the total, too.
 */
static void account(void)
{
	uint64_t ns = (uint64_t)tr_clock_ns(CLOCK_THREAD_CPUTIME_ID) +
		      tr_gpu_cost_ns();

	TR_STORE(monitor->cost_ns, ns);
	TR_STORE(tr_ledger->header->monitor_ns, ns);
}

static void wait_until(struct tr_control *control, uint32_t seen,
		       int64_t until)
{
	static const struct timespec pause = { .tv_sec = 1 };

	/* A test's clock stands still; the kernel's does not. */
	if (until != TR_NEVER && tr_clock_is_fake())
		until += tr_wait_end(0) - tr_monotonic_ns();
	/* The page may be gone: its file was truncated. */
	if (!tr_wait_shared(&control->wake, seen,
			    until == TR_NEVER ? TR_WAIT_FOREVER : until))
		(void)nanosleep(&pause, NULL);
}

static void work(struct tr_control *control)
{
	while (!TR_ACQUIRE(monitor->stopping)) {
		/*
		 * Read before everything else: a later change wakes the
		 * thread.
		 */
		uint32_t seen = TR_ACQUIRE(control->wake);
		uint32_t n = TR_ACQUIRE(n_jobs);
		int64_t next = TR_NEVER;

		tr_parts_follow(&options);
		for (uint32_t i = 0;
		     i < n && !TR_ACQUIRE(monitor->stopping); i++) {
			int64_t due = run_due(i);

			if (due < next)
				next = due;
		}
		account();
		if (!TR_ACQUIRE(monitor->stopping))
			wait_until(control, seen, next);
	}
}

static void *thread_main(void *arg)
{
	(void)arg;
	(void)pthread_setname_np(pthread_self(), "tare-monitor");
	TR_STORE(monitor->thread, tr_thread_id());
	work(tr_ledger->control);
	TR_PUBLISH(monitor->life, LIFE_ENDED);
	tr_wake(&monitor->life);
	return NULL;
}

/* ---- making it --------------------------------------------------------- */

/*
 * All signals except those that the thread itself causes: if blocked, they
 * would end the process instead of reaching the guard for truncated ledgers.
 */
static void signals_to_block(sigset_t *set)
{
	static const int own[] = { SIGBUS, SIGSEGV, SIGFPE,
				   SIGILL, SIGTRAP, SIGSYS };

	(void)sigfillset(set);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		(void)sigdelset(set, own[i]);
}

/* The host's thread-local variables may be larger than our stack. */
static int create(const pthread_attr_t *like)
{
	pthread_attr_t attr = *like;
	pthread_t thread;
	int err = EINVAL;

	for (size_t bytes = TR_STACK_BYTES;
	     err == EINVAL && bytes <= TR_STACK_MOST; bytes *= 4)
		if (!pthread_attr_setstacksize(&attr, bytes))
			err = pthread_create(&thread, &attr, thread_main,
					     NULL);
	return err;
}

/* With its own signal mask and scheduling, whichever thread creates it. */
static int make_thread(void)
{
	struct sched_param param = { .sched_priority = 0 };
	sigset_t block, before;
	pthread_attr_t attr;
	int err;

	if (pthread_attr_init(&attr))
		return TARE_ENOMEM;
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	/* Only if needed: a sandbox may not allow it. */
	if (sched_getscheduler(0) > SCHED_OTHER) {
		(void)pthread_attr_setinheritsched(&attr,
						   PTHREAD_EXPLICIT_SCHED);
		(void)pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
		(void)pthread_attr_setschedparam(&attr, &param);
	}
	signals_to_block(&block);
	(void)pthread_sigmask(SIG_SETMASK, &block, &before);
	err = create(&attr);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attr);
	return err ? TARE_ENOMEM : 0;
}

static void tell_failure(void)
{
	if (__atomic_exchange_n(&monitor->told, 1, __ATOMIC_RELAXED))
		return;
	tr_host.log(TARE_LEVEL_WARNING,
			"no thread for the monitor: nothing is read by "
			"itself, tare_monitor_sample() still works");
}

/*
 * Only one of several threads creates it; `from` is LIFE_NONE or LIFE_FAILED.
 */
static int make_once(uint32_t from)
{
	uint32_t making = LIFE_MAKING;
	int saved = errno, err;

	if (!TR_SWAP(monitor->life, &from, LIFE_MAKING))
		return from == LIFE_ENDED ? TARE_EOFF : 0;
	err = make_thread();
	if (err)
		TR_PUBLISH(monitor->life, LIFE_FAILED);
	else /* It may have run and ended already. */
		(void)TR_SWAP(monitor->life, &making, LIFE_RUNNING);
	if (err)
		tell_failure();
	errno = saved;
	return err;
}

int tr_monitor_start(void)
{
	struct tr_control *control = page();
	uint32_t life;
	int err = 0;

	if (!control || !monitor || TR_LOAD(monitor->stopping))
		return TARE_EOFF;
	life = TR_ACQUIRE(monitor->life);
	if (life == LIFE_NONE || life == LIFE_FAILED)
		err = make_once(life);
	if (!err)
		tr_control_wake(control);
	return err;
}

bool tr_monitor_is_running(void)
{
	uint32_t life = monitor ? TR_ACQUIRE(monitor->life) : LIFE_NONE;

	return life == LIFE_MAKING || life == LIFE_RUNNING;
}

void tr_monitor_request(void)
{
	struct tr_control *control = page();

	if (!control || !monitor || TR_LOAD(monitor->stopping))
		return;
	if (tr_monitor_is_running())
		tr_control_wake(control);
	else if (TR_LOAD(monitor->life) != LIFE_NONE)
		return;
	else if (tr_context_is_normal())
		(void)make_once(LIFE_NONE);
	else
		TR_STORE(monitor->wished, 1);
}

void tr_monitor_begin(void)
{
	if (!page() || !monitor || tr_probe_forward)
		return;
	if (TR_ACQUIRE(monitor->life) == LIFE_NONE)
		options = *configured;
	tr_parts_follow(&options);
	if (tr_parts_wanted() || TR_LOAD(monitor->wished))
		(void)tr_monitor_start();
}

void tr_monitor_notice(void)
{
	/* An existing thread is woken by the change itself. */
	if (!page() || !monitor || TR_LOAD(monitor->life) != LIFE_NONE)
		return;
	tr_parts_follow(&options);
	if (tr_parts_wanted() || TR_LOAD(monitor->wished))
		tr_monitor_request();
}

/* ---- ending it --------------------------------------------------------- */

void tr_monitor_stop(void)
{
	int64_t until = tr_wait_end(TR_STOP_NS);
	uint32_t life;

	if (!monitor || !tr_ledger || !tr_ledger->control)
		return;
	TR_PUBLISH(monitor->stopping, 1);
	tr_control_wake(tr_ledger->control);
	/* exit() in a callback that this thread called. */
	if (TR_LOAD(monitor->thread) == tr_thread_id())
		return;
	while ((life = TR_ACQUIRE(monitor->life)) == LIFE_MAKING ||
	       life == LIFE_RUNNING)
		if (!tr_wait(&monitor->life, life, until))
			return; /* blocked in a job: no lock is left held */
	/* Last readings. No GPUs: a driver may be slow. */
	tr_monitor_run(TARE_MONITOR_SYSTEM | TARE_MONITOR_PROCESS);
}

/* ---- in the caller's thread -------------------------------------------- */

void tr_monitor_run(uint32_t parts)
{
	uint32_t n = TR_ACQUIRE(n_jobs);

	tr_wait_lock(&monitor->lock);
	for (uint32_t i = 0; i < n; i++)
		if (jobs[i]->part & parts && interval_of(jobs[i]) > 0)
			run_job(jobs[i], tr_monotonic_ns());
	tr_wait_unlock(&monitor->lock);
}

uint64_t tr_monitor_cost_ns(void)
{
	return monitor ? TR_LOAD(monitor->cost_ns) : 0;
}

TARE_API uint64_t tare_monitor_cost_ns(void)
{
	if (TR_FIRST(tare_monitor_cost_ns))
		return TR_FIRST(tare_monitor_cost_ns)();
	return tr_monitor_cost_ns();
}
