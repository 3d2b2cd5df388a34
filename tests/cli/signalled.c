/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that does with every signal what programs do, and prints what it
 * sees: the same with and without `tare run`, whatever signal the samples
 * come by. In between it uses CPU time, so that samples come.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
static volatile sig_atomic_t n_handled, last_handled, last_value;

static void spin(double ms)
{
	struct timespec now;
	double end = 0;

	do {
		for (int i = 0; i < 20000; i++)
			sink = sink * 3 + 1;
		(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		if (end == 0)
			end = (double)now.tv_sec * 1e3 +
			      (double)now.tv_nsec / 1e6 + ms;
	} while ((double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 < end);
}

/* Those that a program may have to itself. */
static bool is_usable(int number)
{
	return number != SIGKILL && number != SIGSTOP && number != 32 &&
	       number != 33;
}

#define EACH(number) \
	for (int number = 1; number <= 64; number++) \
		if (is_usable(number))

static sigset_t only(int number)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, number);
	return set;
}

static sigset_t all(void)
{
	sigset_t set;

	(void)sigfillset(&set);
	return set;
}

static void print_set(const char *what, const sigset_t *set)
{
	printf("%s:", what);
	EACH(number)
		if (sigismember(set, number) == 1)
			printf(" %d", number);
	printf("\n");
	(void)fflush(stdout);
}

static void print_mask(const char *what)
{
	sigset_t now;

	(void)sigprocmask(SIG_BLOCK, NULL, &now);
	print_set(what, &now);
	(void)syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, 8);
	print_set(what, &now);
}

/* ---- what the kernel says of a child ----------------------------------- */

static char *const show[] = { (char *)"grep", (char *)"-E",
			      (char *)"^Sig(Pnd|Blk|Ign)",
			      (char *)"/proc/self/status", NULL };
static char *const no_environment[] = { NULL };

enum { BY_FORK, BY_VFORK, BY_SPAWN, BY_SYSTEM, CHILD_WAYS };

static void show_child(const char *what, int way)
{
	pid_t pid = 0;

	printf("child of %s, way %d\n", what, way);
	(void)fflush(stdout);
	if (way == BY_SPAWN) {
		(void)posix_spawn(&pid, "/bin/grep", NULL, NULL, show,
				  no_environment);
	} else if (way == BY_SYSTEM) {
		(void)!system("env -i grep -E '^Sig(Pnd|Blk|Ign)' "
			      "/proc/self/status");
	} else {
		pid = way == BY_FORK ? fork() : vfork();
		if (pid == 0) {
			(void)execve("/bin/grep", show, no_environment);
			_exit(127);
		}
	}
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
}

/* ---- masks ------------------------------------------------------------- */

static void *show_thread(void *arg)
{
	(void)arg;
	print_mask("of a thread");
	return NULL;
}

static void use_masks(void)
{
	sigset_t every = all(), none, before;
	pthread_t thread;

	(void)sigemptyset(&none);
	print_mask("at first");
	(void)sigprocmask(SIG_BLOCK, &every, &before);
	print_set("before", &before);
	spin(20);
	print_mask("all");
	(void)pthread_create(&thread, NULL, show_thread, NULL);
	(void)pthread_join(thread, NULL);
	for (int way = 0; way < CHILD_WAYS; way++)
		show_child("one that blocks all", way);
	(void)pthread_sigmask(SIG_SETMASK, &none, &before);
	print_set("before", &before);
	print_mask("none");
	EACH(number) {
		sigset_t one = only(number);

		(void)sigprocmask(SIG_SETMASK, &one, NULL);
		print_mask("one");
		(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
		print_mask("unblocked");
	}
	show_child("one that blocks none", BY_FORK);
}

/* ---- actions ----------------------------------------------------------- */

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	n_handled++;
	last_handled = number;
	last_value = info->si_code == SI_QUEUE ? info->si_value.sival_int :
						 -1;
}

static void on_plain(int number)
{
	n_handled++;
	last_handled = number;
}

static void use_actions(void)
{
	struct sigaction mine = { .sa_sigaction = on_signal,
				  .sa_flags = SA_SIGINFO }, before;

	EACH(number) {
		union sigval value = { .sival_int = number * 10 };

		if (number == SIGBUS)
			continue; /* tare's own guard stands there */
		(void)sigaction(number, NULL, &before);
		printf("%d was %d", number, before.sa_handler == SIG_DFL);
		(void)sigaction(number, &mine, NULL);
		(void)raise(number);
		(void)sigqueue(getpid(), number, value);
		printf(", %d handled, the last %d with %d", n_handled,
		       last_handled, last_value);
		(void)sigaction(number, NULL, &before);
		printf(", mine %d", before.sa_sigaction == on_signal);
		printf(", mine %d", (uintptr_t)signal(number, on_plain) ==
					    (uintptr_t)on_signal);
		(void)raise(number);
		printf(", %d handled", n_handled);
		(void)signal(number, SIG_IGN);
		(void)raise(number);
		printf(", %d handled\n", n_handled);
		spin(2);
	}
	(void)fflush(stdout);
	for (int way = 0; way < CHILD_WAYS; way++)
		show_child("one that ignores all", way);
	EACH(number)
		(void)signal(number, SIG_DFL);
	for (int way = 0; way < CHILD_WAYS; way++)
		show_child("one that resets all", way);
	spin(20);
}

static void use_defaults(void)
{
	EACH(number) {
		int status = 0;
		pid_t pid;

		if (number == SIGTSTP || number == SIGTTIN ||
		    number == SIGTTOU)
			continue;
		(void)fflush(stdout);
		pid = fork();
		if (pid == 0) {
			struct rlimit no_core = { 0, 0 };

			(void)setrlimit(RLIMIT_CORE, &no_core);
			spin(6);
			(void)raise(number);
			_exit(3);
		}
		(void)waitpid(pid, &status, 0);
		printf("default of %d: exit %d signal %d\n", number,
		       WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		       WIFSIGNALED(status) ? WTERMSIG(status) : -1);
	}
}

/* ---- waiting ----------------------------------------------------------- */

static void wait_one(int number, const sigset_t *set)
{
	struct timespec most = { 20, 0 }, at_once = { 0, 0 };
	siginfo_t info;
	sigset_t pending;
	int got = 0;

	(void)kill(getpid(), number);
	(void)sigpending(&pending);
	printf("%d pending %d", number, sigismember(&pending, number));
	spin(2);
	printf(", sigwait %d", sigwait(set, &got));
	printf(" gives %d", got);
	(void)kill(getpid(), number);
	got = sigtimedwait(set, &info, &most);
	printf(", sigtimedwait gives %d from %d", got,
	       got > 0 && info.si_pid == getpid());
	got = sigtimedwait(set, &info, &at_once);
	printf(", then %d\n", got);
}

static void use_waits(void)
{
	sigset_t every = all();

	EACH(number) {
		sigset_t one = only(number);

		(void)sigprocmask(SIG_BLOCK, &one, NULL);
		wait_one(number, &one);
		(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
	}
	(void)sigprocmask(SIG_BLOCK, &every, NULL);
	spin(20);
	EACH(number)
		wait_one(number, &every);
	(void)sigprocmask(SIG_UNBLOCK, &every, NULL);
}

/* One thread waits for all, as servers do; another gets none. */
static void *wait_for_all(void *arg)
{
	sigset_t every = all();
	int got = 0;

	(void)arg;
	EACH(number) {
		(void)sigwait(&every, &got);
		printf("the waiting thread has %d\n", got);
		if (got == SIGUSR2)
			return NULL;
		(void)kill(getpid(), got + 1 <= 64 && is_usable(got + 1) ?
					     got + 1 :
					     SIGUSR2);
	}
	return NULL;
}

static void use_thread(int first)
{
	sigset_t every = all();
	pthread_t thread;

	(void)sigprocmask(SIG_BLOCK, &every, NULL);
	(void)pthread_create(&thread, NULL, wait_for_all, NULL);
	spin(20);
	(void)kill(getpid(), first);
	(void)pthread_join(thread, NULL);
	(void)sigprocmask(SIG_UNBLOCK, &every, NULL);
}

static void use_descriptors(void)
{
	EACH(number) {
		sigset_t one = only(number);
		struct signalfd_siginfo info = { 0 };
		struct pollfd ready;
		int fd;

		(void)sigprocmask(SIG_BLOCK, &one, NULL);
		fd = signalfd(-1, &one, SFD_NONBLOCK);
		ready = (struct pollfd){ .fd = fd, .events = POLLIN };
		spin(2);
		printf("%d ready %d", number, poll(&ready, 1, 0));
		(void)kill(getpid(), number);
		printf(", %d", poll(&ready, 1, 20000));
		printf(", read %d", (int)read(fd, &info, sizeof(info)));
		printf(" is %d\n", (int)info.ssi_signo);
		(void)close(fd);
		(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
	}
}

int main(void)
{
	spin(20);
	use_masks();
	use_waits();
	use_thread(34);
	use_thread(10);
	use_descriptors();
	use_defaults();
	use_actions();
	print_mask("at last");
	return 0;
}
