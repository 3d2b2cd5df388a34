/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program to be built with -finstrument-functions. It counts the calls of
 * its functions itself, and prints "NAME COUNT" of each at its end.
 *
 *	hooked plain|jump|threads|signals|fork|plugin PATH|leave
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

#define FUNCTIONS(X) \
	X(main) X(fib) X(even) X(odd) X(deep) X(leaf) X(small) X(middle) \
	X(thrower) X(catcher) X(around) X(worker) X(quitter) X(handler) \
	X(in_handler) X(child) X(big)

#define ID(name) ID_##name,
enum { FUNCTIONS(ID) N_FUNCTIONS };
#define NAME(name) #name,
static const char *const names[] = { FUNCTIONS(NAME) };

static uint64_t seen[N_FUNCTIONS];
#define SEE(name) \
	(void)__atomic_fetch_add(&seen[ID_##name], 1, __ATOMIC_RELAXED)

static volatile uint64_t sink;

UNSEEN static void print_seen(void)
{
	for (int i = 0; i < N_FUNCTIONS; i++)
		if (seen[i])
			printf("%s %llu\n", names[i],
			       (unsigned long long)seen[i]);
	fflush(stdout);
}

/* ---- calls ------------------------------------------------------------- */

NOINLINE static uint64_t leaf(uint64_t x)
{
	SEE(leaf);
	return x * 3 + 1;
}

/* Inlined, if anything is. */
static inline uint64_t small(uint64_t x)
{
	SEE(small);
	return leaf(x) + 1;
}

NOINLINE static uint64_t middle(uint64_t x)
{
	SEE(middle);
	return small(x) + small(x + 1);
}

NOINLINE static uint64_t fib(unsigned n)
{
	SEE(fib);
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

NOINLINE static int odd(unsigned n);

NOINLINE static int even(unsigned n)
{
	SEE(even);
	return n == 0 ? 1 : odd(n - 1);
}

NOINLINE static int odd(unsigned n)
{
	SEE(odd);
	return n == 0 ? 0 : even(n - 1);
}

NOINLINE static uint64_t deep(unsigned n)
{
	volatile uint64_t x = n;

	SEE(deep);
	return n ? deep(n - 1) + x : 0;
}

/* Its frame is large: the stack goes far down and comes back. */
NOINLINE static uint64_t big(uint64_t x)
{
	volatile char room[2000];

	SEE(big);
	room[x % sizeof(room)] = 1;
	return leaf(x) + (uint64_t)room[x % sizeof(room)];
}

UNSEEN static void plain(void)
{
	for (int i = 0; i < 5000; i++)
		sink += middle((uint64_t)i) + big((uint64_t)i);
	sink += fib(18) + (uint64_t)even(41) + (uint64_t)odd(20);
	for (int i = 0; i < 3; i++)
		sink += deep(1200);
	sink += leaf(1);
}

/* ---- longjmp ----------------------------------------------------------- */

static jmp_buf target;

NOINLINE static void thrower(int depth)
{
	SEE(thrower);
	if (depth)
		thrower(depth - 1);
	else
		longjmp(target, 1);
	sink++;
}

NOINLINE static void catcher(int depth)
{
	SEE(catcher);
	if (setjmp(target) == 0)
		thrower(depth);
	else
		sink += leaf(2);
}

NOINLINE static void around(void)
{
	SEE(around);
	for (volatile int i = 0; i < 500; i++) {
		catcher(i % 7);
		/* And without a function around the setjmp. */
		if (setjmp(target) == 0)
			thrower(i % 3);
		sink += leaf(3);
	}
}

/* ---- threads ----------------------------------------------------------- */

NOINLINE static void quitter(void)
{
	SEE(quitter);
	pthread_exit(NULL);
}

static void *worker(void *arg)
{
	SEE(worker);
	sink += fib(12) + middle((uintptr_t)arg);
	if ((uintptr_t)arg % 2)
		quitter();
	return NULL;
}

UNSEEN static void threads(void)
{
	for (int turn = 0; turn < 10; turn++) {
		pthread_t thread[8];

		for (uintptr_t i = 0; i < 8; i++)
			pthread_create(&thread[i], NULL, worker, (void *)i);
		for (int i = 0; i < 8; i++)
			pthread_join(thread[i], NULL);
	}
}

/* ---- signals ----------------------------------------------------------- */

NOINLINE static void in_handler(void)
{
	SEE(in_handler);
}

static void handler(int number)
{
	SEE(handler);
	(void)number;
	in_handler();
	in_handler();
}

UNSEEN static void signals(int flags)
{
	static char room[65536];
	stack_t other = { .ss_sp = room, .ss_size = sizeof(room) };
	struct sigaction action = { .sa_handler = handler,
				    .sa_flags = SA_RESTART | flags };
	struct itimerval often = { { 0, 500 }, { 0, 500 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };

	sigaltstack(&other, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (__atomic_load_n(&seen[ID_handler], __ATOMIC_RELAXED) < 300)
		sink += middle(sink) + fib(5);
	setitimer(ITIMER_REAL, &never, NULL);
}

/* ---- others ------------------------------------------------------------ */

NOINLINE static void child(void)
{
	SEE(child);
	sink += middle(1);
}

UNSEEN static void forks(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		memset(seen, 0, sizeof(seen));
		child();
		printf("in child\n");
		print_seen();
		exit(0);
	}
	waitpid(pid, NULL, 0);
	sink += leaf(1);
}

/* Twice: the second time it may lie where the first one was. */
UNSEEN static void plugins(const char *path)
{
	for (int i = 0; i < 2; i++) {
		void *plugin = dlopen(path, RTLD_NOW);
		uint64_t (*work)(unsigned) =
			plugin ? (uint64_t(*)(unsigned))dlsym(plugin,
							      "plugin_work") :
				 NULL;

		if (!work)
			exit(3);
		sink += work(1000);
		dlclose(plugin);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "plain";

	SEE(main);
	if (strcmp(what, "plain") == 0)
		plain();
	else if (strcmp(what, "jump") == 0)
		around();
	else if (strcmp(what, "threads") == 0)
		threads();
	else if (strcmp(what, "signals") == 0)
		signals(0);
	else if (strcmp(what, "stack") == 0)
		signals(SA_ONSTACK);
	else if (strcmp(what, "fork") == 0)
		forks();
	else if (strcmp(what, "plugin") == 0 && argc > 2)
		plugins(argv[2]);
	print_seen();
	if (strcmp(what, "leave") == 0)
		_exit(7);
	return 0;
}
