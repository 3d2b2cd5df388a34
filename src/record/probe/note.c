/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes: attributes, failure texts and items of an open scope.
 *
 * They wait in the thread's note buffer, under the start time of their scope
 * (unique in the thread), until the scope ends and all are written into one
 * record. So ids such as photo_id never become series.
 */
#include "record/probe/note_buffer.h"

#include <assert.h>
#include <string.h>

#define TR_SHORT_KEY 31u
#define TR_NUMBER_MOST (sizeof(struct tr_note_entry) + TR_SHORT_KEY + 8u + 7u)

/* ---- notes ------------------------------------------------------------- */

/*
 * While measuring is off, scopes have no frames, and a note of such a scope
 * would go to one that was begun before.
 */
static bool is_on(void)
{
	return tr_ledger && tr_ledger->control &&
	       TR_LOAD(tr_ledger->control->enabled);
}

/* The frame of a handle; NULL means the innermost. NULL if there is none. */
static struct tr_frame *frame_of(struct tr_thread *thread, void *handle)
{
	struct tr_frame *frame;

	if (!thread->own_track || (!handle && !is_on()))
		return NULL;
	tr_trial_settle(thread);
	if (handle && tr_trial_is_light(handle)) {
		handle = thread->self.light.promoted;
		if (!handle)
			return NULL;
	}
	frame = handle ? tr_frame_of(handle) : thread->top;
	if (frame <= thread->frames || frame > thread->top ||
	    (handle && !tr_frame_is_for(frame, handle)))
		return NULL;
	return frame;
}

/* Innermost scope of handlers that interrupted a probe of their thread. */
static struct tr_detached *newest_detached(struct tr_thread *thread)
{
	for (unsigned i = TR_DETACHED; i-- > 0;)
		if (thread->detached[i].in_use)
			return &thread->detached[i];
	return NULL;
}

/* The detached scope of a handle, if it is one. */
static struct tr_detached *detached_of(struct tr_thread *thread, void *frame)
{
	if (!frame)
		return thread->own_track && tr_thread_is_busy(thread) ?
			       newest_detached(thread) :
			       NULL;
	if ((char *)frame < (char *)thread->detached ||
	    (char *)frame >= (char *)(thread->detached + TR_DETACHED))
		return NULL;
	return frame;
}

static void note_detached(struct tr_detached *detached, int type)
{
	if (type == TR_NOTE_FAIL)
		detached->failed = true;
	detached->noted = true;
}

static void note_value(struct tr_thread *thread, uint64_t start, int type,
		       const char *key, int64_t i, double d, const char *text)
{
	struct tr_note_value value = { .bytes = 8 };

	assert(tr_thread_is_busy(thread));
	if (type == TR_NOTE_INT) {
		value.at = &i;
	} else if (type == TR_NOTE_DOUBLE) {
		value.at = &d;
	} else {
		value.at = text;
		value.bytes = tr_note_clip(text, TR_TEXT_MOST, &value.is_cut);
	}
	tr_note_buffer_add(thread, start, type, key, &value);
}

/* Makes the scope's end take the path for notes. Busy. */
TR_INLINE void set_aside(struct tr_frame *frame, uint64_t flags)
{
	uint64_t start = TR_LOAD(frame->start);

	if (start != TR_FRAME_ASIDE) {
		TR_STORE(frame->aside, start | flags);
		TR_STORE(frame->start, TR_FRAME_ASIDE);
	} else if (flags) {
		TR_STORE(frame->aside, TR_LOAD(frame->aside) | flags);
	}
}

void tr_own_note(void *handle, int type, const char *key, int64_t i, double d,
		 const char *text)
{
	struct tr_thread *thread = tr_this_thread();
	struct tr_detached *detached;
	struct tr_frame *frame;

	TR_FORWARD(note, handle, type, key, i, d, text);
	detached = detached_of(thread, handle);
	if (detached) {
		note_detached(detached, type);
		return;
	}
	frame = frame_of(thread, handle);
	if (!frame)
		return;
	if (!tr_thread_enter(thread)) {
		tr_lose_busy();
		return;
	}
	/* Not only in the buffer, which may be full: failures are counted. */
	set_aside(frame, type == TR_NOTE_FAIL ? TR_FRAME_FAILED : 0);
	note_value(thread, tr_frame_start(frame), type, key ? key : "", i, d,
		   text ? text : "");
	tr_thread_leave(thread);
}

static uint32_t node_of(const struct tr_thread *thread,
			const struct tr_frame *frame)
{
	uint32_t node = thread->own_track->current;

	for (const struct tr_frame *f = thread->top; f > frame; f--)
		node = tr_node_at(thread, node)->parent;
	return node;
}

void tr_own_items(void *handle, uint64_t n)
{
	struct tr_thread *thread = tr_this_thread();
	struct tr_frame *frame;

	TR_FORWARD(items, handle, n);
	if (!TR_LOAD(tr_probe_items))
		return;
	if (detached_of(thread, handle)) {
		tr_lose_busy();
		return;
	}
	frame = frame_of(thread, handle);
	if (!frame)
		return;
	if (!tr_thread_enter(thread)) {
		tr_lose_busy();
		return;
	}
	tr_log_append(thread, n, 0, node_of(thread, frame) | TR_ENTRY_ITEMS);
	tr_thread_leave(thread);
}

/* ---- the common notes -------------------------------------------------- */

/*
 * A note of the innermost scope, with room in the buffer. Checked while busy:
 * before that, a signal handler may add a note, too.
 */
TR_INLINE bool is_common(const struct tr_thread *thread, size_t bytes)
{
	return thread->top > thread->frames && !thread->self.light.is_inside &&
	       is_on() && thread->note_bytes + bytes <= TR_NOTE_BUFFER_BYTES;
}

/* The head of an entry; key and value follow it. Busy. */
TR_INLINE void put_entry(struct tr_thread *thread, int type, size_t key_bytes,
			 size_t value_bytes)
{
	struct tr_note_entry *s = tr_note_entry_at(thread, thread->note_bytes);
	size_t bytes = (sizeof(*s) + key_bytes + value_bytes + 7) & ~(size_t)7;

	*s = (struct tr_note_entry){
		.start = TR_LOAD(thread->top->aside) & ~TR_FRAME_FAILED,
		.bytes = (uint16_t)bytes,
		.type = (uint8_t)type,
		.key_bytes = (uint8_t)key_bytes,
		.value_bytes = (uint16_t)value_bytes,
	};
	thread->note_bytes = (uint16_t)(thread->note_bytes + bytes);
}

/* False if the key is not short. Busy. */
TR_INLINE bool add_number(struct tr_thread *thread, int type, const char *key,
			  uint64_t value)
{
	char *to = (char *)(tr_note_entry_at(thread, thread->note_bytes) + 1);
	unsigned len = 0;

	for (; key[len] && len < TR_SHORT_KEY; len++)
		to[len] = key[len];
	if (TR_UNLIKELY(key[len]))
		return false;
	set_aside(thread->top, 0);
	memcpy(to + len, &value, 8);
	put_entry(thread, type, len, 8);
	return true;
}

/*
 * `track` is set only while the thread is not busy. False: use the slow path.
 */
TR_INLINE bool note_number(struct tr_thread *thread, int type, const char *key,
			   uint64_t value)
{
	struct tr_track *track = thread->track;
	bool is_noted;

	if (!track || !key)
		return false;
	thread->track = NULL; /* busy */
	TR_FENCE();
	is_noted = is_common(thread, TR_NUMBER_MOST) &&
		   add_number(thread, type, key, value);
	TR_FENCE();
	tr_thread_set_track(thread, track);
	return is_noted;
}

/*
 * Copies words: texts are short, and gcc turns memcpy() of a length that it
 * knows to be moderate into `rep movs`, which takes longer to start than this.
 */
TR_INLINE void copy_text(char *to, const char *text, size_t n)
{
	uint64_t word;

	if (n < 8) {
		for (size_t i = 0; i < n; i++)
			to[i] = text[i];
		return;
	}
	for (size_t i = 0; i + 8 < n; i += 8) {
		memcpy(&word, text + i, 8);
		memcpy(to + i, &word, 8);
	}
	memcpy(&word, text + n - 8, 8);
	memcpy(to + n - 8, &word, 8);
}

TR_INLINE void add_failure(struct tr_thread *thread, const char *text,
			   size_t len)
{
	set_aside(thread->top, TR_FRAME_FAILED);
	copy_text((char *)(tr_note_entry_at(thread, thread->note_bytes) + 1),
		  text, len);
	put_entry(thread, TR_NOTE_FAIL, 0, len);
}

static bool note_failure(struct tr_thread *thread, const char *text)
{
	struct tr_track *track = thread->track;
	size_t len = text ? strnlen(text, TR_TEXT_MOST + 1) : 0;
	bool is_noted;

	if (!track || len > TR_TEXT_MOST)
		return false;
	thread->track = NULL; /* busy */
	TR_FENCE();
	is_noted = is_common(thread, sizeof(struct tr_note_entry) + len + 7);
	if (is_noted)
		add_failure(thread, text, len);
	TR_FENCE();
	tr_thread_set_track(thread, track);
	return is_noted;
}

/* ---- public ------------------------------------------------------------ */

bool tr_probe_items = true;

TARE_API void tare_fail(const char *text)
{
	if (!note_failure(tr_this_thread(), text))
		tr_own_note(NULL, TR_NOTE_FAIL, "", 0, 0, text);
}

TARE_API void tare_items(uint64_t n)
{
	tr_own_items(NULL, n);
}

TARE_API void tare_attr_int(const char *key, int64_t value)
{
	if (!note_number(tr_this_thread(), TR_NOTE_INT, key, (uint64_t)value))
		tr_own_note(NULL, TR_NOTE_INT, key, value, 0, NULL);
}

TARE_API void tare_attr_double(const char *key, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, 8);
	if (!note_number(tr_this_thread(), TR_NOTE_DOUBLE, key, bits))
		tr_own_note(NULL, TR_NOTE_DOUBLE, key, 0, value, NULL);
}

TARE_API void tare_attr_str(const char *key, const char *value)
{
	tr_own_note(NULL, TR_NOTE_STR, key, 0, 0, value);
}

TARE_API void tare_scope_fail(tare_scope scope, const char *text)
{
	if (scope.frame)
		tr_own_note(scope.frame, TR_NOTE_FAIL, "", 0, 0, text);
}

TARE_API void tare_scope_items(tare_scope scope, uint64_t n)
{
	if (scope.frame)
		tr_own_items(scope.frame, n);
}

TARE_API void tare_scope_attr_int(tare_scope scope, const char *key,
				  int64_t value)
{
	if (scope.frame)
		tr_own_note(scope.frame, TR_NOTE_INT, key, value, 0, NULL);
}

TARE_API void tare_scope_attr_double(tare_scope scope, const char *key,
				     double value)
{
	if (scope.frame)
		tr_own_note(scope.frame, TR_NOTE_DOUBLE, key, 0, value, NULL);
}

TARE_API void tare_scope_attr_str(tare_scope scope, const char *key,
				  const char *value)
{
	if (scope.frame)
		tr_own_note(scope.frame, TR_NOTE_STR, key, 0, 0, value);
}
