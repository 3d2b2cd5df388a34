/* SPDX-License-Identifier: Apache-2.0 */
#include "trial.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/platform.h"
#include "read/view.h"

extern char **environ;

volatile int trial_interrupted;

/* More than the clocks differ by while nothing sleeps. */
#define SLEPT_NS 20e6
/* Its first thread has so much of the CPU time if there is no other. */
#define SINGLE_SHARE 0.98
#define SINGLE_SLACK_NS 2e6

/* ---- what the kernel says ---------------------------------------------- */

struct machine {
	double busy_ns, stolen_ns; /* all processors */
	double mhz;
};

static struct {
	int stat, self;
	double tick_ns;
} kernel = { -1, -1, 1e7 };

void trial_prepare(void)
{
	long ticks = sysconf(_SC_CLK_TCK);

	kernel.stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	kernel.self = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	kernel.tick_ns = ticks > 0 ? 1e9 / (double)ticks : 1e7;
}

static bool read_at(int fd, char *text, size_t size)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* MHz of the fastest processor now: a program runs there, or could. */
static double read_speed(void)
{
	char path[96], text[32];
	double best = NAN;

	for (int cpu = 0; cpu < 16; cpu++) {
		(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/"
			       "cpu%d/cpufreq/scaling_cur_freq", cpu);
		if (!tr_file_text(path, text, sizeof(text)))
			break;
		if (!(best >= strtod(text, NULL) / 1e3))
			best = strtod(text, NULL) / 1e3;
	}
	return best;
}

static void read_machine(struct machine *machine)
{
	char text[256], *at = text;
	double tick[8] = { 0 };

	*machine = (struct machine){ .mhz = NAN };
	if (!read_at(kernel.stat, text, sizeof(text)) ||
	    strncmp(text, "cpu ", 4) != 0)
		return;
	at += 4;
	for (int i = 0; i < 8; i++)
		tick[i] = (double)strtoull(at, &at, 10);
	/* user nice system idle iowait irq softirq steal */
	machine->busy_ns = (tick[0] + tick[1] + tick[2] + tick[5] + tick[6]) *
			   kernel.tick_ns;
	machine->stolen_ns = tick[7] * kernel.tick_ns;
	machine->mhz = read_speed();
}

/* "CPU time, waiting for a processor, slices", of a thread. */
static bool parse_schedstat(const char *text, double *ret_ran,
			    double *ret_queued)
{
	char *end;
	double ran = (double)strtoull(text, &end, 10);

	if (end == text)
		return false;
	*ret_ran = ran;
	*ret_queued = (double)strtoull(end, NULL, 10);
	return true;
}

static double own_queued(void)
{
	char text[96];
	double ran, queued;

	return read_at(kernel.self, text, sizeof(text)) &&
			       parse_schedstat(text, &ran, &queued) ?
		       queued :
		       0;
}

/* ---- the run ----------------------------------------------------------- */

static double timeval_ns(struct timeval time)
{
	return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

/* Signals that this process catches or blocks are as usual in the program. */
static void set_signals(posix_spawnattr_t *attr)
{
	sigset_t none, usual;

	(void)sigemptyset(&none);
	(void)sigemptyset(&usual);
	(void)sigaddset(&usual, SIGINT);
	(void)sigaddset(&usual, SIGTERM);
	(void)sigaddset(&usual, SIGPIPE);
	(void)posix_spawnattr_setsigmask(attr, &none);
	(void)posix_spawnattr_setsigdefault(attr, &usual);
	(void)posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK |
						     POSIX_SPAWN_SETSIGDEF);
}

static int start(char *const argv[], const struct trial_how *how, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int error;

	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawnattr_init(&attr);
	set_signals(&attr);
	error = posix_spawn_file_actions_addopen(
		&files, 0, how->input ? how->input : "/dev/null", O_RDONLY, 0);
	if (!how->shows_output) {
		(void)posix_spawn_file_actions_addopen(&files, 1, "/dev/null",
						       O_WRONLY, 0);
		(void)posix_spawn_file_actions_adddup2(&files, 1, 2);
	}
	if (!error)
		error = posix_spawnp(pid, argv[0], &files, &attr, argv,
				     environ);
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&files);
	return error;
}

/* Of a process that has ended and is not yet waited for. */
static void read_ended(pid_t pid, double *ret_ran, double *ret_queued)
{
	char path[48], text[96];

	(void)snprintf(path, sizeof(path), "/proc/%ld/schedstat", (long)pid);
	if (tr_file_text(path, text, sizeof(text)))
		(void)parse_schedstat(text, ret_ran, ret_queued);
}

struct clocks {
	double monotonic, boot;
};

static struct clocks read_clocks(void)
{
	return (struct clocks){ (double)tr_monotonic_ns(),
				(double)tr_boottime_ns() };
}

/*
 * A new process starts with the memory of this one, and the kernel keeps that
 * as its peak: below it nothing is known.
 */
static double peak_of(const struct rusage *usage)
{
	struct rusage own;

	if (getrusage(RUSAGE_SELF, &own) == 0 &&
	    usage->ru_maxrss <= own.ru_maxrss)
		return NAN;
	return (double)usage->ru_maxrss * 1024;
}

static void fill(struct trial *t, const struct rusage *usage)
{
	double *f = t->figure;

	f[TRIAL_USER] = timeval_ns(usage->ru_utime);
	f[TRIAL_SYSTEM] = timeval_ns(usage->ru_stime);
	f[TRIAL_CPU] = f[TRIAL_USER] + f[TRIAL_SYSTEM];
	f[TRIAL_MEMORY] = peak_of(usage);
	f[TRIAL_MINOR] = (double)usage->ru_minflt;
	f[TRIAL_MAJOR] = (double)usage->ru_majflt;
	f[TRIAL_SWITCHES] = (double)usage->ru_nvcsw;
	f[TRIAL_PREEMPTED] = (double)usage->ru_nivcsw;
	f[TRIAL_READ] = (double)usage->ru_inblock * 512;
	f[TRIAL_INSTRUCTIONS] = NAN;
}

static void wait_for(pid_t pid, struct trial *t, struct clocks before)
{
	double own = own_queued(), ran = 0, queued = 0;
	struct rusage usage = { .ru_maxrss = 0 };
	double *f = t->figure;
	struct clocks after;
	siginfo_t info;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 &&
	       errno == EINTR)
		;
	after = read_clocks();
	own = own_queued() - own;
	read_ended(pid, &ran, &queued);
	while (wait4(pid, &t->status, 0, &usage) < 0 && errno == EINTR)
		;
	fill(t, &usage);
	/* The kernel's own count, where it is of all: exact to a ns. */
	t->is_single = ran > 0 && f[TRIAL_CPU] - ran <
			(1 - SINGLE_SHARE) * f[TRIAL_CPU] + SINGLE_SLACK_NS;
	if (t->is_single)
		f[TRIAL_CPU] = ran;
	f[TRIAL_WALL] = after.monotonic - before.monotonic;
	f[TRIAL_QUEUED] = tr_least(queued + own, f[TRIAL_WALL]);
	t->slept = f[TRIAL_WALL] <= 0 ||
		   after.boot - before.boot - f[TRIAL_WALL] > SLEPT_NS;
}

void trial_run(char *const argv[], const struct trial_how *how,
	       struct trial *t)
{
	struct machine from, to;
	struct clocks before;
	pid_t pid;

	*t = (struct trial){ .error = 0 };
	read_machine(&from);
	before = read_clocks();
	t->error = start(argv, how, &pid);
	if (t->error)
		return;
	wait_for(pid, t, before);
	read_machine(&to);
	t->figure[TRIAL_STOLEN] = to.stolen_ns - from.stolen_ns;
	t->figure[TRIAL_SPEED] = to.mhz;
	t->figure[TRIAL_OTHERS] = tr_most(to.busy_ns - from.busy_ns -
					  t->figure[TRIAL_CPU], 0) /
				  tr_most(t->figure[TRIAL_WALL], 1);
}

bool trial_is_good(const struct trial *t)
{
	return !t->error && !t->status && !t->slept;
}

void trial_settle(struct trial *trials, unsigned long n, bool is_single)
{
	for (unsigned long i = 0; i < n; i++) {
		double *f = trials[i].figure;

		f[TRIAL_TIME] = is_single ? tr_most(f[TRIAL_WALL] -
						    f[TRIAL_QUEUED],
						    f[TRIAL_CPU]) :
					    f[TRIAL_WALL];
		f[TRIAL_BLOCKED] = is_single ? f[TRIAL_TIME] - f[TRIAL_CPU] :
					       0;
	}
}
