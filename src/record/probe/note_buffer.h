/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Note buffer: attributes of open scopes, until their records are written.
 *
 * An entry is a head and then, from `type` on, the bytes of an attribute in
 * the format of a record, so they are copied unchanged.
 */
#ifndef TR_RECORD_PROBE_NOTE_BUFFER_H
#define TR_RECORD_PROBE_NOTE_BUFFER_H

#include "record/probe.h"

#include <stddef.h>

#define TR_KEY_MOST 63u
#define TR_TEXT_MOST 500u

struct tr_note_entry {
	uint64_t start; /* of its scope */
	uint16_t bytes; /* of the entry, a multiple of 8 */
	uint8_t cut;	/* key or value was cut */
	uint8_t reserved;
	uint8_t type; /* enum tr_note_type; the attribute's first byte */
	uint8_t key_bytes;
	uint16_t value_bytes;
};

#define TR_NOTE_ENTRY_HEAD offsetof(struct tr_note_entry, type)

TR_INLINE struct tr_note_entry *tr_note_entry_at(const struct tr_thread *thread,
						 unsigned at)
{
	char *notes = (char *)(uintptr_t)thread->notes;

	return (struct tr_note_entry *)(void *)(notes + at);
}

struct tr_note_value {
	const void *at;
	size_t bytes;
	bool is_cut;
};

/* Adds a note to the buffer, if there is room. Busy. */
void tr_note_buffer_add(struct tr_thread *thread, uint64_t start, int type,
			const char *key, const struct tr_note_value *value);

/* At most `most` bytes, not ending inside a character. */
size_t tr_note_clip(const char *text, size_t most, bool *cut);

#endif
