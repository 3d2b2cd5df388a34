/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../check.h"
#include "ledger/write.h"

/*
 * Children leave by _exit(), past the sanitizers' own verdict: a report must
 * end the child where it is made.
 */
const char *__tsan_default_options(void);
const char *__ubsan_default_options(void);

const char *__tsan_default_options(void)
{
	return "halt_on_error=1";
}

const char *__ubsan_default_options(void)
{
	return "halt_on_error=1:print_stacktrace=1";
}

static char folder[64];

/* ---- the folder -------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int kind,
		      struct FTW *where)
{
	(void)st;
	(void)kind;
	return where->level ? remove(path) : 0;
}

void scratch_empty(void)
{
	(void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_enter(void)
{
	strcpy(folder, "/dev/shm/tare-test-XXXXXX");
	if (!CHECK(mkdtemp(folder) != NULL))
		abort();
	return folder;
}

void scratch_leave(void)
{
	scratch_empty();
	(void)rmdir(folder);
}

void *scratch_share(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (!CHECK(memory != MAP_FAILED))
		abort();
	return memory;
}

void *scratch_share_file(const char *path, size_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *memory = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			      fd, 0);
	if (fd >= 0)
		(void)close(fd);
	if (!CHECK(memory != MAP_FAILED))
		abort();
	return memory;
}

void scratch_unshare(void *memory, size_t bytes)
{
	(void)munmap(memory, bytes);
}

void scratch_environment(void)
{
	static const char *const ours[] = { "TARE_TEST_ALLOC",
					    "TARE_TEST_BUILD",
					    "TARE_TEST_SOURCE",
					    "TARE_TEST_LIBRARY", "TARE_SOAK" };

	/* The library would say that it knows no such options. */
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		(void)unsetenv(ours[i]);
	(void)setenv("TARE", "on", 1);
	(void)setenv("TARE_AUTO_DISABLE_ON_SLOW", "0", 1);
	(void)setenv("TARE_DIR", folder, 1);
}

/* Both ways to drain a log must be exact, whichever this processor prefers. */
static void choose_drain(void)
{
	tr_drain_due = getpid() & 1 ? TR_DUE_BEHIND : TR_DUE_BATCH;
	tr_drain_is_chosen = true;
}

void scratch_start(const char *const *options)
{
	int err = tare_option_set("dir", folder);

	choose_drain();
	/* Tests run in tight loops: the governor would have its way. */
	if (!err)
		err = tare_option_set("auto_disable_on_slow",
				      getenv("TARE_TEST_GOVERNED") ? "true" :
								     "false");
	for (; !err && options && options[0]; options += 2)
		err = tare_option_set(options[0], options[1]);
	if (!err)
		err = tare_start();
	if (err || !tare_ledger_path()) {
		fprintf(stderr, "cannot start: %s\n", tare_strerror(err));
		_exit(99);
	}
}

/* ---- children ---------------------------------------------------------- */

unsigned scratch_times(unsigned n)
{
	const char *soak = getenv("TARE_SOAK");

	if (soak && soak[0] && soak[0] != '0')
		return n * 10;
	if (SCRATCH_TSAN)
		return n / 10 + 1;
	return SCRATCH_ASAN ? n / 4 + 1 : n;
}

double scratch_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

uint64_t scratch_random(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

pid_t scratch_fork(void (*body)(void *arg), void *arg)
{
	pid_t pid;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		body(arg);
		_exit(0);
	}
	CHECK(pid > 0);
	return pid;
}

int scratch_wait(pid_t pid, double seconds)
{
	double until = scratch_seconds() + seconds;
	struct timespec pause = { 0, 20000 };
	int status;
	pid_t got;

	/* Polled: a child may be one that sends its parent no signal. */
	while ((got = waitpid(pid, &status, WNOHANG | __WALL)) == 0) {
		if (scratch_seconds() > until) {
			(void)kill(pid, SIGKILL);
			(void)waitpid(pid, &status, __WALL);
			return -1;
		}
		(void)nanosleep(&pause, NULL);
		if (pause.tv_nsec < 1000000)
			pause.tv_nsec *= 2;
	}
	return got == pid ? status : -1;
}

bool scratch_run(void (*body)(void *arg), void *arg, double seconds)
{
	return CHECK_INT(scratch_wait(scratch_fork(body, arg), seconds), 0);
}

/* ---- ledgers ----------------------------------------------------------- */

static unsigned find(const char *end, char *path, size_t size)
{
	char live[80];
	unsigned n = 0;
	const struct dirent *file;
	DIR *stream;

	(void)snprintf(live, sizeof(live), "%s/live", folder);
	stream = opendir(live);
	while (stream && (file = readdir(stream))) {
		size_t len = strlen(file->d_name), want = strlen(end);

		if (len < want || strcmp(file->d_name + len - want, end) != 0)
			continue;
		n++;
		if (path)
			(void)snprintf(path, size, "%s/%s", live,
				       file->d_name);
	}
	if (stream)
		(void)closedir(stream);
	return n;
}

bool scratch_ledger(pid_t pid, char *path, size_t size)
{
	char end[32];

	(void)snprintf(end, sizeof(end), "-%d.tare", (int)pid);
	return find(end, path, size) == 1;
}

unsigned scratch_ledgers(void)
{
	return find(".tare", NULL, 0);
}

static void tell(void *arg, const char *text)
{
	(void)arg;
	printf("# verify: %s\n", text);
}

bool scratch_read(const char *path, struct scratch_reading *reading)
{
	memset(reading, 0, sizeof(*reading));
	if (!CHECK_INT(tare_verify(path, tell, NULL), 0) ||
	    !CHECK_INT(tare_view_open(path, &reading->view), 0))
		return false;
	CHECK_INT(tare_view_health(reading->view)->damaged, 0);
	return CHECK_INT(tare_view_stats(reading->view, NULL, &reading->rows,
					 &reading->n),
			 0);
}

void scratch_close(struct scratch_reading *reading)
{
	tare_view_close(reading->view);
	memset(reading, 0, sizeof(*reading));
}

tare_stats scratch_row(const struct scratch_reading *reading,
		       const char *name, enum tare_kind kind)
{
	tare_stats none = { .kind = kind };

	for (size_t i = 0; i < reading->n; i++) {
		const tare_stats *row = &reading->rows[i];

		if (row->kind == kind && strcmp(row->name, name) == 0)
			return *row;
	}
	return none;
}

uint64_t scratch_count(const struct scratch_reading *reading,
		       enum tare_kind kind)
{
	uint64_t n = 0;

	for (size_t i = 0; i < reading->n; i++)
		if (reading->rows[i].kind == kind)
			n += reading->rows[i].count;
	return n;
}
