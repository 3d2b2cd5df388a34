/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gather: adds a ledger's tracks up into series and paths.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/layout.h"
#include "read/view.h"

static const struct tr_header *header_of(const struct tr_image *image)
{
	return (const void *)image->base;
}

uint32_t tr_image_sites(const struct tr_image *image)
{
	const struct tr_region *sites =
		&header_of(image)->region[TR_REGION_SITES];
	uint64_t n = sites->used / sizeof(struct tr_site);

	return tr_image_at(image, sites->off, n * sizeof(struct tr_site), 8) ?
		       (uint32_t)n :
		       0;
}

const struct tr_site *tr_image_site(const struct tr_image *image, uint32_t id)
{
	const struct tr_region *sites =
		&header_of(image)->region[TR_REGION_SITES];
	const struct tr_site *site;

	if (!id || id >= tr_image_sites(image))
		return NULL;
	site = (const struct tr_site *)(const void *)(image->base +
						      sites->off) + id;
	return site->ready ? site : NULL;
}

uint32_t tr_image_tracks(const struct tr_image *image)
{
	const struct tr_region *tracks =
		&header_of(image)->region[TR_REGION_TRACKS];
	uint64_t n = tracks->used / sizeof(uint32_t);

	if (n > TR_MAX_TRACKS ||
	    !tr_image_at(image, tracks->off, n * sizeof(uint32_t), 4))
		return 0;
	return (uint32_t)n;
}

const struct tr_track *tr_image_track(const struct tr_image *image,
				      uint32_t index)
{
	const struct tr_region *tracks =
		&header_of(image)->region[TR_REGION_TRACKS];
	const uint32_t *dir = (const void *)(image->base + tracks->off);
	const struct tr_track *track =
		tr_image_at(image, dir[index], sizeof(*track), 8);

	return track && track->magic == TR_TRACK_MAGIC ? track : NULL;
}

/* ---- nodes ------------------------------------------------------------- */

struct walk {
	struct tr_gather *gather;
	const struct tr_track *track;
	uint32_t track_off;
	uint32_t *path_of; /* by node offset / 64; 0: not known */
	uint32_t top;	   /* path that the track's paths begin at */
};

static const struct tr_node *node_at(const struct walk *walk, uint32_t off)
{
	return tr_image_at(walk->gather->image, (uint64_t)off + TR_NODE_BIAS,
			   sizeof(struct tr_node), TR_LINE);
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

/* The first ones are for small ledgers' fixed costs. */
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

static uint64_t with_sign(const struct tr_gather *gather, uint64_t n)
{
	return gather->sign < 0 ? -n : n;
}

#define TR_NO_PATH UINT32_MAX

/* Of a ring of parents: none of them is walked again. */
static uint32_t give_up(struct walk *walk, const uint32_t *chain, uint32_t n)
{
	while (n-- > 0)
		walk->path_of[chain[n] / TR_LINE] = TR_NO_PATH;
	return 0;
}

/* Path of a node; parents are made before their children. */
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

static void add_function(struct tr_gather *gather, struct tr_path *path,
			 const struct tr_node *node)
{
	/* It counts down to the next that has a time. */
	uint64_t began = node->untimed >= node->cell ?
				 node->untimed - node->cell :
				 0;
	uint64_t timed = node->calls < began ? node->calls : began;

	path->calls += with_sign(gather, timed);
	path->untimed += with_sign(gather, began - timed);
	path->sum += gather->sign * (double)node->sum;
	gather->events += with_sign(gather, began);
}

static void add_node(struct walk *walk, uint32_t off,
		     const struct tr_node *node)
{
	struct tr_gather *gather = walk->gather;
	uint32_t index = path_of(walk, off);
	struct tr_series *series = series_of(gather, node->site);
	struct tr_path *path;

	if (index && tr_node_is_function(node))
		add_function(gather, &gather->path[index], node);
	if (!index || !series)
		return;
	path = &gather->path[index];
	path->calls += with_sign(gather, node->calls);
	path->untimed += with_sign(gather, node->untimed);
	path->failures += with_sign(gather, node->failures);
	path->items += with_sign(gather, node->items);
	path->sum += gather->sign * (double)node->sum;
	series->calls += with_sign(gather, node->calls);
	series->untimed += with_sign(gather, node->untimed);
	series->items += with_sign(gather, node->items);
	gather->events += with_sign(gather, node->calls + node->untimed);
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

/* Are the last values of the site kept? */
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
		/* It was counted when it began. */
		gather->path[index].calls += with_sign(gather, 1);
		if (gather->path[index].untimed)
			gather->path[index].untimed -= with_sign(gather, 1);
		gather->path[index].sum += gather->sign * (double)duration;
	}
	if (!series || !index)
		return;
	gather->path[index].calls += with_sign(gather, 1);
	gather->path[index].sum += gather->sign * (double)duration;
	gather->path[index].failures += with_sign(gather, failed);
	series->calls += with_sign(gather, 1);
	gather->events += with_sign(gather, 1);
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
	uint64_t n = with_sign(gather, entry->start);

	if (index && tr_node_is_function(node) &&
	    !(flags & TR_ENTRY_ITEMS)) {
		gather->path[index].untimed += n;
		gather->events += n;
	}
	if (!series || !index)
		return;
	if (flags & TR_ENTRY_ITEMS) {
		gather->path[index].items += n;
		series->items += n;
		return;
	}
	gather->path[index].untimed += n;
	series->untimed += n;
	gather->events += n;
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

/* Taken in already? Its writer was killed before it could say so. */
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
	unsigned shift = header_of(gather->image)->slice_shift;

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

	gather->path[index].calls += with_sign(gather, 1);
	gather->path[index].sum += gather->sign * (double)entry->duration;
	gather->path[index].failures += with_sign(gather, failed);
	series->calls += with_sign(gather, 1);
	gather->events += with_sign(gather, 1);
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

	if (!index)
		return;
	gather->path[index].untimed += with_sign(gather, 1);
	gather->events += with_sign(gather, 1);
}

/* What signal handlers parked and nobody has taken in yet. */
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

/* Ticks at which what is open at this depth began; 0: it is not known. */
static uint64_t start_of(const struct walk *walk, const struct tr_node *node,
			 bool *ret_open)
{
	const struct tr_frame *frame =
		node->depth < TR_MAX_FRAMES ?
			tr_image_at(walk->gather->image,
				    walk->track_off + TR_FRAMES_AT +
					    node->depth * sizeof(*frame),
				    sizeof(*frame), 8) :
			NULL;

	*ret_open = frame != NULL;
	if (!frame)
		return 0;
	if (tr_node_is_function(node)) {
		*ret_open = frame->aside != TR_CALL_LEFT;
		return frame->aside & TR_CALL_TIMED ? frame->start : 0;
	}
	return frame->start == TR_FRAME_ASIDE ?
		       frame->aside & ~TR_FRAME_FAILED :
		       frame->start;
}

static void add_open_node(struct walk *walk, uint32_t off,
			  const struct tr_node *node, uint64_t now)
{
	uint32_t index = path_of(walk, off);
	struct tr_path *path;
	bool is_open;
	uint64_t start = start_of(walk, node, &is_open);

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

	for (; off != walk->track->root && n < TR_MAX_FRAMES &&
	       tr_gather_spend(walk->gather, 1);
	     n++) {
		node = node_at(walk, off);
		if (!node)
			return;
		if (tr_node_is_function(node) && !node->items) {
			/* Functions without a place: those before them. */
			off = node->back;
			continue;
		}
		add_open_node(walk, off, node, now);
		off = node->parent;
	}
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

		if (!s->site || (s->site->kind != TARE_KIND_COUNTER &&
				 s->site->kind != TARE_KIND_RATIO))
			continue;
		if (s->site->flags & TARE_SITE_DOUBLE) {
			s->real_counter +=
				gather->sign *
				tr_real_of(slot_of(gather, track,
						   s->site->slot));
			continue;
		}
		s->counter += with_sign(gather, slot_of(gather, track,
							s->site->slot));
		if (s->site->kind == TARE_KIND_RATIO)
			s->whole += with_sign(gather,
					      slot_of(gather, track,
						      s->site->slot + 1));
	}
}

/* ---- all of it --------------------------------------------------------- */

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
	    header_of(gather->image)->state == TR_STATE_LIVE) {
		/* Its thread went on while we copied: what was in its log is
		 * in its cells by now. */
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
 * A baseline is copied while its process goes on, so it may hold a little
 * more than the ledger later accounts for. Nothing is below zero for that.
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

static void begin_image(struct tr_gather *gather)
{
	gather->work = 0;
	gather->cells = 0;
	gather->values = 0;
}

int tr_gather_edges(struct tr_gather *gather, const struct tr_image *image)
{
	int err;

	gather->image = image;
	gather->sign = 1;
	begin_image(gather);
	err = ready_series(gather, image);
	for (uint32_t i = 0; !err && i < tr_image_tracks(image); i++) {
		const struct tr_track *track = tr_image_track(image, i);

		if (track)
			tr_gather_cells(gather, track);
	}
	return err;
}

/* Of its own if it is large: all its pages at once cost less. */
#define TR_MAP_SMALL 131072u

static void *take_map(size_t bytes)
{
	void *map = bytes > TR_MAP_SMALL ? tr_memory_map(bytes) :
					   calloc(1, bytes);

	if (map && bytes > TR_MAP_SMALL)
		(void)tr_memory_reserve(map, bytes);
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
	size_t map_bytes = (image->size / TR_LINE + 1) * sizeof(uint32_t);
	struct walk walk = { .gather = gather };
	const uint32_t *dir;
	uint32_t n;
	int err;

	gather->image = image;
	gather->sign = sign;
	begin_image(gather);
	err = ready_series(gather, image);
	if (err)
		return err;
	walk.path_of = take_map(map_bytes);
	if (!walk.path_of)
		return TARE_ENOMEM;
	dir = (const void *)(image->base +
			     header_of(image)->region[TR_REGION_TRACKS].off);
	n = tr_image_tracks(image);
	for (uint32_t i = 0; i < n; i++) {
		walk.track = tr_image_track(image, i);
		walk.track_off = dir[i];
		if (gather->range.by_track)
			walk.top = tr_path_child(gather, 0, TR_PATH_TRACK | i);
		if (walk.track)
			add_track(&walk);
		else
			gather->damaged += dir[i] != 0;
	}
	give_map(walk.path_of, map_bytes);
	if (gather->range.last_values)
		tr_last_values_sort(gather);
	if (sign < 0)
		raise_all(gather);
	return gather->failed ? TARE_ENOMEM : tr_image_recheck(image);
}

void tr_gather_release(struct tr_gather *gather)
{
	for (uint32_t i = 0; i < gather->n_series; i++)
		free(gather->series[i].last.at);
	tr_pool_release(&gather->pool);
	free(gather->series);
	free(gather->path);
	free(gather->path_hash);
	memset(gather, 0, sizeof(*gather));
}
