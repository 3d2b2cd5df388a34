/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: writes the notes of a finished operation as a record.
 *
 * First the size is computed, then the record is written in place, word by
 * word, since a reader may still read the old content. An intermediate buffer
 * was refused: reading bytes back as words right after they were written in
 * another size stalls most processors.
 */
#include "record/probe/note_buffer.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define TR_TAIL_MOST (TR_BLOCK_BYTES - sizeof(struct tr_block) - \
		      sizeof(struct tr_record))

struct plan {
	struct tr_record head;
	const struct tr_note_entry *failure; /* its text, or NULL */
	const char *error;
	size_t used; /* bytes of the tail */
	bool has_others; /* notes of other scopes */
};

/* ---- words ------------------------------------------------------------- */

/* Little-endian, as all supported processors. Passed by value: a pen whose
 * address is taken is not kept in registers. */
struct pen {
	uint64_t *at;
	uint64_t word;
	unsigned fill; /* bytes of `word` */
};

/* The low n bytes of `bytes`, 1 to 8; the others are 0. */
TR_INLINE struct pen put(struct pen pen, uint64_t bytes, unsigned n)
{
	unsigned shift = pen.fill * 8;

	assert(n <= 8);
	pen.word |= bytes << shift;
	pen.fill += n;
	if (pen.fill < 8)
		return pen;
	TR_STORE(*pen.at, pen.word);
	pen.at++;
	pen.fill -= 8;
	/* Two shifts: a shift by 64 is undefined. */
	pen.word = bytes >> 8 >> (56 - shift);
	return pen;
}

/* Whole words of `from`; the shift stays the same. */
TR_INLINE struct pen put_words(struct pen pen, const char *from, size_t n)
{
	unsigned shift = pen.fill * 8;
	uint64_t word;

	for (size_t i = 0; i < n; i++) {
		memcpy(&word, from + i * 8, 8);
		TR_STORE(*pen.at, pen.word | word << shift);
		pen.at++;
		pen.word = word >> 8 >> (56 - shift);
	}
	return pen;
}

static TR_NOINLINE struct pen put_text(struct pen pen, const char *text,
				       size_t n)
{
	pen = put_words(pen, text, n / 8);
	for (size_t i = n & ~(size_t)7; i < n; i++)
		pen = put(pen, (unsigned char)text[i], 1);
	return pen;
}

/* From the note buffer: eight bytes are readable at any byte of it. */
TR_INLINE struct pen put_notes(struct pen pen, const char *from, size_t n)
{
	unsigned rest = n % 8;
	uint64_t word;

	pen = put_words(pen, from, n / 8);
	if (!rest)
		return pen;
	memcpy(&word, from + n - rest, 8);
	return put(pen, word & ((UINT64_C(1) << 8 * rest) - 1), rest);
}

static void put_rest(struct pen pen)
{
	if (pen.fill)
		TR_STORE(*pen.at, pen.word);
}

TR_INLINE struct pen pen_after_head(uint64_t *at, const struct tr_record *head)
{
	uint64_t last;

	memcpy(&last, &head->bytes, 8);
	TR_STORE(at[0], head->start);
	TR_STORE(at[1], head->duration);
	TR_STORE(at[2], head->site | (uint64_t)head->thread << 32);
	TR_STORE(at[3], last);
	return (struct pen){ at + 4, 0, 0 };
}

/* ---- size -------------------------------------------------------------- */

TR_INLINE size_t attr_bytes(const struct tr_note_entry *s)
{
	return 4u + s->key_bytes + s->value_bytes;
}

/*
 * All notes of the buffer fit into a record, and into its count: an entry of
 * the buffer is longer than its part of a record.
 */
_Static_assert(TR_NOTE_BUFFER_BYTES <= TR_TAIL_MOST, "fits a record");
_Static_assert(TR_NOTE_BUFFER_BYTES / sizeof(struct tr_note_entry) <= UINT8_MAX,
	       "so does the count");

TR_INLINE void add_attr(struct plan *plan, size_t bytes)
{
	plan->used += bytes;
	plan->head.n_attrs++;
}

static void add_error(struct plan *plan, const char *text, size_t len)
{
	if (plan->used + len > TR_TAIL_MOST) {
		len = TR_TAIL_MOST - plan->used;
		plan->head.truncated = 1;
	}
	plan->used += len;
	plan->error = text;
	plan->head.error_bytes = (uint16_t)len;
}

static void plan_notes(const struct tr_thread *thread, struct plan *plan)
{
	for (unsigned i = 0; i < thread->note_bytes;) {
		const struct tr_note_entry *s = tr_note_entry_at(thread, i);

		i += s->bytes;
		if (s->start != plan->head.start) {
			plan->has_others = true;
			continue;
		}
		plan->head.truncated |= s->cut;
		if (s->type == TR_NOTE_FAIL)
			plan->failure = s;
		else
			add_attr(plan, attr_bytes(s));
	}
}

static void plan_error(struct plan *plan, const char *error)
{
	const struct tr_note_entry *s = plan->failure;
	bool cut = false;

	if (error || s)
		plan->head.failed = 1;
	if (s)
		add_error(plan, (const char *)(s + 1) + s->key_bytes,
			  s->value_bytes);
	else if (error && error[0])
		add_error(plan, error,
			  tr_note_clip(error, TR_TEXT_MOST, &cut));
	plan->head.truncated |= cut;
}

/* ---- writing ----------------------------------------------------------- */

TR_INLINE struct pen write_notes(struct pen pen,
				 const struct tr_thread *thread,
				 uint64_t start)
{
	for (unsigned i = 0; i < thread->note_bytes;) {
		const struct tr_note_entry *s = tr_note_entry_at(thread, i);

		i += s->bytes;
		if (s->start == start && s->type != TR_NOTE_FAIL)
			pen = put_notes(pen,
					(const char *)s + TR_NOTE_ENTRY_HEAD,
					attr_bytes(s));
	}
	return pen;
}

static void end_plan(const struct tr_thread *thread, struct plan *plan)
{
	plan->head.thread = TR_LOAD(thread->own_track->owner);
	plan->head.bytes = (uint16_t)(sizeof(plan->head) +
				      ((plan->used + 7) & ~(size_t)7));
}

uint64_t tr_note_floor;

static void forget(struct tr_thread *thread, uint64_t start)
{
	tr_note_drop(thread, start);
	if (!thread->note_bytes)
		thread->notes_cut = false;
}

/* No trials any more, in which a call has no time for its record. */
static void mark_noted(uint32_t id)
{
	struct tr_site *site = tr_site_at(id);

	if (TR_UNLIKELY(!(TR_LOAD(site->flags) & TR_SITE_NOTED)))
		(void)__atomic_fetch_or(&site->flags, TR_SITE_NOTED,
					__ATOMIC_RELAXED);
}

void tr_note_record(struct tr_thread *thread, uint32_t site, uint64_t start,
		    uint64_t duration, const char *error)
{
	struct plan plan = {
		.head = { .start = start, .duration = duration, .site = site },
	};
	struct pen pen;
	uint64_t *place;

	assert(tr_thread_is_busy(thread));
	mark_noted(site);
	if (TR_UNLIKELY(duration < TR_LOAD(tr_note_floor)) && !error) {
		forget(thread, start);
		return;
	}
	plan_notes(thread, &plan);
	plan_error(&plan, error);
	if (thread->notes_cut)
		plan.head.truncated = 1;
	end_plan(thread, &plan);
	place = tr_block_reserve(thread, plan.head.bytes);
	if (place) {
		pen = pen_after_head(place, &plan.head);
		if (plan.head.n_attrs)
			pen = write_notes(pen, thread, start);
		if (plan.failure && plan.head.error_bytes)
			pen = put_notes(pen, plan.error,
					plan.head.error_bytes);
		else if (plan.head.error_bytes)
			pen = put_text(pen, plan.error, plan.head.error_bytes);
		put_rest(pen);
		tr_block_commit(place, plan.head.bytes);
	}
	if (plan.has_others)
		tr_note_drop(thread, start);
	else
		thread->note_bytes = 0;
	if (!thread->note_bytes)
		thread->notes_cut = false;
}

/* ---- without notes ----------------------------------------------------- */

static size_t text_bytes(const tare_attr *attr, bool *cut)
{
	return attr->type == TARE_ATTR_STR ?
		       tr_note_clip(attr->of.s ? attr->of.s : "",
				    TR_TEXT_MOST, cut) :
		       8;
}

static size_t key_bytes(const tare_attr *attr, bool *cut)
{
	return tr_note_clip(attr->key ? attr->key : "", TR_KEY_MOST, cut);
}

static bool is_attr(const tare_attr *attr)
{
	return attr->type >= TARE_ATTR_INT && attr->type <= TARE_ATTR_STR;
}

/* The first attributes that fit, each of them whole. */
static void plan_list(struct plan *plan, const struct tr_note *note)
{
	for (size_t i = 0; i < note->n_attrs; i++) {
		const tare_attr *attr = &note->attr[i];
		bool cut = false;
		size_t bytes = 4 + key_bytes(attr, &cut) +
			       text_bytes(attr, &cut);

		if (plan->used + bytes > TR_TAIL_MOST ||
		    plan->head.n_attrs == UINT8_MAX || !is_attr(attr)) {
			plan->head.truncated = 1;
			return;
		}
		plan->head.truncated |= cut;
		add_attr(plan, bytes);
	}
}

static struct pen put_listed(struct pen pen, const tare_attr *attr)
{
	bool cut = false;
	size_t key = key_bytes(attr, &cut), text = text_bytes(attr, &cut);
	uint64_t value;

	pen = put(pen, (uint64_t)attr->type | key << 8 | text << 16, 4);
	pen = put_text(pen, attr->key ? attr->key : "", key);
	if (attr->type == TARE_ATTR_STR)
		return put_text(pen, attr->of.s ? attr->of.s : "", text);
	memcpy(&value,
	       attr->type == TARE_ATTR_INT ? (const void *)&attr->of.i :
					     (const void *)&attr->of.d,
	       8);
	return put(pen, value, 8);
}

bool tr_note_write(struct tr_thread *thread, const struct tr_note *note)
{
	struct plan plan = {
		.head = { .start = note->start, .duration = note->duration,
			  .site = note->site, .kind = (uint8_t)note->kind },
	};
	struct pen pen;
	uint64_t *place;

	assert(tr_thread_is_busy(thread));
	plan_list(&plan, note);
	plan_error(&plan, note->error);
	if (note->is_absent)
		plan.head.failed = 0;
	end_plan(thread, &plan);
	place = tr_block_reserve(thread, plan.head.bytes);
	if (!place)
		return TR_LOAD(tr_ledger->header->max_history) == 0;
	pen = pen_after_head(place, &plan.head);
	for (size_t i = 0; i < plan.head.n_attrs; i++)
		pen = put_listed(pen, &note->attr[i]);
	if (plan.head.error_bytes)
		pen = put_text(pen, plan.error, plan.head.error_bytes);
	put_rest(pen);
	tr_block_commit(place, plan.head.bytes);
	return true;
}

int tr_note_now(tare_site *site, struct tr_note *note)
{
	uint32_t gate = tare_gate_(site);
	struct tr_thread *thread = gate ? tr_probe_ready(site, gate) : NULL;
	bool is_written;

	if (!thread)
		return TARE_EOFF;
	if (!note->site)
		note->site = TR_LOAD(site->id);
	note->start = tr_ledger_ticks();
	if (!tr_thread_enter(thread)) {
		/* A handler that interrupted a probe of its own thread. */
		(void)TR_ADD(tr_ledger->header->lost.records, 1);
		return TARE_EFULL;
	}
	is_written = tr_note_write(thread, note);
	tr_thread_leave(thread);
	return is_written ? 0 : TARE_EFULL;
}
