/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages: log messages of record/gpu, and the reason why there is no GPU.
 *
 * Which messages were logged is kept across forks, unlike all other state
 * here: a child does not repeat its parent's messages.
 */
#include "record/gpu/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static tr_gpu_log logger;
static uint64_t logged[TR_GPU_CAUSES]; /* one bit per number; atomic */

/* Used only by the GPU thread, of which there is one at a time. */
static char composed[TR_GPU_TEXT], absent[TR_GPU_TEXT];

void tr_gpu_set_log(tr_gpu_log log)
{
	__atomic_store_n(&logger, log, __ATOMIC_RELEASE);
}

void tr_gpu_log_once(enum tr_gpu_cause cause, unsigned number,
		     enum tare_level level, const char *format, ...)
{
	uint64_t bit = UINT64_C(1) << number % 64;
	tr_gpu_log log = __atomic_load_n(&logger, __ATOMIC_ACQUIRE);
	char text[TR_GPU_TEXT];
	va_list args;

	if (!log ||
	    __atomic_fetch_or(&logged[cause], bit, __ATOMIC_RELAXED) & bit)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log(level, text);
}

/* ---- the reason -------------------------------------------------------- */

void tr_gpu_reason_begin(void)
{
	composed[0] = absent[0] = '\0';
}

static void append(char *text, const char *format, va_list args)
{
	size_t len = strlen(text);

	if (len && len + 3 < TR_GPU_TEXT) {
		memcpy(text + len, "; ", 3);
		len += 2;
	}
	(void)vsnprintf(text + len, TR_GPU_TEXT - len, format, args);
}

void tr_gpu_reason_add(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append(composed, format, args);
	va_end(args);
}

void tr_gpu_reason_told(enum tr_gpu_cause cause, unsigned number,
			const char *format, ...)
{
	char text[TR_GPU_TEXT];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	tr_gpu_reason_add("%s", text);
	tr_gpu_log_once(cause, number, TARE_LEVEL_WARNING, "%s", text);
}

void tr_gpu_reason_absent(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append(absent, format, args);
	va_end(args);
}

/*
 * A text is never overwritten, since a caller may hold it: each new text gets
 * a new place. When all places are used, the last one stays.
 */
void tr_gpu_reason_end(struct tr_gpu_state *state)
{
	const char *last = __atomic_load_n(&state->reason, __ATOMIC_RELAXED);
	char *text;

	if (!state->n_boards && absent[0])
		tr_gpu_reason_add("%s", absent);
	if (last && strcmp(last, composed) == 0)
		return;
	if (!composed[0] || state->n_texts == TR_GPU_TEXTS) {
		__atomic_store_n(&state->reason,
				 composed[0] ? "the GPUs cannot be read" : "",
				 __ATOMIC_RELEASE);
		return;
	}
	text = state->text[state->n_texts++];
	memcpy(text, composed, TR_GPU_TEXT);
	/* Release: the text is written before its address. */
	__atomic_store_n(&state->reason, text, __ATOMIC_RELEASE);
}

void tr_gpu_text(char *out, size_t size, const char *text)
{
	size_t n = 0;

	for (; n + 1 < size && text[n] && text[n] != '\n'; n++)
		out[n] = text[n] < ' ' || text[n] > '~' ? '?' : text[n];
	while (n && out[n - 1] == ' ')
		n--;
	out[n] = '\0';
}
