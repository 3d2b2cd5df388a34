/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include "check.h"
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_ENV 32

/* ---- start ------------------------------------------------------------- */

static void become(const struct program *program, int out)
{
	const char *env[MOST_ENV + 3] = { "PATH=/usr/bin:/bin", "HOME=/",
					  NULL };
	int null = open("/dev/null", O_RDWR);
	unsigned n = 2;

	for (; program->env && program->env[n - 2] && n < MOST_ENV; n++)
		env[n] = program->env[n - 2];
	env[n] = NULL;
	/* Nor is what nohup or a shell made of the signals. */
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGQUIT, SIG_DFL);
	(void)signal(SIGHUP, SIG_DFL);
	(void)dup2(null, 0);
	(void)dup2(out, 1);
	(void)dup2(program->keep_stderr ? out : null, 2);
	/* What the test itself was started with is not the program's. */
	for (int fd = 3; fd < 1024; fd++)
		if (fd != program->keep_fd)
			(void)close(fd);
	if (program->prepare)
		program->prepare();
	(void)execve(program->argv[0], (char *const *)(uintptr_t)program->argv,
		     (char *const *)(uintptr_t)env);
	_exit(126);
}

bool program_start(const struct program *program, struct running *running)
{
	int ends[2];

	memset(running, 0, sizeof(*running));
	if (!CHECK_INT(pipe2(ends, O_CLOEXEC), 0))
		return false;
	(void)fflush(stdout);
	running->end = scratch_seconds() +
		       (program->seconds > 0 ? program->seconds : 20) *
			       (SCRATCH_ASAN || SCRATCH_TSAN ? 10 : 1);
	running->pid = fork();
	if (running->pid == 0)
		become(program, ends[1]);
	(void)close(ends[1]);
	running->out = ends[0];
	return CHECK(running->pid > 0);
}

/* ---- end --------------------------------------------------------------- */

static void append(struct outcome *outcome, const char *data, size_t n)
{
	char *more = realloc(outcome->text, outcome->len + n + 1);

	if (!more)
		return;
	memcpy(more + outcome->len, data, n);
	outcome->text = more;
	outcome->len += n;
	more[outcome->len] = '\0';
}

/* Reads until all writers are gone; false: out of time. */
static bool read_output(struct running *running)
{
	struct pollfd poll_fd = { .fd = running->out, .events = POLLIN };
	char data[4096];
	ssize_t n;

	for (;;) {
		double left = running->end - scratch_seconds();

		if (left <= 0)
			return false;
		if (poll(&poll_fd, 1, (int)(left * 1000) + 1) <= 0)
			continue;
		n = read(running->out, data, sizeof(data));
		if (n <= 0)
			return true;
		append(&running->outcome, data, (size_t)n);
	}
}

struct outcome program_wait(struct running *running)
{
	bool in_time = read_output(running);

	append(&running->outcome, "", 0);
	if (!in_time)
		(void)kill(running->pid, SIGKILL);
	while (waitpid(running->pid, &running->outcome.status, 0) < 0 &&
	       errno == EINTR)
		;
	if (!in_time)
		running->outcome.status = -1;
	(void)close(running->out);
	return running->outcome;
}

struct outcome program_run(const struct program *program)
{
	struct running running;

	if (!program_start(program, &running))
		return (struct outcome){ .status = -1 };
	return program_wait(&running);
}

bool outcome_is_same(const struct outcome *a, const struct outcome *b)
{
	return a->status == b->status && a->len == b->len &&
	       memcmp(a->text, b->text, a->len) == 0;
}

/* At most so many bytes of it, and none that would confuse TAP. */
static void print_part(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		putchar(text[i] < ' ' ? '|' : text[i]);
}

void outcome_print(const struct outcome *outcome)
{
	size_t half = outcome->len > 400 ? 200 : outcome->len;

	if (outcome->status == -1)
		printf("# took too long;");
	else if (WIFSIGNALED(outcome->status))
		printf("# died of signal %d;", WTERMSIG(outcome->status));
	else
		printf("# ended with %d;", WEXITSTATUS(outcome->status));
	printf(" printed: ");
	print_part(outcome->text, half);
	if (half < outcome->len) {
		printf(" ... ");
		print_part(outcome->text + outcome->len - half, half);
	}
	putchar('\n');
}

void outcome_release(struct outcome *outcome)
{
	free(outcome->text);
	outcome->text = NULL;
}

const char *program_path(const char *name)
{
	static char path[16][512];
	const char *build = getenv("TARE_TEST_BUILD");
	char wanted[512];
	unsigned i = 0;

	(void)snprintf(wanted, sizeof(wanted), "%s/%s", build ? build : ".",
		       name);
	while (i < 15 && path[i][0] && strcmp(path[i], wanted) != 0)
		i++;
	memcpy(path[i], wanted, sizeof(wanted));
	return path[i];
}

const char *program_tare(void)
{
	const char *path = program_path("../cli/tare");

	return access(path, X_OK) == 0 ? path : NULL;
}

/* ---- failing calls ----------------------------------------------------- */

#define AT_ONCE 2 /* processes */

struct attempt {
	struct running running;
	uint64_t *counter;
	unsigned index;
};

static bool start_attempt(const struct program *program, const char *kind,
			  const char *mode, struct attempt *attempt)
{
	char at[32], fd[32], preload[600], kind_text[32], mode_text[32];
	const char *env[MOST_ENV + 1];
	struct program copy = *program;
	unsigned n = 0;
	int page = memfd_create("counter", MFD_CLOEXEC), counter;

	/* Above what the child replaces. */
	counter = fcntl(page, F_DUPFD, 3);
	(void)close(page);
	if (!CHECK(counter >= 0 && ftruncate(counter, 4096) == 0))
		return false;
	attempt->counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
				counter, 0);
	(void)snprintf(at, sizeof(at), "FAIL_AT=%u", attempt->index);
	(void)snprintf(fd, sizeof(fd), "FAIL_FD=%d", counter);
	(void)snprintf(kind_text, sizeof(kind_text), "FAIL_KIND=%s", kind);
	(void)snprintf(mode_text, sizeof(mode_text), "FAIL_MODE=%s", mode);
	(void)snprintf(preload, sizeof(preload), "LD_PRELOAD=%s",
		       program_path("failer.so"));
	env[n++] = at;
	env[n++] = fd;
	env[n++] = kind_text;
	env[n++] = mode_text;
	env[n++] = preload;
	for (unsigned i = 0; program->env && program->env[i] && n < MOST_ENV;)
		env[n++] = program->env[i++];
	env[n] = NULL;
	copy.env = env;
	copy.keep_fd = counter;
	if (!program_start(&copy, &attempt->running))
		return false;
	(void)close(counter);
	return true;
}

/* False: there was no call of this index. */
static bool end_attempt(struct attempt *attempt, const char *kind,
			const char *mode,
			bool (*is_right)(const struct outcome *outcome))
{
	struct outcome outcome = program_wait(&attempt->running);
	uint64_t calls = __atomic_load_n(attempt->counter, __ATOMIC_ACQUIRE);

	(void)munmap(attempt->counter, 4096);
	if (!CHECK(is_right(&outcome))) {
		printf("# %s %s at %u of %llu\n", kind, mode, attempt->index,
		       (unsigned long long)calls);
		outcome_print(&outcome);
	}
	outcome_release(&outcome);
	return calls >= attempt->index;
}

unsigned program_fail_all(const struct program *program, const char *kind,
			  const char *mode,
			  bool (*is_right)(const struct outcome *outcome))
{
	struct attempt attempt[AT_ONCE];
	bool more = true;
	unsigned index = 0;

	while (more && check_failures() < 10 && index < 20000) {
		unsigned n = 0;

		for (; n < AT_ONCE; n++) {
			attempt[n].index = ++index;
			if (!start_attempt(program, kind, mode, &attempt[n]))
				return index;
		}
		for (unsigned i = 0; i < n; i++)
			more &= end_attempt(&attempt[i], kind, mode, is_right);
		if (program->between)
			program->between();
	}
	return index;
}
