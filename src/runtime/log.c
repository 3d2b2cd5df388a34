/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log: the few messages of the library, to the host's callback.
 *
 * At most TR_MESSAGES a process: a measuring tool that floods a log is worse
 * than none.
 */
#include "runtime/runtime.h"

#include "monitor/monitor.h"
#include "train/train.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define TR_MESSAGES 64u

/* Preloaded: stderr is that of a program which knows nothing of us. */
bool tr_log_is_quiet;

static tare_log_fn callback;
static void *callback_arg;

TARE_API void tare_log_set(tare_log_fn fn, void *arg)
{
	__typeof__(&tare_log_set) first = TR_FIRST(tare_log_set,
						   TR_API_LOG_SET);

	if (first)
		first(fn, arg);
	callback_arg = arg;
	__atomic_store_n(&callback, fn, __ATOMIC_RELEASE);
}

bool tr_log_lines;

bool tr_log_is_read(void)
{
	return __atomic_load_n(&callback, __ATOMIC_ACQUIRE) ||
	       TR_LOAD(tr_log_lines);
}

/* In one piece: others write to stderr, too. */
static void write_stderr(const char *text)
{
	char line[520];
	int len = snprintf(line, sizeof(line), "tare: %.510s\n", text);

	if (len > 0)
		(void)tr_file_write_all(STDERR_FILENO, line, (size_t)len);
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
	if (tr_mode != TR_MODE_REPORT && level > TARE_LEVEL_WARNING)
		return;
	if (tr_mode != TR_MODE_OFF)
		write_stderr(text);
}

/* Of a training's files: its program may not be measured at all. */
void tr_training_say(enum tare_level level, const char *text)
{
	tare_log_fn fn = __atomic_load_n(&callback, __ATOMIC_ACQUIRE);

	if (level >= TARE_LEVEL_PERFORMANCE)
		tr_log_line(level, text);
	else if (fn)
		fn(callback_arg, level, text);
	else
		write_stderr(text);
}

bool tr_training_is_read(void)
{
	return tr_log_is_read();
}

void tr_monitor_tell(enum tare_level level, const char *text)
{
	tr_log(level, "%s", text);
}
