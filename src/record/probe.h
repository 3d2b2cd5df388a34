/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/probe/: implementation of the public probes.
 *
 * Comes in: calls of the probe macros. Goes out: entries, values, counts and
 * records in the thread's track. Called by: programs, record/governor,
 * monitor, runtime, stage, step, train, and mpi.
 *
 * The fast paths assume an attached thread and a registered site, and test for
 * both with one load each; everything else (first use, fork, signal handlers,
 * slow clocks, another copy of the library) is in slow paths.
 */
#ifndef TR_RECORD_PROBE_H
#define TR_RECORD_PROBE_H

#include <tare/step.h>
#include <tare/read/view.h>

#include <stddef.h>

#include "ledger/write.h"
#include "record/host.h"
#include "record/price.h"

/* ---- copies ------------------------------------------------------------ */

/*
 * `tare run` loads a copy of the library into the program. If the program
 * contains another copy, the loaded one is the first. A call that must act in
 * the copy that measures is in one of the two lists below, and asks for the
 * first copy's call at its beginning: TR_FIRST for public calls,
 * tr_probe_forward in the slow paths of probes.
 *
 * TR_OWN is a second name for a public call, which no other object has: a
 * program with its own copy may export the public name, and this copy's
 * references to that name then resolve to the program's.
 */
#define TR_OWN(own, public) \
	extern __typeof__(public) own \
		__attribute__((alias(#public), visibility("hidden")))

__typeof__(tare_scope_begin_) tr_own_scope_begin;
__typeof__(tare_scope_end_) tr_own_scope_end, tr_own_scope_end_exact;
__typeof__(tare_counter_add_) tr_own_counter_add;
__typeof__(tare_counter_add_double_) tr_own_counter_add_double;
__typeof__(tare_value_observe_) tr_own_value_observe;
__typeof__(tare_gauge_set_) tr_own_gauge_set, tr_own_gauge_add;
__typeof__(tare_ratio_add_) tr_own_ratio_add;
__typeof__(tare_duration_record_) tr_own_duration;
__typeof__(tare_duration_record_with_) tr_own_duration_with;
__typeof__(tare_site_get) tr_own_site_get;
__typeof__(tare_site_labels) tr_own_site_labels;
__typeof__(tare_memory_record) tr_own_record_memory, tr_own_record_gpu;
__typeof__(tare_step_done) tr_own_step, tr_own_step_epoch;
__typeof__(tare_step_named) tr_own_step_named;
__typeof__(tare_leak_check) tr_own_leaks;
void tr_own_note(void *frame, int type, const char *key, int64_t i, double d,
		 const char *text);
void tr_own_items(void *frame, uint64_t n);
void tr_own_fiber(tare_fiber *fiber, bool restore);
/* The work of the constructor, unless it is done. */
void tr_own_start(void);
tare_site *tr_own_site_flagged(const tare_site *like);
/* A time that overlaps scopes: its call path begins at the root. */
void tr_own_overlap(tare_site *site, uint32_t gate, uint64_t from,
		    uint64_t to);
uint64_t tr_own_ticks(void);
tr_any_call tr_own_api(unsigned which); /* enum tr_api; or NULL */

/*
 * The probes, in the order of the table that all copies share: append new ones
 * at the end. An older copy has fewer: see TR_FIRST_HAS.
 */
#define TR_PROBES(X) \
	X(scope_begin) X(scope_end) X(scope_end_exact) X(counter_add) \
	X(value_observe) X(gauge_set) X(gauge_add) X(ratio_add) X(duration) \
	X(site_get) X(site_labels) X(note) X(items) X(fiber) \
	X(record_memory) X(record_gpu) X(step) X(leaks) X(start) \
	X(step_named) X(site_flagged) X(ticks) X(overlap) X(api) \
	X(step_epoch) X(counter_add_double) X(duration_with)

struct tr_probe_table {
	uint32_t magic, size;
	char version[16];
	struct tr_ledger *const *ledger; /* only for the same version */
#define TR_PROBE_FIELD(probe) __typeof__(&tr_own_##probe) probe;
	TR_PROBES(TR_PROBE_FIELD)
#undef TR_PROBE_FIELD
};

/* Does the first copy's table have this field? */
#define TR_FIRST_HAS(field) \
	(tr_probe_forward->size >= \
	 offsetof(struct tr_probe_table, field) + sizeof(void *))
/*
 * The first copy's call, or NULL: this is the first copy, or the first one is
 * older and has no such call.
 */
#define TR_FIRST_PROBE(field) \
	(tr_probe_forward && TR_FIRST_HAS(field) ? \
		 tr_probe_forward->field : NULL)

#define TR_PROBE_MAGIC 0x42525054u

/*
 * Calls other than probes, by numbers that all copies share: append new ones
 * at the end. The calls for epoch rows are not public (train/epoch_store.h).
 */
#define TR_APIS(X) \
	X(tare_stop) X(tare_enable) X(tare_option_set) X(tare_option_get) \
	X(tare_log_set) X(tare_monitor_enable) X(tare_monitor_disable) \
	X(tare_monitor_parts) X(tare_monitor_sample) X(tare_monitor_cost_ns) \
	X(tare_trace_schedule) X(tare_alloc_snapshot) X(tare_alloc_current) \
	X(tare_alloc_tag) X(tare_alloc_note) X(tare_free_note) \
	X(tr_epoch_store_open) X(tr_epoch_store_add) \
	X(tr_epoch_store_close) X(tr_epoch_store_phases) \
	X(tare_profile_start) X(tare_profile_stop)

enum tr_api {
#define TR_API_NUMBER(call) TR_API_##call,
	TR_APIS(TR_API_NUMBER)
#undef TR_API_NUMBER
	TR_N_APIS
};

/* The first copy's call if another copy is first and has it, else NULL. */
tr_any_call tr_first_api(enum tr_api which);
/* The same call in the first copy, or NULL: this copy must do the work. */
#define TR_FIRST(call) ((__typeof__(&call))tr_first_api(TR_API_##call))

/* NULL, or the table of the first copy. */
extern const struct tr_probe_table *tr_probe_forward;
/* For a probe that all copies have: calls the first copy's and returns. */
#define TR_FORWARD(probe, ...) \
	do { \
		if (tr_probe_forward) { \
			tr_probe_forward->probe(__VA_ARGS__); \
			return; \
		} \
	} while (0)

/*
 * The gate of sites that are off while no ledger is open: 0, and 1 from the
 * first start on, so that sites check their switches again.
 */
extern uint32_t tr_gate_off;

/* A handle like that of tare_site_get(), which also has the flags of `like`. */
tare_site *tr_site_flagged(const tare_site *like);

enum tr_note_type {
	TR_NOTE_FAIL = 0,
	TR_NOTE_INT = 1,
	TR_NOTE_DOUBLE = 2,
	TR_NOTE_STR = 3
};

/* ---- site.c ------------------------------------------------------------ */

/* True if this process has its own ledger, after opening it if needed. */
bool tr_probe_has_ledger(void);
/* Registers the site if needed and evaluates the switches; true: on. */
bool tr_site_refresh(tare_site *site);
/*
 * Common start of every slow path: checks that the site is on and that the
 * thread has a track. NULL: nothing to do (off, or lost and counted).
 */
struct tr_thread *tr_probe_ready(tare_site *site, uint32_t gate);

/* ---- note.c ------------------------------------------------------------ */

extern bool tr_probe_items; /* collect_throughput */
/* enable_memory_tracking, enable_gpu_tracking: records of samples are kept. */
extern bool tr_probe_memory, tr_probe_gpus;

/* Ticks: shorter operations that did not fail get no record. */
extern uint64_t tr_note_floor;
/*
 * Writes the record of a finished operation with its notes. `error`: NULL if
 * it succeeded; "": it failed, with the text that was noted. Busy.
 */
void tr_note_record(struct tr_thread *thread, uint32_t site, uint64_t start,
		    uint64_t duration, const char *error);
/* Content of a record without notes of a scope. */
struct tr_note {
	uint32_t site;
	enum tare_record_kind kind;
	uint64_t start, duration; /* ticks */
	const char *error; /* NULL: success */
	bool is_absent;	   /* not a failure: `error` only explains */
	const tare_attr *attr;
	size_t n_attrs;
};
/* Writes the record. False if there is no room. Busy. */
bool tr_note_write(struct tr_thread *thread, const struct tr_note *note);
/* The same at the present time and for `site`, unless the note names another
 * site. 0, TARE_EOFF or TARE_EFULL. */
int tr_note_now(tare_site *site, struct tr_note *note);
/* Drops the notes with this start. Busy. */
void tr_note_drop(struct tr_thread *thread, uint64_t start);
/* Moves the notes from one start to another. Busy. */
void tr_note_rename(struct tr_thread *thread, uint64_t from, uint64_t to);

/* ---- value.c ----------------------------------------------------------- */

/* The thread's cell for a site of values; 0 if there is no room. Busy. */
uint32_t tr_value_cell(struct tr_thread *thread, uint32_t site);

/* ---- scope.c ----------------------------------------------------------- */

/* Counts a call whose path found no room. Busy. */
void tr_scope_overflow(struct tr_thread *thread);
/* Closes the scopes above `to` that were not ended, without a time. Busy. */
void tr_scope_repair(struct tr_thread *thread, const struct tr_frame *to);
/* Appends a duration, as two entries if it exceeds 32 bits. Busy. */
void tr_scope_append(struct tr_thread *thread, uint32_t node, uint64_t start,
		     uint64_t duration, uint32_t flags);
/* Ticks from start to end; an impossible duration is counted and gives 0. */
uint64_t tr_scope_duration(const struct tr_thread *thread, uint64_t start,
			   uint64_t end);
/* Ends a scope at a time that was read before. Not for other copies. */
void tr_scope_end_at(void *handle, uint64_t end);
/* Ends a scope as its probe does, and returns the end; 0: not known. */
uint64_t tr_scope_end_told(void *frame);
/* Handles every case of a begin. */
void *tr_scope_begin_slow(tare_site *site, uint32_t gate);

TR_INLINE struct tr_frame *tr_scope_push(struct tr_thread *thread,
					 struct tr_track *track, uint32_t node)
{
	struct tr_frame *frame = thread->top + 1;

	TR_STORE(track->current, node);
	TR_FENCE();
	__atomic_store_n(&thread->top, frame, TR_OWNER_ORDER);
	TR_FENCE();
	return frame;
}

/* Starts the time of a frame; an operation's start is stored in `aside`. */
TR_INLINE void tr_frame_begin(struct tr_frame *frame, const tare_site *site,
			      uint64_t ticks)
{
	bool is_aside = site->flags & TARE_SITE_OPERATION;

	if (is_aside)
		TR_STORE(frame->aside, ticks);
	TR_STORE(frame->start, is_aside ? TR_FRAME_ASIDE : ticks);
}

/* The frame's real start; with TR_FRAME_UNTIMED, a unique number. */
TR_INLINE uint64_t tr_frame_start(const struct tr_frame *frame)
{
	uint64_t start = TR_LOAD(frame->start);

	if (start != TR_FRAME_ASIDE)
		return start;
	return TR_LOAD(frame->aside) & ~TR_FRAME_FAILED;
}

/* ---- calls.c (the hooks themselves: calls.h) --------------------------- */

/*
 * Sets the mode of the -finstrument-functions hooks, at the start. The hooks
 * call `know` with code that is new on a path: signal-safe.
 */
void tr_calls_use(enum tr_calls mode, void (*know)(uint64_t address));
/* Hooks begin no functions until this is called with false. Any thread. */
void tr_calls_pause(bool is_paused);
/* Functions above this frame outlive the scope that ends now. Busy. */
void tr_calls_orphan(struct tr_thread *thread, const struct tr_frame *to);
/* Drops the innermost function, the current node, which had no end. Busy. */
void tr_calls_drop(struct tr_thread *thread);

/* A random number, which selects the next call that is timed. */
TR_INLINE uint32_t tr_thread_draw(struct tr_thread *thread)
{
	uint32_t x = thread->random ? thread->random : thread->tid | 1;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	thread->random = x;
	return x;
}

/* ---- untimed.c --------------------------------------------------------- */

/* The handle of a scope that is only counted is its frame plus one. */
TR_INLINE struct tr_frame *tr_frame_of(void *handle)
{
	return (struct tr_frame *)((uintptr_t)handle & ~(uintptr_t)1);
}

/* Is the frame's scope only counted? */
TR_INLINE bool tr_frame_is_untimed(const struct tr_frame *frame)
{
	return TR_LOAD(frame->start) == TR_FRAME_ASIDE &&
	       TR_LOAD(frame->aside) & TR_FRAME_UNTIMED;
}

/* Does the handle belong to the scope that is now in its frame? */
TR_INLINE bool tr_frame_is_for(const struct tr_frame *frame, void *handle)
{
	return tr_frame_is_untimed(frame) == ((const void *)frame != handle);
}

/*
 * enum tr_level by site, or NULL: all sites are measured in full. For scopes,
 * the low bits are also in tare_site.reserved[1].
 */
extern uint8_t *tr_site_levels;

/* Begins a scope of a site whose calls are not all timed; returns its handle.
 * The thread has a track, and it is not busy. */
void *tr_scope_begin_untimed(tare_site *site, uint32_t gate);
/* Gives the open call of a trial, which has no frame, one. Signal-safe. */
void tr_trial_promote(struct tr_thread *thread);
/* The same, if there is such a call. */
TR_INLINE void tr_trial_settle(struct tr_thread *thread)
{
	if (TR_UNLIKELY(thread->self.light.is_inside))
		tr_trial_promote(thread);
}
/* Is this call to be counted only? */
bool tr_scope_is_skipped(struct tr_thread *thread, tare_site *site);
/* Makes the frame just pushed an untimed one; returns its handle. */
void *tr_frame_untimed(const struct tr_thread *thread, struct tr_frame *frame);
/* Ends it; false if `handle` is not untimed, or not the innermost scope. */
bool tr_scope_end_untimed(void *handle);
/* Counts a call that ends without a time, and its failure. Busy. */
void tr_scope_count(struct tr_thread *thread, uint32_t node, void *handle);

#endif
