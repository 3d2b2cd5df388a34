/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log: the few messages of the library, to the host's callback.
 *
 * Without a callback they are kept for the end of the report: stderr belongs
 * to the program, and nothing is written to it without a request.
 *
 * At most TR_MESSAGES per process: a measuring tool that floods a log is worse
 * than none.
 */
#include "record/runtime.h"

#include "record/monitor.h"
#include "record/train.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define TR_MESSAGES 64u

/* Preloaded: stderr belongs to a program that does not know of tare. */
bool tr_log_is_quiet;

static tare_log_fn callback;
static void *callback_arg;
static bool is_ready; /* the configuration is loaded */

/* Until the option is known, messages wait. */
static enum tr_warnings warnings_now(void)
{
	return is_ready ? (enum tr_warnings)TR_LOAD(tr_config.warnings) :
			  TR_WARNINGS_REPORT;
}

TARE_API void tare_log_set(tare_log_fn fn, void *arg)
{
	if (TR_FIRST(tare_log_set))
		TR_FIRST(tare_log_set)(fn, arg);
	callback_arg = arg;
	__atomic_store_n(&callback, fn, __ATOMIC_RELEASE);
}

bool tr_log_lines;

bool tr_log_is_read(void)
{
	return __atomic_load_n(&callback, __ATOMIC_ACQUIRE) ||
	       TR_LOAD(tr_log_lines);
}

/* ---- messages that wait for the report --------------------------------- */

#define KEPT 8u

/*
 * Any thread may write a message; it owns the row until the row is ready. A
 * forked child has its parent's messages and does not repeat them.
 */
static struct {
	uint32_t n;
	pid_t pid;
	struct {
		uint32_t is_ready;
		char text[240];
	} row[KEPT];
} kept;

/*
 * Messages of a program that `tare run` started are for its report. `tare run`
 * has a file for them, "PID:DESCRIPTOR:INODE", an open one of its own. Where
 * process ids are others, as in a container, that path may be another file.
 */
static bool hand_over(const char *text)
{
	const char *place = secure_getenv("TARE_NOTES");
	char path[64], line[520], *end;
	long pid = place ? strtol(place, &end, 10) : 0, number;
	struct stat st;
	bool is_ours;
	int fd, len;

	if (pid <= 0 || *end != ':')
		return false;
	number = strtol(end + 1, &end, 10);
	(void)snprintf(path, sizeof(path), "/proc/%ld/fd/%ld", pid, number);
	fd = tr_file_open(path, O_WRONLY | O_APPEND | O_NONBLOCK, 0);
	if (fd < 0)
		return false;
	is_ours = *end == ':' && fstat(fd, &st) == 0 &&
		  (long)st.st_ino == strtol(end + 1, NULL, 10);
	if (is_ours) {
		len = snprintf(line, sizeof(line), "%.510s\n", text);
		(void)tr_file_write_all(fd, line, (size_t)len);
	}
	(void)close(fd);
	return is_ours;
}

/* Most processes of a build have no ledger: this is all that is known. */
void tr_log_process(enum tr_process_kind kind, int pid, const char *name)
{
	int saved = errno;
	char line[80];

	(void)snprintf(line, sizeof(line), "%c%d %.60s", (char)kind, pid,
		       name);
	(void)hand_over(line);
	errno = saved;
}

static void keep(const char *text)
{
	uint32_t i;

	if (hand_over(text))
		return;
	if (TR_LOAD(kept.pid) != getpid()) {
		TR_STORE(kept.pid, getpid());
		TR_STORE(kept.n, 0);
	}
	i = TR_ADD(kept.n, 1);
	if (i >= KEPT)
		return;
	(void)snprintf(kept.row[i].text, sizeof(kept.row[i].text), "%s", text);
	TR_PUBLISH(kept.row[i].is_ready, 1);
}

void tr_log_kept(tr_log_write_fn write, void *arg)
{
	uint32_t n = TR_LOAD(kept.pid) == getpid() ? TR_LOAD(kept.n) : 0;

	for (uint32_t i = 0; i < n && i < KEPT; i++)
		if (TR_ACQUIRE(kept.row[i].is_ready))
			write(arg, kept.row[i].text);
	TR_STORE(kept.n, 0);
}

/* ---- to stderr --------------------------------------------------------- */

/* In one write: other code writes to stderr, too. */
static void write_stderr(const char *text)
{
	char line[520];
	int len = snprintf(line, sizeof(line), "tare: %.510s\n", text);

	if (len > 0)
		(void)tr_file_write_all(STDERR_FILENO, line, (size_t)len);
}

static void write_kept(void *arg, const char *text)
{
	(void)arg;
	if (warnings_now() == TR_WARNINGS_STDERR)
		write_stderr(text);
}

void tr_log_ready(void)
{
	is_ready = true;
	if (warnings_now() != TR_WARNINGS_REPORT)
		tr_log_kept(write_kept, NULL);
}

/* Prints at once, keeps for the report, or drops, as the option says. */
static void say(const char *text)
{
	switch (warnings_now()) {
	case TR_WARNINGS_STDERR:
		write_stderr(text);
		break;
	case TR_WARNINGS_REPORT:
		keep(text);
		break;
	default:
		break;
	}
}

void tr_log_line(enum tare_level level, const char *text)
{
	tare_log_fn fn = __atomic_load_n(&callback, __ATOMIC_ACQUIRE);

	if (level < TARE_LEVEL_PERFORMANCE)
		tr_log(level, "%s", text);
	else if (fn)
		fn(callback_arg, level, text);
	else if (TR_LOAD(tr_log_lines))
		write_stderr(text);
}

void tr_log(enum tare_level level, const char *format, ...)
{
	static uint32_t count;
	tare_log_fn fn = __atomic_load_n(&callback, __ATOMIC_ACQUIRE);
	char text[512];
	va_list args;

	if (TR_ADD(count, 1) >= TR_MESSAGES)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (fn) {
		fn(callback_arg, level, text);
		return;
	}
	if (tr_log_is_quiet)
		return;
	if (level <= TARE_LEVEL_WARNING && tr_mode != TR_MODE_OFF)
		say(text);
}

/*
 * For the case that all measurements are lost and no report can show it. Once:
 * a forked child inherits the mark.
 */
void tr_log_lost(bool has_report, const char *text)
{
	static uint32_t is_said;

	if (has_report || tr_log_is_quiet ||
	    warnings_now() != TR_WARNINGS_REPORT ||
	    __atomic_load_n(&callback, __ATOMIC_ACQUIRE))
		tr_log(TARE_LEVEL_WARNING, "%s", text);
	else if (!hand_over(text) && !TR_ADD(is_said, 1))
		write_stderr(text);
}

/*
 * About a training's files, which the program has asked for. The program may
 * not be measured at all: then no report can show the message.
 */
void tr_log_asked(enum tare_level level, const char *text)
{
	tare_log_fn fn = __atomic_load_n(&callback, __ATOMIC_ACQUIRE);

	if (level >= TARE_LEVEL_PERFORMANCE)
		tr_log_line(level, text);
	else if (fn)
		fn(callback_arg, level, text);
	else if (tr_mode == TR_MODE_OFF && warnings_now() != TR_WARNINGS_NONE)
		write_stderr(text);
	else
		say(text);
}

void tr_log_plain(enum tare_level level, const char *text)
{
	tr_log(level, "%s", text);
}
