/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: single scopes from the trace rings.
 *
 * If tracing began while the program ran, a thread's last events before that
 * are in its small log. A thread that noticed late still writes there.
 */
#include "read/timeline/nest.h"
#include "ledger/layout.h"
#include "read/profile.h"
#include "read/timeline.h"

#include <stdlib.h>

struct reading {
	tare_view *view;
	const struct tr_track *track;
	uint32_t thread;
	uint64_t before; /* start in the previous entry: of a long scope */
	struct tr_ticks *ticks; /* of every event */
	size_t first;	 /* event of this thread, on this track */
	bool with_logs;
};

bool tr_event_name(tare_view *view, const struct tr_node *node,
		   tare_event *event)
{
	const struct tr_site *site;
	tare_place place;

	event->module = TARE_NO_MODULE;
	if (tr_node_is_function(node)) {
		tr_call_place(view, node->items, &place, &event->module);
		event->name = place.function;
		event->address = node->items;
		return true;
	}
	site = tr_image_site(&view->image, node->site);
	if (!site || site->flags & TR_SITE_INTERNAL)
		return false;
	event->name = tr_image_string(&view->image, site->name);
	event->site = node->site;
	event->overlaps = (site->flags & TR_SITE_OVERLAP) != 0;
	return true;
}

static void add_scope(struct reading *r, const struct tr_entry *entry)
{
	tare_view *view = r->view;
	const struct tr_image *image = &view->image;
	uint32_t flags = entry->what & TR_ENTRY_FLAGS;
	const struct tr_node *node = tr_image_node(
		image, entry->what & ~(uint64_t)TR_ENTRY_FLAGS);
	uint64_t start = flags & TR_ENTRY_LONG ? r->before : entry->start;
	uint64_t duration = flags & TR_ENTRY_LONG ? entry->start :
			    entry->duration;
	tare_event event = { .name = "" };

	if (!node || !tr_event_name(view, node, &event))
		return;
	event.depth = node->depth ? node->depth - 1 : 0;
	event.thread = r->thread;
	event.start_ns = tr_time_real(image, start);
	event.duration_ns = tr_view_duration_ns(view, duration);
	event.ok = !(flags & TR_ENTRY_FAILED);
	r->ticks[view->n_events] = (struct tr_ticks){ start, start + duration };
	view->events[view->n_events++] = event;
}

/* All events of the thread on this track have been read. */
static void end_thread(struct reading *r)
{
	tr_events_nest(r->view, r->view->events + r->first,
		       r->ticks + r->first, r->view->n_events - r->first);
	r->first = r->view->n_events;
}

static void add_entry(struct reading *r, const struct tr_entry *entry)
{
	uint32_t flags = entry->what & TR_ENTRY_FLAGS;

	if (flags & TR_ENTRY_OWNER) {
		end_thread(r);
		r->thread = entry->duration;
	} else if (!(flags & (TR_ENTRY_ITEMS | TR_ENTRY_UNTIMED)) &&
		   entry->what) {
		add_scope(r, entry);
	}
	r->before = entry->start;
}

struct ring {
	const struct tr_entry *entry;
	uint32_t size, from, n; /* n entries from `from` on, wrapping around */
};

static const struct tr_entry *entry_of(const struct ring *ring, uint32_t i)
{
	return &ring->entry[(ring->from + i) % ring->size];
}

/* Owner of the oldest entries: the first mark names the owner before it. */
static uint32_t first_owner(const struct tr_track *t, const struct ring *ring)
{
	for (uint32_t i = 0; i < ring->n; i++)
		if (entry_of(ring, i)->what & TR_ENTRY_OWNER)
			return entry_of(ring, i)->what / (TR_ENTRY_FLAGS + 1);
	return t->trace.off == t->log.off ? t->owner : t->trace_owner;
}

static void add_ring(struct reading *r, const struct ring *ring)
{
	for (uint32_t i = 0; i < ring->n; i++)
		add_entry(r, entry_of(ring, i));
}

/* The small log, which is used while there is no ring. */
static bool find_log(const struct reading *r, struct ring *ret_log)
{
	const struct tr_track *t = r->track;
	uint32_t off = (uint32_t)((const char *)t->log_inline -
				  r->view->image.base);
	uint32_t head = ((uint32_t)t->write - off) /
			(uint32_t)sizeof(struct tr_entry);

	*ret_log = (struct ring){ t->log_inline, TR_RING_INLINE, 0,
				  TR_RING_INLINE };
	if (t->trace.bytes)
		return t->trace_lap > 0;
	if (t->log.off != off || head > TR_RING_INLINE)
		return false;
	if (t->write >> 32)
		ret_log->from = head;
	else
		ret_log->n = head;
	return true;
}

static bool find_ring(const struct reading *r, struct ring *ret_ring)
{
	const struct tr_track *t = r->track;
	bool is_open = t->trace.off == t->log.off;
	uint32_t head = ((uint32_t)t->write - t->trace.off) /
			(uint32_t)sizeof(struct tr_entry);
	struct ring ring = {
		tr_image_at(&r->view->image, t->trace.off, t->trace.bytes, 8),
		t->trace.bytes / sizeof(struct tr_entry), 0, 0
	};

	if (!ring.entry || !ring.size || (is_open && head > ring.size))
		return false;
	ring.n = ring.size;
	if (is_open && (uint32_t)(t->write >> 32) != t->trace_lap)
		ring.from = head;
	else if (is_open)
		ring.n = head;
	*ret_ring = ring;
	return true;
}

/* Oldest first. */
static void read_track(struct reading *r)
{
	struct ring log, ring;
	bool has_log = r->with_logs && find_log(r, &log);
	bool has_ring = r->track->trace.bytes && find_ring(r, &ring);

	r->first = r->view->n_events;
	r->thread = has_ring ? first_owner(r->track, &ring) : r->track->owner;
	if (has_log)
		add_ring(r, &log);
	if (has_ring)
		add_ring(r, &ring);
	end_thread(r);
}

static int by_start(const void *a, const void *b)
{
	const tare_event *x = a, *y = b;
	int order = TR_ORDER(x->start_ns, y->start_ns);

	return order ? order : TR_ORDER(x->depth, y->depth);
}

/* The next track. Rings larger than the ledger together are damaged. */
static const struct tr_track *next_traced(const tare_view *view,
					  uint32_t *index, uint64_t *left)
{
	const struct tr_track *t;

	do
		t = tr_image_next_track(&view->image, index);
	while (t && t->trace.bytes > *left);
	*left -= t ? t->trace.bytes : 0;
	return t;
}

static size_t room_for(const tare_view *view)
{
	uint64_t left = view->image.size;
	const struct tr_track *t;
	size_t n = 1;

	for (uint32_t i = 0; (t = next_traced(view, &i, &left)) != NULL;)
		n += t->trace.bytes / sizeof(struct tr_entry) + TR_RING_INLINE;
	return n;
}

static void read_all(struct reading *r)
{
	tare_view *view = r->view;
	uint64_t left = view->image.size;

	for (uint32_t i = 0;
	     (r->track = next_traced(view, &i, &left)) != NULL;)
		if (r->track->trace.bytes || r->with_logs)
			read_track(r);
	qsort(view->events, view->n_events, sizeof(*view->events), by_start);
}

int tr_events_read(tare_view *view, bool with_logs)
{
	struct reading r = { .view = view, .with_logs = with_logs };
	size_t room = room_for(view);

	view->events = calloc(room, sizeof(*view->events));
	r.ticks = malloc(room * sizeof(*r.ticks));
	if (!view->events || !r.ticks) {
		free(view->events);
		free(r.ticks);
		view->events = NULL;
		return TARE_ENOMEM;
	}
	read_all(&r);
	free(r.ticks);
	return 0;
}

TARE_API int tare_view_events(tare_view *view, const tare_event **ret_events,
			      size_t *ret_n)
{
	int err;

	if (!view || !ret_events || !ret_n)
		return TARE_EINVAL;
	err = view->events ? 0 : tr_events_read(view, false);
	if (err)
		return err;
	*ret_events = view->events;
	*ret_n = view->n_events;
	return 0;
}
