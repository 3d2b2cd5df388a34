/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: single scopes out of the trace rings.
 */
#include "view/view.h"

#include <stdlib.h>

struct reading {
	tare_view *view;
	const struct tr_track *track;
	uint32_t thread;
	uint64_t before; /* start in the entry before: of a long scope */
};

static void add_scope(struct reading *r, const struct tr_entry *entry)
{
	tare_view *view = r->view;
	const struct tr_image *image = &view->image;
	uint32_t flags = entry->what & TR_ENTRY_FLAGS;
	const struct tr_node *node =
		tr_image_at(image,
			    (entry->what & ~(uint64_t)TR_ENTRY_FLAGS) +
				    TR_NODE_BIAS,
			    sizeof(*node), TR_LINE);
	const struct tr_site *site = node ? tr_image_site(image, node->site) :
					    NULL;
	uint64_t start = flags & TR_ENTRY_LONG ? r->before : entry->start;
	uint64_t span = flags & TR_ENTRY_LONG ? entry->start : entry->span;

	if (!site || site->flags & TR_SITE_INTERNAL)
		return;
	view->events[view->n_events++] = (tare_event){
		.name = tr_image_string(image, site->name),
		.site = node->site,
		.depth = node->depth ? node->depth - 1 : 0,
		.thread = r->thread,
		.start_ns = tr_time_real(image, start),
		.duration_ns = tr_view_span_ns(view, span),
		.ok = !(flags & TR_ENTRY_FAILED),
	};
}

static void add_entry(struct reading *r, const struct tr_entry *entry)
{
	uint32_t flags = entry->what & TR_ENTRY_FLAGS;

	if (flags & TR_ENTRY_OWNER)
		r->thread = entry->span;
	else if (!(flags & (TR_ENTRY_ITEMS | TR_ENTRY_UNTIMED)) && entry->what)
		add_scope(r, entry);
	r->before = entry->start;
}

struct ring {
	const struct tr_entry *entry;
	uint32_t size, from, n; /* n entries from `from` on, round the end */
};

static const struct tr_entry *entry_of(const struct ring *ring, uint32_t i)
{
	return &ring->entry[(ring->from + i) % ring->size];
}

/* Whose the oldest entries are: the first mark says who was before it. */
static uint32_t first_owner(const struct tr_track *t, const struct ring *ring)
{
	for (uint32_t i = 0; i < ring->n; i++)
		if (entry_of(ring, i)->what & TR_ENTRY_OWNER)
			return entry_of(ring, i)->what / (TR_ENTRY_FLAGS + 1);
	return t->trace.off == t->log.off ? t->owner : t->trace_owner;
}

/* Oldest first. */
static void read_ring(struct reading *r)
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
		return;
	ring.n = ring.size;
	if (is_open && t->write >> 32)
		ring.from = head;
	else if (is_open)
		ring.n = head;
	r->thread = first_owner(t, &ring);
	for (uint32_t i = 0; i < ring.n; i++)
		add_entry(r, entry_of(&ring, i));
}

static int by_start(const void *a, const void *b)
{
	const tare_event *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/*
 * Track `index`, if it has a ring. All rings together are smaller than the
 * ledger, or they are no rings.
 */
static const struct tr_track *traced(const tare_view *view, uint32_t index,
				     uint64_t *left)
{
	const struct tr_track *t = tr_image_track(&view->image, index);

	if (!t || !t->trace.bytes || t->trace.bytes > *left)
		return NULL;
	*left -= t->trace.bytes;
	return t;
}

static size_t room_for(const tare_view *view)
{
	uint64_t left = view->image.size;
	size_t n = 1;

	for (uint32_t i = 0; i < tr_image_tracks(&view->image); i++) {
		const struct tr_track *t = traced(view, i, &left);

		n += t ? t->trace.bytes / sizeof(struct tr_entry) : 0;
	}
	return n;
}

TARE_API int tare_view_events(tare_view *view, const tare_event **ret_events,
			      size_t *ret_n)
{
	if (!view || !ret_events || !ret_n)
		return TARE_EINVAL;
	if (!view->events) {
		uint64_t left = view->image.size;

		view->events = calloc(room_for(view), sizeof(*view->events));
		if (!view->events)
			return TARE_ENOMEM;
		for (uint32_t i = 0; i < tr_image_tracks(&view->image); i++) {
			const struct tr_track *t = traced(view, i, &left);
			struct reading r = { view, t, 0, 0 };

			if (t)
				read_ring(&r);
		}
		qsort(view->events, view->n_events, sizeof(*view->events),
		      by_start);
	}
	*ret_events = view->events;
	*ret_n = view->n_events;
	return 0;
}
