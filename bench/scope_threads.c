/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Company: a second thread that measures, a second process that looks.
 */
#include "scope.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tare/view.h>

/* A round of 0.1 ms is often undisturbed on both CPUs at once. */
#define ROUND_SCOPES 2000u
#define ROUNDS 2000u

/* Long enough for several looks, short enough for many phases. */
#define PHASE_NS 45000000u
#define LOOK_NS 10000000
#define PHASES 20u

static unsigned fewer(unsigned n)
{
	return bench_is_quick() ? n / 10 + 1 : n;
}

/*
 * The bare pair beside it: where two CPUs are threads of one core, a pair
 * does not scale either, and no measuring could.
 */
void scope_two_threads_part(void)
{
	struct bench_threads scope, pair;

	if (bench_cpus() < 2)
		return;
	scope = bench_two_threads(scope_one, scope_one, ROUND_SCOPES,
				  fewer(ROUNDS));
	pair = bench_two_threads(bench_pair, bench_pair, ROUND_SCOPES,
				 fewer(ROUNDS));
	bench_report("two_threads", 2 * scope.one_ns / scope.two_ns, "x",
		     scope.one_ns / scope.two_ns * pair.two_ns / pair.one_ns,
		     "two threads of " BENCH_PAIR "s");
	bench_report("two_threads_pair", 2 * pair.one_ns / pair.two_ns, "x",
		     NAN, NULL);
}

/* Shared with the process that looks. */
struct looking {
	_Atomic bool active;
	_Atomic unsigned n_looks;
	_Atomic int error;
};

static void look(struct looking *l, const char *which)
{
	tare_view *view;
	int err = tare_view_open(which, &view);

	if (err) {
		atomic_store(&l->error, err);
		return;
	}
	tare_view_close(view);
	atomic_fetch_add(&l->n_looks, 1);
}

static void look_for_ever(struct looking *l, pid_t pid)
{
	struct timespec pause = { .tv_nsec = LOOK_NS };
	char which[16];

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	bench_pin(1);
	(void)snprintf(which, sizeof(which), "%d", (int)pid);
	for (;;) {
		if (atomic_load(&l->active))
			look(l, which);
		(void)nanosleep(&pause, NULL);
	}
}

/* Mean of a scope over a whole phase, looks and all. */
static double phase_ns(void)
{
	uint64_t from = bench_ns(), now, n = 0;

	do {
		scope_one(1000);
		n += 1000;
		now = bench_ns();
	} while (now - from < PHASE_NS);
	return (double)(now - from) / (double)n;
}

/*
 * Minima over phases, not over samples: a minimum over samples would choose
 * the ones between two looks.
 */
static void measure_phases(struct looking *l)
{
	double with = INFINITY, without = INFINITY;
	unsigned looks, least = ~0u;

	for (unsigned i = 0; i < fewer(PHASES); i++) {
		without = fmin(without, phase_ns());
		atomic_store(&l->active, true);
		looks = atomic_load(&l->n_looks);
		with = fmin(with, phase_ns());
		looks = atomic_load(&l->n_looks) - looks;
		atomic_store(&l->active, false);
		least = looks < least ? looks : least;
	}
	if (atomic_load(&l->error))
		bench_fail("tare_view_open",
			   tare_strerror(atomic_load(&l->error)));
	bench_report("reader_attached", with, "ns", with / without,
		     "nobody looking");
	bench_report("reader_attached_looks", least, "looks", NAN, NULL);
}

void scope_reader_part(void)
{
	struct looking *l;
	pid_t self = getpid(), pid;

	if (bench_cpus() < 2)
		return;
	l = mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l == MAP_FAILED)
		bench_fail("reader_attached", "no memory");
	scope_one(1000);
	pid = fork();
	if (!pid)
		look_for_ever(l, self);
	measure_phases(l);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}
