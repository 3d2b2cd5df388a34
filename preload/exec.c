/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec: the program in this process ends here, and its ledger is closed, as at
 * _exit(). If the new program cannot be run, the old one continues, and so
 * does its ledger.
 *
 * All of these may run in signal handlers and in children of vfork(): no
 * memory but the stack. Such a child does not own the ledger.
 */
#include "preload.h"
#include "record/sampler.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


/* ---- what is inherited ------------------------------------------------- */

static void set_blocked(int number, int how)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, number);
	(void)pthread_sigmask(how, &set, NULL);
}

/* The new program inherits the host's settings, not ours in their place. */
void preload_before_exec(struct preload_exec *exec, bool is_in_place)
{
	memset(exec, 0, sizeof(*exec));
	exec->was_closed = is_in_place && preload_close();
	if (preload_is_confined)
		return;
	if (is_in_place)
		tr_sampler_hold(true);
	exec->blocked = tr_sampler_blocked();
	if (exec->blocked)
		set_blocked(exec->blocked, SIG_BLOCK);
	exec->ignored = tr_sampler_before_exec();
}

void preload_after_exec(const struct preload_exec *exec, bool is_in_place)
{
	int saved = errno;

	tr_sampler_after_exec(exec->ignored);
	if (exec->blocked)
		set_blocked(exec->blocked, SIG_UNBLOCK);
	if (is_in_place) {
		if (!preload_is_confined)
			tr_sampler_hold(false);
		preload_go_on(exec->was_closed);
	}
	errno = saved;
}

/* ---- in place of this program ------------------------------------------ */

static int run_path(const char *path, char *const argv[], char *const envp[])
{
	char *const *fit = PRELOAD_ENVIRONMENT(path, envp, true);
	struct preload_exec exec;
	int result;

	preload_before_exec(&exec, true);
	result = PRELOAD_NEXT(execve)(path, argv, fit);
	preload_after_exec(&exec, true);
	return result;
}

static int run_found(const char *file, char *const argv[], char *const envp[])
{
	const char *path = file && strchr(file, '/') ? file : NULL;
	char *const *fit = PRELOAD_ENVIRONMENT(path, envp, true);
	struct preload_exec exec;
	int result;

	preload_before_exec(&exec, true);
	result = PRELOAD_NEXT(execvpe)(file, argv, fit);
	preload_after_exec(&exec, true);
	return result;
}

PRELOAD_API int execve(const char *path, char *const argv[],
		       char *const envp[])
{
	return run_path(path, argv, envp);
}

PRELOAD_API int execv(const char *path, char *const argv[])
{
	return run_path(path, argv, environ);
}

PRELOAD_API int execvp(const char *file, char *const argv[])
{
	return run_found(file, argv, environ);
}

PRELOAD_API int execvpe(const char *file, char *const argv[],
			char *const envp[])
{
	return run_found(file, argv, envp);
}

PRELOAD_API int fexecve(int fd, char *const argv[], char *const envp[])
{
	char *const *fit = PRELOAD_ENVIRONMENT(NULL, envp, true);
	struct preload_exec exec;
	int result;

	preload_before_exec(&exec, true);
	result = PRELOAD_NEXT(fexecve)(fd, argv, fit);
	preload_after_exec(&exec, true);
	return result;
}

#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
PRELOAD_API int execveat(int fd, const char *path, char *const argv[],
			 char *const envp[], int flags)
{
	char *const *fit = PRELOAD_ENVIRONMENT(NULL, envp, true);
	struct preload_exec exec;
	int result;

	preload_before_exec(&exec, true);
	result = PRELOAD_NEXT(execveat)(fd, path, argv, fit, flags);
	preload_after_exec(&exec, true);
	return result;
}
#endif
#endif

/* ---- those with a list of arguments ------------------------------------ */

/* Number of arguments, with the NULL at their end. */
static size_t count_args(const char *arg, va_list list)
{
	size_t n = 1;

	for (; arg; arg = va_arg(list, const char *))
		n++;
	return n;
}

/* Copies the arguments to `argv`; `list` is then after the NULL. */
#define TAKE_ARGS(arg, list, argv) \
	va_start(list, arg); \
	size_t n_ = count_args(arg, list); \
	va_end(list); \
	char **argv = __builtin_alloca(n_ * sizeof(*argv)); \
	va_start(list, arg); \
	argv[0] = (char *)(uintptr_t)(arg); \
	for (size_t i_ = 1; i_ < n_; i_++) \
		argv[i_] = va_arg(list, char *)

PRELOAD_API int execl(const char *path, const char *arg, ...)
{
	va_list list;

	TAKE_ARGS(arg, list, argv);
	va_end(list);
	return run_path(path, argv, environ);
}

PRELOAD_API int execlp(const char *file, const char *arg, ...)
{
	va_list list;

	TAKE_ARGS(arg, list, argv);
	va_end(list);
	return run_found(file, argv, environ);
}

PRELOAD_API int execle(const char *path, const char *arg, ...)
{
	char *const *envp;
	va_list list;

	TAKE_ARGS(arg, list, argv);
	envp = va_arg(list, char *const *);
	va_end(list);
	return run_path(path, argv, envp);
}

/* ---- those that make a child of their own ------------------------------ */

PRELOAD_API int posix_spawn(pid_t *restrict pid, const char *restrict path,
			    const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *restrict attributes,
			    char *const argv[restrict],
			    char *const envp[restrict])
{
	char *const *fit = PRELOAD_ENVIRONMENT(path, envp, false);
	struct preload_exec exec;
	int result;

	preload_before_exec(&exec, false);
	result = PRELOAD_NEXT(posix_spawn)(pid, path, actions, attributes,
					   argv, fit);
	preload_after_exec(&exec, false);
	return result;
}

PRELOAD_API int posix_spawnp(pid_t *restrict pid, const char *restrict file,
			     const posix_spawn_file_actions_t *actions,
			     const posix_spawnattr_t *restrict attributes,
			     char *const argv[restrict],
			     char *const envp[restrict])
{
	char *const *fit = PRELOAD_ENVIRONMENT(NULL, envp, false);
	struct preload_exec exec;
	int result;

	preload_before_exec(&exec, false);
	result = PRELOAD_NEXT(posix_spawnp)(pid, file, actions, attributes,
					    argv, fit);
	preload_after_exec(&exec, false);
	return result;
}

PRELOAD_API int system(const char *command)
{
	struct preload_exec exec;
	int result;

	preload_before_exec(&exec, false);
	result = PRELOAD_NEXT(system)(command);
	preload_after_exec(&exec, false);
	return result;
}

PRELOAD_API FILE *popen(const char *command, const char *mode)
{
	struct preload_exec exec;
	FILE *result;

	preload_before_exec(&exec, false);
	result = PRELOAD_NEXT(popen)(command, mode);
	preload_after_exec(&exec, false);
	return result;
}
