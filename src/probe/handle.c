/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles: sites made at run time, from names and labels.
 *
 * They live for ever, in private memory that a child has by copy, and are
 * found by a hash that is never locked: a handle is complete before it is
 * put into a free place by compare-and-swap. Their number is bounded by
 * max_sites; a name beyond gets the overflow series of its kind, and that is
 * counted.
 */
#include "probe/probe.h"

#include <string.h>

#define TR_CHUNK_BYTES (1u << 20)
#define TR_PAIRS_MOST 16u
#define TR_LABELS_MOST 512u

struct handle {
	tare_site site;
	uint32_t hash;
	uint32_t n_pairs;
	const char *pairs; /* raw: key NUL value NUL ... */
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
		if (__atomic_compare_exchange_n(&memory, &chunk, fresh, false,
						__ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
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
	if (__atomic_compare_exchange_n(&table, &none, fresh, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
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
};

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 32;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	uint64_t word;

	for (; len >= 8; len -= 8, text += 8) {
		memcpy(&word, text, 8);
		hash = mix(hash, word);
	}
	word = 0x100 + len;
	for (size_t i = 0; i < len; i++)
		word = word << 8 | (unsigned char)text[i];
	return mix(hash, word);
}

static uint32_t hash_wanted(const struct wanted *wanted)
{
	uint64_t hash = wanted->like->kind;

	if (wanted->base)
		hash = mix(hash, (uint64_t)(uintptr_t)wanted->base);
	else
		hash = hash_text(hash_text(hash, wanted->like->name),
				 wanted->like->source);
	for (size_t i = 0; i < wanted->n_pairs * 2; i++)
		hash = hash_text(hash, wanted->pairs[i]);
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
		size_t len = strlen(wanted->pairs[i]) + 1;

		if (memcmp(at, wanted->pairs[i], len) != 0)
			return false;
		at += len;
	}
	return true;
}

static bool matches(const struct handle *handle, const struct wanted *wanted)
{
	const tare_site *site = &handle->site, *like = wanted->like;

	if (handle->hash != wanted->hash || handle->base != wanted->base ||
	    handle->n_pairs != wanted->n_pairs)
		return false;
	if (wanted->base)
		return same_pairs(handle, wanted);
	return site->kind == like->kind && same(site->name, like->name) &&
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

/* k="v",k="v" with quotes, backslashes and line ends escaped. */
static void render_labels(const struct wanted *wanted, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < wanted->n_pairs * 2; i++) {
		const char *c = wanted->pairs[i];

		if (n + 2 * strlen(c) + 8 > TR_LABELS_MOST)
			break;
		if (i % 2 == 0 && i)
			out[n++] = ',';
		if (i % 2)
			out[n++] = '"';
		for (; *c; c++) {
			if (i % 2 && (*c == '"' || *c == '\\' || *c == '\n'))
				out[n++] = '\\';
			out[n++] = *c == '\n' ? 'n' : *c;
		}
		out[n++] = i % 2 ? '"' : '=';
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
	handle->site.labels = NULL;
	if (wanted->n_pairs) {
		render_labels(wanted, labels);
		handle->site.labels = copy_text(labels);
		handle->pairs = copy_pairs(wanted);
	}
	handle->site.flags |= TARE_SITE_DYNAMIC;
	handle->site.id = 0;
	handle->site.generation = 0;
	handle->site.first = 1;
	handle->site.gate = &handle->site.first;
	handle->hash = wanted->hash;
	handle->base = wanted->base;
	handle->n_pairs = (uint32_t)wanted->n_pairs;
	return handle->site.name && (handle->pairs || !wanted->n_pairs) ?
		       handle :
		       NULL;
}

static tare_site overflow[8] = {
#define TR_OVERFLOW_(i) \
	{ &overflow[i].first, 0, 0, 0, 1, "(overflow)", NULL, NULL, NULL, \
	  NULL, 0, (i), TARE_TYPE_CUSTOM, TARE_SITE_DYNAMIC, { 0, 0 } }
	TR_OVERFLOW_(0), TR_OVERFLOW_(TARE_KIND_SCOPE),
	TR_OVERFLOW_(TARE_KIND_COUNTER), TR_OVERFLOW_(TARE_KIND_GAUGE),
	TR_OVERFLOW_(TARE_KIND_VALUE), TR_OVERFLOW_(TARE_KIND_RATIO),
};

static tare_site *overflow_of(const struct wanted *wanted)
{
	if (tr_ledger && tr_ledger->header)
		(void)TR_ADD(tr_ledger->header->lost.overflow_sites, 1);
	return &overflow[wanted->like->kind <= TARE_KIND_RATIO ?
				 wanted->like->kind :
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
			if (__atomic_compare_exchange_n(&all[at], &there, mine,
							false,
							__ATOMIC_RELEASE,
							__ATOMIC_ACQUIRE))
				return &mine->site;
		}
		if (matches(there, wanted))
			return &there->site;
	}
}

TARE_API tare_site *tare_site_get(enum tare_kind kind, enum tare_type type,
				  const char *name, const char *unit,
				  const char *source)
{
	tare_site like = { 0 };
	struct wanted wanted = { &like, NULL, 0, NULL, 0 };

	if (tr_probe_forward)
		return tr_probe_forward->site_get(kind, type, name, unit,
						  source);
	like.kind = (uint8_t)kind;
	like.type = (uint8_t)type;
	like.name = name ? name : "(unnamed)";
	like.unit = unit;
	like.source = source;
	return find_handle(&wanted);
}

TARE_API tare_site *tare_site_labels(tare_site *site, size_t n_pairs,
				     const char *const pairs[])
{
	struct wanted wanted = { site, site, n_pairs, pairs, 0 };

	if (tr_probe_forward)
		return tr_probe_forward->site_labels(site, n_pairs, pairs);
	if (!n_pairs || n_pairs > TR_PAIRS_MOST)
		return site;
	for (size_t i = 0; i < n_pairs * 2; i++)
		if (!pairs[i])
			return site;
	return find_handle(&wanted);
}
