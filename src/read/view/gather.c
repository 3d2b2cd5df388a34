/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gather: adds a ledger's tracks up into series and paths.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/layout.h"
#include "read/view.h"

/* ---- nodes ------------------------------------------------------------- */

struct walk {
	struct tr_gather *gather;
	const struct tr_track *track;
	uint32_t *path_of; /* by node offset / 64; 0: unknown */
	uint32_t top;	   /* root path of the track */
};

static const struct tr_node *node_at(const struct walk *walk, uint32_t off)
{
	return tr_image_node(walk->gather->image, off);
}

static struct tr_series *series_of(const struct tr_gather *gather,
				   uint32_t site)
{
	if (site >= gather->n_series || !gather->series[site].site)
		return NULL;
	return &gather->series[site];
}

static bool is_internal(const struct tr_gather *gather, uint32_t site)
{
	const struct tr_series *series = series_of(gather, site);

	return !series || series->site->flags & TR_SITE_INTERNAL;
}

/* The constant covers the fixed cost of small ledgers. */
static uint64_t most_work(const struct tr_gather *gather)
{
	return (UINT64_C(1) << 18) + gather->image->size / 4;
}

bool tr_gather_spend(struct tr_gather *gather, uint64_t steps)
{
	uint64_t most = most_work(gather);

	if (gather->work > most)
		return false;
	gather->work += steps;
	if (gather->work <= most)
		return true;
	gather->damaged++;
	return false;
}

#define TR_NO_PATH UINT32_MAX

/* For a cycle of parents: none of them is visited again. */
static uint32_t give_up(struct walk *walk, const uint32_t *chain, uint32_t n)
{
	while (n-- > 0)
		walk->path_of[chain[n] / TR_LINE] = TR_NO_PATH;
	return 0;
}

/* Path of a node; parents are created before their children. */
static uint32_t path_of(struct walk *walk, uint32_t off)
{
	uint32_t chain[TR_MAX_FRAMES], n = 0, path = walk->top;
	const struct tr_node *node;

	while (off != walk->track->root) {
		node = node_at(walk, off);
		path = node ? walk->path_of[off / TR_LINE] : TR_NO_PATH;
		if (path == TR_NO_PATH || n == TR_MAX_FRAMES ||
		    !tr_gather_spend(walk->gather, 1)) {
			walk->gather->damaged++;
			return give_up(walk, chain, n);
		}
		if (path)
			break;
		path = walk->top;
		chain[n++] = off;
		off = node->parent;
	}
	while (n-- > 0) {
		node = node_at(walk, chain[n]);
		if (tr_node_is_function(node))
			path = tr_path_function(walk->gather, path,
						node->items);
		else if (is_internal(walk->gather, node->site))
			return 0;
		else
			path = tr_path_child(walk->gather, path, node->site);
		walk->path_of[chain[n] / TR_LINE] = path;
	}
	return path;
}

/* What is added to a path and its series. */
struct counts {
	uint64_t calls, untimed, failures, items;
	double sum;
};

/* `series`: NULL for a function. */
static void add_counts(struct tr_gather *gather, uint32_t index,
		       struct tr_series *series, struct counts n)
{
	struct tr_path *path = &gather->path[index];

	path->calls += tr_gather_sign(gather, n.calls);
	path->untimed += tr_gather_sign(gather, n.untimed);
	path->failures += tr_gather_sign(gather, n.failures);
	path->items += tr_gather_sign(gather, n.items);
	path->sum += gather->sign * n.sum;
	gather->events += tr_gather_sign(gather, n.calls + n.untimed);
	if (!series)
		return;
	series->calls += tr_gather_sign(gather, n.calls);
	series->untimed += tr_gather_sign(gather, n.untimed);
	series->items += tr_gather_sign(gather, n.items);
}

static struct counts counts_of(const struct tr_node *node)
{
	struct counts n = { node->calls, node->untimed, node->failures,
			    node->items, (double)node->sum };
	uint64_t began;

	if (!tr_node_is_function(node))
		return n;
	/* The cell field counts down to the next timed call. */
	began = node->untimed >= node->cell ? node->untimed - node->cell : 0;
	n.calls = node->calls < began ? node->calls : began;
	n.untimed = began - n.calls;
	n.failures = n.items = 0;
	return n;
}

static void add_node(struct walk *walk, uint32_t off,
		     const struct tr_node *node)
{
	struct tr_series *series = series_of(walk->gather, node->site);
	uint32_t index = path_of(walk, off);

	if (index && (series || tr_node_is_function(node)))
		add_counts(walk->gather, index, series, counts_of(node));
}

static void add_nodes(struct walk *walk)
{
	const struct tr_node *node;

	for (uint32_t off = walk->track->nodes;
	     off && tr_gather_spend(walk->gather, 1); off = node->next) {
		node = node_at(walk, off);
		if (!node) {
			walk->gather->damaged++;
			return;
		}
		add_node(walk, off, node);
	}
}

/* ---- entries still in the log ------------------------------------------ */

/* Does the site keep its last values? */
static bool has_ring(const struct tr_gather *gather, uint32_t off)
{
	const struct tr_cell *cell = tr_image_at(gather->image, off,
						 sizeof(*cell), 8);

	return cell && cell->values;
}

static void add_pending_time(struct walk *walk, const struct tr_entry *entry,
			     uint32_t off, uint32_t flags, uint64_t before)
{
	struct tr_gather *gather = walk->gather;
	const struct tr_node *node = node_at(walk, off);
	struct tr_series *series = node ? series_of(gather, node->site) : NULL;
	bool is_long = flags & TR_ENTRY_LONG, failed = flags & TR_ENTRY_FAILED;
	uint64_t duration = is_long ? entry->start : entry->duration;
	uint32_t index = node ? path_of(walk, off) : 0;

	if (index && tr_node_is_function(node)) {
		struct tr_path *path = &gather->path[index];

		/* It was already counted at its begin. */
		path->calls += tr_gather_sign(gather, 1);
		if (path->untimed)
			path->untimed -= tr_gather_sign(gather, 1);
		path->sum += gather->sign * (double)duration;
	}
	if (!series || !index)
		return;
	add_counts(gather, index, series,
		   (struct counts){ .calls = 1, .failures = failed,
				    .sum = (double)duration });
	if (!is_long)
		before = entry->start;
	if (!gather->range.last_values)
		tr_gather_time(gather, series, before, duration, failed);
	else if (has_ring(gather, node->cell))
		tr_last_values_add(gather, series, before + duration, duration);
}

static void add_pending_count(struct walk *walk, const struct tr_entry *entry,
			      uint32_t off, uint32_t flags)
{
	struct tr_gather *gather = walk->gather;
	const struct tr_node *node = node_at(walk, off);
	struct tr_series *series = node ? series_of(gather, node->site) : NULL;
	uint32_t index = node ? path_of(walk, off) : 0;
	struct counts n = { .untimed = entry->start };
	bool has_items = flags & TR_ENTRY_ITEMS;

	if (has_items)
		n = (struct counts){ .items = entry->start };
	if (index && (series || (tr_node_is_function(node) && !has_items)))
		add_counts(gather, index, series, n);
}

static void add_pending(struct walk *walk)
{
	const struct tr_entry *entry;
	uint64_t position = 0, before = 0;

	while (tr_pending(walk->gather->image, walk->track, &position,
			  &entry)) {
		uint32_t flags = entry->what & TR_ENTRY_FLAGS;
		uint32_t off = entry->what & ~(uint32_t)TR_ENTRY_FLAGS;

		if (flags & TR_ENTRY_OWNER)
			continue;
		if (flags & TR_ENTRY_ITEMS ||
			 (flags & TR_ENTRY_UNTIMED && !(flags &
							TR_ENTRY_LONG)))
			add_pending_count(walk, entry, off, flags);
		else if (!(flags & TR_ENTRY_UNTIMED))
			add_pending_time(walk, entry, off, flags, before);
		before = entry->start;
	}
}

/* Already stored? Its writer may have been killed before marking it. */
static bool is_moved(const struct tr_track *track, uint32_t place)
{
	uint64_t at = track->deferred_at;

	if (!at || at % sizeof(struct tr_entry) != place)
		return false;
	if (at & TR_DEFERRED_VALUE)
		return track->value.cell != 0;
	return at - place != track->write;
}

static void add_deferred_value(struct tr_gather *gather,
			       const struct tr_entry *entry, uint32_t site)
{
	struct tr_series *series = series_of(gather, site);
	unsigned shift = tr_image_header(gather->image)->slice_shift;

	if (!gather->range.last_values)
		tr_gather_value(gather, series, tr_real_of(entry->start),
				entry->duration);
	else if (series->last.n)
		tr_last_values_add(gather, series,
				   (uint64_t)entry->duration << shift,
				   entry->start);
}

static void add_deferred_time(struct walk *walk, const struct tr_entry *entry,
			      uint32_t site)
{
	struct tr_gather *gather = walk->gather;
	struct tr_series *series = series_of(gather, site);
	uint32_t index = tr_path_child(gather, walk->top, site);
	bool failed = entry->what & TR_PARKED_FAILED;

	add_counts(gather, index, series,
		   (struct counts){ .calls = 1, .failures = failed,
				    .sum = (double)entry->duration });
	if (!gather->range.last_values)
		tr_gather_time(gather, series, entry->start, entry->duration,
			       failed);
	else if (series->last.n)
		tr_last_values_add(gather, series,
				   entry->start + entry->duration,
				   entry->duration);
}

static void add_deferred_call(struct walk *walk, const struct tr_entry *entry)
{
	struct tr_gather *gather = walk->gather;
	uint32_t index = tr_path_function(gather, walk->top, entry->start);

	if (index)
		add_counts(gather, index, NULL,
			   (struct counts){ .untimed = 1 });
}

/* Entries parked by signal handlers and not yet stored. */
static void add_deferred(struct walk *walk)
{
	const struct tr_track *track = walk->track;
	struct tr_gather *gather = walk->gather;

	for (uint32_t i = track->deferred_read;
	     i != track->deferred_write &&
	     i - track->deferred_read < TR_DEFERRED;
	     i++) {
		const struct tr_entry *entry =
			&track->deferred[i % TR_DEFERRED];
		uint32_t site = entry->what & TR_PARKED_SITE;

		if (!(entry->what & TR_PARKED) ||
		    is_moved(track, i % TR_DEFERRED))
			continue;
		if (entry->what & TR_PARKED_CALL)
			add_deferred_call(walk, entry);
		else if (!series_of(gather, site))
			continue;
		else if (entry->what & TR_PARKED_VALUE)
			add_deferred_value(gather, entry, site);
		else
			add_deferred_time(walk, entry, site);
	}
}

/* ---- open scopes ------------------------------------------------------- */

static void add_open_node(struct walk *walk, uint32_t off,
			  const struct tr_node *node, uint64_t now)
{
	uint32_t index = path_of(walk, off);
	struct tr_path *path;
	bool is_open;
	uint64_t start = tr_open_since(walk->gather->image, walk->track, node,
				       &is_open);

	if (!index || !is_open)
		return;
	path = &walk->gather->path[index];
	path->open++;
	if (start && start < now)
		path->open_ticks += (double)(now - start);
}

static void add_open(struct walk *walk, uint64_t now)
{
	uint32_t off = walk->track->current, n = 0;
	const struct tr_node *node;

	for (; (node = tr_open_node(walk->gather->image, walk->track, off,
				    &n)) != NULL &&
	       tr_gather_spend(walk->gather, 1);
	     off = tr_open_outer(node))
		/* Functions beyond the limit have no calls of their own. */
		if (!tr_node_is_function(node) || node->items)
			add_open_node(walk, off, node, now);
}

/* ---- counters ---------------------------------------------------------- */

static uint64_t slot_of(const struct tr_gather *gather,
			const struct tr_track *track, uint32_t slot)
{
	uint32_t chunk = slot / TR_COUNTER_SLOTS;
	const uint64_t *slots;

	if (chunk >= TR_COUNTER_CHUNKS || !track->counters[chunk])
		return 0;
	slots = tr_image_at(gather->image, track->counters[chunk],
			    TR_COUNTER_SLOTS * 8, 8);
	return slots ? slots[slot % TR_COUNTER_SLOTS] : 0;
}

static void add_counters(struct tr_gather *gather,
			 const struct tr_track *track)
{
	if (!tr_gather_spend(gather, gather->n_series / 16))
		return;
	for (uint32_t id = 1; id < gather->n_series; id++) {
		struct tr_series *s = &gather->series[id];
		uint64_t n;

		if (!s->site || (s->site->kind != TARE_KIND_COUNTER &&
				 s->site->kind != TARE_KIND_RATIO))
			continue;
		n = slot_of(gather, track, s->site->slot);
		if (s->site->flags & TARE_SITE_DOUBLE) {
			s->real_counter += gather->sign * tr_real_of(n);
			continue;
		}
		s->counter += tr_gather_sign(gather, n);
		if (s->site->kind != TARE_KIND_RATIO)
			continue;
		n = slot_of(gather, track, s->site->slot + 1);
		s->whole += tr_gather_sign(gather, n);
	}
}

/* ---- the whole ledger -------------------------------------------------- */

static void add_cells(struct walk *walk)
{
	if (!walk->gather->range.by_track)
		tr_gather_cells(walk->gather, walk->track);
}

static void redo(struct tr_gather *gather, const struct tr_track *track)
{
	uint64_t most = most_work(gather), left, before;

	before = left = gather->work < most ? most - gather->work : 0;
	gather->redone += tr_redo(gather->image, track, &left);
	gather->work += before - left;
}

static void add_track(struct walk *walk)
{
	struct tr_gather *gather = walk->gather;
	const struct tr_track *track = walk->track;

	if (track->claimed == 1 &&
	    tr_image_header(gather->image)->state == TR_STATE_LIVE) {
		/*
		 * Its thread went on while we copied: entries of its log are
		 * already in its cells.
		 */
		gather->skew += TR_BATCH;
		add_nodes(walk);
		add_cells(walk);
	} else {
		redo(gather, track);
		add_nodes(walk);
		add_cells(walk);
		add_pending(walk);
		add_deferred(walk);
	}
	if (gather->sign > 0)
		add_open(walk, gather->now);
	add_counters(gather, track);
	gather->lost_unbucketed += track->lost.unbucketed;
}

static int ready_series(struct tr_gather *gather, const struct tr_image *image)
{
	uint32_t n = tr_image_sites(image);

	if (gather->series)
		return 0;
	gather->series = calloc(n ? n : 1, sizeof(*gather->series));
	if (!gather->series)
		return TARE_ENOMEM;
	gather->n_series = n;
	gather->first_slice = UINT64_MAX;
	for (uint32_t id = 1; id < n; id++) {
		gather->series[id].site = tr_image_site(image, id);
		gather->series[id].min = INFINITY;
		gather->series[id].max = -INFINITY;
		gather->series[id].clear_min = INFINITY;
		gather->series[id].clear_max = -INFINITY;
	}
	return 0;
}

/*
 * A baseline is copied while its process runs, so it may have slightly more
 * than the ledger. Differences are limited to zero.
 */
static void no_less(uint64_t *n, uint64_t *skew)
{
	if ((int64_t)*n >= 0)
		return;
	*skew += -*n;
	*n = 0;
}

static void raise_hist(struct tr_hist *hist, uint64_t *skew)
{
	no_less(&hist->zeros, skew);
	no_less(&hist->unbucketed, skew);
	for (uint32_t i = 0; i < hist->n; i++)
		for (unsigned k = 0; k < TR_PAGE_BUCKETS; k++)
			no_less(&hist->page[i].count[k], skew);
}

static void raise_series(struct tr_series *s, uint64_t *skew)
{
	no_less(&s->calls, skew);
	no_less(&s->untimed, skew);
	no_less(&s->failures, skew);
	no_less(&s->items, skew);
	no_less(&s->not_finite, skew);
	no_less(&s->counter, skew);
	no_less(&s->whole, skew);
	raise_hist(&s->positive, skew);
	raise_hist(&s->negative, skew);
	if (!tr_series_timed(s) ||
	    (s->sum < 0 && s->site && s->site->kind == TARE_KIND_SCOPE))
		s->sum = 0;
}

static void raise_all(struct tr_gather *g)
{
	for (uint32_t id = 1; id < g->n_series; id++)
		raise_series(&g->series[id], &g->skew);
	for (uint32_t i = 1; i < g->n_paths; i++) {
		struct tr_path *p = &g->path[i];

		no_less(&p->calls, &g->skew);
		no_less(&p->untimed, &g->skew);
		no_less(&p->failures, &g->skew);
		no_less(&p->items, &g->skew);
		if (p->sum < 0 || !p->calls)
			p->sum = 0;
	}
	no_less(&g->events, &g->skew);
}

static int begin_image(struct tr_gather *gather, const struct tr_image *image,
		       int sign)
{
	gather->image = image;
	gather->sign = sign;
	gather->work = 0;
	gather->cells = 0;
	gather->values = 0;
	return ready_series(gather, image);
}

int tr_gather_edges(struct tr_gather *gather, const struct tr_image *image)
{
	int err = begin_image(gather, image, 1);
	const struct tr_track *track;

	for (uint32_t i = 0;
	     !err && (track = tr_image_next_track(image, &i)) != NULL;)
		tr_gather_cells(gather, track);
	return err;
}

/*
 * A large map gets memory of its own: getting all pages at once is cheaper. All
 * that can be needed: nodes are in the arena, which is the end of the ledger.
 */
#define TR_MAP_SMALL 131072u

static size_t map_bytes_of(uint64_t off)
{
	return (size_t)(off / TR_LINE + 1) * sizeof(uint32_t);
}

static void *take_map(const struct tr_image *image)
{
	const struct tr_header *header = tr_image_header(image);
	size_t bytes = map_bytes_of(image->size);
	size_t from = map_bytes_of(header->region[TR_REGION_ARENA].off);
	char *map;

	if (bytes <= TR_MAP_SMALL)
		return calloc(1, bytes);
	map = tr_memory_map(bytes);
	from = from / TR_PAGE * TR_PAGE;
	if (map && from < bytes)
		(void)tr_memory_reserve(map + from, bytes - from);
	return map;
}

static void give_map(void *map, size_t bytes)
{
	if (bytes > TR_MAP_SMALL)
		tr_memory_unmap(map, bytes);
	else
		free(map);
}

int tr_gather_add(struct tr_gather *gather, const struct tr_image *image,
		  int sign)
{
	struct walk walk = { .gather = gather };
	int err = begin_image(gather, image, sign);

	if (err)
		return err;
	walk.path_of = take_map(image);
	if (!walk.path_of)
		return TARE_ENOMEM;
	for (uint32_t i = 0, n = tr_image_tracks(image); i < n; i++) {
		walk.track = tr_image_track(image, i);
		if (gather->range.by_track)
			walk.top = tr_path_child(gather, 0, TR_PATH_TRACK | i);
		if (walk.track)
			add_track(&walk);
		else
			gather->damaged += tr_image_track_off(image, i) != 0;
	}
	give_map(walk.path_of, map_bytes_of(image->size));
	if (gather->range.last_values)
		tr_last_values_sort(gather);
	if (sign < 0)
		raise_all(gather);
	return gather->failed ? TARE_ENOMEM : tr_image_recheck(image);
}

int tr_gather_view(struct tr_gather *gather, const tare_view *view)
{
	int err = tr_gather_add(gather, &view->image, 1);

	return !err && view->has_baseline ?
		       tr_gather_add(gather, &view->baseline, -1) :
		       err;
}

void tr_gather_release(struct tr_gather *gather)
{
	for (uint32_t i = 0; i < gather->n_series; i++)
		free(gather->series[i].last.at);
	tr_pool_release(&gather->pool);
	free(gather->series);
	free(gather->path);
	tr_lookup_release(&gather->by_parent);
	memset(gather, 0, sizeof(*gather));
}
