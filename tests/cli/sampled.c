/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without probes that does, with signals, threads, processes and
 * descriptors, what programs do. Its first argument says what. It prints the
 * CPU time that it used, in ms, and "wrong" where something is not as it is
 * without `tare run`.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile uint64_t sink;
static volatile sig_atomic_t n_prof, n_urgent;

/* Each is a copy, so that its time is its own. */
#define TURN(n) \
	do { \
		uint64_t x_ = sink; \
		for (int i_ = 0; i_ < (n); i_++) \
			x_ = x_ * 6364136223846793005u + 1442695040888963407u; \
		sink = x_; \
	} while (0)

static double cpu_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static NOINLINE void spin(double ms)
{
	double end = cpu_ms() + ms;

	do
		TURN(20000);
	while (cpu_ms() < end);
}

/* Shares that are known: 60, 30 and 10 of a hundred. */
static NOINLINE void share_large(void)
{
	TURN(60000);
}

static NOINLINE void share_middle(void)
{
	TURN(30000);
}

static NOINLINE void share_small(void)
{
	TURN(10000);
}

static void shares(double ms)
{
	double end = cpu_ms() + ms;

	while (cpu_ms() < end)
		for (int i = 0; i < 10; i++) {
			share_large();
			share_middle();
			share_small();
		}
}

static void wrong(const char *what)
{
	printf("wrong: %s\n", what);
}

static void *spin_thread(void *arg)
{
	spin(*(double *)arg);
	return NULL;
}

static void spin_threads(int n, double ms)
{
	pthread_t *thread = calloc((size_t)n, sizeof(*thread));
	pthread_attr_t attr;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, 64 * 1024);
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], &attr, spin_thread, &ms)) {
			wrong("pthread_create");
			exit(1);
		}
	for (int i = 0; i < n; i++)
		(void)pthread_join(thread[i], NULL);
	free(thread);
}

/* ---- signals ----------------------------------------------------------- */

static void on_prof(int number)
{
	(void)number;
	n_prof++;
}

static void on_urgent(int number)
{
	(void)number;
	n_urgent++;
}

static void block_all(double ms)
{
	sigset_t all, now;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	(void)sigprocmask(SIG_BLOCK, NULL, &now);
	if (sigismember(&now, SIGTERM) != 1 || sigismember(&now, SIGPROF) != 1)
		wrong("the mask");
	spin(ms / 2);
	spin_threads(1, ms / 2);
}

static void use_prof(double ms)
{
	struct itimerval every = { { 0, 10000 }, { 0, 10000 } };
	struct sigaction action = { .sa_handler = on_prof }, before;

	(void)sigaction(SIGPROF, &action, &before);
	if (before.sa_handler != SIG_DFL)
		wrong("SIGPROF was not free");
	(void)setitimer(ITIMER_PROF, &every, NULL);
	spin(ms);
	memset(&every, 0, sizeof(every));
	(void)setitimer(ITIMER_PROF, &every, NULL);
	if (n_prof < ms / 40)
		wrong("too few of its own signals");
}

/* All actions are reset, as servers do; then one's own SIGURG. */
static void use_urgent(double ms)
{
	struct sigaction action = { .sa_handler = on_urgent }, before;

	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	spin(ms / 2);
	(void)sigaction(SIGURG, &action, &before);
	if (before.sa_handler != SIG_DFL)
		wrong("SIGURG was not free");
	spin(ms / 2);
	if (n_urgent)
		wrong("a signal that nobody sent");
	(void)kill(getpid(), SIGURG);
	if (n_urgent != 1)
		wrong("a signal that came not once");
	(void)sigaction(SIGURG, NULL, &before);
	if (before.sa_handler != on_urgent)
		wrong("the action that was set");
}

static void *wait_thread(void *arg)
{
	sigset_t all;
	int number = 0;

	(void)arg;
	(void)sigfillset(&all);
	if (sigwait(&all, &number) || number != SIGUSR1)
		wrong("sigwait");
	return NULL;
}

static void wait_all(double ms)
{
	pthread_t thread;
	sigset_t all;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	(void)pthread_create(&thread, NULL, wait_thread, NULL);
	spin(ms);
	(void)pthread_kill(thread, SIGUSR1);
	(void)pthread_join(thread, NULL);
}

/* ---- waiting for signals: each must end the wait it comes in ----------- */

static volatile sig_atomic_t n_told;

static void on_told(int number)
{
	(void)number;
	n_told++;
}

/* Sends the signal some time after each byte that comes. */
static pid_t begin_teller(int number, int from, int other)
{
	pid_t whom = getpid(), pid = fork();
	char byte;

	if (pid)
		return pid;
	(void)close(other);
	for (useconds_t us = 3000; read(from, &byte, 1) == 1;
	     us = us % 7000 + 911) {
		(void)usleep(us);
		(void)kill(whom, number);
	}
	_exit(0);
}

static int wait_somehow(int how, const sigset_t *mask)
{
	struct timespec most = { 2, 0 }, ages = { LONG_MAX, 0 };
	struct pollfd none = { .fd = -1 };

	switch (how) {
	case 0:
		return ppoll(NULL, 0, &most, mask);
	case 1:
		return pselect(0, NULL, NULL, NULL, &most, mask);
	case 2:
		return sigsuspend(mask);
	case 3:
		return pause();
	case 4: /* that the set is empty does not matter */
		return sigtimedwait(mask, NULL, &most);
	case 5:
		return ppoll(NULL, 0, &ages, mask);
	default:
		return poll(&none, 1, 2000);
	}
}

/* How many of them were handled and did not end the wait. */
static int count_unheard(int number, int how)
{
	sigset_t open;
	int pipes[2], unheard = 0;
	pid_t teller;

	(void)sigemptyset(&open);
	(void)signal(number, on_told);
	if (pipe(pipes))
		return 1;
	teller = begin_teller(number, pipes[0], pipes[1]);
	for (int i = 0; i < 60; i++) {
		int before = n_told;

		if (write(pipes[1], "x", 1) != 1)
			wrong("write");
		unheard += !wait_somehow(how, &open);
		while (n_told == before)
			(void)wait_somehow(how, &open);
	}
	(void)close(pipes[1]);
	(void)close(pipes[0]);
	(void)waitpid(teller, NULL, 0);
	return unheard;
}

/* Signals at intervals: nothing else ends a wait. */
static void wait_for_alarms(int how)
{
	struct itimerval every = { { 0, 20000 }, { 0, 20000 } };
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGALRM);
	(void)signal(SIGALRM, on_told);
	(void)setitimer(ITIMER_REAL, &every, NULL);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)sigemptyset(&set);
	for (int i = 0; i < 5; i++) {
		int before = n_told;

		if (wait_somehow(how, &set) >= 0 || n_told == before)
			wrong("a wait that nobody ended");
	}
	memset(&every, 0, sizeof(every));
	(void)setitimer(ITIMER_REAL, &every, NULL);
}

/* 0.8 of a second are left: no whole one. */
static void sleep_until_alarm(void)
{
	struct itimerval once = { { 0, 0 }, { 0, 200000 } };

	(void)signal(SIGALRM, on_told);
	(void)setitimer(ITIMER_REAL, &once, NULL);
	if (sleep(1) != 0)
		wrong("seconds that were left of a sleep");
}

/*
 * With more to run than there are processors, so that signals pile up. One
 * in some hundred may be taken for ended by a sample: the thread is stopped
 * between the end of its handler and that of the call, and a sample comes.
 */
static void use_waits(double ms)
{
	pthread_t busy[4];
	sigset_t all;
	int unheard = 0;

	(void)sigfillset(&all); /* none for the others */
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; i < 4; i++)
		(void)pthread_create(&busy[i], NULL, spin_thread, &ms);
	for (int how = 0; how < 2; how++)
		unheard += count_unheard(SIGUSR1, how) +
			   count_unheard(SIGWINCH, how);
	if (unheard > 6)
		wrong("signals that did not end the wait");
	for (int i = 0; i < 4; i++)
		(void)pthread_join(busy[i], NULL);
	for (int how = 0; how < 7; how++)
		wait_for_alarms(how);
	sleep_until_alarm();
}

/*
 * Handlers on a stack as small as run-time systems make them, with nothing
 * below; and a thread with the least there can be.
 */
#define SMALL 8192u

static void use_small_stacks(double ms)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, page + SMALL, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = memory + page, .ss_size = SMALL };
	pthread_attr_t attr;
	pthread_t thread;

	if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) ||
	    sigaltstack(&stack, NULL))
		wrong("a small stack");
	spin(ms);
	(void)sigaltstack(NULL, &stack);
	if (stack.ss_sp != memory + page || stack.ss_flags)
		wrong("its signal stack is another");
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN);
	if (pthread_create(&thread, &attr, spin_thread, &ms) ||
	    pthread_join(thread, NULL))
		wrong("a small thread");
}

/* ---- threads that end in other ways ------------------------------------ */

static void *exit_thread(void *arg)
{
	spin(*(double *)arg);
	pthread_exit(arg);
}

static void *cancelled_thread(void *arg)
{
	spin(*(double *)arg);
	for (;;)
		(void)pause();
	return NULL;
}

static void end_threads(double ms)
{
	pthread_t one, two;
	void *result;

	ms /= 2;
	(void)pthread_create(&one, NULL, exit_thread, &ms);
	(void)pthread_create(&two, NULL, cancelled_thread, &ms);
	(void)pthread_join(one, &result);
	if (result != &ms)
		wrong("pthread_exit");
	(void)pthread_cancel(two);
	(void)pthread_join(two, &result);
	if (result != PTHREAD_CANCELED)
		wrong("pthread_cancel");
}

/* One that libc knows nothing of: no call of libc in it. */
static int bare_thread(void *arg)
{
	uint64_t x = 1, n = *(uint64_t *)arg;

	for (uint64_t i = 0; i < n; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	*(volatile uint64_t *)arg = x ? 0 : 1;
	return 0;
}

static void use_clone(double ms)
{
	static char stack[65536] __attribute__((aligned(64)));
	static uint64_t n;
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
		    CLONE_THREAD | CLONE_SYSVSEM;

	n = (uint64_t)(ms * 500000);
	if (clone(bare_thread, stack + sizeof(stack), flags, &n) < 0)
		wrong("clone");
	while (__atomic_load_n(&n, __ATOMIC_ACQUIRE))
		spin(5);
	usleep(20000);
}

/* ---- processes --------------------------------------------------------- */

static void wait_for(pid_t pid, int wanted)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != wanted)
		wrong("the child's status");
}

static void use_fork(double ms, bool is_quick)
{
	pid_t pid = fork();

	if (pid == 0) {
		spin(ms);
		if (is_quick)
			_exit(7);
		exit(7);
	}
	wait_for(pid, 7);
}

static void use_exec(char **argv, char *ms, bool by_vfork)
{
	char *again[] = { argv[0], (char *)"spin", ms, NULL };
	pid_t pid = by_vfork ? vfork() : fork();

	if (pid == 0) {
		(void)execv("/proc/self/exe", again);
		_exit(127);
	}
	wait_for(pid, 0);
}

/* ---- a sandbox: any call but a few ends the process -------------------- */

#define ALLOW(number) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int set_filter(const struct sock_fprog *program, int way)
{
	if (way == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program);
	if (way == 1)
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
				    program);
	return (int)syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
			    program);
}

static void confine_itself(double ms, int way)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_write),
		ALLOW(SYS_exit_group),
		ALLOW(SYS_rt_sigreturn),
		ALLOW(SYS_clock_gettime),
		ALLOW(SYS_getrusage),
		ALLOW(SYS_newfstatat),
		ALLOW(SYS_brk),
		ALLOW(SYS_lseek),
		ALLOW(SYS_ioctl),
		ALLOW(SYS_getrandom),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter,
	};

	spin(ms);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    set_filter(&program, way))
		wrong("seccomp");
	spin(ms);
}

/* ---- descriptors ------------------------------------------------------- */

static void use_descriptors(double ms)
{
	int fd = open("/dev/null", O_RDONLY);

	if (fd != 3)
		wrong("the first descriptor is not 3");
	for (int i = 3; i < 4096; i++)
		(void)close(i);
	fd = open("/dev/null", O_RDONLY);
	if (fd != 3)
		wrong("the first descriptor after all are closed");
	spin(ms);
	if (fcntl(fd, F_GETFD) < 0)
		wrong("somebody closed it");
}

static void run_as_daemon(double ms)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)setsid();
		for (int i = 3; i < 4096; i++)
			(void)close(i);
		spin(ms);
		exit(0);
	}
	wait_for(pid, 0);
}

/* ---- all of them ------------------------------------------------------- */

static void do_it(char **argv, double ms, int n)
{
	const char *what = argv[1];

	if (strcmp(what, "shares") == 0)
		shares(ms);
	else if (strcmp(what, "threads") == 0)
		spin_threads(n, ms);
	else if (strcmp(what, "block") == 0)
		block_all(ms);
	else if (strcmp(what, "prof") == 0)
		use_prof(ms);
	else if (strcmp(what, "urgent") == 0)
		use_urgent(ms);
	else if (strcmp(what, "waits") == 0)
		use_waits(ms);
	else if (strcmp(what, "confined") == 0)
		confine_itself(ms, n);
	else if (strcmp(what, "small") == 0)
		use_small_stacks(ms);
	else if (strcmp(what, "sigwait") == 0)
		wait_all(ms);
	else if (strcmp(what, "ends") == 0)
		end_threads(ms);
	else if (strcmp(what, "clone") == 0)
		use_clone(ms);
	else if (strcmp(what, "fork") == 0)
		use_fork(ms, n);
	else if (strcmp(what, "spawn") == 0)
		use_exec(argv, argv[2], n);
	else if (strcmp(what, "descriptors") == 0)
		use_descriptors(ms);
	else if (strcmp(what, "daemon") == 0)
		run_as_daemon(ms);
	else if (strcmp(what, "sleep") == 0)
		(void)usleep((useconds_t)(ms * 1000));
	else
		spin(ms);
}

int main(int argc, char **argv)
{
	double ms = argc > 2 ? atof(argv[2]) : 100;
	int n = argc > 3 ? atoi(argv[3]) : 0;
	struct rusage used;

	if (argc < 2)
		return 2;
	do_it(argv, ms, n);
	(void)getrusage(RUSAGE_SELF, &used);
	printf("%.1f\n",
	       (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
		       (double)(used.ru_utime.tv_usec +
				used.ru_stime.tv_usec) / 1e3);
	(void)fflush(stdout);
	if (strcmp(argv[1], "quick") == 0)
		_exit(6);
	if (strcmp(argv[1], "die") == 0)
		(void)raise(n);
	if (strcmp(argv[1], "exec") == 0)
		(void)execl("/proc/self/exe", argv[0], "spin", argv[2], NULL);
	return 0;
}
