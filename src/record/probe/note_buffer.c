/* SPDX-License-Identifier: Apache-2.0 */
#include "record/probe/note_buffer.h"

#include <assert.h>
#include <string.h>

static bool is_inside(const char *text, size_t at)
{
	return ((unsigned char)text[at] & 0xc0) == 0x80;
}

size_t tr_note_clip(const char *text, size_t most, bool *cut)
{
	size_t len = strnlen(text, most + 1);

	if (len <= most)
		return len;
	*cut = true;
	/* A character has at most four bytes; otherwise it is not text. */
	for (len = most; most - len < 3 && is_inside(text, len);)
		len--;
	return is_inside(text, len) ? most : len;
}

/* Keeps the notes that `keep` accepts and closes the gaps. */
static void sweep(struct tr_thread *thread,
		  bool (*keep)(const struct tr_thread *thread, uint64_t start,
			       uint64_t other),
		  uint64_t other)
{
	unsigned at = 0, kept = 0;

	assert(tr_thread_is_busy(thread));
	while (at < thread->note_bytes) {
		unsigned bytes = tr_note_entry_at(thread, at)->bytes;

		if (keep(thread, tr_note_entry_at(thread, at)->start, other)) {
			memmove(thread->notes + kept, thread->notes + at,
				bytes);
			kept += bytes;
		}
		at += bytes;
	}
	thread->note_bytes = (uint16_t)kept;
}

static bool is_another(const struct tr_thread *thread, uint64_t start,
		       uint64_t other)
{
	(void)thread;
	return start != other;
}

void tr_note_drop(struct tr_thread *thread, uint64_t start)
{
	sweep(thread, is_another, start);
}

void tr_note_rename(struct tr_thread *thread, uint64_t from, uint64_t to)
{
	for (unsigned at = 0; at < thread->note_bytes;) {
		struct tr_note_entry *s = tr_note_entry_at(thread, at);

		if (s->start == from)
			s->start = to;
		at += s->bytes;
	}
}

static bool is_open(const struct tr_thread *thread, uint64_t start,
		    uint64_t none)
{
	const struct tr_frame *frame = thread->top;

	(void)none;
	for (; frame > thread->frames; frame--)
		if (tr_frame_start(frame) == start)
			return true;
	return false;
}

/* A full buffer first drops the notes of scopes of suspended fibers. */
static bool make_room(struct tr_thread *thread, size_t bytes)
{
	assert(bytes % 8 == 0);
	if (thread->note_bytes + bytes > TR_NOTE_BUFFER_BYTES) {
		thread->notes_cut = true;
		sweep(thread, is_open, 0);
	}
	return thread->note_bytes + bytes <= TR_NOTE_BUFFER_BYTES;
}

void tr_note_buffer_add(struct tr_thread *thread, uint64_t start, int type,
			const char *key, const struct tr_note_value *value)
{
	bool cut = value->is_cut;
	size_t key_bytes = tr_note_clip(key, TR_KEY_MOST, &cut);
	size_t bytes = (sizeof(struct tr_note_entry) + key_bytes +
			value->bytes + 7) &
		       ~(size_t)7;
	struct tr_note_entry *s;

	assert(tr_thread_is_busy(thread));
	if (!make_room(thread, bytes))
		return;
	s = tr_note_entry_at(thread, thread->note_bytes);
	s->start = start;
	s->bytes = (uint16_t)bytes;
	s->type = (uint8_t)type;
	s->key_bytes = (uint8_t)key_bytes;
	s->value_bytes = (uint16_t)value->bytes;
	s->cut = cut;
	memcpy(s + 1, key, key_bytes);
	memcpy((char *)(s + 1) + key_bytes, value->at, value->bytes);
	thread->note_bytes = (uint16_t)(thread->note_bytes + bytes);
}
