/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/layout.h"
#include "read/view.h"
#include "read/records.h"
/*
 * Kept: the last values of series, as records.
 *
 * The values are in the rings of the cells. Operations are left out, because
 * they have records of their own with attributes. So are series that the
 * library makes for itself: parts of stages, and readings of the monitor.
 */

struct kept {
	tare_view *view;
	tare_record *to; /* NULL: only count */
	size_t n;
	uint64_t left; /* steps that an undamaged ledger can need */
};

static enum tare_record_kind kind_of(const struct tr_site *site)
{
	static const uint8_t kinds[] = {
		[TARE_KIND_SCOPE] = TARE_RECORD_SCOPE,
		[TARE_KIND_GAUGE] = TARE_RECORD_GAUGE,
		[TARE_KIND_COUNTER] = TARE_RECORD_COUNTER,
		[TARE_KIND_RATIO] = TARE_RECORD_RATIO,
	};

	return (enum tare_record_kind)TR_NAME_OF(kinds, site->kind,
						 TARE_RECORD_VALUE);
}

void tr_record_name(const tare_view *view, uint32_t id, tare_record *out)
{
	const struct tr_image *image = &view->image;
	static const struct tr_site none = { .type = TARE_TYPE_CUSTOM };
	const struct tr_site *site = tr_image_site(image, id);

	site = site ? site : &none;
	out->name = tr_image_string(image, site->name);
	out->source = tr_image_string(image, site->source);
	out->unit = tr_image_string(image, site->unit);
	out->labels = tr_image_string(image, site->labels);
	out->type = (enum tare_type)site->type;
	out->site = id;
}

static void fill(const struct kept *kept, const struct tr_site *site,
		 uint64_t ticks, uint64_t bits, tare_record *out)
{
	const struct tr_image *image = &kept->view->image;

	if (site->kind == TARE_KIND_SCOPE) {
		out->duration_ns = tr_view_duration_ns(kept->view, bits);
		out->start_ns = tr_time_real(image, ticks - bits);
		out->value = (double)out->duration_ns;
		out->unit = "ns";
	} else {
		out->start_ns = tr_time_real(image, ticks);
		out->value = tr_real_of(bits);
	}
	out->kind = kind_of(site);
	out->ok = true;
	out->error = "";
}

/* Rings of formats before 3.1 were for statistics only. */
static const struct tr_values *ring_of(const struct kept *kept,
				       const struct tr_cell *cell,
				       uint64_t *ret_n)
{
	const struct tr_values *values =
		tr_last_values_ring(&kept->view->image, cell, ret_n);

	return values && values->keep ? values : NULL;
}

static void add_cell(struct kept *kept, const struct tr_track *track,
		     const struct tr_cell *cell, const struct tr_site *site)
{
	tare_record like = { .thread = track->owner };
	uint64_t n;
	const struct tr_values *values = ring_of(kept, cell, &n);

	if (!values || values->size > kept->left)
		return;
	kept->left -= values->size;
	if (!kept->to) {
		kept->n += (size_t)n;
		return;
	}
	tr_record_name(kept->view, cell->site, &like);
	for (uint64_t i = values->written - n; i != values->written; i++) {
		uint64_t at = i % values->size;

		kept->to[kept->n] = like;
		fill(kept, site, values->at[at].ticks, values->at[at].value,
		     &kept->to[kept->n++]);
	}
}

static bool is_listed(const struct tr_site *site)
{
	return !(site->flags & (TR_SITE_INTERNAL | TR_SITE_UNLISTED |
				TR_SITE_STAGES | TARE_SITE_OPERATION));
}

static void add_entry(struct kept *kept, const struct tr_track *track,
		      const struct tr_entry *entry, uint64_t end,
		      uint64_t duration)
{
	const struct tr_image *image = &kept->view->image;
	const struct tr_node *node = tr_image_node(
		image, entry->what & ~(uint32_t)TR_ENTRY_FLAGS);
	const struct tr_cell *cell =
		node && !tr_node_is_function(node) ?
			tr_image_at(image, node->cell, sizeof(*cell), 8) :
			NULL;
	uint64_t n;
	const struct tr_site *site = cell && ring_of(kept, cell, &n) ?
					     tr_image_site(image, cell->site) :
					     NULL;

	if (!site || site->kind != TARE_KIND_SCOPE || !is_listed(site))
		return;
	if (kept->to) {
		kept->to[kept->n] = (tare_record){ .thread = track->owner };
		tr_record_name(kept->view, cell->site, &kept->to[kept->n]);
		fill(kept, site, end, duration, &kept->to[kept->n]);
	}
	kept->n++;
}

/* Scopes that are in the log, but not yet in their ring. */
static void add_pending(struct kept *kept, const struct tr_track *track)
{
	const struct tr_image *image = &kept->view->image;
	const struct tr_entry *entry;
	uint64_t position = 0, before = 0;

	while (tr_pending(image, track, &position, &entry)) {
		uint32_t flags = entry->what & TR_ENTRY_FLAGS;
		bool is_long = flags & TR_ENTRY_LONG;
		uint64_t start = is_long ? before : entry->start;
		uint64_t duration = is_long ? entry->start : entry->duration;

		before = entry->start;
		if (!(flags & ~(uint32_t)(TR_ENTRY_LONG | TR_ENTRY_FAILED)))
			add_entry(kept, track, entry, start + duration,
				  duration);
	}
}

static void add_track(struct kept *kept, const struct tr_track *track)
{
	const struct tr_image *image = &kept->view->image;
	uint32_t off = track->cells;

	while (off && kept->left) {
		const struct tr_cell *cell =
			tr_image_at(image, off, sizeof(*cell), 8);
		const struct tr_site *site =
			cell ? tr_image_site(image, cell->site) : NULL;

		if (!site)
			return;
		kept->left--;
		if (is_listed(site))
			add_cell(kept, track, cell, site);
		off = cell->next;
	}
	if (track->claimed != 1) /* its thread went on during the copy */
		add_pending(kept, track);
}

size_t tr_kept_records(tare_view *view, tare_record *to)
{
	struct kept kept = { .view = view,
			     .to = to,
			     .left = 4096 + view->image.size / 16 };
	const struct tr_track *track;

	for (uint32_t i = 0;
	     (track = tr_image_next_track(&view->image, &i)) != NULL;)
		add_track(&kept, track);
	return kept.n;
}

TARE_API const char *tare_record_kind_name(enum tare_record_kind kind)
{
	static const char *const names[] = {
		[TARE_RECORD_OPERATION] = "operation",
		[TARE_RECORD_MEMORY] = "memory",
		[TARE_RECORD_GPU] = "gpu",
		[TARE_RECORD_GOVERNOR] = "governor",
		[TARE_RECORD_VALUE] = "value",
		[TARE_RECORD_GAUGE] = "gauge",
		[TARE_RECORD_COUNTER] = "counter",
		[TARE_RECORD_RATIO] = "ratio",
		[TARE_RECORD_SCOPE] = "scope",
	};

	return TR_NAME_OF(names, kind, "operation");
}

TARE_API const char *tare_type_name(enum tare_type type)
{
	static const char *const name[] = { "",		  "time",
					    "throughput", "memory",
					    "counter",	  "ratio",
					    "percentage", "custom" };

	return TR_NAME_OF(name, type, "");
}
