/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals: handlers record, also while their thread is in a probe, also as
 * the thread's very first event, also on a small stack of their own. All
 * that was produced is counted, or counted as lost.
 */
#include "scratch.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "../check.h"

#define THREADS 4u
#define FIRST_THREADS 500u
#define SECONDS 4.0
#define TSAN_TRIES 10000u
#define STACK_BYTES (SCRATCH_TSAN || SCRATCH_ASAN ? 65536u : 8192u)

/* Of a thread outside handlers: one writer. */
struct plain {
	_Alignas(64) uint64_t outer, inner, values, counts, items, failed;
};

/* Of all handlers: calls, whatever became of them. */
struct handled {
	uint64_t scopes, failed, values, counts;
	uint64_t signals, nested;
};

struct shared {
	struct plain plain[THREADS];
	struct handled handled;
	uint64_t first;	/* threads whose first event was in a handler */
	uint32_t stop;
	char path[512];
};

static struct shared *shared;
static __thread unsigned depth; /* handlers in handlers */

static void add(uint64_t *field, uint64_t n)
{
	(void)__atomic_fetch_add(field, n, __ATOMIC_RELEASE);
}

/* ---- handlers ---------------------------------------------------------- */

static void record_in_handler(int number)
{
	struct handled *h = &shared->handled;
	int saved = errno;
	uint64_t before;

	if (depth++)
		add(&h->nested, 1);
	before = __atomic_fetch_add(&h->signals, 1, __ATOMIC_RELAXED);
	{
		TARE_SCOPE("handler");
		TARE_VALUE("handler.value", "1", 1 + number);
		add(&h->values, 1);
		TARE_COUNT("handler.count", 1);
		add(&h->counts, 1);
		{
			TARE_SCOPE("handler.inner");
		}
		add(&h->scopes, 1);
		if (before % 4 == 0) {
			TARE_SCOPE_AS(failing, "handler.failing");
			tare_scope_fail(failing, "on purpose");
			add(&h->failed, failing.frame != NULL);
			add(&h->scopes, 1);
		}
	}
	add(&h->scopes, 1);
	depth--;
	errno = saved;
}

static void set_handlers(void)
{
	static const int numbers[] = { SIGPROF, SIGALRM, SIGUSR1, SIGUSR2 };
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction action = { .sa_handler = record_in_handler,
				    .sa_flags = SA_RESTART | SA_ONSTACK };

	/* Nothing is masked: they interrupt each other. */
	for (unsigned i = 0; i < 4; i++)
		(void)sigaction(numbers[i], &action, NULL);
	(void)setitimer(ITIMER_PROF, &often, NULL);
	(void)setitimer(ITIMER_REAL, &often, NULL);
}

/*
 * Just so large, with a page below it that nobody may touch. For one handler
 * at a time: the kernel's part alone may be 3.5 KiB of it.
 */
static void set_small_stack(void)
{
	char *memory = mmap(NULL, 4096 + STACK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = memory + 4096, .ss_size = STACK_BYTES };
	sigset_t timers;

	(void)sigemptyset(&timers);
	(void)sigaddset(&timers, SIGPROF);
	(void)sigaddset(&timers, SIGALRM);
	(void)pthread_sigmask(SIG_BLOCK, &timers, NULL);
	if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_NONE) ||
	    sigaltstack(&stack, NULL))
		_exit(97);
}

/* ---- threads ----------------------------------------------------------- */

static void one_round(struct plain *p, unsigned i)
{
	TARE_SCOPE("plain");
	{
		TARE_SCOPE("plain.inner");
		TARE_VALUE("plain.value", "1", i % 100);
		DONE(p->values, 1);
	}
	DONE(p->inner, 1);
	TARE_COUNT("plain.count", 2);
	DONE(p->counts, 2);
	tare_items(3);
	DONE(p->items, 3);
	if (i % 8 == 0) {
		TARE_SCOPE("plain.failing");
		TARE_ATTR("round", i);
		TARE_FAIL("on purpose");
	}
	if (i % 8 == 0)
		DONE(p->failed, 1);
}

static void *be_busy(void *arg)
{
	unsigned index = (unsigned)(uintptr_t)arg, i = 0;
	struct plain *p = &shared->plain[index];

	if (index == 0)
		set_small_stack();
	while (!READ(shared->stop)) {
		one_round(p, i++);
		DONE(p->outer, 1);
	}
	return NULL;
}

struct first {
	uint32_t there, handled;
};

static __thread struct first *first_self;

static void on_first(int number)
{
	record_in_handler(number);
	if (first_self)
		__atomic_store_n(&first_self->handled, 1, __ATOMIC_RELEASE);
}

/* Records nothing itself. */
static void *be_first(void *arg)
{
	first_self = arg;
	__atomic_store_n(&first_self->there, 1, __ATOMIC_RELEASE);
	while (!READ(first_self->handled))
		(void)usleep(20);
	first_self = NULL;
	return NULL;
}

static void run_first(void)
{
	struct first first = { 0, 0 };
	sigset_t timers, before;
	pthread_t thread;
	unsigned tries;

	/* The timers' signals go to others: its first is ours. */
	(void)sigemptyset(&timers);
	(void)sigaddset(&timers, SIGPROF);
	(void)sigaddset(&timers, SIGALRM);
	(void)pthread_sigmask(SIG_BLOCK, &timers, &before);
	if (pthread_create(&thread, NULL, be_first, &first))
		_exit(98);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (!READ(first.there))
		(void)usleep(20);
	/*
	 * Again and again: the thread sanitizer may drop one. Now and then it
	 * drops all of a new thread, which it leaves with blocked signals:
	 * then that thread ends without one.
	 */
	for (tries = 0; !READ(first.handled); tries++) {
		(void)pthread_kill(thread, SIGUSR2);
		(void)usleep(200);
		if (SCRATCH_TSAN && tries == TSAN_TRIES)
			__atomic_store_n(&first.handled, 1, __ATOMIC_RELEASE);
	}
	(void)pthread_join(thread, NULL);
	add(&shared->first, !SCRATCH_TSAN || tries <= TSAN_TRIES);
}

static void be_stormed(void *arg)
{
	struct sigaction action = { .sa_handler = on_first,
				    .sa_flags = SA_RESTART };
	pthread_t thread[THREADS];
	double until, seconds = SECONDS * scratch_times(10) / 10;
	unsigned i = 0;

	scratch_start(arg);
	strcpy(shared->path, tare_ledger_path());
	set_handlers();
	(void)sigaction(SIGUSR2, &action, NULL);
	for (uintptr_t k = 0; k < THREADS; k++)
		if (pthread_create(&thread[k], NULL, be_busy, (void *)k))
			_exit(98);
	until = scratch_seconds() + seconds;
	while (scratch_seconds() < until) {
		for (unsigned k = 0; k < 32; k++)
			(void)pthread_kill(thread[k % THREADS], SIGUSR1);
		if (i++ < FIRST_THREADS)
			run_first();
		(void)usleep(100);
	}
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	for (unsigned k = 0; k < THREADS; k++)
		(void)pthread_join(thread[k], NULL);
	/* Every handler has returned: none is waiting for a thread. */
	(void)setitimer(ITIMER_PROF, &(struct itimerval){ 0 }, NULL);
	(void)setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
}

/* ---- what the ledger says ---------------------------------------------- */

static struct plain sum_of_plain(void)
{
	struct plain sum = { 0 };

	for (unsigned i = 0; i < THREADS; i++) {
		sum.outer += shared->plain[i].outer;
		sum.inner += shared->plain[i].inner;
		sum.values += shared->plain[i].values;
		sum.counts += shared->plain[i].counts;
		sum.items += shared->plain[i].items;
		sum.failed += shared->plain[i].failed;
	}
	return sum;
}

/* Outside handlers nothing is ever lost. */
static void check_plain(const struct scratch_reading *r)
{
	struct plain sum = sum_of_plain();
	tare_stats outer = scratch_row(r, "plain", TARE_KIND_SCOPE);
	tare_stats failing = scratch_row(r, "plain.failing", TARE_KIND_SCOPE);

	CHECK_INT(outer.count, sum.outer);
	CHECK_INT(outer.items, sum.items);
	CHECK_INT(scratch_row(r, "plain.inner", TARE_KIND_SCOPE).count,
		  sum.inner);
	CHECK_INT(scratch_row(r, "plain.value", TARE_KIND_VALUE).count,
		  sum.values);
	CHECK_INT(scratch_row(r, "plain.count", TARE_KIND_COUNTER).count,
		  sum.counts);
	CHECK_INT(failing.count, sum.failed);
	CHECK_INT(failing.failures, sum.failed);
}

static void check_handled(const struct scratch_reading *r)
{
	const struct handled *h = &shared->handled;
	const tare_health *health = tare_view_health(r->view);
	tare_stats failing = scratch_row(r, "handler.failing",
					 TARE_KIND_SCOPE);
	uint64_t scopes = scratch_row(r, "handler", TARE_KIND_SCOPE).count +
			  scratch_row(r, "handler.inner",
				      TARE_KIND_SCOPE).count +
			  failing.count;
	uint64_t values = scratch_row(r, "handler.value",
				      TARE_KIND_VALUE).count;
	uint64_t counts = scratch_row(r, "handler.count",
				      TARE_KIND_COUNTER).count;

	printf("# %llu signals, %llu in a handler, %llu first events; %llu "
	       "events lost\n",
	       (unsigned long long)h->signals, (unsigned long long)h->nested,
	       (unsigned long long)shared->first,
	       (unsigned long long)health->lost);
	CHECK_INT(scopes + values + counts + health->lost,
		  h->scopes + h->values + h->counts);
	CHECK_INT(health->lost, health->lost_busy);
	/* A failing scope that was lost when it ended is a loss, too. */
	CHECK(failing.failures <= h->failed &&
	      failing.failures + health->lost >= h->failed);
	/*
	 * Lost is the exception: a thread without a track, or a storm. On a
	 * busy machine threads wait for a processor within the library, and
	 * lose the events of all handlers that then interrupt them.
	 */
	CHECK(health->lost <= (h->scopes + h->values + h->counts) / 4);
	CHECK_INT(health->stray_ends + health->repairs, 0);
}

static void run(const char *const *options)
{
	struct scratch_reading r;

	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
	if (scratch_run(be_stormed, (void *)(uintptr_t)options, 200) &&
	    scratch_read(shared->path, &r)) {
		check_plain(&r);
		check_handled(&r);
		scratch_close(&r);
	}
	scratch_unshare(shared, sizeof(*shared));
	scratch_leave();
}

TEST(handlers_record_at_any_instant)
{
	run(NULL);
}

TEST(handlers_record_with_the_slow_clock)
{
	static const char *const options[] = { "clock", "monotonic", NULL };

	run(options);
}

TEST(handlers_record_into_rings_and_last_values)
{
	static const char *const options[] = { "trace", "true", "trace_events",
					       "128", "keep_values", "8",
					       "keep_kinds", "all",
					       NULL };

	run(options);
}

/* ---- SIGBUS that a process sends --------------------------------------- */

enum { BY_KILL, BY_RAISE, BY_QUEUE, BUS_WAYS };

static void send_bus(int way)
{
	union sigval value = { .sival_int = 7 };

	if (way == BY_KILL)
		(void)kill(getpid(), SIGBUS);
	else if (way == BY_RAISE)
		(void)raise(SIGBUS);
	else
		(void)sigqueue(getpid(), SIGBUS, value);
}

static void die_of_bus(void *arg)
{
	(void)signal(SIGBUS, SIG_DFL); /* not a sanitizer's handler */
	scratch_start(NULL);
	send_bus(*(int *)arg);
}

static void ignore_bus(void *arg)
{
	(void)signal(SIGBUS, SIG_IGN);
	scratch_start(NULL);
	send_bus(*(int *)arg);
	send_bus(*(int *)arg);
}

static volatile sig_atomic_t n_bus, bus_value;

static void on_bus(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	n_bus++;
	bus_value = info->si_value.sival_int;
}

/* Installed before the library's own, which passes it on. */
static void handle_bus(void *arg)
{
	struct sigaction action = { .sa_sigaction = on_bus,
				    .sa_flags = SA_SIGINFO };
	int way = *(int *)arg;

	(void)sigaction(SIGBUS, &action, NULL);
	scratch_start(NULL);
	send_bus(way);
	send_bus(way);
	if (n_bus != 2 || (way == BY_QUEUE && bus_value != 7))
		_exit(1);
}

TEST(a_bus_error_that_a_process_sends_is_the_hosts)
{
	(void)scratch_enter();
	for (int way = 0; way < BUS_WAYS; way++) {
		CHECK_INT(scratch_wait(scratch_fork(die_of_bus, &way), 20),
			  SIGBUS);
		CHECK(scratch_run(ignore_bus, &way, 20));
		CHECK(scratch_run(handle_bus, &way, 20));
	}
	scratch_leave();
}
