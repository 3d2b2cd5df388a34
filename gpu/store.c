/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Store: the ledger's region. One lock for activities, which come in buffers,
 * seldom; none for calls.
 *
 * A row of totals that is being changed is first written beside it, so that a
 * reader finds one or the other, at whatever point the process is killed.
 * Private tables find rows by what they are of.
 */
#include "gpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/platform.h"

#define SLOTS 16384u /* of each private table; rows are fewer */
#define NAME_LOOK (UINT64_C(1) << 20)
#define RING_LEAST 1024u
#define ANCHOR_NS UINT64_C(60000000000)
#define BEND_NS 2000.0
#define K1 UINT64_C(0x9E3779B97F4A7C15)
#define K2 UINT64_C(0xC2B2AE3D27D4EB4F)

struct slot {
	uint64_t hash; /* 0: free */
	uint32_t row;
};

static struct {
	pthread_mutex_t lock;
	uint32_t number; /* of the ledger; 0: not open */
	bool is_refused;
	char *region;
	struct tr_gpu_region *state;
	struct tr_gpu_anchor *anchor;
	struct tr_gpu_call *call;
	struct tr_gpu_event *event;
	uint32_t n_calls, n_events;
	uint32_t n_rows; /* in `slot` */
	struct slot slot[SLOTS];
} store = { .lock = PTHREAD_MUTEX_INITIALIZER };

void gpu_store_lock(void)
{
	(void)pthread_mutex_lock(&store.lock);
}

void gpu_store_unlock(void)
{
	(void)pthread_mutex_unlock(&store.lock);
}

static bool is_here(void)
{
	uint32_t number = GPU_ACQUIRE(store.number);

	return number && number == gpu_host->number();
}

struct tr_gpu_region *gpu_store_state(void)
{
	return is_here() ? store.state : NULL;
}

static uint32_t units(uint64_t bytes)
{
	return (uint32_t)(bytes / TR_GPU_UNIT);
}

/* ---- opening ----------------------------------------------------------- */

/* Sizes that the ledger has room for, from those that are asked for. */
static char *take_rings(char *base, uint64_t *ret_events)
{
	uint64_t n = gpu_host->events;

	for (; n >= RING_LEAST; n /= 2) {
		uint32_t off = gpu_host->take(TR_GPU_RINGS_BYTES(n, n));

		if (off) {
			*ret_events = n;
			return base + off;
		}
	}
	return NULL;
}

static void fill_state(uint64_t n)
{
	struct tr_gpu_region *state = store.state;
	uint64_t at = sizeof(*state);

	state->anchors = units(at);
	state->n_anchors = TR_GPU_ANCHORS;
	at += TR_GPU_ANCHORS * sizeof(struct tr_gpu_anchor);
	state->calls = units(at);
	state->n_calls = (uint32_t)n;
	at += n * sizeof(struct tr_gpu_call);
	state->events = units(at);
	state->n_events = (uint32_t)n;
	at += n * sizeof(struct tr_gpu_event);
	state->rows = units(at);
	store.anchor = (void *)(store.region +
				(uint64_t)state->anchors * TR_GPU_UNIT);
	store.call = (void *)(store.region +
			      (uint64_t)state->calls * TR_GPU_UNIT);
	store.event = (void *)(store.region +
			       (uint64_t)state->events * TR_GPU_UNIT);
	store.n_calls = store.n_events = (uint32_t)n;
	state->has_stacks = gpu_host->has_stacks;
	GPU_PUBLISH(state->magic, TR_GPU_MAGIC);
}

/* The region's first bytes are ours alone: one recorder in a process. */
bool gpu_store_open(void)
{
	struct tr_kernels_ledger ledger;
	uint64_t n = 0;
	char *rings;

	if (is_here())
		return true;
	if (store.is_refused || !gpu_host->open(&ledger))
		return false;
	GPU_STORE(store.number, 0);
	rings = take_rings(ledger.base, &n);
	if (!rings || rings != ledger.base + ledger.off) {
		store.is_refused = true;
		return false;
	}
	memset(store.slot, 0, sizeof(store.slot));
	store.n_rows = 0;
	store.region = rings;
	store.state = (void *)rings;
	fill_state(n);
	store.state->cupti = 0;
	store.state->major = gpu_cupti.major;
	store.state->driver = gpu_cupti.driver;
	GPU_PUBLISH(store.number, ledger.number);
	return true;
}

/* ---- rows -------------------------------------------------------------- */

static void *row_at(uint32_t row)
{
	return store.region + (uint64_t)row * TR_GPU_UNIT;
}

/* Zeroed, and not to be read before its kind is stored; 0: no room. */
static uint32_t take_row(uint64_t bytes)
{
	uint64_t end;
	uint32_t off, row;

	bytes = (bytes + TR_GPU_UNIT - 1) & ~(uint64_t)(TR_GPU_UNIT - 1);
	off = gpu_host->take(bytes);
	if (!off)
		return 0;
	row = (uint32_t)(store.state->rows + store.state->rows_used);
	((struct tr_gpu_row *)row_at(row))->bytes = (uint32_t)bytes;
	end = store.state->rows_used + bytes / TR_GPU_UNIT;
	GPU_STORE(store.state->rows_used, end);
	return row;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * K1;
	return hash ^ hash >> 31;
}

static uint64_t hash_text(const char *text, uint64_t n)
{
	uint64_t hash = K2 ^ n, word;

	for (; n >= 8; n -= 8, text += 8) {
		memcpy(&word, text, 8);
		hash = mix(hash, word);
	}
	word = 0;
	memcpy(&word, text, n);
	hash = mix(hash, word) * K2;
	return hash ^ hash >> 29;
}

/* The slot of a hash, or the free one where it belongs; NULL: full. */
static struct slot *slot_of(uint64_t hash)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct slot *slot = &store.slot[(hash + i) % SLOTS];

		if (slot->hash == hash)
			return slot;
		if (!slot->hash)
			return store.n_rows < SLOTS / 4 * 3 ? slot : NULL;
	}
	return NULL;
}

static void keep(struct slot *slot, uint64_t hash, uint32_t row)
{
	slot->hash = hash;
	slot->row = row;
	store.n_rows++;
}

static uint64_t salted(uint64_t hash, enum tr_gpu_row_kind kind)
{
	hash = mix(hash, kind * K2);
	return hash ? hash : 1;
}

static uint32_t name_row(const char *text)
{
	uint64_t full = text ? strnlen(text, NAME_LOOK) : 0;
	uint64_t n = full < TR_GPU_NAME_MOST ? full : TR_GPU_NAME_MOST;
	uint64_t hash = hash_text(text ? text : "", full);
	uint64_t key = salted(hash, TR_GPU_ROW_NAME);
	struct slot *slot = slot_of(key);
	struct tr_gpu_name *name;
	uint32_t row;

	if (!slot || slot->hash)
		return slot ? slot->row : 0;
	row = take_row(sizeof(*name) + n + 1);
	if (!row)
		return 0;
	name = row_at(row);
	name->hash = hash;
	name->text_bytes = (uint32_t)n;
	name->full_bytes = (uint32_t)full;
	memcpy(name + 1, text ? text : "", n);
	GPU_PUBLISH(name->row.kind, TR_GPU_ROW_NAME);
	keep(slot, key, row);
	return row;
}

static uint32_t stream_row(const struct gpu_activity *a)
{
	uint64_t key = salted(mix(mix(K2, a->device + ((uint64_t)a->context
						       << 32)),
				  a->stream),
			      TR_GPU_ROW_STREAM);
	struct slot *slot = slot_of(key);
	struct tr_gpu_stream *stream;
	uint32_t row;

	if (!slot || slot->hash)
		return slot ? slot->row : 0;
	row = take_row(sizeof(*stream));
	if (!row)
		return 0;
	stream = row_at(row);
	stream->device = a->device;
	stream->context = a->context;
	stream->stream = a->stream;
	GPU_PUBLISH(stream->row.kind, TR_GPU_ROW_STREAM);
	keep(slot, key, row);
	return row;
}

static uint32_t path_row(const struct gpu_activity *a, uint32_t name,
			 uint32_t stream, const struct tr_gpu_call *call)
{
	uint32_t stack = call ? call->stack : 0;
	uint32_t node = call ? call->node : 0;
	uint64_t hash = mix(mix(mix(K1, name | (uint64_t)stream << 32),
				stack | (uint64_t)node << 32),
			    a->kind | (uint64_t)a->detail << 32);
	uint64_t key = salted(hash, TR_GPU_ROW_PATH);
	struct slot *slot = slot_of(key);
	struct tr_gpu_path *path;
	uint32_t row;

	if (!slot || slot->hash)
		return slot ? slot->row : 0;
	row = take_row(sizeof(*path));
	if (!row)
		return 0;
	path = row_at(row);
	path->name = name;
	path->stream = stream;
	path->stack = stack;
	path->node = node;
	path->kind = a->kind;
	path->detail = a->detail;
	path->min_ns = UINT64_MAX;
	GPU_PUBLISH(path->row.kind, TR_GPU_ROW_PATH);
	keep(slot, key, row);
	return row;
}

/* ---- activities -------------------------------------------------------- */

static void count_path(uint32_t row, const struct gpu_activity *a)
{
	struct tr_gpu_region *state = store.state;
	struct tr_gpu_path *path = row_at(row), *moved = &state->moved;
	uint64_t ns = a->end_ns - a->start_ns;

	*moved = *path;
	moved->count++;
	moved->total_ns += ns;
	moved->bytes += a->bytes;
	moved->min_ns = ns < moved->min_ns ? ns : moved->min_ns;
	moved->max_ns = ns > moved->max_ns ? ns : moved->max_ns;
	GPU_STORE(state->move_to, row);
	GPU_PUBLISH(state->moves, state->moves + 1);
	GPU_STORE(path->count, moved->count);
	GPU_STORE(path->total_ns, moved->total_ns);
	GPU_STORE(path->bytes, moved->bytes);
	GPU_STORE(path->min_ns, moved->min_ns);
	GPU_STORE(path->max_ns, moved->max_ns);
	GPU_PUBLISH(state->moves, state->moves + 1);
}

/* Activities of a stream follow one another, but may overlap. */
static void count_stream(uint32_t row, const struct gpu_activity *a)
{
	struct tr_gpu_stream *stream = row_at(row);
	uint64_t from = a->start_ns;

	if (from < stream->last_ns && stream->last_ns <= a->end_ns)
		from = stream->last_ns;
	GPU_STORE(stream->busy_ns, stream->busy_ns + (a->end_ns - from));
	GPU_STORE(stream->count, stream->count + 1);
	if (!stream->first_ns || a->start_ns < stream->first_ns)
		GPU_STORE(stream->first_ns, a->start_ns);
	if (a->end_ns > stream->last_ns)
		GPU_STORE(stream->last_ns, a->end_ns);
}

static void put_event(const struct gpu_activity *a, uint32_t name,
		      uint32_t stream, uint64_t call)
{
	struct tr_gpu_region *state = store.state;
	uint64_t n = state->event_head;
	struct tr_gpu_event *event = &store.event[n % store.n_events];

	GPU_STORE(event->ticket, 0);
	GPU_PUBLISH(event->start_ns, a->start_ns);
	GPU_PUBLISH(event->end_ns, a->end_ns);
	GPU_PUBLISH(event->call, call);
	GPU_PUBLISH(event->name, name);
	GPU_PUBLISH(event->stream, stream);
	GPU_PUBLISH(event->bytes, a->bytes);
	GPU_PUBLISH(event->correlation, a->correlation);
	GPU_PUBLISH(event->anchor, (uint32_t)state->anchor_head);
	GPU_PUBLISH(event->kind, (uint16_t)a->kind);
	GPU_PUBLISH(event->detail, (uint16_t)a->detail);
	GPU_PUBLISH(event->ticket, n + 1);
	GPU_PUBLISH(state->event_head, n + 1);
}

void gpu_store_add(const struct gpu_activity *a)
{
	struct tr_gpu_region *state = store.state;
	uint64_t ticket = gpu_calls_find(a->correlation);
	const struct tr_gpu_call *call =
		ticket ? gpu_store_call_at(ticket) : NULL;
	uint32_t stream = stream_row(a), row = 0;
	uint32_t name = a->kind == TR_GPU_KERNEL ? name_row(a->name) : 0;

	if (stream && (name || a->kind != TR_GPU_KERNEL))
		row = path_row(a, name, stream, call);
	if (!row && stream) /* at least without its stack */
		row = path_row(a, name, stream, NULL);
	if (!row) {
		GPU_STORE(state->unplaced, state->unplaced + 1);
		return;
	}
	if (!ticket && state->has_stacks)
		GPU_STORE(state->unmatched, state->unmatched + 1);
	count_path(row, a);
	count_stream(stream, a);
	put_event(a, name, stream, call ? ticket : 0);
	GPU_STORE(state->activities, state->activities + 1);
}

/* ---- anchors and calls ------------------------------------------------- */

/*
 * The newest anchor moves on until the one before it is a minute old, unless
 * the clock left the line of the two: so a jump lies between two anchors that
 * are a second apart, and the ring lasts for hours.
 */
static bool replaces_newest(const struct tr_gpu_anchor *anchor, uint64_t n)
{
	const struct tr_gpu_anchor *newest, *before;
	double slope, off;

	if (n < 2 || anchor->flags)
		return false;
	newest = &store.anchor[(n - 1) % TR_GPU_ANCHORS];
	before = &store.anchor[(n - 2) % TR_GPU_ANCHORS];
	if (newest->flags || newest->gpu_ns <= before->gpu_ns ||
	    anchor->gpu_ns <= newest->gpu_ns ||
	    anchor->gpu_ns - before->gpu_ns > ANCHOR_NS)
		return false;
	slope = (double)(newest->ticks - before->ticks) /
		(double)(newest->gpu_ns - before->gpu_ns);
	off = (double)(anchor->gpu_ns - newest->gpu_ns) * slope -
	      (double)(anchor->ticks - newest->ticks);
	off = (off < 0 ? -off : off) / slope; /* ns */
	return off < BEND_NS;
}

void gpu_store_anchor(const struct tr_gpu_anchor *anchor)
{
	struct tr_gpu_region *state = gpu_store_state();
	struct tr_gpu_anchor *at;
	uint64_t n;

	if (!state)
		return;
	n = state->anchor_head;
	if (replaces_newest(anchor, n))
		n--;
	at = &store.anchor[n % TR_GPU_ANCHORS];
	GPU_STORE(at->ticket, 0);
	GPU_PUBLISH(at->ticks, anchor->ticks);
	GPU_PUBLISH(at->gpu_ns, anchor->gpu_ns);
	GPU_PUBLISH(at->width, anchor->width);
	GPU_PUBLISH(at->flags, anchor->flags);
	GPU_PUBLISH(at->ticket, n + 1);
	GPU_PUBLISH(state->anchor_head, n + 1);
}

struct tr_gpu_call *gpu_store_call(uint64_t *ret_ticket)
{
	struct tr_gpu_region *state = gpu_store_state();
	uint64_t n;

	if (!state)
		return NULL;
	n = GPU_ADD(state->call_head, 1);
	*ret_ticket = n + 1;
	return &store.call[n % store.n_calls];
}

struct tr_gpu_call *gpu_store_call_at(uint64_t ticket)
{
	struct tr_gpu_call *call;

	if (!is_here() || !ticket)
		return NULL;
	call = &store.call[(ticket - 1) % store.n_calls];
	return GPU_ACQUIRE(call->ticket) == ticket ? call : NULL;
}
