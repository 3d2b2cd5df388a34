/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of steps, as files. The last step of a turn stores a request, and the
 * monitor's thread writes the file; without that thread the step writes it
 * itself, and waits.
 *
 * Events continue to fill the rings meanwhile. A thread whose ring wraps
 * before the file is written loses its oldest events.
 */
#include "record/runtime.h"

#include "ledger/hook.h"

#include "record/monitor.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NOTES 4u
#define NAME_MOST 100u
#define FINISH_TRIES 5000 /* of 1 ms each */

enum note_state { NOTE_FREE, NOTE_TAKEN, NOTE_READY, NOTE_WRITING };

struct note {
	uint32_t state; /* enum note_state */
	char name[64];	/* of the steps, made safe for a file */
	char folder[TR_CONFIG_STRING];
	uint64_t step, steps, from, to, keep;
};

/* Of process `pid`: a parent writes its own requests. */
static struct {
	uint32_t pid;
	uint32_t has_failed; /* logged, until one succeeds */
	uint32_t has_dropped;
	struct note note[NOTES];
} traces;

/* ---- names ------------------------------------------------------------- */

/* Letters, digits, - _ and dots except at the beginning; the rest becomes _. */
static void make_safe(const char *from, char *name, size_t size)
{
	size_t n = 0;

	for (; from[n] && n + 1 < size; n++) {
		char c = from[n];
		bool is_plain = (c >= 'a' && c <= 'z') ||
				(c >= 'A' && c <= 'Z') ||
				(c >= '0' && c <= '9') || c == '-' ||
				c == '_' || (c == '.' && n);

		name[n] = is_plain ? c : '_';
	}
	name[n] = '\0';
	if (!n)
		(void)snprintf(name, size, "steps");
}

static void fill_note(struct note *note, const struct tr_traced *traced)
{
	char outside[TR_CONFIG_STRING];
	const char *folder = traced->folder;

	if (!folder[0])
		folder = tr_control_text("profiler_trace_dir",
					 tr_config.profiler_trace_dir,
					 outside);
	(void)snprintf(note->folder, sizeof(note->folder), "%s", folder);
	make_safe(traced->name[0] ? traced->name :
				    program_invocation_short_name,
		  note->name, sizeof(note->name));
	note->step = traced->step;
	note->steps = traced->steps;
	note->from = traced->from;
	note->to = traced->to;
	note->keep = traced->keep != UINT64_MAX ?
			     traced->keep :
			     tr_control_u64("profiler_keep",
					    tr_config.profiler_keep);
}

/* ---- writing ----------------------------------------------------------- */

static void tell_failure(const struct note *note, const char *reason)
{
	if (__atomic_exchange_n(&traces.has_failed, 1, __ATOMIC_RELAXED))
		return;
	tr_log(TARE_LEVEL_WARNING, "cannot write traces to '%.190s': %s; "
	       "the program goes on without them", note->folder, reason);
}

static void tell_success(const struct note *note, const char *file)
{
	char text[400];

	TR_STORE(traces.has_failed, 0);
	(void)snprintf(text, sizeof(text), "trace of %llu steps: %.190s/%s",
		       (unsigned long long)note->steps, note->folder, file);
	tr_log_line(TARE_LEVEL_PROFILING, text);
}

static void write_note(const struct note *note)
{
	char prefix[NAME_MOST], file[NAME_MOST + 32], title[NAME_MOST + 64];
	struct tr_trace_file what = {
		.folder = note->folder,
		.name = file,
		.title = title,
		.from_ticks = note->from,
		.to_ticks = note->to,
	};
	const struct tr_reader *reader = tr_reader_load();
	int err;

	if (!reader) {
		tell_failure(note, "libtare-read is not installed");
		return;
	}
	(void)snprintf(prefix, sizeof(prefix), "%s_step_", note->name);
	(void)snprintf(file, sizeof(file), "%s%llu.json", prefix,
		       (unsigned long long)note->step);
	(void)snprintf(title, sizeof(title), "%s, steps %llu to %llu",
		       note->name,
		       (unsigned long long)(note->step - note->steps + 1),
		       (unsigned long long)note->step);
	err = reader->write_trace(&what);
	if (err) {
		tell_failure(note, tare_strerror(err));
		return;
	}
	(void)reader->keep_traces(note->folder, prefix, (size_t)note->keep);
	tell_success(note, file);
}

static bool move(struct note *note, uint32_t from, uint32_t to)
{
	return TR_SWAP(note->state, &from, to);
}

static void write_ready(void)
{
	for (uint32_t i = 0; i < NOTES; i++) {
		struct note *note = &traces.note[i];

		if (!move(note, NOTE_READY, NOTE_WRITING))
			continue;
		write_note(note);
		TR_PUBLISH(note->state, NOTE_FREE);
	}
}

/* ---- the monitor's job ------------------------------------------------- */

static bool has_ready(void)
{
	for (uint32_t i = 0; i < NOTES; i++)
		if (TR_ACQUIRE(traces.note[i].state) == NOTE_READY)
			return true;
	return false;
}

static int64_t trace_interval_ns(void)
{
	return has_ready() ? 1 : 0;
}

static void run_traces(int64_t now_ns)
{
	(void)now_ns;
	write_ready();
}

static const struct tr_job trace_job = { "traces", trace_interval_ns,
					 run_traces, 0 };

static void note_steps(const struct tr_traced *traced)
{
	for (uint32_t i = 0; i < NOTES; i++) {
		struct note *note = &traces.note[i];

		if (!move(note, NOTE_FREE, NOTE_TAKEN))
			continue;
		fill_note(note, traced);
		TR_PUBLISH(note->state, NOTE_READY);
		tr_monitor_request();
		if (!tr_monitor_is_running())
			write_ready();
		return;
	}
	if (!__atomic_exchange_n(&traces.has_dropped, 1, __ATOMIC_RELAXED))
		tr_log(TARE_LEVEL_WARNING, "steps are faster than traces can "
		       "be written: some are left out");
}

void tr_trace_ready(void)
{
	if (traces.pid != tr_ledger->pid) {
		memset(&traces, 0, sizeof(traces));
		traces.pid = tr_ledger->pid;
	}
	if (tr_monitor_add(&trace_job))
		tr_step_traced = note_steps;
	tr_window_ready();
}

void tr_trace_finish(void)
{
	static const struct timespec pause = { 0, 1000000 };

	write_ready();
	for (int tries = 0; tries < FINISH_TRIES; tries++) {
		bool is_writing = false;

		for (uint32_t i = 0; i < NOTES; i++)
			is_writing |= TR_ACQUIRE(traces.note[i].state) ==
				      NOTE_WRITING;
		if (!is_writing)
			return;
		(void)nanosleep(&pause, NULL);
	}
}
