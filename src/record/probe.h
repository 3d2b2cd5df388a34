/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of probe/: what stands behind the public probes.
 *
 * The fast paths assume an attached thread and a registered site, and test
 * for both with one load each; all the rest of life (first use, fork, signal
 * handlers, slow clocks, another copy of the library) is in slow paths.
 */
#ifndef TR_RECORD_PROBE_H
#define TR_RECORD_PROBE_H

#include <tare/step.h>
#include <tare/read/view.h>

#include <stddef.h>

#include "ledger/write.h"
#include "record/host.h"

/* The entry points, for a second copy of the library in the process. */
/*
 * Public calls that are no probes and must act in the copy that measures: in
 * a program that has the library in it, `tare run` brings another one, which
 * is the first. Numbers are part of the table: new ones at the end. Those of
 * epoch rows are no public calls (train/epoch_store.h).
 */
enum tr_api {
	TR_API_STOP,
	TR_API_ENABLE,
	TR_API_OPTION_SET,
	TR_API_OPTION_GET,
	TR_API_LOG_SET,
	TR_API_MONITOR_ENABLE,
	TR_API_MONITOR_DISABLE,
	TR_API_MONITOR_PARTS,
	TR_API_MONITOR_SAMPLE,
	TR_API_MONITOR_COST,
	TR_API_TRACE_SCHEDULE,
	TR_API_ALLOC_SNAPSHOT,
	TR_API_ALLOC_CURRENT,
	TR_API_ALLOC_TAG,
	TR_API_ALLOC_NOTE,
	TR_API_FREE_NOTE,
	TR_API_EPOCH_STORE_OPEN,
	TR_API_EPOCH_STORE_ADD,
	TR_API_EPOCH_STORE_CLOSE,
	TR_API_EPOCH_STORE_PHASES,
	TR_API_PROFILE_START,
	TR_API_PROFILE_STOP,
	TR_APIS
};

struct tr_probe_table {
	uint32_t magic, size;
	char version[16];
	struct tr_ledger *const *ledger; /* only for the same version */
	void *(*scope_begin)(tare_site *site, uint32_t gate);
	void (*scope_end)(void *frame);
	void (*scope_end_exact)(void *frame);
	void (*counter_add)(tare_site *site, uint32_t gate, uint64_t n);
	void (*value_observe)(tare_site *site, uint32_t gate, double v);
	void (*gauge_set)(tare_site *site, uint32_t gate, double v);
	void (*gauge_add)(tare_site *site, uint32_t gate, double v);
	void (*ratio_add)(tare_site *site, uint32_t gate, uint64_t part,
			  uint64_t whole);
	void (*duration)(tare_site *site, uint32_t gate, uint64_t ns,
			 const char *error);
	tare_site *(*site_get)(enum tare_kind kind, enum tare_type type,
			       const char *name, const char *unit,
			       const char *source);
	tare_site *(*site_labels)(tare_site *site, size_t n_pairs,
				  const char *const pairs[]);
	void (*note)(void *frame, int type, const char *key, int64_t i,
		     double d, const char *text);
	void (*items)(void *frame, uint64_t n);
	void (*fiber)(tare_fiber *fiber, bool restore);
	/* From here on: only if `size` says that it is there. */
	int (*record_memory)(const char *operation);
	int (*record_gpu)(const char *operation);
	void (*step)(uint64_t items);
	size_t (*leaks)(tare_leak *ret_leaks, size_t size);
	void (*start)(void); /* what its constructor does, if it is not done */
	void (*step_named)(const char *name, uint64_t items);
	tare_site *(*site_flagged)(const tare_site *like);
	uint64_t (*ticks)(void);
	void (*overlap)(tare_site *site, uint32_t gate, uint64_t from,
			uint64_t to);
	tr_any_call (*api)(unsigned which); /* enum tr_api; or NULL */
	void (*step_epoch)(uint64_t items);
	void (*counter_add_double)(tare_site *site, uint32_t gate, double v);
	void (*duration_with)(tare_site *site, uint32_t gate, uint64_t ns,
			      const char *error, const tare_attrs *attrs);
};

/* Does the copy of the library that came first have this call? */
#define TR_FIRST_HAS(field) \
	(tr_probe_forward->size >= \
	 offsetof(struct tr_probe_table, field) + sizeof(void *))

#define TR_PROBE_MAGIC 0x42525054u

/* The first copy's, if that is another one and has it; else NULL. */
tr_any_call tr_first_api(unsigned which);
/* The same call there, or NULL: it is this one's to do. */
#define TR_FIRST(call, which) ((__typeof__(&call))tr_first_api(which))

/*
 * Another name for a public call, which no other object has: a program that
 * has a copy of its own may export the public name, and then this copy's
 * uses of that name mean the program's.
 */
#define TR_OWN(own, public) \
	extern __typeof__(public) own \
		__attribute__((alias(#public), visibility("hidden")))

__typeof__(tare_scope_begin_) tr_own_scope_begin;
__typeof__(tare_scope_end_) tr_own_scope_end, tr_own_scope_end_exact;
__typeof__(tare_counter_add_) tr_own_counter_add;
__typeof__(tare_value_observe_) tr_own_value_observe;
__typeof__(tare_gauge_set_) tr_own_gauge_set, tr_own_gauge_add;
__typeof__(tare_ratio_add_) tr_own_ratio_add;
__typeof__(tare_duration_record_) tr_own_duration_record;
__typeof__(tare_duration_record_with_) tr_own_duration_record_with;
__typeof__(tare_counter_add_double_) tr_own_counter_add_double;
__typeof__(tare_site_get) tr_own_site_get;
__typeof__(tare_site_labels) tr_own_site_labels;
__typeof__(tare_memory_record) tr_own_record_memory, tr_own_record_gpu;

/* NULL, or the table of the copy that came first. */
extern const struct tr_probe_table *tr_probe_forward;

/*
 * Where sites that are off point while nothing is open: 0, and 1 from the
 * first start on, so that they ask again.
 */
extern uint32_t tr_gate_off;

/*
 * A handle like tare_site_get()'s; `like` has kind, type, name, unit, source
 * and flags.
 */
tare_site *tr_site_flagged(const tare_site *like);
/* The same for a series whose values are no records of the history. */
tare_site *tr_site_unlisted(const tare_site *like);
/* A time that overlaps scopes: its path begins at the root. */
void tr_probe_overlap(tare_site *site, uint32_t gate, uint64_t from,
		      uint64_t to);

enum tr_note_type {
	TR_NOTE_FAIL = 0,
	TR_NOTE_INT = 1,
	TR_NOTE_DOUBLE = 2,
	TR_NOTE_STR = 3
};

/* ---- site.c ------------------------------------------------------------ */

/* True if the thread's process has a ledger of its own, now or at last. */
bool tr_probe_has_ledger(void);
/* Registers if needed and evaluates the switches; true: on. */
bool tr_site_refresh(tare_site *site);
/*
 * Common start of every slow path: the site is on and the thread has a
 * track. NULL: nothing to do (off, or lost and counted).
 */
struct tr_thread *tr_probe_ready(tare_site *site, uint32_t gate);

/* ---- note.c ------------------------------------------------------------ */

extern bool tr_probe_items; /* collect_throughput */
/* enable_memory_tracking, enable_gpu_tracking: records of samples are kept. */
extern bool tr_probe_memory, tr_probe_gpus;
void tr_probe_note(void *frame, int type, const char *key, int64_t i, double d,
		   const char *text);
void tr_probe_add_items(void *frame, uint64_t n);

/* Ticks: shorter operations that did not fail get no record. */
extern uint64_t tr_note_floor;
/*
 * Writes the record of a finished operation with its notes. `error`: NULL, or
 * it failed; "": with the text that was noted. Busy.
 */
void tr_note_record(struct tr_thread *thread, uint32_t site, uint64_t start,
		    uint64_t duration, const char *error);
/*
 * Writes a record of another kind, of this moment. False if the history has
 * no room. Busy.
 */
struct tr_note_attr {
	const char *key;
	enum tr_note_type type; /* TR_NOTE_INT or TR_NOTE_DOUBLE */
	int64_t i;
	double d;
};
struct tr_note_sample {
	uint32_t site;
	enum tare_record_kind kind;
	uint64_t at;	   /* ticks */
	const char *error; /* NULL, or it failed */
	bool is_absent;	   /* it did not fail: `error` only explains */
	const struct tr_note_attr *attr;
	size_t n_attrs;
};
bool tr_note_write(struct tr_thread *thread,
		   const struct tr_note_sample *sample);

struct tr_note_duration {
	uint32_t site;
	uint64_t start, duration;
	const char *error; /* NULL: it was a success */
	const tare_attr *attr;
	size_t n_attrs;
};

/* A record of a time that was measured elsewhere. Busy. */
void tr_note_duration(struct tr_thread *thread,
		      const struct tr_note_duration *d);
/* Drops the notes under this start. Busy. */
void tr_note_drop(struct tr_thread *thread, uint64_t start);
/* Moves the notes under one start to another. Busy. */
void tr_note_rename(struct tr_thread *thread, uint64_t from, uint64_t to);

/* ---- value.c ----------------------------------------------------------- */

/* The thread's cell of a site of values; 0 if there is no room. Busy. */
uint32_t tr_value_cell(struct tr_thread *thread, uint32_t site);

/* ---- scope.c ----------------------------------------------------------- */

/* No room for a path: its call is counted where such calls are. Busy. */
void tr_scope_overflow(struct tr_thread *thread);
/* Closes the scopes above `to` that were not ended: no time. Busy. */
void tr_scope_repair(struct tr_thread *thread, const struct tr_frame *to);
/* Appends a duration, in two entries where 32 bits are too few. Busy. */
void tr_scope_append(struct tr_thread *thread, uint32_t node, uint64_t start,
		     uint64_t duration, uint32_t flags);
/* Ticks from start to end; 0 and counted where that cannot be. */
uint64_t tr_scope_duration(const struct tr_thread *thread, uint64_t start,
			   uint64_t end);
/* The end of a scope at a time that was read before. Not for other copies. */
void tr_scope_end_at(void *handle, uint64_t end);
/* Ends a scope as its probe does, and tells when; 0: not known. */
uint64_t tr_scope_end_told(void *frame);
void tr_probe_fiber(tare_fiber *fiber, bool back);
/* All that can happen at a begin. */
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

/* Frame's real start; with TR_FRAME_UNTIMED, a number of its own. */
TR_INLINE uint64_t tr_frame_start(const struct tr_frame *frame)
{
	uint64_t start = TR_LOAD(frame->start);

	if (start != TR_FRAME_ASIDE)
		return start;
	return TR_LOAD(frame->aside) & ~TR_FRAME_FAILED;
}

/* ---- calls.c (the hooks themselves: calls.h) --------------------------- */

/*
 * What the hooks of -finstrument-functions shall do. At the start. `know` is
 * told of code on a path that it was not on before: signal-safe.
 */
void tr_calls_use(enum tr_calls mode, void (*know)(uint64_t address));
/* None are begun until it is called with false. Any thread. */
void tr_calls_pause(bool is_paused);
/* Functions above this frame outlive the scope that ends now. Busy. */
void tr_calls_orphan(struct tr_thread *thread, const struct tr_frame *to);
/* The innermost function, which is the current node, had no end. Busy. */
void tr_calls_drop(struct tr_thread *thread);

/* ---- untimed.c --------------------------------------------------------- */

/* The handle of a scope that is only counted is its frame, plus one. */
TR_INLINE struct tr_frame *tr_frame_of(void *handle)
{
	return (struct tr_frame *)((uintptr_t)handle & ~(uintptr_t)1);
}

/* Is it one of those? */
TR_INLINE bool tr_frame_is_untimed(const struct tr_frame *frame)
{
	return TR_LOAD(frame->start) == TR_FRAME_ASIDE &&
	       TR_LOAD(frame->aside) & TR_FRAME_UNTIMED;
}

/* Does the handle belong to what is in its frame now? */
TR_INLINE bool tr_frame_is_for(const struct tr_frame *frame, void *handle)
{
	return tr_frame_is_untimed(frame) == ((const void *)frame != handle);
}

/*
 * enum tr_level by site, or NULL: all sites are measured in full. For scopes
 * its low bits are in tare_site.reserved[1], too.
 */
extern uint8_t *tr_site_levels;

/* Begins a scope of a site that is not timed at each call; its handle. The
 * track is there and free. */
void *tr_scope_begin_untimed(tare_site *site, uint32_t gate);
/* Shall this call be counted only? */
bool tr_scope_is_skipped(struct tr_thread *thread, const tare_site *site);
/* Makes the frame just pushed one of those; its handle. */
void *tr_frame_untimed(const struct tr_thread *thread, struct tr_frame *frame);
/* Ends it; false if `handle` is no such scope, or not the innermost. */
bool tr_scope_end_untimed(void *handle);
/* Counts a call that ends without a time, and its failure. Busy. */
void tr_scope_count(struct tr_thread *thread, uint32_t node,
		    const struct tr_frame *frame);

#endif
