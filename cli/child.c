/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/platform.h"

static const int handed_on[] = { SIGINT,  SIGQUIT, SIGTERM,
				 SIGHUP,  SIGUSR1, SIGUSR2 };

#define N_HANDED_ON (sizeof(handed_on) / sizeof(handed_on[0]))

/* For the signal handler. Set and cleared while the signals are blocked. */
static volatile pid_t running;

/* The previous signal state, to be restored. */
struct signals {
	struct sigaction action[N_HANDED_ON];
	sigset_t mask;
};

static void hand_on(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	/* si_code > 0: from the kernel, that is the terminal; see child.h. */
	if (running > 0 && info->si_code <= 0)
		(void)kill(running, number);
	errno = saved;
}

static void block_signals(sigset_t *ret_before)
{
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < N_HANDED_ON; i++)
		(void)sigaddset(&set, handed_on[i]);
	(void)sigprocmask(SIG_BLOCK, &set, ret_before);
}

static void catch_signals(struct signals *before)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };

	action.sa_sigaction = hand_on;
	for (size_t i = 0; i < N_HANDED_ON; i++) {
		(void)sigaction(handed_on[i], NULL, &before->action[i]);
		/* Ignored under nohup and for background jobs. */
		if (before->action[i].sa_handler != SIG_IGN)
			(void)sigaction(handed_on[i], &action, NULL);
	}
}

static void restore_signals(const struct signals *before)
{
	for (size_t i = 0; i < N_HANDED_ON; i++)
		(void)sigaction(handed_on[i], &before->action[i], NULL);
	(void)sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

/* In the child process: executes the program, or reports the error. */
static void become(char **argv, const struct signals *before, int error_fd)
{
	ssize_t sent;
	int error;

	restore_signals(before);
	(void)execvp(argv[0], argv);
	error = errno;
	sent = write(error_fd, &error, sizeof(error));
	_exit(sent == sizeof(error) ? 127 : 126);
}

/* The errno that the child wrote to the pipe, or 0 if exec closed it. */
static int exec_error(int fd)
{
	int error = 0;
	ssize_t n;

	do
		n = read(fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(error) ? error : 0;
}

/*
 * Of the first thread of a process that has ended and is not yet waited for:
 * time with a processor, and ready without one. 0 if this kernel does not tell.
 */
static void read_times(struct child *child)
{
	char path[48], text[96], *end;
	int64_t n;

	(void)snprintf(path, sizeof(path), "/proc/%ld/schedstat",
		       (long)child->pid);
	n = tr_file_read(path, text, sizeof(text) - 1);
	if (n <= 0)
		return;
	text[n] = '\0';
	child->ran_ns = strtoull(text, &end, 10);
	child->queued_ns = strtoull(end, NULL, 10);
}

static void wait_for(struct child *child)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT) < 0 &&
	       errno == EINTR)
		;
	read_times(child);
	while (wait4(child->pid, &child->status, 0, &child->usage) < 0 &&
	       errno == EINTR)
		;
}

/* Signals are blocked around the fork, until `running` is set. */
static int start(char **argv, const struct signals *before,
		 struct child *child)
{
	int fd[2], error;

	if (pipe2(fd, O_CLOEXEC) != 0)
		return errno;
	child->pid = fork();
	if (child->pid == 0)
		become(argv, before, fd[1]);
	error = child->pid < 0 ? errno : 0;
	(void)close(fd[1]);
	if (!error) {
		running = child->pid;
		(void)sigprocmask(SIG_SETMASK, &before->mask, NULL);
		error = exec_error(fd[0]);
		if (error)
			wait_for(child);
	}
	(void)close(fd[0]);
	return error;
}

int child_run(char **argv, struct child *ret_child)
{
	struct child child = { .pid = -1 };
	struct signals before;
	int64_t start_ns;
	int error;

	(void)fflush(NULL); /* else the child would print it again */
	block_signals(&before.mask);
	catch_signals(&before);
	start_ns = tr_monotonic_ns();
	error = start(argv, &before, &child);
	if (!error)
		wait_for(&child);
	child.wall_ns = (uint64_t)(tr_monotonic_ns() - start_ns);
	running = 0;
	restore_signals(&before);
	if (!error)
		*ret_child = child;
	return error;
}

int child_code(const struct child *child)
{
	if (WIFSIGNALED(child->status))
		return 128 + WTERMSIG(child->status);
	return WEXITSTATUS(child->status);
}

void child_die_alike(const struct child *child)
{
	struct rlimit no_core = { 0, 0 };
	sigset_t set;
	int number;

	if (!WIFSIGNALED(child->status))
		return;
	number = WTERMSIG(child->status);
	(void)fflush(NULL);
	/* The program writes the core file; this process writes none. */
	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)signal(number, SIG_DFL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, number);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(number);
}
