/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases: which phase the time of an epoch belongs to.
 *
 * Whenever a phase begins or ends, in any thread, the time since the last such
 * moment is assigned to one owner: a pause; else the innermost phase of the
 * thread that began the epoch; else in equal parts those of the other threads;
 * else none (the rest). So every nanosecond is counted once, and the sum is
 * the epoch, whatever threads do.
 */
#include "record/train/training.h"

#include <string.h>

/* ---- names ------------------------------------------------------------- */

/* Made on first use: a run without communication has none in its report. */
static tare_site *site_of_phase(tare_training *t, uint32_t i)
{
	struct tr_train_phase *phase = &t->phase[i];

	if (!phase->site && t->is_kept)
		phase->site = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					    t->phases.text[i], NULL,
					    "training");
	return phase->site;
}

void tr_phases_init(tare_training *t)
{
	static const char *const names[TR_PHASE_COLUMNS] = {
		[TR_PHASE_FORWARD] = "forward",
		[TR_PHASE_BACKWARD] = "backward",
		[TR_PHASE_COMMUNICATION] = "communication",
		[TR_PHASE_UPDATE] = "update",
		[TR_PHASE_BROADCAST] = "broadcast",
		[TR_PHASE_AGGREGATION] = "gradient_aggregation",
	};

	for (uint32_t i = 0; i < TR_PHASE_COLUMNS; i++)
		(void)tr_names_add(&t->phases, names[i]);
	/* Every epoch shows the columns, but parts only if they occur. */
	t->phase_mask = (1u << TR_PHASE_BROADCAST) - 1;
}

/* The last index is for all names that find no room. */
static uint32_t find_phase(tare_training *t, const char *name)
{
	uint32_t i;

	if (!name || !name[0])
		name = "(no name)";
	i = tr_names_find(&t->phases, name);
	if (i != UINT32_MAX)
		return i;
	if (t->phases.n == TR_PHASES)
		return TR_PHASES - 1;
	return tr_names_add(&t->phases, t->phases.n == TR_PHASES - 1 ?
						"(other phases)" : name);
}

/* ---- threads ----------------------------------------------------------- */

static uintptr_t thread_id(void)
{
	return (uintptr_t)pthread_self();
}

/* Index of the thread, found or free; UINT32_MAX: there is none. */
static uint32_t find_thread(tare_training *t)
{
	uintptr_t id = thread_id();
	uint32_t free_one = UINT32_MAX;

	if (t->thread[t->driver].id == id)
		return t->driver;
	for (uint32_t i = 0; i < t->n_threads; i++) {
		if (t->thread[i].id == id)
			return i;
		if (!t->thread[i].depth && (!t->epoch || i != t->driver))
			free_one = i;
	}
	if (free_one == UINT32_MAX && t->n_threads < TR_PHASE_THREADS)
		free_one = t->n_threads++;
	if (free_one != UINT32_MAX)
		t->thread[free_one].id = id;
	return free_one;
}

static struct tr_phase_frame *top_of(struct tr_phase_thread *thread)
{
	return thread->depth ? &thread->frame[thread->depth - 1] : NULL;
}

/* ---- time -------------------------------------------------------------- */

static void share_out(tare_training *t, int64_t ns)
{
	uint32_t n = 0, last = 0;

	for (uint32_t i = 0; i < t->n_threads; i++)
		if (t->thread[i].depth) {
			n++;
			last = i;
		}
	if (!n) {
		t->rest_ns += ns;
		return;
	}
	for (uint32_t i = 0; i <= last; i++) {
		struct tr_phase_frame *top = top_of(&t->thread[i]);
		int64_t part = i == last ? ns : ns / n;

		if (!top)
			continue;
		t->phase[top->phase].own_ns += part;
		ns -= part;
		n--;
	}
}

/* Adds the time until now to its phase. With the lock. */
static void settle(tare_training *t, int64_t now)
{
	int64_t ns = now - t->settled_ns;
	struct tr_phase_frame *top;

	if (ns <= 0) /* an error of the watch: nothing counts twice */
		return;
	t->settled_ns = now;
	if (!t->epoch)
		return;
	if (t->pauses) {
		t->paused_ns += ns;
		return;
	}
	top = top_of(&t->thread[t->driver]);
	if (top)
		t->phase[top->phase].own_ns += ns;
	else
		share_out(t, ns);
}

/* The part of a phase that is in the epoch and in no pause. */
static void add_total(tare_training *t, struct tr_phase_frame *frame,
		      int64_t now)
{
	int64_t ns = now - frame->since_ns -
		     (t->paused_ns - frame->paused_ns);

	if (t->epoch && ns > 0 && !frame->is_pause)
		t->phase[frame->phase].total_ns += ns;
	frame->since_ns = now;
	frame->paused_ns = t->paused_ns;
}

/* Ends the innermost phase of a thread. Returns its scope. */
static tare_scope pop(tare_training *t, struct tr_phase_thread *thread,
		      int64_t now)
{
	struct tr_phase_frame *frame = top_of(thread);
	tare_scope scope = frame->scope;

	add_total(t, frame, now);
	if (frame->is_pause)
		t->pauses--;
	thread->depth--;
	if (thread->id != thread_id()) /* another thread must end its scope */
		scope.frame = NULL;
	return scope;
}

/* ---- beginning and ending ---------------------------------------------- */

static void wait_for_all(tare_training *t, bool is_async)
{
	if (is_async && t->sync)
		t->sync(t->data);
}

static tare_phase push(tare_training *t, struct tr_phase_frame frame)
{
	tare_phase handle = { NULL, 0, 0, 0 };
	uint32_t at = find_thread(t);
	struct tr_phase_thread *thread;

	if (at == UINT32_MAX ||
	    t->thread[at].depth == TR_PHASE_DEPTH)
		return handle;
	thread = &t->thread[at];
	frame.number = ++t->number;
	frame.epoch = t->epoch;
	frame.paused_ns = t->paused_ns;
	if (frame.is_pause)
		t->pauses++;
	else if (t->epoch && !t->pauses)
		t->phase[frame.phase].calls++;
	if (!frame.is_pause)
		t->phase_mask |= UINT64_C(1) << frame.phase;
	thread->frame[thread->depth] = frame;
	handle = (tare_phase){ t, at, thread->depth++, frame.number };
	return handle;
}

static tare_phase begin_phase(tare_training *t, const char *name,
			      bool is_pause, bool is_async)
{
	tare_phase handle = { NULL, 0, 0, 0 };
	struct tr_phase_frame frame = { .is_pause = is_pause,
					.is_async = is_async };
	tare_site *site;

	if (!t || !tr_training_is_mine(t))
		return handle;
	wait_for_all(t, is_async);
	(void)pthread_mutex_lock(&t->lock);
	frame.phase = (uint8_t)find_phase(t, name);
	site = site_of_phase(t, frame.phase);
	if (site)
		frame.scope = tare_scope_begin(site);
	frame.since_ns = tr_stopwatch_ns(&t->watch);
	settle(t, frame.since_ns);
	handle = push(t, frame);
	(void)pthread_mutex_unlock(&t->lock);
	if (!handle.training)
		tare_scope_end(frame.scope);
	return handle;
}

TARE_API tare_phase tare_phase_begin(tare_training *training, const char *name)
{
	return begin_phase(training, name, false, false);
}

TARE_API tare_phase tare_phase_begin_async(tare_training *training,
					   const char *name)
{
	return begin_phase(training, name, false, true);
}

TARE_API tare_phase tare_pause_begin(tare_training *training, const char *name)
{
	return begin_phase(training, name, true, false);
}

/* Is the phase open? With the lock. */
static bool is_held(const tare_training *t, tare_phase handle)
{
	const struct tr_phase_thread *thread;

	if (handle.thread >= t->n_threads)
		return false;
	thread = &t->thread[handle.thread];
	return handle.depth < thread->depth &&
	       thread->frame[handle.depth].number == handle.number;
}

static bool is_async(tare_training *t, tare_phase handle)
{
	bool is;

	if (!t->sync)
		return false;
	(void)pthread_mutex_lock(&t->lock);
	is = is_held(t, handle) &&
	     t->thread[handle.thread].frame[handle.depth].is_async;
	(void)pthread_mutex_unlock(&t->lock);
	return is;
}

/* Also ends the phases inside it that were not ended. */
static void end_phase(tare_phase handle, int64_t pending_since_ns)
{
	tare_training *t = handle.training;
	int64_t now;

	if (!t || !tr_training_is_mine(t))
		return;
	wait_for_all(t, is_async(t, handle));
	(void)pthread_mutex_lock(&t->lock);
	now = tr_stopwatch_ns(&t->watch);
	if (is_held(t, handle)) {
		struct tr_phase_thread *thread = &t->thread[handle.thread];
		struct tr_phase_frame *frame = &thread->frame[handle.depth];

		settle(t, now);
		if (pending_since_ns && now > pending_since_ns && t->epoch &&
		    !t->pauses)
			t->phase[frame->phase].pending_ns +=
				now - pending_since_ns;
		while (thread->depth > handle.depth)
			tare_scope_end(pop(t, thread, now));
	}
	(void)pthread_mutex_unlock(&t->lock);
}

TARE_API void tare_phase_end(tare_phase phase)
{
	end_phase(phase, 0);
}

/* ---- start now, wait later --------------------------------------------- */

TARE_API tare_pending tare_pending_start(tare_training *training,
					 const char *name)
{
	tare_pending pending = { { training, 0, 0, 0 }, name, 0 };

	if (training)
		pending.start_ns = tr_monotonic_ns();
	return pending;
}

TARE_API void tare_pending_wait(tare_pending *pending)
{
	if (pending && pending->start_ns && !pending->phase.number)
		pending->phase = tare_phase_begin(pending->phase.training,
						  pending->name);
}

TARE_API void tare_pending_end(tare_pending *pending)
{
	if (!pending || !pending->phase.number)
		return;
	end_phase(pending->phase, pending->start_ns);
	memset(pending, 0, sizeof(*pending));
}

/* ---- an epoch ---------------------------------------------------------- */

/* Phases that are open continue in the new epoch, from now on. */
static void restart_frames(tare_training *t, int64_t now)
{
	for (uint32_t i = 0; i < t->n_threads; i++)
		for (uint32_t k = 0; k < t->thread[i].depth; k++) {
			t->thread[i].frame[k].since_ns = now;
			t->thread[i].frame[k].paused_ns = 0;
		}
}

static void clear_phases(tare_training *t)
{
	t->paused_ns = t->rest_ns = 0;
	for (uint32_t i = 0; i < t->phases.n; i++) {
		struct tr_train_phase *phase = &t->phase[i];

		phase->own_ns = phase->total_ns = phase->pending_ns = 0;
		phase->calls = 0;
	}
}

int tr_phases_begin(tare_training *t)
{
	uint32_t at;
	int err = 0;

	(void)pthread_mutex_lock(&t->lock);
	at = find_thread(t);
	if (t->epoch)
		err = TARE_EINVAL;
	else if (at == UINT32_MAX)
		err = TARE_EFULL;
	if (!err) {
		t->driver = at;
		t->epoch = ++t->n_epochs;
		t->scope.frame = NULL;
		if (t->site)
			t->scope = tare_scope_begin(t->site);
		clear_phases(t);
		t->begin_ns = t->settled_ns = tr_stopwatch_ns(&t->watch);
		restart_frames(t, t->begin_ns);
	}
	(void)pthread_mutex_unlock(&t->lock);
	return err;
}

/* Does an asynchronous phase end with the epoch? With the lock. */
static bool ends_async(const tare_training *t)
{
	const struct tr_phase_thread *thread = &t->thread[t->driver];

	for (uint32_t i = 0; i < thread->depth; i++)
		if (thread->frame[i].epoch == t->epoch &&
		    thread->frame[i].is_async)
			return true;
	return false;
}

/* Phases that began in this epoch end with it; others continue. */
static void end_frames(tare_training *t, int64_t now)
{
	struct tr_phase_thread *driver = &t->thread[t->driver];

	while (driver->depth && top_of(driver)->epoch == t->epoch)
		tare_scope_end(pop(t, driver, now));
	for (uint32_t i = 0; i < t->n_threads; i++)
		for (uint32_t k = 0; k < t->thread[i].depth; k++)
			add_total(t, &t->thread[i].frame[k], now);
}

static double seconds_of(int64_t ns)
{
	return (double)ns / 1e9;
}

static struct tr_training_sums add_up(struct tr_train_phase *phase)
{
	phase->all_own_ns += phase->own_ns;
	phase->all_calls += phase->calls;
	return (struct tr_training_sums){
		.seconds = tr_bits_of(seconds_of(phase->all_own_ns)),
		.last_seconds = tr_bits_of(seconds_of(phase->own_ns)),
		.calls = phase->all_calls,
	};
}

/* Communication is its own phase plus its parts. */
static void take_columns(const tare_training *t, tare_epoch *epoch)
{
	int64_t broadcast_ns = t->phase[TR_PHASE_BROADCAST].own_ns;
	int64_t aggregation_ns = t->phase[TR_PHASE_AGGREGATION].own_ns;

	for (uint32_t i = 0; i < TR_PHASE_BROADCAST; i++)
		*tr_row_at(&epoch->own, TR_COLUMN_forward_time + i) =
			seconds_of(t->phase[i].own_ns);
	epoch->own.comm_time =
		seconds_of(t->phase[TR_PHASE_COMMUNICATION].own_ns +
			   broadcast_ns + aggregation_ns);
	epoch->broadcast_time = seconds_of(broadcast_ns);
	epoch->gradient_aggregation_time = seconds_of(aggregation_ns);
}

/* Copies the result: other threads continue. */
static void take_epoch(tare_training *t, int64_t now, tare_epoch *epoch)
{
	epoch->own.epoch = t->n_epochs;
	epoch->own.total_time = seconds_of(now - t->begin_ns - t->paused_ns);
	epoch->rest = seconds_of(t->rest_ns);
	epoch->paused = seconds_of(t->paused_ns);
	epoch->phases = t->shown;
	t->n_sums = t->phases.n;
	take_columns(t, epoch);
	for (uint32_t i = 0; i < t->phases.n; i++) {
		struct tr_train_phase *phase = &t->phase[i];

		t->sums[i] = add_up(phase);
		if (!(t->phase_mask >> i & 1))
			continue;
		t->shown[epoch->n_phases++] = (tare_training_phase){
			.name = t->phases.text[i],
			.seconds = seconds_of(phase->own_ns),
			.total = seconds_of(phase->total_ns),
			.pending = seconds_of(phase->pending_ns),
			.calls = phase->calls,
		};
	}
}

bool tr_phases_end(tare_training *t, tare_epoch *epoch, int64_t *ret_now)
{
	bool is_own, waits;
	int64_t now;

	(void)pthread_mutex_lock(&t->lock);
	is_own = t->epoch && t->thread[t->driver].id == thread_id();
	waits = is_own && ends_async(t);
	(void)pthread_mutex_unlock(&t->lock);
	if (!is_own)
		return false;
	wait_for_all(t, waits);
	(void)pthread_mutex_lock(&t->lock);
	now = tr_stopwatch_ns(&t->watch);
	settle(t, now);
	end_frames(t, now);
	take_epoch(t, now, epoch);
	t->epoch = 0;
	(void)pthread_mutex_unlock(&t->lock);
	tare_scope_end(t->scope);
	*ret_now = now;
	return true;
}
