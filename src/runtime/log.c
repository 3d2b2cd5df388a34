/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log: the few messages of the library, to the host's callback.
 *
 * At most TR_MESSAGES a process: a measuring tool that floods a log is worse
 * than none.
 */
#include "runtime/runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TR_MESSAGES 64u

static tare_log_fn callback;
static void *callback_arg;

TARE_API void tare_log_set(tare_log_fn fn, void *arg)
{
	callback_arg = arg;
	__atomic_store_n(&callback, fn, __ATOMIC_RELEASE);
}

void tr_log(enum tare_level level, const char *format, ...)
{
	static uint32_t count;
	tare_log_fn fn = __atomic_load_n(&callback, __ATOMIC_ACQUIRE);
	char text[512];
	va_list args;
	size_t len;

	if (TR_ADD(count, 1) >= TR_MESSAGES)
		return;
	memcpy(text, "tare: ", 6);
	va_start(args, format);
	(void)vsnprintf(text + 6, sizeof(text) - 8, format, args);
	va_end(args);
	if (fn) {
		fn(callback_arg, level, text + 6);
		return;
	}
	if (tr_mode != TR_MODE_REPORT && level > TARE_LEVEL_WARNING)
		return;
	if (tr_mode == TR_MODE_OFF)
		return;
	len = strlen(text);
	text[len++] = '\n';
	(void)tr_file_write_all(STDERR_FILENO, text, len);
}
