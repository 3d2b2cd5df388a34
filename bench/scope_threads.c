/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes beside a second measuring thread, and beside a reading process.
 */
#include "scope.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tare/read/view.h>

/* A round of 0.1 ms is often undisturbed on both CPUs at once. */
#define ROUND_SCOPES 2000u
#define ROUNDS 2000u

/* Long enough for two reads, short enough for many phases. */
#define PHASE_NS 25000000u
#define LOOK_NS 10000000
#define PHASES 50u

/* 1000 scopes take 0.03 ms; if longer, another thread had the CPU. */
#define CHUNK_SCOPES 1000u
#define CHUNK_MAX_NS 200000u

static unsigned fewer(unsigned n)
{
	return bench_is_quick() ? n / 10 + 1 : n;
}

/*
 * With the bare pair beside it: if the two CPUs are threads of one core, a pair
 * does not scale either.
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

/* Shared with the reading process. */
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

/*
 * Mean of a scope over a whole phase, including the reads, but without the
 * times in which the thread did not run.
 */
static double phase_ns(void)
{
	uint64_t begin = bench_ns(), from, to, sum = 0, n = 0;

	do {
		from = bench_ns();
		scope_one(CHUNK_SCOPES);
		to = bench_ns();
		if (to - from > CHUNK_MAX_NS)
			continue;
		sum += to - from;
		n += CHUNK_SCOPES;
	} while (to - begin < PHASE_NS);
	return (double)sum / (double)n;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Compares adjacent phases and takes the median of their ratios. Minima over
 * samples would select those between two reads.
 */
static void measure_phases(struct looking *l)
{
	double with[PHASES], ratio[PHASES], without;
	unsigned n = fewer(PHASES);

	for (unsigned i = 0; i < n; i++) {
		without = phase_ns();
		atomic_store(&l->active, true);
		with[i] = phase_ns();
		atomic_store(&l->active, false);
		ratio[i] = with[i] / without;
	}
	if (atomic_load(&l->error))
		bench_fail("tare_view_open",
			   tare_strerror(atomic_load(&l->error)));
	qsort(with, n, sizeof(with[0]), by_size);
	qsort(ratio, n, sizeof(ratio[0]), by_size);
	bench_report("reader_attached", with[n / 2], "ns", ratio[n / 2],
		     "nobody looking");
	bench_report("reader_attached_looks",
		     (double)atomic_load(&l->n_looks) / n, "looks", NAN,
		     NULL);
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
