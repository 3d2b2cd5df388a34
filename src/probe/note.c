/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes: attributes, failure texts and items of an open scope.
 *
 * They wait in the hand's stage, under the start time of their scope (which
 * no other scope of the thread has), until the scope ends and all goes into
 * one history record. Ids such as photo_id thus never become series.
 */
#include "probe/probe.h"

#include <string.h>

#define TR_KEY_MOST 63u
#define TR_TEXT_MOST 500u
#define TR_TAIL_MOST (TR_BLOCK_BYTES - sizeof(struct tr_block) - \
		      sizeof(struct tr_record))

struct staged {
	uint64_t start;
	uint16_t bytes; /* of the whole, a multiple of 8 */
	uint16_t value_bytes;
	uint8_t type; /* enum tr_note_type */
	uint8_t key_bytes;
	uint8_t cut; /* key or value is not whole */
	uint8_t reserved;
};

static struct staged *staged_at(const struct tr_hand *hand, unsigned at)
{
	return (struct staged *)(void *)(hand->stage + at);
}

static bool is_inside(const char *text, size_t at)
{
	return ((unsigned char)text[at] & 0xc0) == 0x80;
}

/* At most `most` bytes, not ending inside a character. */
static size_t clip(const char *text, size_t most, bool *cut)
{
	size_t len = strnlen(text, most + 1);

	if (len <= most)
		return len;
	*cut = true;
	/* No character is longer than four bytes: else it is no text. */
	for (len = most; most - len < 3 && is_inside(text, len);)
		len--;
	return is_inside(text, len) ? most : len;
}

/* Keeps on the stage what `keep` says and moves it together. */
static void sweep(struct tr_hand *hand,
		  bool (*keep)(const struct tr_hand *hand, uint64_t start,
			       uint64_t other),
		  uint64_t other)
{
	unsigned at = 0, kept = 0;

	while (at < hand->staged) {
		unsigned bytes = staged_at(hand, at)->bytes;

		if (keep(hand, staged_at(hand, at)->start, other)) {
			memmove(hand->stage + kept, hand->stage + at, bytes);
			kept += bytes;
		}
		at += bytes;
	}
	hand->staged = (uint16_t)kept;
}

static bool is_another(const struct tr_hand *hand, uint64_t start,
		       uint64_t other)
{
	(void)hand;
	return start != other;
}

void tr_note_drop(struct tr_hand *hand, uint64_t start)
{
	sweep(hand, is_another, start);
}

static bool is_open(const struct tr_hand *hand, uint64_t start, uint64_t none)
{
	const struct tr_frame *frame = hand->top;

	(void)none;
	for (; frame > hand->frames; frame--)
		if (tr_frame_start(frame) == start)
			return true;
	return false;
}

/* A full stage gives up first what fibers left there, come back or not. */
static bool make_room(struct tr_hand *hand, size_t bytes)
{
	if (hand->staged + bytes > sizeof(hand->stage)) {
		hand->stage_cut = true;
		sweep(hand, is_open, 0);
	}
	return hand->staged + bytes <= sizeof(hand->stage);
}

static void stage(struct tr_hand *hand, uint64_t start, int type,
		  const char *key, const void *value, size_t value_bytes,
		  bool cut)
{
	size_t key_bytes = clip(key, TR_KEY_MOST, &cut);
	size_t bytes = (sizeof(struct staged) + key_bytes + value_bytes + 7) &
		       ~(size_t)7;
	struct staged *s;

	if (!make_room(hand, bytes))
		return;
	s = staged_at(hand, hand->staged);
	s->start = start;
	s->bytes = (uint16_t)bytes;
	s->type = (uint8_t)type;
	s->key_bytes = (uint8_t)key_bytes;
	s->value_bytes = (uint16_t)value_bytes;
	s->cut = cut;
	memcpy(s + 1, key, key_bytes);
	memcpy((char *)(s + 1) + key_bytes, value, value_bytes);
	hand->staged = (uint16_t)(hand->staged + bytes);
}

/* ---- records ----------------------------------------------------------- */

struct building {
	struct tr_record head;
	union {
		char bytes[TR_TAIL_MOST];
		uint64_t aligned;
	} tail;
	size_t used;
};

static void add_attr(struct building *b, const struct staged *s)
{
	size_t n = 4u + s->key_bytes + s->value_bytes;
	char *at = b->tail.bytes + b->used;

	if (b->used + n > TR_TAIL_MOST || b->head.n_attrs == UINT8_MAX) {
		b->head.truncated = 1;
		return;
	}
	at[0] = (char)s->type;
	at[1] = (char)s->key_bytes;
	memcpy(at + 2, &s->value_bytes, 2);
	memcpy(at + 4, s + 1, (size_t)s->key_bytes + s->value_bytes);
	b->used += n;
	b->head.n_attrs++;
}

static void add_error(struct building *b, const char *text, size_t len)
{
	if (b->used + len > TR_TAIL_MOST) {
		len = TR_TAIL_MOST - b->used;
		b->head.truncated = 1;
	}
	memcpy(b->tail.bytes + b->used, text, len);
	b->used += len;
	b->head.error_bytes = (uint16_t)len;
}

/* Takes what is staged under `start` off the stage, into the record. */
static void collect(struct tr_hand *hand, uint64_t start, struct building *b)
{
	const struct staged *failure = NULL;

	for (unsigned i = 0; i < hand->staged; i += staged_at(hand, i)->bytes) {
		const struct staged *s = staged_at(hand, i);

		if (s->start != start)
			continue;
		b->head.truncated |= s->cut;
		if (s->type == TR_NOTE_FAIL)
			failure = s;
		else
			add_attr(b, s);
	}
	if (failure) {
		b->head.failed = 1;
		add_error(b, (const char *)(failure + 1),
			  failure->value_bytes);
	}
	tr_note_drop(hand, start);
}

static bool write_record(struct tr_hand *hand, struct building *b)
{
	size_t padded = (b->used + 7) & ~(size_t)7;

	memset(b->tail.bytes + b->used, 0, padded - b->used);
	b->head.thread = hand->held->owner;
	b->head.bytes = (uint16_t)(sizeof(b->head) + padded);
	return tr_block_append(hand, &b->head, b->tail.bytes);
}

void tr_note_record(struct tr_hand *hand, uint32_t site, uint64_t start,
		    uint64_t span, const char *error)
{
	struct building b;
	bool cut = false;

	memset(&b.head, 0, sizeof(b.head));
	b.used = 0;
	b.head.start = start;
	b.head.span = span;
	b.head.site = site;
	collect(hand, start, &b);
	if (error)
		b.head.failed = 1;
	if (error && error[0])
		add_error(&b, error, clip(error, TR_TEXT_MOST, &cut));
	b.head.truncated |= cut;
	if (hand->stage_cut)
		b.head.truncated = 1;
	if (!hand->staged)
		hand->stage_cut = false;
	(void)write_record(hand, &b);
}

static void add_number(struct building *b, const struct tr_note_attr *attr)
{
	union {
		struct staged head;
		char bytes[sizeof(struct staged) + TR_KEY_MOST + 8];
	} s = { .head = { .type = (uint8_t)attr->type, .value_bytes = 8 } };
	size_t len = strlen(attr->key);

	s.head.key_bytes = (uint8_t)len;
	memcpy(s.bytes + sizeof(s.head), attr->key, len);
	memcpy(s.bytes + sizeof(s.head) + len,
	       attr->type == TR_NOTE_INT ? (const void *)&attr->i :
					   (const void *)&attr->d,
	       8);
	add_attr(b, &s.head);
}

bool tr_note_write(struct tr_hand *hand, const struct tr_note_sample *sample)
{
	struct building b;

	memset(&b.head, 0, sizeof(b.head));
	b.used = 0;
	b.head.start = sample->at;
	b.head.site = sample->site;
	b.head.kind = (uint8_t)sample->kind;
	for (size_t i = 0; i < sample->n_attrs; i++)
		add_number(&b, &sample->attr[i]);
	if (sample->error) {
		b.head.failed = 1;
		add_error(&b, sample->error, strlen(sample->error));
	}
	return write_record(hand, &b);
}

/* ---- notes ------------------------------------------------------------- */

/* The frame meant: the innermost for NULL. NULL if there is none. */
static struct tr_frame *frame_of(const struct tr_hand *hand, void *frame)
{
	if (!hand->held)
		return NULL;
	if (!frame)
		frame = hand->top;
	if ((struct tr_frame *)frame <= hand->frames ||
	    (struct tr_frame *)frame > hand->top)
		return NULL;
	return frame;
}

/* Innermost scope of the handlers that met their thread in a probe. */
static struct tr_detached *newest_detached(struct tr_hand *hand)
{
	for (unsigned i = TR_DETACHED; i-- > 0;)
		if (hand->detached[i].in_use)
			return &hand->detached[i];
	return NULL;
}

/* The detached scope meant, if it is one. */
static struct tr_detached *detached_of(struct tr_hand *hand, void *frame)
{
	if (!frame)
		return hand->held && tr_hand_is_busy(hand) ?
			       newest_detached(hand) :
			       NULL;
	if ((char *)frame < (char *)hand->detached ||
	    (char *)frame >= (char *)(hand->detached + TR_DETACHED))
		return NULL;
	return frame;
}

static void note_detached(struct tr_detached *detached, int type)
{
	if (type == TR_NOTE_FAIL)
		detached->failed = true;
	detached->noted = true;
}

/* In a handler that met its thread in a probe. */
static void lose_busy(void)
{
	(void)TR_ADD(tr_ledger->header->lost.busy, 1);
}

static void note_value(struct tr_hand *hand, uint64_t start, int type,
		       const char *key, int64_t i, double d, const char *text)
{
	bool cut = false;
	size_t len;

	if (type == TR_NOTE_INT) {
		stage(hand, start, type, key, &i, sizeof(i), false);
	} else if (type == TR_NOTE_DOUBLE) {
		stage(hand, start, type, key, &d, sizeof(d), false);
	} else {
		len = clip(text, TR_TEXT_MOST, &cut);
		stage(hand, start, type, key, text, len, cut);
	}
}

static void note(void *handle, int type, const char *key, int64_t i, double d,
		 const char *text)
{
	struct tr_hand *hand = tr_hand();
	struct tr_detached *detached;
	struct tr_frame *frame;

	if (tr_probe_forward) {
		tr_probe_forward->note(handle, type, key, i, d, text);
		return;
	}
	detached = detached_of(hand, handle);
	if (detached) {
		note_detached(detached, type);
		return;
	}
	frame = frame_of(hand, handle);
	if (!frame)
		return;
	if (!tr_hand_enter(hand)) {
		lose_busy();
		return;
	}
	if (TR_LOAD(frame->start) != TR_FRAME_ASIDE) {
		TR_STORE(frame->aside, TR_LOAD(frame->start));
		/* Its end goes the slow way. */
		TR_STORE(frame->start, TR_FRAME_ASIDE);
	}
	/* Not only on the stage, which may be full: failures are counted. */
	if (type == TR_NOTE_FAIL)
		TR_STORE(frame->aside, TR_LOAD(frame->aside) | TR_FRAME_FAILED);
	note_value(hand, tr_frame_start(frame), type, key ? key : "", i, d,
		   text ? text : "");
	tr_hand_leave(hand);
}

static uint32_t node_of(const struct tr_hand *hand,
			const struct tr_frame *frame)
{
	uint32_t node = hand->held->current;

	for (const struct tr_frame *f = hand->top; f > frame; f--)
		node = tr_node_at(hand, node)->parent;
	return node;
}

static void items(void *handle, uint64_t n)
{
	struct tr_hand *hand = tr_hand();
	struct tr_frame *frame;

	if (tr_probe_forward) {
		tr_probe_forward->items(handle, n);
		return;
	}
	if (!TR_LOAD(tr_probe_items))
		return;
	if (detached_of(hand, handle)) {
		lose_busy();
		return;
	}
	frame = frame_of(hand, handle);
	if (!frame)
		return;
	if (!tr_hand_enter(hand)) {
		lose_busy();
		return;
	}
	tr_log_append(hand, n, 0, node_of(hand, frame) | TR_ENTRY_ITEMS);
	tr_hand_leave(hand);
}

bool tr_probe_items = true;

TARE_API void tare_fail(const char *text)
{
	note(NULL, TR_NOTE_FAIL, "", 0, 0, text);
}

TARE_API void tare_items(uint64_t n)
{
	items(NULL, n);
}

TARE_API void tare_attr_int(const char *key, int64_t value)
{
	note(NULL, TR_NOTE_INT, key, value, 0, NULL);
}

TARE_API void tare_attr_double(const char *key, double value)
{
	note(NULL, TR_NOTE_DOUBLE, key, 0, value, NULL);
}

TARE_API void tare_attr_str(const char *key, const char *value)
{
	note(NULL, TR_NOTE_STR, key, 0, 0, value);
}

TARE_API void tare_scope_fail(tare_scope scope, const char *text)
{
	if (scope.frame)
		note(scope.frame, TR_NOTE_FAIL, "", 0, 0, text);
}

TARE_API void tare_scope_items(tare_scope scope, uint64_t n)
{
	if (scope.frame)
		items(scope.frame, n);
}

TARE_API void tare_scope_attr_int(tare_scope scope, const char *key,
				  int64_t value)
{
	if (scope.frame)
		note(scope.frame, TR_NOTE_INT, key, value, 0, NULL);
}

TARE_API void tare_scope_attr_double(tare_scope scope, const char *key,
				     double value)
{
	if (scope.frame)
		note(scope.frame, TR_NOTE_DOUBLE, key, 0, value, NULL);
}

TARE_API void tare_scope_attr_str(tare_scope scope, const char *key,
				  const char *value)
{
	if (scope.frame)
		note(scope.frame, TR_NOTE_STR, key, 0, 0, value);
}

void tr_probe_note(void *frame, int type, const char *key, int64_t i, double d,
		   const char *text)
{
	note(frame, type, key, i, d, text);
}

void tr_probe_add_items(void *frame, uint64_t n)
{
	items(frame, n);
}
