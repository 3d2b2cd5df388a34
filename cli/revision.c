/* SPDX-License-Identifier: Apache-2.0 */
#include "revision.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* What a program prints, at most `size` - 1 bytes; false: it failed. */
static bool output_of(char *const argv[], char *out, size_t size)
{
	posix_spawn_file_actions_t files;
	int fd[2], status = -1;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC))
		return false;
	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawn_file_actions_adddup2(&files, fd[1], 1);
	(void)posix_spawn_file_actions_addopen(&files, 2, "/dev/null",
					       O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[0], &files, NULL, argv, environ))
		pid = -1;
	(void)posix_spawn_file_actions_destroy(&files);
	(void)close(fd[1]);
	while (pid > 0 && n < size - 1 &&
	       ((got = read(fd[0], out + n, size - 1 - n)) > 0 ||
		(got < 0 && errno == EINTR)))
		n += got > 0 ? (size_t)got : 0;
	(void)close(fd[0]);
	out[n] = '\0';
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && status == 0;
}

bool revision_of(const char *word, char revision[REVISION_BYTES])
{
	char git[] = "git", command[] = "rev-parse", verify[] = "--verify",
	     quiet[] = "--quiet", end[] = "--end-of-options", text[512];
	char *argv[] = { git, command, verify, quiet, end, text, NULL };

	if ((size_t)snprintf(text, sizeof(text), "%s^{commit}", word) >=
	    sizeof(text))
		return false;
	if (!output_of(argv, revision, REVISION_BYTES))
		return false;
	revision[strcspn(revision, "\n")] = '\0';
	return strlen(revision) >= 40;
}
