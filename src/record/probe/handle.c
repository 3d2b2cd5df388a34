/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles: sites made at run time, from names and labels.
 *
 * They exist for ever, in private memory that a child has by copy, and are
 * found by a hash that is never locked: a handle is complete before
 * compare-and-swap stores it in a free place. Their number is bounded by
 * max_sites; a further name gets the overflow series of its kind, which is
 * counted.
 */
#include "record/probe/note_buffer.h"

#include <string.h>

#define TR_CHUNK_BYTES (1u << 20)
#define TR_PAIRS_MOST 16u
#define TR_PAIR_MOST 1023u /* bytes of a key or value */
#define TR_LABELS_MOST 256u /* a ledger cuts longer texts */

struct handle {
	tare_site site;
	uint32_t hash;
	uint32_t n_pairs;
	const char *pairs; /* raw: key NUL value NUL ... */
	const uint32_t *len; /* of each */
	const tare_site *base;
};

struct chunk {
	size_t used;
};

static struct handle **table;
static uint32_t table_mask;
static uint32_t n_handles;
static struct chunk *memory;

/* ---- memory ------------------------------------------------------------ */

static void *take_memory(size_t bytes)
{
	struct chunk *chunk = __atomic_load_n(&memory, __ATOMIC_ACQUIRE);

	bytes = (bytes + 15) & ~(size_t)15;
	while (bytes < TR_CHUNK_BYTES / 4) {
		struct chunk *fresh;
		size_t at;

		if (chunk) {
			at = TR_ADD(chunk->used, bytes);
			if (at + bytes <= TR_CHUNK_BYTES)
				return (char *)chunk + at;
		}
		fresh = tr_memory_map(TR_CHUNK_BYTES);
		if (!fresh)
			return NULL;
		fresh->used = 64;
		if (TR_SWAP(memory, &chunk, fresh))
			chunk = fresh;
		else
			tr_memory_unmap(fresh, TR_CHUNK_BYTES);
	}
	return NULL;
}

static uint64_t most_handles(void)
{
	if (!tr_ledger || !tr_ledger->header)
		return 65536;
	return tr_ledger->region[TR_REGION_SITES].cap /
	       sizeof(struct tr_site);
}

static struct handle **ready_table(void)
{
	struct handle **now = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
	struct handle **fresh, **none = NULL;
	uint64_t size = 1024;

	if (now)
		return now;
	while (size < most_handles() * 2)
		size *= 2;
	fresh = tr_memory_map(size * sizeof(*fresh));
	if (!fresh)
		return NULL;
	TR_STORE(table_mask, (uint32_t)size - 1);
	if (TR_SWAP(table, &none, fresh))
		return fresh;
	tr_memory_unmap(fresh, size * sizeof(*fresh));
	return none;
}

/* ---- what is asked for ------------------------------------------------- */

struct wanted {
	const tare_site *like; /* kind, type, name, unit, source */
	const tare_site *base; /* labels: of which site */
	size_t n_pairs;
	const char *const *pairs;
	uint32_t hash;
	uint32_t len[2 * TR_PAIRS_MOST];
};

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 32;
}

/* Up to eight bytes as one word: no loop, no call, no read beyond the end. */
static uint64_t word_of(const char *text, size_t len)
{
	uint32_t first, last;
	uint64_t word;

	if (len >= 8) {
		memcpy(&word, text, 8);
		return word;
	}
	if (len >= 4) {
		memcpy(&first, text, 4);
		memcpy(&last, text + len - 4, 4);
		return first | (uint64_t)last << 32;
	}
	if (!len)
		return 0;
	return (unsigned char)text[0] |
	       (uint64_t)(unsigned char)text[len / 2] << 8 |
	       (uint64_t)(unsigned char)text[len - 1] << 16;
}

static uint64_t hash_bytes(uint64_t hash, const char *text, size_t len)
{
	size_t at = 0;

	for (; at + 8 < len; at += 8)
		hash = mix(hash, word_of(text + at, 8));
	/* The last eight bytes, which may overlap those before. */
	if (len > 8)
		at = len - 8;
	return mix(hash, word_of(text + at, len - at) ^ (uint64_t)len << 56);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text ? text : "", text ? strlen(text) : 0);
}

static bool same_bytes(const char *a, const char *b, size_t len)
{
	size_t at = 0;

	for (; at + 8 < len; at += 8)
		if (word_of(a + at, 8) != word_of(b + at, 8))
			return false;
	if (len > 8)
		at = len - 8;
	return word_of(a + at, len - at) == word_of(b + at, len - at);
}

static uint32_t hash_wanted(struct wanted *wanted)
{
	uint64_t hash = wanted->like->kind;

	if (wanted->base)
		hash = mix(hash, (uint64_t)(uintptr_t)wanted->base);
	else
		hash = hash_text(hash_text(hash, wanted->like->name),
				 wanted->like->source);
	for (size_t i = 0; i < wanted->n_pairs * 2; i++) {
		wanted->len[i] = (uint32_t)strlen(wanted->pairs[i]);
		hash = hash_bytes(hash, wanted->pairs[i], wanted->len[i]);
	}
	return (uint32_t)(hash >> 32);
}

static bool same(const char *a, const char *b)
{
	return a == b || strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_pairs(const struct handle *handle,
		       const struct wanted *wanted)
{
	const char *at = handle->pairs;

	for (size_t i = 0; i < wanted->n_pairs * 2; i++) {
		uint32_t len = wanted->len[i];

		if (handle->len[i] != len ||
		    !same_bytes(at, wanted->pairs[i], len))
			return false;
		at += len + 1;
	}
	return true;
}

static bool matches(const struct handle *handle, const struct wanted *wanted)
{
	const tare_site *site = &handle->site, *like = wanted->like;

	if (handle->hash != wanted->hash || handle->base != wanted->base ||
	    handle->n_pairs != wanted->n_pairs)
		return false;
	if (wanted->base && !same_pairs(handle, wanted))
		return false;
	/*
	 * For labels, too: another library may be at the site's former
	 * address.
	 */
	return site->kind == like->kind &&
	       !((site->flags ^ like->flags) &
		 (TR_SITE_STAGES | TARE_SITE_DOUBLE)) &&
	       same(site->name, like->name) &&
	       same(site->unit, like->unit) &&
	       same(site->source, like->source);
}

/* ---- making one -------------------------------------------------------- */

static const char *copy_text(const char *text)
{
	size_t len = text ? strlen(text) + 1 : 0;
	char *copy = len ? take_memory(len) : NULL;

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

static const char *copy_pairs(const struct wanted *wanted)
{
	size_t bytes = 0;
	char *copy, *at;

	for (size_t i = 0; i < wanted->n_pairs * 2; i++)
		bytes += strlen(wanted->pairs[i]) + 1;
	at = copy = take_memory(bytes);
	for (size_t i = 0; copy && i < wanted->n_pairs * 2; i++) {
		size_t len = strlen(wanted->pairs[i]) + 1;

		memcpy(at, wanted->pairs[i], len);
		at += len;
	}
	return copy;
}

static const uint32_t *copy_lengths(const struct wanted *wanted)
{
	size_t bytes = wanted->n_pairs * 2 * sizeof(wanted->len[0]);
	uint32_t *copy = take_memory(bytes);

	if (copy)
		memcpy(copy, wanted->len, bytes);
	return copy;
}

/* Escapes a value into at most `room` bytes; returns the length. Cuts between
 * characters if it is too long. */
static size_t render_value(const char *value, char *out, size_t room)
{
	size_t n = 0, whole = 0;

	for (const char *c = value; *c; c++) {
		bool escape = *c == '"' || *c == '\\' || *c == '\n';

		if (((unsigned char)*c & 0xc0) != 0x80)
			whole = n; /* a character begins here */
		if (n + 1 + escape > room)
			return whole;
		if (escape)
			out[n++] = '\\';
		out[n++] = *c == '\n' ? 'n' : *c;
	}
	return n;
}

/* k="v",k="v"; a pair whose key does not fit is left out. */
static void render_labels(const struct wanted *wanted, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < wanted->n_pairs; i++) {
		const char *key = wanted->pairs[2 * i];
		size_t len = wanted->len[2 * i];

		if (n + len + 8 > TR_LABELS_MOST)
			continue;
		if (n)
			out[n++] = ',';
		memcpy(out + n, key, len);
		n += len;
		out[n++] = '=';
		out[n++] = '"';
		n += render_value(wanted->pairs[2 * i + 1], out + n,
				  TR_LABELS_MOST - n - 2);
		out[n++] = '"';
	}
	out[n] = '\0';
}

static struct handle *make_handle(const struct wanted *wanted)
{
	char labels[TR_LABELS_MOST];
	struct handle *handle;

	if (TR_ADD(n_handles, 1) >= most_handles()) {
		TR_STORE(n_handles, (uint32_t)most_handles());
		return NULL;
	}
	handle = take_memory(sizeof(*handle));
	if (!handle)
		return NULL;
	handle->site = *wanted->like;
	handle->site.name = copy_text(wanted->like->name);
	handle->site.unit = copy_text(wanted->like->unit);
	handle->site.source = copy_text(wanted->like->source);
	handle->site.file = copy_text(wanted->like->file);
	handle->site.labels = NULL;
	if (wanted->n_pairs) {
		render_labels(wanted, labels);
		handle->site.labels = copy_text(labels);
		handle->pairs = copy_pairs(wanted);
		handle->len = copy_lengths(wanted);
	}
	handle->site.flags |= TARE_SITE_DYNAMIC;
	handle->site.id = 0;
	handle->site.generation = 0;
	handle->site.first = 1;
	handle->site.gate = &handle->site.first;
	handle->hash = wanted->hash;
	handle->base = wanted->base;
	handle->n_pairs = (uint32_t)wanted->n_pairs;
	if (!handle->site.name ||
	    (wanted->n_pairs && (!handle->pairs || !handle->len)))
		return NULL;
	return handle;
}

static tare_site overflow[8] = {
#define TR_OVERFLOW_(i) \
	{ &overflow[i].first, (i), 0, (i) == TARE_KIND_RATIO, 1, "(overflow)", \
	  NULL, NULL, NULL, NULL, 0, (i), TARE_TYPE_CUSTOM, \
	  TARE_SITE_DYNAMIC, { 0, 0 } }
	TR_OVERFLOW_(0), TR_OVERFLOW_(TARE_KIND_SCOPE),
	TR_OVERFLOW_(TARE_KIND_COUNTER), TR_OVERFLOW_(TARE_KIND_GAUGE),
	TR_OVERFLOW_(TARE_KIND_VALUE), TR_OVERFLOW_(TARE_KIND_RATIO),
};

static tare_site *overflow_of(const struct wanted *wanted)
{
	uint8_t kind = wanted->like->kind;

	if (tr_ledger && tr_ledger->header)
		(void)TR_ADD(tr_ledger->header->lost.overflow_sites, 1);
	return &overflow[kind && kind <= TARE_KIND_RATIO ? kind :
							   TARE_KIND_VALUE];
}

static tare_site *find_handle(struct wanted *wanted)
{
	struct handle **all = ready_table(), *mine = NULL, *there;
	uint32_t mask = TR_LOAD(table_mask), at;

	if (!all)
		return overflow_of(wanted);
	wanted->hash = hash_wanted(wanted);
	for (at = wanted->hash & mask;; at = (at + 1) & mask) {
		there = __atomic_load_n(&all[at], __ATOMIC_ACQUIRE);
		if (!there) {
			if (!mine && !(mine = make_handle(wanted)))
				return overflow_of(wanted);
			if (TR_SWAP(all[at], &there, mine))
				return &mine->site;
		}
		if (matches(there, wanted))
			return &there->site;
	}
}

/*
 * Callers mostly pass the same pointers to the same few strings. The thread
 * remembers the last handle for them; the strings, not their addresses, decide
 * whether it is right.
 */
static struct handle **guess_of(struct tr_thread *thread, const tare_site *site,
				size_t n_pairs, const char *const pairs[])
{
	uintptr_t hash = (uintptr_t)site >> 4;

	for (size_t i = 0; i < n_pairs; i++)
		hash += (uintptr_t)pairs[2 * i + 1] * 9;
	return (struct handle **)&thread->labels[(hash ^ hash >> 5) %
						 TR_LABEL_GUESSES];
}

static bool is_right(const struct handle *handle, const tare_site *site,
		     size_t n_pairs, const char *const pairs[])
{
	const char *at;

	if (!handle || handle->base != site || handle->n_pairs != n_pairs ||
	    strcmp(handle->site.name, site->name) != 0)
		return false;
	at = handle->pairs;
	for (size_t i = 0; i < n_pairs * 2; i++) {
		if (!pairs[i] || strcmp(at, pairs[i]) != 0)
			return false;
		at += handle->len[i] + 1;
	}
	return true;
}

/*
 * Cuts a text to what a ledger keeps; longer texts are equal if their
 * beginnings are.
 */
#define TR_LABEL_MOST 255u

static const char *clipped(const char *text, char *copy)
{
	size_t len = text ? strnlen(text, TR_LABEL_MOST + 1) : 0;

	if (len <= TR_LABEL_MOST)
		return text;
	len = TR_LABEL_MOST;
	for (int i = 0; i < 3 && ((unsigned char)text[len] & 0xc0) == 0x80; i++)
		len--; /* not inside a character */
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

tare_site *tr_own_site_flagged(const tare_site *asked)
{
	char text[3][TR_LABEL_MOST + 1];
	const tare_site like = {
		.name = asked->name ? clipped(asked->name, text[0]) :
				      "(unnamed)",
		.unit = clipped(asked->unit, text[1]),
		.source = clipped(asked->source, text[2]),
		.kind = asked->kind,
		.type = asked->type,
		.flags = asked->flags,
	};
	struct wanted wanted; /* its lengths are those of pairs */

	wanted.like = &like;
	wanted.base = NULL;
	wanted.n_pairs = 0;
	return find_handle(&wanted);
}

TARE_API tare_site *tare_site_get(enum tare_kind kind, enum tare_type type,
				  const char *name, const char *unit,
				  const char *source)
{
	const tare_site like = { .name = name, .unit = unit,
				 .source = source, .kind = (uint8_t)kind,
				 .type = (uint8_t)type };

	if (tr_probe_forward)
		return tr_probe_forward->site_get(kind, type, name, unit,
						  source);
	return tr_own_site_flagged(&like);
}

tare_site *tr_site_flagged(const tare_site *like)
{
	if (!tr_probe_forward)
		return tr_own_site_flagged(like);
	if (TR_FIRST_HAS(site_flagged))
		return tr_probe_forward->site_flagged(like);
	return tr_probe_forward->site_get((enum tare_kind)like->kind,
					  (enum tare_type)like->type,
					  like->name, like->unit,
					  like->source);
}

TARE_API tare_site *tare_counter_get_double(const char *name, const char *unit,
					    const char *source)
{
	const tare_site like = { .name = name,
				 .unit = unit,
				 .source = source,
				 .kind = TARE_KIND_COUNTER,
				 .type = TARE_TYPE_COUNTER,
				 .flags = TARE_SITE_DOUBLE };

	return tr_site_flagged(&like);
}

static tare_site *find_labels(tare_site *site, size_t n_pairs,
			      const char *const pairs[])
{
	struct wanted wanted; /* its lengths are filled on demand */

	if (!n_pairs || n_pairs > TR_PAIRS_MOST)
		return site;
	wanted.like = site;
	wanted.base = site;
	wanted.n_pairs = n_pairs;
	wanted.pairs = pairs;
	for (size_t i = 0; i < n_pairs * 2; i++) {
		if (!pairs[i])
			return site;
		/* Cutting a label would merge different series. */
		if (strnlen(pairs[i], TR_PAIR_MOST + 1) > TR_PAIR_MOST)
			return overflow_of(&wanted);
	}
	return find_handle(&wanted);
}

TARE_API tare_site *tare_site_labels(tare_site *site, size_t n_pairs,
				     const char *const pairs[])
{
	struct tr_thread *thread = tr_this_thread();
	struct handle **guess, *guessed;
	tare_site *found;

	if (tr_probe_forward)
		return tr_probe_forward->site_labels(site, n_pairs, pairs);
	if (!thread->own_track)
		return find_labels(site, n_pairs, pairs);
	guess = guess_of(thread, site, n_pairs, pairs);
	guessed = TR_LOAD(*guess); /* once: a handler may put another there */
	if (TR_LIKELY(is_right(guessed, site, n_pairs, pairs)))
		return &guessed->site;
	found = find_labels(site, n_pairs, pairs);
	/* The site is a handle's first member; others have no labels. */
	if (found != site && found->labels)
		TR_STORE(*guess, (struct handle *)found);
	return found;
}

TR_OWN(tr_own_site_get, tare_site_get);
TR_OWN(tr_own_site_labels, tare_site_labels);
