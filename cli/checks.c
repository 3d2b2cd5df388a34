/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of `tare doctor` about what `tare run` does: sampling and tracking of
 * allocations. They are tried, not derived: an event and a timer are opened,
 * and a program is started with the library.
 */
#include "checks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/platform.h"
#include "event.h"
#include "preload.h"
#include "program.h"

/* What this kernel lets a thread sample by. */
struct clocks {
	bool has_perf, has_timer;
	int perf_error;
	char paranoid[16];
};

static bool can_perf(int *ret_errno)
{
	int fd = event_open(true);

	*ret_errno = fd < 0 ? errno : 0;
	if (fd >= 0)
		(void)close(fd);
	return fd >= 0;
}

static bool can_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_NONE };
	timer_t timer;

	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer))
		return false;
	(void)timer_delete(timer);
	return true;
}

static void look_at_clocks(struct clocks *clocks)
{
	*clocks = (struct clocks){ .perf_error = 0 };
	(void)tr_file_text("/proc/sys/kernel/perf_event_paranoid",
			   clocks->paranoid, sizeof(clocks->paranoid));
	clocks->paranoid[strcspn(clocks->paranoid, "\n")] = '\0';
	clocks->has_perf = can_perf(&clocks->perf_error);
	clocks->has_timer = can_timer();
}

/* What makes the library loadable into such a program; NULL: it is. */
static const char *way_out(enum program_kind kind)
{
	switch (kind) {
	case PROGRAM_STATIC:
		return "link it dynamically, or link libtare ('tare flags "
		       "--static') and use probes";
	case PROGRAM_STRANGE:
		return "a tare that was built for that machine and C library";
	case PROGRAM_SECURE:
		return "a copy of the program without setuid and capabilities";
	case PROGRAM_GUARDED:
		return "a build without the sanitizer";
	case PROGRAM_OPEN:
	case PROGRAM_UNKNOWN:
		break;
	}
	return NULL;
}

static void set(struct check *check, const char *name, bool is_available)
{
	check->name = name;
	check->is_available = is_available;
	check->detail[0] = '\0';
	check->help[0] = '\0';
}

/* True: nothing can be loaded into the program; fills the row. */
static bool is_closed(struct check *check, const char *name,
		      const char *program)
{
	enum program_kind kind;
	const char *obstacle;

	set(check, name, false);
	if (!program)
		return false;
	kind = program_look(program);
	obstacle = program_obstacle(kind);
	if (kind == PROGRAM_UNKNOWN) {
		(void)snprintf(check->detail, sizeof(check->detail),
			       "'%.200s' is not found, or is no program",
			       program);
		(void)snprintf(check->help, sizeof(check->help),
			       "the path of a program");
		return true;
	}
	if (!obstacle)
		return false;
	(void)snprintf(check->detail, sizeof(check->detail), "'%.200s' %s",
		       program, obstacle);
	(void)snprintf(check->help, sizeof(check->help), "%s", way_out(kind));
	return true;
}

/* ---- the library in another program ------------------------------------- */

/* In the child: a program that writes what it has mapped. */
static void show_maps(const char *library, int to)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (setenv("LD_PRELOAD", library, 1) || setenv("TARE", "0", 1) ||
	    dup2(null, STDIN_FILENO) < 0 || dup2(to, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		_exit(127);
	(void)execlp("cat", "cat", "/proc/self/maps", (char *)NULL);
	_exit(127);
}

/* Does a program that starts with it in LD_PRELOAD have it? */
static bool loads(const char *library)
{
	const char *name = strrchr(library, '/');
	bool is_loaded = false;
	char line[1024];
	int ends[2], status;
	FILE *maps;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return false;
	pid = fork();
	if (pid == 0)
		show_maps(library, ends[1]);
	(void)close(ends[1]);
	maps = fdopen(ends[0], "r");
	while (pid > 0 && maps && fgets(line, sizeof(line), maps))
		is_loaded |= name && strstr(line, name) != NULL;
	(void)(maps ? fclose(maps) : close(ends[0]));
	if (pid > 0)
		(void)waitpid(pid, &status, 0);
	return is_loaded;
}

/* "": it can be loaded. */
static const char *preload_problem(const char *name, char path[PATH_MAX])
{
	if (!preload_find(name, path))
		return "is not found";
	if (strpbrk(path, ": "))
		return "has a colon or a space in its path";
	return loads(path) ? "" : "is not loaded into a program (cat)";
}

static bool has_library(struct check *check, const char *name)
{
	char path[PATH_MAX] = "";
	const char *problem = preload_problem(name, path);

	if (!problem[0])
		return true;
	(void)snprintf(check->detail, sizeof(check->detail), "%s %s", name,
		       problem);
	(void)snprintf(check->help, sizeof(check->help),
		       "TARE_PRELOAD_DIR, with its folder, or a complete "
		       "installation");
	return false;
}

/* ---- rows --------------------------------------------------------------- */

static void tell_sampling(struct check *check, const struct clocks *clocks,
			  const char *number)
{
	const char *paranoid = clocks->paranoid[0] ? clocks->paranoid : "?";
	size_t n = sizeof(check->detail);

	check->is_available = number &&
			      (clocks->has_perf || clocks->has_timer);
	if (!number) {
		(void)snprintf(check->detail, n, "no real-time signal is "
						 "free");
		(void)snprintf(check->help, sizeof(check->help),
			       "a parent that ignores fewer signals");
		return;
	}
	if (clocks->has_perf) {
		(void)snprintf(check->detail, n,
			       "perf events (perf_event_paranoid %s)%s, "
			       "signal %.20s", paranoid,
			       clocks->has_timer ? " and CPU timers" : "",
			       number);
		return;
	}
	(void)snprintf(check->detail, n, "%s, signal %.20s; perf events: %s "
		       "(perf_event_paranoid %s)",
		       clocks->has_timer ? "CPU timers, up to the kernel's "
					   "tick" : "no CPU timers",
		       number, strerror(clocks->perf_error), paranoid);
	(void)snprintf(check->help, sizeof(check->help),
		       "for higher rates: sysctl kernel.perf_event_paranoid=2 "
		       "or less; in a container, perf_event_open in its "
		       "seccomp profile");
}

static void check_sampling(struct check *check, const char *program,
			   const char *number)
{
	struct clocks clocks;

	if (is_closed(check, "sampling", program) ||
	    !has_library(check, "libtare-preload.so"))
		return;
	look_at_clocks(&clocks);
	tell_sampling(check, &clocks, number);
}

static void check_alloc(struct check *check, const char *program)
{
	if (is_closed(check, "alloc_tracking", program) ||
	    !has_library(check, "libtare-alloc.so"))
		return;
	check->is_available = true;
	(void)snprintf(check->detail, sizeof(check->detail),
		       "'tare run --alloc' loads libtare-alloc.so%s%.200s%s",
		       program ? " into '" : "; not into static programs",
		       program ? program : "", program ? "'" : "");
}

void checks_make(struct check checks[CHECKS], const char *program,
		 const char *number)
{
	check_sampling(&checks[0], program, number);
	check_alloc(&checks[1], program);
}
